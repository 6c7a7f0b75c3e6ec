// The verdict as a story: the incident picture, evidence that leads somewhere, Markdown to copy, and a timeline that opens
// at the blame. Of a job that hung, as the binary reports it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { emptyRun, hungRun, makeFinding } from "./fixtures/fixture.mjs";
import { goTo, hasCount, settled, timelineReady } from "./steps.mjs";
import { colourAt } from "./timeline.test.mjs";
import { makeIsland, makeLane, makeProcess } from "./fixtures/timeline_fixture.mjs";

const hungJob = ["examples/hung-job"];
// What is not completed is red, with paler stripes.
function isWaiting(colour) {
  const [red, green, blue] = [0, 2, 4].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return red > 150 && green < 120 && blue < 120;
}

const picture = {
  name: "story: the incident picture has a row a rank, the blamed one first",
  needsBinary: true,
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.report(hungJob, { dark, height: 1000 });
      const svg = page.locator("svg.incident");
      await svg.waitFor();
      const labels = await svg.locator("g.row > text").allTextContents();
      assert.deepEqual(labels, [5, 0, 1, 2, 3, 4, 6, 7].map((rank) => `rank ${rank}`));
      await hasCount(svg.locator("g.row.blamed"), 1);
      await hasCount(svg.locator("g.row rect.waiting"), 8, "all of them wait");
      await hasCount(svg.locator("g.row g.mark"), 8, "and time out");
      assert.match(await svg.locator(".moment").innerHTML(), /divergence: all_reduce #16/);
      assert.match(await svg.locator(".legend").innerHTML(), /waiting in a collective.*watchdog timeout/s);
      assert.match(await svg.locator("desc").innerHTML(), /Rank 7: .*waiting in all_reduce #16 of mesh_dp for 9\.\d+ s/);
      await hasCount(svg.locator("script, foreignObject, style"), 0);
      await t.screenshot(page, `story_${dark ? "dark" : "light"}`, true);
    }
  },
};

const files = {
  name: "story: the picture is a file too, with colours for light and dark",
  needsBinary: true,
  async run(t) {
    const folder = t.shared(hungJob, "--no-store");
    const svg = readFileSync(path.join(folder, "report_data", "incident_0.svg"), "utf8");
    assert.match(svg, /^<svg xmlns/);
    assert.match(svg, /prefers-color-scheme:dark/);
    assert.ok(!/<script|href=|javascript:/i.test(svg));
  },
};

const evidence = {
  name: "story: every sentence of the evidence is a link, with the rows behind it",
  needsBinary: true,
  async run(t) {
    const page = await t.report(hungJob, { height: 1000 });
    const list = page.locator(".grounds > .evidence > li");
    await list.locator("details").first().waitFor();
    const links = await list.locator("> a:first-child").evaluateAll((all) => all.map((one) => one.hash));
    assert.equal(links.length, await list.count(), "each has a link");
    await list.locator("summary").first().click();
    assert.match(await list.locator(".evidence-rows").first().innerText(), /op\s+all_gather.*created_ns\s+2026-11-15 02:42:25/s);
    for (const link of [...new Set(links)]) {
      await page.evaluate((hash) => (location.hash = hash), link);
      await settled(page);
      await hasCount(page.locator("main .missing"), 0, link);
    }
    await page.evaluate((hash) => (location.hash = hash), links.find((one) => one.startsWith("#/output")));
    await page.locator("aside[aria-label='Selected line']").waitFor();
  },
};

const markdown = {
  name: "story: the verdict is copied as Markdown",
  needsBinary: true,
  async run(t) {
    const page = await t.report(hungJob);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy as Markdown" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /^## error: Rank 5 .*\*\*Next step:\*\*.*Confidence high.*\*\*Evidence\*\*/s);
  },
};

const quiet = {
  name: "story: what did not run is one folded line",
  async run(t) {
    const page = await t.open(hungRun());
    const folded = page.locator("details.analysed");
    assert.match(await folded.locator("summary").innerText(), /4 analyses ran, 2 lacked input/);
    assert.ok(!(await folded.evaluate((one) => one.open)));
    const run = hungRun();
    run.analyses[0] = { name: "flight", state: "failed", reason: "no memory", findings: 0 };
    const other = await t.open(run);
    assert.match(await other.locator("details.analysed[open]").innerText(), /1 failed.*no memory/s);
  },
};

// The height of the middle of each rank's collectives: of the folded row, or of the lane that waits.
async function heightOf(page, rank) {
  const head = page.locator(".tl-block", { hasText: `rank ${rank} \u00b7 collectives` });
  const isOpen = (await head.locator("button[aria-expanded=true]").count()) > 0;
  const label = isOpen ? head.locator(".tl-lane", { hasText: "mesh_dp (8)" }) : head.locator(".tl-head");
  const box = await label.boundingBox();
  return isOpen ? box.y + 8 : box.y + box.height / 2;
}

const timeline = {
  name: "story: the timeline opens at the blame and shows eight ranks waiting until the timeout",
  needsBinary: true,
  async run(t) {
    const page = await t.report(hungJob, { hash: "#/timeline", width: 1440, height: 900 });
    await timelineReady(page);
    const heads = await page.locator(".tl-head .name").allInnerTexts();
    assert.match(heads[0], /^rank 5 \u00b7 /, "the blamed rank is at the top");
    assert.ok(heads.indexOf("rank 7 \u00b7 collectives") < heads.indexOf("rank 0 \u00b7 collectives"), "then its peer");
    assert.match(await page.locator(".in-sight").innerText(), /^13\.9 s/);
    const box = await page.locator(".tl-canvas canvas").boundingBox();
    for (let rank = 0; rank < 8; ++rank) {
      const y = await heightOf(page, rank);
      assert.ok(y < box.y + box.height, `rank ${rank} is in sight`);
      for (const share of [0.3, 0.5, 0.7, 0.77])
        assert.ok(
          isWaiting(await colourAt(page, { x: box.x + share * box.width, y })),
          `rank ${rank} waits at ${share}`,
        );
      const after = await colourAt(page, { x: box.x + 0.9 * box.width, y });
      assert.ok(!isWaiting(after), `rank ${rank} waits no longer after the timeout`);
    }
    assert.match(await page.locator(".tl-legend").innerText(), /waiting: not completed/);
    await t.screenshot(page, "timeline_hung");
    await page.mouse.move(box.x + box.width / 2, await heightOf(page, 5));
    await page.locator(".tl-tip", { hasText: /not completed after 9\.\d+ s/ }).waitFor();
  },
};

const drags = {
  name: "story: dragging in the timeline selects no text",
  needsBinary: true,
  async run(t) {
    const page = await t.report(hungJob, { hash: "#/timeline" });
    await timelineReady(page);
    const box = await page.locator(".tl-canvas canvas").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(60, box.y + 260, { steps: 5 });
    await page.mouse.up();
    assert.equal(await page.evaluate(() => String(getSelection())), "");
  },
};

const names = {
  name: "story: names of kernels are short in boxes and whole on hovering",
  async run(t) {
    const long = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)";
    const row = [{ start: 0, duration: 100, name: long, kind: "kernel", number: 0 }];
    const lanes = [makeLane("s", "stream 7", "stream", 1, 1)];
    const one = makeProcess("0", { lanes, slices: 1 });
    const data = { base: 0, first: 0, last: 100, processes: [one], slices: 1, leftOut: 0 };
    const islands = { timeline: data, "timeline/0": makeIsland({ lanes: { "0/s": [row] } }) };
    const run = { ...emptyRun(), findings: [makeFinding(1)], islands, rows: { timeline_slice: 1 } };
    const page = await t.open(run, { hash: "#/timeline" });
    await timelineReady(page);
    const texts = await page.evaluate(async () => {
      const drawn = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        drawn.push(text);
        return fillText.call(this, text, ...rest);
      };
      window.dispatchEvent(new KeyboardEvent("keydown", { key: "w", bubbles: true }));
      document.querySelector(".tl-box").dispatchEvent(new WheelEvent("wheel", { deltaY: -10, ctrlKey: true, bubbles: true, cancelable: true }));
      await new Promise((done) => setTimeout(done, 200));
      return drawn;
    });
    assert.ok(texts.includes("CUDAFunctor_add<float> vectorized_elementwise_kernel"), texts.join("\n"));
    const lane = await page.locator(".tl-lane").boundingBox();
    await page.mouse.move(lane.x + lane.width + 300, lane.y + 8);
    assert.equal(await page.locator(".tl-tip b").innerText(), long);
  },
};

const leads = {
  name: "story: the output's lines are marks with their text, and a view of their own",
  needsBinary: true,
  async run(t) {
    const page = await t.report(hungJob);
    await goTo(page, "Inputs", "Output");
    await page.getByText("watchdog timeout").first().waitFor();
    const said = page.locator("tbody tr", { hasText: "watchdog timeout" }).first();
    assert.match(await said.innerText(), /\tWatchdog caught collective operation timeout/, "without the head of the logger");
    await page.getByRole("searchbox").fill("rank:5 kind:watchdog_timeout");
    await page.getByRole("button", { name: "watchdog timeout" }).first().click();
    await page.getByRole("link", { name: "show in the timeline" }).click();
    await timelineReady(page);
    assert.match(page.url(), /timeline\?.*rank=5/);
  },
};

export const tests = [picture, files, evidence, markdown, quiet, timeline, drags, names, leads];
