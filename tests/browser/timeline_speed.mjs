// How fast a report is, and its timeline:
//
//   node tests/browser/timeline_speed.mjs REPORT/index.html [--seconds 4] [--open all]
//
// Prints one line, first_ms=N timeline_ms=N fps=N empty_fps=N heap_mb=N: milliseconds from navigation to the
// headline of the first screen, and to the first slices of the timeline; frames drawn in a second while wheel
// events zoom and move through it, and those of an empty canvas of the same size that is cleared for each of the
// same events; the JavaScript heap with the timeline open.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    open: { type: "string", default: "first" }, // all: every process is unfolded before it is measured
  },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
const [file] = positionals;
if (!file || !(seconds > 0)) {
  console.error(
    "usage: node tests/browser/timeline_speed.mjs REPORT/index.html [--seconds N] [--open all]",
  );
  process.exit(2);
}

// Counts the frames in which the large canvas is drawn: the timeline shows its picture with putImageData, the
// empty canvas clears itself.
function countFrames() {
  window.drawn = 0;
  for (const method of ["putImageData", "clearRect"]) {
    const plain = CanvasRenderingContext2D.prototype[method];
    CanvasRenderingContext2D.prototype[method] = function (...given) {
      if (this.canvas.clientHeight > 100) ++window.drawn;
      return plain.apply(this, given);
    };
  }
}

// In place of the view: a canvas as large as the timeline's that does nothing but clear itself.
function emptyCanvas({ width, height }) {
  document.body.replaceChildren();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  document.body.append(canvas);
  let asked = 0;
  const draw = () => {
    asked = 0;
    canvas.getContext("2d").clearRect(0, 0, width, height);
  };
  const wheel = (event) => {
    event.preventDefault();
    asked ||= requestAnimationFrame(draw);
  };
  canvas.addEventListener("wheel", wheel, { passive: false });
}

// Wheel events over the middle of the canvas, zooming in and out and moving, until the time is over; frames in a
// second.
async function drive(page, { x, y }) {
  await page.mouse.move(x, y);
  const before = await page.evaluate(() => window.drawn);
  const start = performance.now();
  for (let i = 0; performance.now() - start < seconds * 1000; ++i) {
    const isZoom = i % 40 < 20;
    const sign = i % 80 < 40 ? -1 : 1;
    if (i % 20 === 0) {
      await page.keyboard.up(isZoom ? "Shift" : "Control");
      await page.keyboard.down(isZoom ? "Control" : "Shift");
    }
    await page.mouse.wheel(0, sign * 60);
  }
  const frames = (await page.evaluate(() => window.drawn)) - before;
  const rate = (1000 * frames) / (performance.now() - start);
  await page.keyboard.up("Control");
  await page.keyboard.up("Shift");
  return rate;
}

const browser = await chromium.launch({
  executablePath: process.env.DEBRIEF_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.on("pageerror", (error) => console.error(`thrown: ${error.message}`));
await page.addInitScript(countFrames);
const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable");

// Milliseconds from navigation until the element is drawn.
async function timeTo(hash, selector) {
  await page.goto("about:blank");
  const start = performance.now();
  await page.goto(`${pathToFileURL(path.resolve(file)).href}${hash}`);
  await page.waitForSelector(selector, { timeout: 120_000 });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve())));
  return performance.now() - start;
}

const firstScreen = await timeTo("", ".hero h1");
const timeline = await timeTo("#/timeline", ".tl-legend");
if (values.open === "all") await page.keyboard.press("]");
await page.waitForSelector(".tl-box[aria-busy=false]", { timeout: 300_000 });

const box = await page.locator(".tl-canvas canvas").boundingBox();
const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
const rate = await drive(page, middle);
const { metrics } = await devtools.send("Performance.getMetrics");
const heap = metrics.find((one) => one.name === "JSHeapUsedSize").value;
await page.evaluate(emptyCanvas, { width: box.width, height: box.height });
const emptyRate = await drive(page, { x: box.width / 2, y: box.height / 2 });
await browser.close();

console.log(
  `first_ms=${Math.round(firstScreen)} timeline_ms=${Math.round(timeline)} fps=${rate.toFixed(1)} ` +
    `empty_fps=${emptyRate.toFixed(1)} heap_mb=${(heap / 1e6).toFixed(1)}`,
);
