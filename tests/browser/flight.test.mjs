// Collectives: the grid in which a hang is a cliff, and the ways to and from it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hungRun } from "./fixture.mjs";
import { hungWithFlight, makeFlight, makeGroup, manyRanks } from "./flight_fixture.mjs";

const examples = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "examples");
const text = (page, selector) => page.locator(selector).first().innerText();
const tab = (page) => page.getByRole("navigation").getByRole("link", { name: "Collectives" });

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
      assert.match(page.url(), /flight\?group=7[^&]*&seq=16&rank=5/);
      const panel = await text(page, ".panel");
      for (const part of [
        "mesh_dp (7), sequence 16: all_reduce waiting",
        "Rank 5: never issued",
        "[[4096, 1024]] BFloat16",
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

const hidden = {
  name: "flight: no tab without collectives",
  async run(t) {
    const page = await t.open(hungRun(), { hash: "#/flight" });
    assert.equal(await tab(page).count(), 0);
    await page.locator(".hero").waitFor();
    assert.equal(await page.getByRole("link", { name: "Show in the grid" }).count(), 0);
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
    await page.getByRole("combobox", { name: "Group" }).selectOption({ index: 2 });
    await page.getByText(/1 rank: 6/).waitFor();
    await page.getByRole("application").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.match(await text(page, ".panel"), /its sizes\s*\[\[4096, 1023\]\].*of the others/s);
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
    assert.equal(await page.locator(".grid-tip").count(), 0);
    await page.getByRole("button", { name: "7", exact: true }).click();
    assert.match(page.url(), /group=7[^&]*/, "a row of the table leads to its cell");
    assert.match(await text(page, ".cell-words"), /Rank 7: started/);
  },
};

const where = {
  name: "flight: where each rank is",
  async run(t) {
    const page = await t.open(hungWithFlight(), { hash: "#/flight" });
    const rows = page.locator(".virtual tbody tr:not(.spacer)");
    assert.equal(await rows.count(), 6);
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
        const start = performance.now();
        for (let i = 0; i < 30; ++i) {
          box.scrollTop = (i % 2) * 100;
          box.scrollLeft = i;
          box.dispatchEvent(new Event("scroll"));
          await frame();
        }
        return (performance.now() - start) / 30;
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
    const page = await t.open({ ...hungRun(), flight }, { hash: "#/flight" });
    assert.ok((await text(page, ".panel")).includes("<img src=x onerror=alert(1)>\\u202e"));
    assert.equal(await page.locator("img").count(), 0);
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
    const box = await page.locator(".hero").boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 800, "the verdict is on the first screen");
    await t.screenshot(page, "example_hung_verdict");
    await page.locator(".hero").getByRole("link", { name: "Show in the grid" }).click();
    assert.match(await text(page, ".cell-words"), /Rank 5: mismatch with all_gather/);
    assert.ok((await coloursOfGrid(page)) > 4);
    await t.screenshot(page, "example_hung_grid");
  },
};

export const tests = [
  fromVerdict,
  hidden,
  keys,
  pointing,
  where,
  large,
  huge,
  hostile,
  narrow,
  example,
];
