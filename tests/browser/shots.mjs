// Screenshots of every view of some reports, at three widths, light and dark, for people to look at:
//
//   node tests/browser/shots.mjs --binary build/release/debrief --out build/shots [--width 390] [--view cost] [JOB...]
//
// Without a JOB: those of examples/, a kind of trouble each. One file a screenshot, JOB_VIEW_WIDTH_light.png. Also says what a page wrote to its
// console, and which pages scroll sideways; both are faults.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { allViews, idOf, settled } from "./steps.mjs";

const examples = ["hung-job", "crashed-job", "two-rank-profile", "out-of-memory", "recompiles", "recorded-ops"].map(
  (name) => `examples/${name}`,
);
const heights = { 1440: 900, 1024: 768, 390: 844 };

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      binary: { type: "string", default: "build/release/debrief" },
      out: { type: "string", default: "build/shots" },
      width: { type: "string", default: "1440,1024,390" },
      view: { type: "string", default: "" },
    },
  });
  const jobs = positionals.length > 0 ? positionals : examples;
  return { ...values, widths: values.width.split(",").map(Number), jobs };
}

function writeReport(binary, job, folder) {
  const out = path.join(folder, path.basename(job));
  execFileSync(binary, [job, "-o", out, "--quiet", "--no-store"], { stdio: ["ignore", "ignore", "inherit"] });
  return pathToFileURL(path.join(out, "index.html")).href;
}

async function shoot(page, job, options, width, dark) {
  const name = path.basename(job);
  let faults = 0;
  const tell = (text) => {
    ++faults;
    console.log(`${name} ${width} ${dark ? "dark" : "light"}: ${text}`);
  };
  page.on("console", (message) => {
    if (message.type() === "error") tell(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => tell(`thrown: ${error.message}`));
  await page.waitForSelector("h1");
  for (const address of await allViews(page)) {
    const view = idOf(address) || "verdict";
    if (!view.includes(options.view)) continue;
    await page.evaluate((hash) => (location.hash = hash), address);
    await settled(page);
    await page.waitForTimeout(150);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) tell(`${view} scrolls sideways by ${over} px`);
    const file = `${name}_${view}_${width}_${dark ? "dark" : "light"}.png`;
    await page.screenshot({ path: path.join(options.out, file), fullPage: view !== "timeline" });
  }
  return faults;
}

async function main() {
  const options = readOptions();
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: process.env.DEBRIEF_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  mkdirSync(options.out, { recursive: true });
  const folder = mkdtempSync(path.join(os.tmpdir(), "shots."));
  let faults = 0;
  for (const job of options.jobs) {
    const address = writeReport(path.resolve(options.binary), job, folder);
    for (const width of options.widths) {
      for (const dark of [false, true]) {
        const context = await browser.newContext({
          viewport: { width, height: heights[width] ?? 900 },
          colorScheme: dark ? "dark" : "light",
          reducedMotion: "reduce",
        });
        const page = await context.newPage();
        await page.goto(address);
        faults += await shoot(page, job, options, width, dark);
        await context.close();
      }
    }
  }
  await browser.close();
  rmSync(folder, { recursive: true });
  console.log(`screenshots are in ${options.out}; ${faults} faults`);
  return faults > 0 ? 1 : 0;
}

process.exit(await main());
