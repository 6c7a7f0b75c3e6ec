// The timeline: what a reader finds, selects and shares. The canvas is looked at by its pixels.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { emptyRun, makeFinding } from "./fixtures/fixture.mjs";
import { hasCount, timelineReady as ready } from "./steps.mjs";
import { makeIsland, makeLane, makeProcess, timelineRun } from "./fixtures/timeline_fixture.mjs";

// A point of the canvas: at `ms` of the 95 ms of the fixture (the whole is in sight, 2 % spare at both ends), in
// row `row` of a lane.
async function pointOf(page, lane, row, ms) {
  const box = await page.locator(".tl-canvas canvas").boundingBox();
  const label = await page.locator(".tl-lane", { hasText: lane }).first().boundingBox();
  const share = (ms + 95 * 0.02) / (95 * 1.04);
  return { x: box.x + share * box.width, y: label.y + row * 18 + 8 };
}

async function click(page, lane, row, ms) {
  const { x, y } = await pointOf(page, lane, row, ms);
  await page.mouse.click(x, y);
}

const details = (page) => page.locator('section[aria-label="Selected slice"]');
const area = (page) => page.locator('section[aria-label="Selected area"]');
const params = (page) => page.evaluate(() => location.hash.split("?")[1] ?? "");
const param = async (page, name) => new URLSearchParams(await params(page)).get(name);
const settled = (page, name, value) =>
  page.waitForFunction(
    ([one, wanted]) => new URLSearchParams(location.hash.split("?")[1] ?? "").get(one) === wanted,
    [name, value],
  );
const title = (page) => details(page).locator("h2").innerText();
const inSight = (page) => page.locator(".in-sight").innerText();

const gemmColour = "1e4785"; // the shade of compute that this name has

export async function colourAt(page, { x, y }) {
  return page.evaluate(
    ([px, py]) => {
      const canvas = document.querySelector(".tl-canvas canvas");
      const box = canvas.getBoundingClientRect();
      const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      copy.drawImage(canvas, px - box.left, py - box.top, 1, 1, 0, 0, 1, 1);
      const pixel = copy.getImageData(0, 0, 1, 1).data;
      return [...pixel.slice(0, 3)].map((value) => value.toString(16).padStart(2, "0")).join("");
    },
    [x, y],
  );
}

async function drawsSlices(t) {
  const page = await t.open(timelineRun(2, { leftOut: 3 }), { hash: "#/timeline" });
  await ready(page);
  assert.equal(await colourAt(page, await pointOf(page, "stream 7", 0, 25)), gemmColour);
  assert.equal(await colourAt(page, await pointOf(page, "stream 7", 0, 60)), "ebb977");
  assert.equal(await colourAt(page, await pointOf(page, "stream 7", 0, 35)), "ffffff");
  const lanes = await page.locator(".tl-lane").allInnerTexts();
  assert.ok(lanes.includes("stream 7"));
  assert.ok(!lanes.includes("thread of nothing"), "a lane without slices is hidden");
  const legend = await page.locator(".tl-legend").innerText();
  assert.match(legend, /compute/);
  assert.ok(!/compiler/.test(legend), "the legend has only what is there");
  assert.match(await page.locator(".left-out").innerText(), /^3 of 17 slices/);
  await t.screenshot(page, "timeline");
}

async function selects(t) {
  const page = await t.open(timelineRun(2), { hash: "#/timeline" });
  await ready(page);
  await click(page, "stream 7", 0, 25);
  const text = await details(page).innerText();
  assert.match(text, /^gemm/);
  assert.match(text, /kernel on a device/);
  assert.match(text, /10.0 ms/);
  assert.match(text, /rank 0, stream 7/);
  assert.match(text, /launched by\s+launch/);
  await settled(page, "sel", "0/s7/5");
  await details(page)
    .getByRole("button", { name: /^launch/ })
    .click();
  await page.waitForFunction(() => document.querySelector(".tl-panel h2")?.innerText === "launch");
  assert.match(await details(page).innerText(), /launched\s+gemm/);
  const spoken = page.locator(".timeline > .unseen");
  assert.match(await spoken.innerText(), /^launch, call of the device runtime, 2.00 ms at 12\.000 ms/);
  await page.keyboard.press("Escape");
  await details(page).waitFor({ state: "detached" });
}

async function walksByKeys(t) {
  const page = await t.open(timelineRun(1), { hash: "#/timeline" });
  await ready(page);
  await page.locator(".tl-box").focus();
  const press = async (key, wanted) => {
    await page.keyboard.press(key);
    await page.waitForFunction(
      (text) => document.querySelector(".tl-panel h2")?.innerText === text,
      wanted,
    );
  };
  await press("ArrowDown", "step");
  await press("ArrowDown", "linear");
  assert.match(await details(page).innerText(), /self\s+8.00 ms/);
  await press("ArrowRight", "all_reduce");
  await press("ArrowDown", "launch");
  await press("ArrowUp", "all_reduce");
  await press("ArrowLeft", "linear");
  await press("ArrowUp", "step");
}

// The address follows what is in sight a moment later: as it is once it has stopped changing.
async function addressAtRest(page) {
  const read = () => page.evaluate(() => location.hash);
  for (let before = null, now = await read(); ; before = now, now = await read()) {
    if (now === before) return now;
    await page.waitForTimeout(400);
  }
}

async function zooms(t) {
  const page = await t.open(timelineRun(1), { hash: "#/timeline" });
  await ready(page);
  assert.match(await inSight(page), /^98\.8 ms/);
  await page.keyboard.press("w");
  await page.waitForFunction(() => /^79.0 ms/.test(document.querySelector(".in-sight").innerText));
  await page.keyboard.press("0");
  const { x, y } = await pointOf(page, "stream 7", 0, 25);
  await page.mouse.move(x, y);
  await page.keyboard.down("Control");
  for (let i = 0; i < 10; ++i) await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await page.waitForFunction(() => parseFloat(document.querySelector(".in-sight").innerText) < 10);
  assert.equal(await colourAt(page, { x, y }), gemmColour, "what the mouse points at stays there");
  const before = await addressAtRest(page);
  await page.mouse.down();
  await page.mouse.move(x - 200, y, { steps: 3 });
  await page.mouse.up();
  await page.waitForFunction((old) => location.hash !== old, before);
  const hash = await addressAtRest(page);
  const again = await t.open(timelineRun(1), { hash });
  await ready(again);
  assert.equal(await inSight(again), await inSight(page));
}

async function summarisesArea(t) {
  const page = await t.open(timelineRun(1), { hash: "#/timeline" });
  await ready(page);
  const from = await pointOf(page, "stream 7", 0, 25);
  const to = await pointOf(page, "stream 7", 0, 60);
  await page.keyboard.down("Shift");
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y + 2, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.waitForSelector(".tl-totals");
  const text = await area(page).innerText();
  assert.match(text, /^35(\.\d)? ms of 1 lane/);
  assert.match(text, /71\.\d %\s+busy/); // 5 ms of gemm and 20 ms of all_reduce
  assert.match(text, /2 slices/);
  assert.match(text, /communication 20(\.\d)? ms/);
  const rows = await area(page).locator("tbody tr").allInnerTexts();
  assert.match(rows[0], /all_reduce\s+communication\s+1\s+(20|19\.9|20\.\d) ms/);
  assert.match(rows[1], /gemm\s+kernel on a device\s+1\s+(5|4\.9\d?|5\.\d+) ms/);
  await page.waitForFunction(() => location.hash.includes("area="));
  const again = await t.open(timelineRun(1), { hash: await page.evaluate(() => location.hash) });
  await again.waitForSelector(".tl-totals");
  assert.match(await area(again).innerText(), /2 slices/);
}

async function searches(t) {
  const page = await t.open(timelineRun(2), { hash: "#/timeline" });
  await ready(page);
  await page.keyboard.press("/");
  await page.keyboard.type("All_Reduce");
  const found = page.locator(".found");
  await page.waitForFunction(() => document.querySelector(".found").innerText === "4 found");
  const gemm = await colourAt(page, await pointOf(page, "stream 7", 0, 25));
  assert.notEqual(gemm, "2f6fd0", "what is not found is pale");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".found").innerText === "1 of 4");
  assert.match(await details(page).innerText(), /rank 0, thread 1/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.waitForFunction(() => document.querySelector(".found").innerText === "2 of 4");
  assert.match(await details(page).innerText(), /rank 1, thread 1/);
  await page.keyboard.press("N");
  await page.keyboard.press("N");
  await page.waitForFunction(() => document.querySelector(".found").innerText === "4 of 4");
  await settled(page, "q", "All_Reduce");
  await page.locator("input[type=search]").fill("[4, 8]");
  await page.waitForFunction(() => document.querySelector(".found").innerText === "2 found");
  await page.locator("input[type=search]").fill("nothing has this");
  await page.waitForFunction(() => document.querySelector(".found").innerText === "none found");
  assert.equal(await found.getAttribute("role"), "status");
}

async function showsRawClocks(t) {
  const page = await t.open(timelineRun(2), { hash: "#/timeline?sel=1/s7/5" });
  await page.waitForSelector(".tl-panel");
  assert.match(await details(page).innerText(), /start\s+25\.000000 ms/);
  await page.getByRole("button", { name: "Raw clocks" }).click();
  await page.waitForFunction(() =>
    /start\s+20\.0/.test(document.querySelector(".tl-panel").innerText),
  );
  await settled(page, "clock", "raw");
}

async function foldsAndFilters(t) {
  const run = timelineRun(12);
  run.jobs = [{ job: 0, name: "j", world_size: 12, attempts: 1, inputs: 12, ranks: [0, 1, 9] }];
  run.findings = [makeFinding(1, { role: "cause", severity: "error", ranks: [9] })];
  const page = await t.open(run, { hash: "#/timeline", height: 1400 });
  await ready(page);
  const open = () => page.locator(".tl-head button[aria-expanded=true] .name").allInnerTexts();
  assert.deepEqual(await open(), ["rank 9", "rank 0"], "the blamed rank comes first");
  await page.getByRole("button", { name: "rank 9", exact: false }).click();
  await settled(page, "open", "0");
  await page.getByLabel("Rank").selectOption("3");
  await page.waitForFunction(() => document.querySelectorAll(".tl-head").length === 1);
  assert.deepEqual(await open(), ["rank 3"]);
  assert.equal(await param(page, "rank"), "3");
}

async function staysSafe(t) {
  const texts = { gemm: "<img src=x onerror=alert(1)>\u202egpj.exe", step: "\u0007</script>" };
  const page = await t.open(timelineRun(1, { texts }), { hash: "#/timeline" });
  await ready(page);
  await click(page, "stream 7", 0, 25);
  assert.equal(await title(page), "<img src=x onerror=alert(1)>\\u202egpj.exe");
  await hasCount(page.locator("main img"), 0);
  const { x, y } = await pointOf(page, "thread 1", 0, 50);
  await page.mouse.move(x, y);
  await page.waitForFunction(() =>
    document.querySelector(".tl-tip")?.innerText.startsWith("\\u0007</script>"),
  );
}

async function opensBrokenParts(t) {
  const run = timelineRun(2);
  run.islands["timeline/1"] = new Uint8Array([9, 0, 0, 0, 1]);
  const page = await t.open(run, { hash: "#/timeline?sel=1/nothing/3&area=x&from=a&open=7" });
  await page.keyboard.press("]");
  await ready(page);
  const heads = await page.locator(".tl-head").allInnerTexts();
  assert.equal(heads.length, 2);
  assert.match(heads[1], /^rank 1\s+7 slices, .*cannot be read/);
  await click(page, "stream 7", 0, 25);
  assert.equal(await title(page), "gemm");
}

async function tellsWhatIsMissing(t) {
  const page = await t.open(emptyRun(), { hash: "#/timeline" });
  const text = await page.locator("main").innerText();
  assert.match(text, /Nothing that has times was found/);
  assert.match(text, /torch\.profiler/);
  assert.match(text, /TORCH_TRACE/);
}

// 300,000 slices in one row, most below a pixel: one box for each pixel, and every one is found.
async function drawsMany(t) {
  const row = Array.from({ length: 300_000 }, (_, i) => ({
    start: i * 1000,
    duration: i === 150_000 ? 900 : 100,
    name: i === 150_000 ? "long" : "short",
    kind: i === 150_000 ? "comm" : "kernel",
    number: i,
  }));
  const lanes = [makeLane("s", "stream 7", "stream", 1, row.length)];
  const process = makeProcess("0", { lanes, slices: row.length });
  const timeline = { base: 0, first: 0, last: 3e8, processes: [process], slices: 3e5, leftOut: 0 };
  const islands = { timeline, "timeline/0": makeIsland({ lanes: { "0/s": [row] } }) };
  const run = { ...emptyRun(), islands, rows: { timeline_slice: row.length } };
  const page = await t.open(run, { hash: "#/timeline?q=long" });
  await ready(page);
  await page.waitForFunction(() => document.querySelector(".found").innerText === "1 found");
  await page.keyboard.press("n");
  assert.equal(await title(page), "long");
  await page.keyboard.press("Escape");
  await page.locator("input[type=search]").fill("");
  await page.waitForFunction(() => !location.hash.includes("q="));
  const box = await page.locator(".tl-canvas canvas").boundingBox();
  const y = (await page.locator(".tl-lane").boundingBox()).y + 8;
  const colours = new Set();
  for (let x = 100; x < 900; x += 7) colours.add(await colourAt(page, { x: box.x + x, y }));
  assert.deepEqual([...colours], ["9aacc8"], "a tenth of the time is taken: the palest of compute");
  const middle = box.x + ((1.5e8 + 3e8 * 0.02) / (3e8 * 1.04)) * box.width;
  const near = [-1, 0, 1].map((by) => colourAt(page, { x: Math.floor(middle) + by, y }));
  assert.ok(
    (await Promise.all(near)).some((colour) => colour.startsWith("f")),
    "the longest of a pixel gives its colour",
  );
}

async function showsProfiles(t) {
  const page = await t.report(["examples/two-rank-profile"], { hash: "#/timeline" });
  await ready(page);
  const heads = await page.locator(".tl-head .name").allInnerTexts();
  assert.ok(heads.some((text) => text.startsWith("rank 0")));
  assert.ok(heads.some((text) => text.startsWith("rank 1")));
  await page.locator(".tl-box").focus();
  await page.keyboard.press("ArrowRight");
  await details(page).waitFor();
  assert.match(await details(page).innerText(), /rank\s+0/);
}

// The blamed rank's GPU first, its clock under the mouse.
async function showsGpus(t) {
  const page = await t.report(["tests/golden/prometheus/throttled/input"], { hash: "#/timeline" });
  await ready(page);
  const [first] = await page.locator(".tl-head .name").allInnerTexts();
  assert.equal(first, "rank 2 \u00b7 GPU counters (n1 GPU 2)");
  const lane = await page.locator(".tl-lane", { hasText: "rank 2 \u00b7 GPU clock" }).boundingBox();
  const canvas = await page.locator(".tl-canvas canvas").boundingBox();
  await page.mouse.move(canvas.x + canvas.width * 0.8, lane.y + 20);
  await page.waitForFunction(() => /GPU clock\s+1,005 MHz/.test(document.querySelector(".tl-tip")?.innerText ?? ""));
  assert.match(await page.locator(".tl-legend").innerText(), /GPU throttling, GPU faults/);
}

async function showsNothingTimed(t) {
  const file = path.join(t.options.work, "stdout_rank0.txt");
  writeFileSync(file, 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: x\n');
  const page = await t.report([file], { hash: "#/timeline" });
  await page.locator("main .empty").waitFor();
  assert.match(await page.locator("main").innerText(), /Timeline\s+Nothing in this run has a time/);
}

export const tests = [
  { name: "timeline: slices are drawn", run: drawsSlices },
  { name: "timeline: a slice is selected", run: selects },
  { name: "timeline: keys walk from slice to slice", run: walksByKeys },
  { name: "timeline: zoom and pan are in the address", run: zooms },
  { name: "timeline: an area is summed up", run: summarisesArea },
  { name: "timeline: search", run: searches },
  { name: "timeline: raw clocks", run: showsRawClocks },
  { name: "timeline: processes fold and are filtered", run: foldsAndFilters },
  { name: "timeline: hostile texts", run: staysSafe },
  { name: "timeline: a broken island and a strange address", run: opensBrokenParts },
  { name: "timeline: what is missing", run: tellsWhatIsMissing },
  { name: "timeline: many slices", run: drawsMany },
  { name: "timeline: profiles", run: showsProfiles, needsBinary: true },
  { name: "timeline: samples of GPUs", run: showsGpus, needsBinary: true },
  { name: "timeline: output without times", run: showsNothingTimed, needsBinary: true },
];
