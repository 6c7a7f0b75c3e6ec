// Collectives: the grid in which a hang is a cliff, and the ways to and from it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hasCount } from "./steps.mjs";
import { hungRun } from "./fixtures/fixture.mjs";
import {
  circleWaits,
  hungWithFlight,
  lateArrivals,
  makeFlight,
  makeGroup,
  makeStacks,
  manyRanks,
  meshWaits,
  trafficTables,
} from "./fixtures/flight_fixture.mjs";

const examples = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "examples");
const text = (page, selector) => page.locator(selector).first().innerText();
const sections = (page) => page.getByRole("navigation", { name: "Sections" });
const tabs = (page) => page.getByRole("navigation", { name: "Views" });

// Number of different colours in the grid: an empty or failed drawing has one.
function coloursOfGrid(page) {
  return page.locator(".grid-box canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4)
      seen.add(data[i] * 65536 + data[i + 1] * 256 + data[i + 2]);
    return seen.size;
  });
}

async function noSidewaysScroll(page) {
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(over, 0, "the page scrolls sideways");
}

const fromVerdict = {
  name: "flight: from the verdict to the cell and back",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(hungWithFlight(), { dark });
      await page.locator(".hero").getByRole("link", { name: "Show in the grid" }).click();
      await page.getByRole("heading", { level: 1, name: "Collectives" }).waitFor();
      assert.match(page.url(), /flight\?finding=f1&seq=16&rank=5/);
      const panel = await text(page, ".panel");
      for (const part of [
        "mesh_dp (7), sequence 16: all_reduce waiting",
        "Rank 5: never issued",
        "[4096, 1024] BFloat16",
        "train.py:52",
        "1 rank: 7",
      ])
        assert.ok(panel.includes(part), `${part} in ${panel}`);
      assert.ok((await coloursOfGrid(page)) > 4);
      await noSidewaysScroll(page);
      await t.screenshot(page, `flight_${dark ? "dark" : "light"}`);
      await page.locator(".flight .trouble a").first().click();
      await page.locator(".hero").waitFor();
    }
  },
};

const empty = {
  name: "flight: what is missing without collectives",
  async run(t) {
    for (const view of ["flight", "flight_waits", "flight_arrivals", "flight_traffic"]) {
      const page = await t.open(hungRun(), { hash: `#/${view}` });
      assert.match(await text(page, ".missing"), /Flight Recorder dumps.*TORCH_FR_BUFFER_SIZE/s);
      assert.match(
        await sections(page).getByRole("link", { name: "Collectives" }).getAttribute("class"),
        /absent/,
      );
    }
    const page = await t.open(hungRun());
    await hasCount(page.getByRole("link", { name: "Show in the grid" }), 0);
  },
};

const stacks = {
  name: "flight: whole stacks, and the first frame that differs",
  async run(t) {
    const page = await t.open(hungWithFlight(), { hash: "#/flight?seq=7&rank=7" });
    const stack = page.locator(".stack");
    await hasCount(stack, 1, "all came the same way");
    assert.match(await stack.innerText(), /Stack, innermost first\s+2 frames of torch\s+train.py:52\s+train_step/);
    assert.equal(await page.getByText("c10d.py:3068").isVisible(), false);
    await page.getByText("2 frames of torch").click();
    assert.ok(await page.getByText("c10d.py:3068").isVisible());
    assert.match(
      await page.getByRole("link", { name: "train.py:52", exact: true }).getAttribute("href"),
      /#\/source\?file=%2Fhome%2Fu%2Ftrain.py&line=52/,
    );
    await page.getByRole("application").focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".stacks").waitFor();
    assert.match(await stack.first().innerText(), /rank 7.*train.py:60\s+train_step\s*first that differs/s);
    assert.match(await stack.last().innerText(), /most others.*train.py:52\s+train_step\s*first that differs/s);
    await t.screenshot(page, "flight_stacks");
    await page.keyboard.press("ArrowUp");
    await page.getByText("Stack of rank 7").waitFor();
    assert.match(await stack.first().innerText(), /Stack of rank 5/);
    await page.goto(page.url().replace(/seq=.*/, "seq=16&rank=5"));
    await page.getByText("Where the others issued it").waitFor();
  },
};

const keys = {
  name: "flight: arrow keys, address, reload, groups",
  async run(t) {
    const page = await t.open(hungWithFlight(), { hash: "#/flight" });
    const grid = page.getByRole("application");
    await grid.focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await text(page, ".cell-words"), /Rank 7: started/);
    await page.keyboard.press("ArrowLeft");
    assert.match(await text(page, ".cell-words"), /Rank 7: completed/);
    assert.match(page.url(), /seq=15&rank=7/);
    await page.keyboard.press("Home");
    assert.match(page.url(), /seq=1&rank=7/);
    await page.keyboard.press("ArrowLeft");
    assert.match(page.url(), /seq=1&rank=7/, "stays inside");
    await page.reload();
    assert.match(await text(page, ".panel h2"), /sequence 1:/);
    assert.match(await page.locator("[aria-live]").innerText(), /rank 7, 1 all_reduce.*completed/);
    await page.locator("body").press("j");
    await page.getByText("default_pg (0), sequence").waitFor();
    await page.locator("body").press("g");
    await page.keyboard.press("ArrowUp");
    assert.match(page.url(), /group=0&.*rank=0/, "g leads to the grid");
    await page.getByRole("combobox", { name: "Group" }).selectOption({ index: 2 });
    await page.getByText(/1 rank: 6/).waitFor();
    await page.getByRole("application").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.match(await text(page, ".panel"), /its sizes\s*\[4096, 1023\].*of the others/s);
    await t.screenshot(page, "flight_mismatch");
  },
};

const pointing = {
  name: "flight: pointing and clicking",
  async run(t) {
    const page = await t.open(hungWithFlight(), { hash: "#/flight?group=0" });
    const box = await page.locator(".grid-box").boundingBox();
    // Rank 4 is the fifth row; rows of a group of 8 are 24 px high, and 26 px stand above.
    const [x, y] = [box.x + 64 + 12, box.y + 26 + 4.5 * 24];
    await page.mouse.move(x, y);
    assert.match(await text(page, ".grid-tip"), /rank 4, 3 all_reduce.*unknown/);
    await t.screenshot(page, "flight_hover");
    await page.mouse.click(x, y);
    await page.waitForFunction(() => /seq=3&rank=4/.test(location.hash));
    await page.mouse.move(5, 5);
    await hasCount(page.locator(".grid-tip"), 0);
    await page.locator(".virtual").getByRole("button", { name: "7", exact: true }).click();
    assert.match(page.url(), /group=7[^&]*/, "a row of the table leads to its cell");
    assert.match(await text(page, ".cell-words"), /Rank 7: started/);
  },
};

const where = {
  name: "flight: where each rank is",
  async run(t) {
    const page = await t.open(hungWithFlight(), { hash: "#/flight" });
    const rows = page.locator(".virtual tbody tr:not(.spacer)");
    await hasCount(rows, 6);
    assert.match(
      await rows.first().innerText(),
      /7\s+mesh_dp \(7\)\s+16\s+all_reduce\s+started\s+601 s\s+rank 5/,
    );
    await page.locator(".virtual").getByRole("button", { name: "waits for" }).click();
    await page.locator(".virtual").getByRole("button", { name: "waits for" }).click();
    assert.match(await rows.first().innerText(), /ranks 5, 7/);
    await t.screenshot(page, "flight_full", true);
  },
};

const waiting = {
  name: "flight: who waits for whom",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(hungWithFlight(), { dark, hash: "#/flight_waits" });
      assert.match(await text(page, ".wait-ends"), /Rank 5 holds up 6 ranks: never issued/);
      const nodes = page.locator(".wait-node");
      await hasCount(nodes, 3);
      assert.match(await page.locator(".wait-node.blamed").textContent(), /Rank 5blamed/);
      await hasCount(page.locator(".wait-edge"), 3);
      const x = (who) =>
        page.locator(".wait-node .who", { hasText: who }).boundingBox().then((box) => box.x);
      assert.ok((await x("Ranks 0")) < (await x("Rank 7")) && (await x("Rank 7")) < (await x("Rank 5")));
      await page.locator(".wait-node .who", { hasText: "Rank 7" }).click();
      assert.match(await text(page, ".panel"), /Rank 7 is at all_reduce #16 of mesh_dp \(7\).*waits for rank 5/s);
      assert.match(page.url(), /at=7$/);
      await page.getByRole("button", { name: /^Ranks 0.* wait in .* for rank 5/ }).focus();
      await page.keyboard.press("Enter");
      assert.match(page.url(), /at=0-5$/);
      assert.match(await text(page, ".panel"), /Ranks 0\u20133, 6 wait in all_reduce #41 of default_pg \(0\) for rank/);
      await page.reload();
      assert.match(await text(page, ".panel h2"), /Ranks 0\u20133, 6 wait for rank/);
      await t.screenshot(page, `flight_waits_${dark ? "dark" : "light"}`);
      await page.getByRole("link", { name: "default_pg (0), sequence 41" }).click();
      await page.waitForFunction(() => /flight\?group=0&seq=41&rank=5/.test(location.hash));
    }
  },
};

const circles = {
  name: "flight: circles of waits, lost dumps, joined groups, nothing open",
  async run(t) {
    const run = hungWithFlight();
    const open = (waits) =>
      t.open({ ...run, islands: { ...run.islands, waits } }, { hash: "#/flight_waits" });
    let page = await open(circleWaits());
    assert.match(await text(page, ".wait-ends"), /Ranks 0\u20131 wait for each other/);
    await hasCount(page.locator(".wait-node.circle"), 2);
    await hasCount(page.locator(".wait-edge.circle"), 2);
    assert.match(await page.locator(".wait-node.lost").textContent(), /Rank 9left no dump/);
    await t.screenshot(page, "flight_circle");
    page = await open(meshWaits(512));
    const nodes = await page.locator(".wait-node").count();
    assert.ok(nodes > 2 && nodes <= 40, `${nodes} nodes`);
    assert.match(await text(page, ".wait-ends"), /Rank 1 holds up 511 ranks/);
    assert.match(await text(page, "main"), /12 more waits in table first_incomplete/);
    await t.screenshot(page, "flight_waits_512");
    page = await open({ texts: [], waits: [], left_out: 0 });
    assert.match(await text(page, ".empty"), /Every op is completed/);
  },
};

const arrivals = {
  name: "flight: arrivals as a heat map, from dumps and from profiles",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(hungWithFlight(), { dark, hash: "#/flight_arrivals" });
      assert.match(await text(page, ".takeaway"), /Rank 7 arrived last at 15 of 15 sequences.*45.0 ms/);
      assert.match(await text(page, "main"), /The last 16 of 400 sequences/);
      assert.match(await text(page, ".legend"), /below 30 us.*from 30 ms.*no time/s);
      assert.ok((await coloursOfGrid(page)) > 4);
      await page.getByRole("application").focus();
      await page.keyboard.press("End");
      assert.match(await text(page, ".cell-words"), /Rank 7: the only one with a time/);
      await page.keyboard.press("ArrowUp");
      assert.match(await text(page, ".cell-words"), /Rank 5: no time of it/);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowLeft");
      assert.match(page.url(), /seq=15&rank=7/);
      assert.match(
        await text(page, ".cell-words"),
        /Rank 7: 45.0 ms behind the first, the last; 22.5 ms behind the median/,
      );
      const row = page.locator(".virtual tr.selected");
      assert.match(await row.innerText(), /7\s+45.0 ms\s+45.0 ms\s+15\s+0\s+7\s+44.0 ms\s+200 ms/);
      await page.getByRole("button", { name: "behind the median" }).click();
      assert.match(await row.innerText(), /7\s+22.5 ms/);
      await t.screenshot(page, `flight_arrivals_${dark ? "dark" : "light"}`);
      await page.getByRole("button", { name: "from profiles" }).click();
      await page.getByRole("button", { name: "behind the first" }).click();
      assert.match(await text(page, ".takeaway"), /Rank 0 arrived last at 16 of 16.*1.20 ms/);
      await noSidewaysScroll(page);
    }
  },
};

const traffic = {
  name: "flight: traffic and bandwidth by message size",
  async run(t) {
    const page = await t.open(hungWithFlight(), { hash: "#/flight_traffic" });
    await hasCount(page.locator(".bandwidth .point"), 2, "a barrier moves nothing");
    const speeds = page.locator('[aria-label="Bandwidth by message size"].virtual tbody tr');
    await hasCount(speeds, 3, "one definition");
    assert.match(await speeds.nth(1).innerText(), /mesh_dp \(7\)\s+5, 7\s+all_reduce\s+1.05 MB\s+4\s+15.0 ms\s+12.5 GB\/s/);
    const amounts = page.locator('[aria-label="Traffic by group and op"].virtual tbody tr');
    assert.match(await amounts.innerText(), /dp\s+all_reduce\s+36\s+9.46 MB\s+9.46 MB\s+105 ms/);
    assert.match(
      await page.getByRole("columnheader", { name: "bus" }).getAttribute("title"),
      /2\(n-1\)\/n/,
    );
    await page.getByRole("button", { name: "barrier" }).click();
    await hasCount(speeds, 1);
    assert.match(page.url(), /op=barrier/);
    await page.getByRole("button", { name: "barrier" }).click();
    await page.locator("body").press("/");
    await page.keyboard.type("nothing");
    assert.match(await text(page, "main"), /Nothing matches the filter/);
    await t.screenshot(page, "flight_traffic");
    await hasCount(tabs(page).getByRole("link"), 4);
  },
};

const large = {
  name: "flight: 512 ranks by 120 sequences",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(manyRanks(512, 120), { dark, hash: "#/flight" });
      assert.match(await text(page, ".panel"), /511 ranks: 0\u2013306, 308\u2013511/);
      assert.match(await text(page, ".cell-words"), /Rank 307: never issued/);
      assert.ok((await coloursOfGrid(page)) > 4);
      await t.screenshot(page, `flight_512_${dark ? "dark" : "light"}`);
      const took = await page.evaluate(async () => {
        const box = document.querySelector(".grid-box");
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        const frames = [];
        for (let i = 0; i < 30; ++i) {
          const start = performance.now();
          box.scrollTop = (i % 2) * 100;
          box.scrollLeft = i;
          box.dispatchEvent(new Event("scroll"));
          await frame();
          frames.push(performance.now() - start);
        }
        return frames.sort((a, b) => a - b)[15]; // the median: some wait for the machine
      });
      assert.ok(took < 60, `a frame takes ${took} ms`);
      await noSidewaysScroll(page);
    }
  },
};

const huge = {
  name: "flight: 20,000 ranks scroll without a canvas of their size",
  async run(t) {
    const page = await t.open(manyRanks(20000, 20), { hash: "#/flight" });
    assert.match(await text(page, ".cell-words"), /Rank 12000: never issued/);
    const [height, scrolled] = await page
      .locator(".grid-box")
      .evaluate((box) => [box.querySelector("canvas").height, box.scrollTop]);
    assert.ok(height < 2000 && scrolled > 30000, `${height} ${scrolled}`);
  },
};

const hostile = {
  name: "flight: hostile texts stay text",
  async run(t) {
    const bad = "</script><img src=x onerror=alert(1)>\u202e";
    const flight = makeFlight([
      makeGroup([0, 1], 1, ["cm", "ct"], { name: bad, desc: bad, role: bad }),
    ]);
    flight.texts = flight.texts.map(() => bad);
    const flight_stacks = makeStacks(flight);
    flight_stacks.texts = flight_stacks.texts.map(() => bad);
    const waits = circleWaits();
    waits.texts = waits.texts.map(() => bad);
    const arrivals = lateArrivals();
    arrivals.texts = arrivals.texts.map(() => bad);
    const comm = trafficTables();
    for (const { rows } of Object.values(comm.tables))
      for (const row of rows) Object.assign(row, { group_name: bad, group_desc: bad, op: bad });
    const islands = { flight_stacks, waits, arrivals, comm };
    const shown = "<img src=x onerror=alert(1)>\\u202e";
    for (const view of ["flight", "flight_waits?at=0", "flight_arrivals?seq=3", "flight_traffic"]) {
      const page = await t.open({ ...hungRun(), flight, islands }, { hash: `#/${view}` });
      await page.locator(".panel, .virtual").first().waitFor();
      assert.ok((await text(page, "main")).includes(shown), view);
      await hasCount(page.locator("img"), 0);
      await hasCount(page.locator('a[href*="img"]:not([href^="#/"])'), 0);
    }
  },
};

const narrow = {
  name: "flight: narrow window",
  async run(t) {
    const page = await t.open(hungWithFlight(), { width: 420, height: 800, hash: "#/flight" });
    await noSidewaysScroll(page);
    await t.screenshot(page, "flight_narrow", true);
  },
};

const example = {
  name: "flight: examples/hung-job says who on the first screen",
  needsBinary: true,
  async run(t) {
    const folder = path.join(examples, "hung-job");
    assert.ok(existsSync(folder), `${folder} is missing`);
    const page = await t.report([folder]);
    const findings = JSON.parse(
      readFileSync(path.join(path.dirname(fileURLToPath(page.url())), "findings.json"), "utf8"),
    ).findings.filter((one) => one.rule.startsWith("flight."));
    const hero = await text(page, ".hero");
    assert.match(hero, /rank 5/i);
    for (const part of ["mesh_dp", "all_reduce", "dist_job.py:53"])
      assert.ok(hero.includes(part), `${part} in ${hero}`);
    const box = await page.locator(".hero .next-step").last().boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 800, "the verdict is on the first screen");
    await t.screenshot(page, "example_hung_verdict");
    await page.locator(".hero").getByRole("link", { name: "Show in the grid" }).click();
    await page.locator(".cell-words").waitFor();
    assert.match(await text(page, ".cell-words"), /Rank 5: mismatch with all_gather/);
    assert.match(await text(page, ".stacks"), /Stack of rank 5.*first that differs/s);
    assert.ok((await coloursOfGrid(page)) > 4);
    await t.screenshot(page, "example_hung_grid");
    // An op is called as findings call it, and two members in different ops are said to clash.
    await page.evaluate(() => (location.hash = "#/flight_waits"));
    await page.locator(".wait-ends").waitFor();
    assert.match(
      await text(page, ".wait-ends"),
      /Rank 5 holds up 3 ranks: in all_gather #16 of mesh_dp \(8\), while rank 7 is in all_reduce at the same place/,
    );
    const waits = await text(page, "main");
    assert.match(waits, /reduce_scatter #8 of mesh_tp/);
    assert.match(waits, /nobody: rank 7 is in all_reduce/);
    for (const view of ["flight_waits", "flight", "flight_traffic"]) {
      await page.evaluate((one) => (location.hash = `#/${one}`), view);
      await page.locator(".virtual").first().waitFor();
      assert.ok(!(await text(page, "main")).includes("_reduce_scatter_base"), view);
    }
  },
};

const straggler = {
  name: "flight: examples/slow-job is not called healthy in a group of few sequences",
  needsBinary: true,
  async run(t) {
    const page = await t.report([path.join(examples, "slow-job")]);
    assert.match(await text(page, ".hero"), /Rank 4 is a straggler/);
    await page.evaluate(() => (location.hash = "#/flight_arrivals"));
    await page.locator(".takeaway").waitFor();
    assert.match(await text(page, ".takeaway"), /^Rank 4 arrived last most often, at 4 of 4 sequences/);
    // A headline that is too long for its cell ends in an ellipsis, inside of the table.
    await page.evaluate(() => (location.hash = "#/ranks"));
    const link = page.locator(".blame-links a").first();
    await link.waitFor();
    const [ends, table] = [await link.boundingBox(), await page.locator(".virtual").first().boundingBox()];
    assert.ok(ends.x + ends.width <= table.x + table.width, "the link ends inside of the table");
    assert.equal(await link.evaluate((one) => getComputedStyle(one).textOverflow), "ellipsis");
  },
};

export const tests = [
  fromVerdict,
  empty,
  stacks,
  keys,
  pointing,
  where,
  waiting,
  circles,
  arrivals,
  traffic,
  large,
  huge,
  hostile,
  narrow,
  example,
  straggler,
];
