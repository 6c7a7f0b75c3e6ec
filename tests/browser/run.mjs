// Tests of the report in a real browser: what a reader sees, from file:// with no network, or from `debrief serve`.
//
//   node tests/browser/run.mjs --binary build/release/debrief --work build/browser [--folder recorded] [--only WORD] [--pictures]
//
// Each *.test.mjs of this folder, or of the one below it that is named, exports `tests`, a list of
// {name, run(t)}; t is the Test below. Reports are written by the binary (t.report) or made from a fixture with the page that
// the binary embeds (t.open). The page is taken from the web/ folder beside the binary. A test also fails when the page writes
// to the console, throws, or asks for anything but itself and its data. Exit code 77 when there is no browser, or when all
// files say (`skipped`) why they have no tests.
//
// The browser is started once. A tab takes longer to open than most tests need, so tests hand theirs on; reports of the same
// inputs are written once.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { makePage } from "./fixtures/fixture.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const chromiumPath = process.env.DEBRIEF_CHROMIUM ?? "/usr/bin/chromium";
const chromiumArgs = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--no-first-run",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
];

// What the embedded flame graph viewer and the browser's software WebGL say of themselves; errors are ours.
function isFlameGraphTalk(message) {
  return (
    message.type() !== "error" &&
    (message.location().url.includes("/report_data/speedscope/") ||
      message.text().includes("software WebGL"))
  );
}

// A page and who uses it. Pages keep nothing from one address to the next, so a tab serves one test after the other.
class Tab {
  constructor(context, page, isServed) {
    Object.assign(this, { context, page, isServed, test: null, own: "" });
    page.on("console", (message) => {
      if (!isFlameGraphTalk(message)) this.report(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.report(`thrown: ${error.message}`));
    page.on("request", (request) => {
      const url = request.url();
      if (!this.mayAskFor(url)) this.report(`request: ${url.slice(0, 200)}`);
    });
  }

  // `isServed`: by a server of ours; other pages are files, and offline.
  static async open(browser, isServed, script) {
    const context = await browser.newContext({ javaScriptEnabled: script });
    await context.setOffline(!isServed);
    const page = await context.newPage();
    const tab = new Tab(context, page, isServed);
    await context.route(
      (url) => url.protocol !== "data:" && !tab.isInside(url),
      (route) => route.abort(),
    );
    return tab;
  }

  isInside(url) {
    return this.isServed ? url.href.startsWith(this.own) : url.protocol === "file:";
  }

  mayAskFor(url) {
    if (url.split("#")[0] === this.own || url.startsWith("data:")) return true;
    const beside = ["report_data/", ...(this.isServed ? ["api/"] : [])];
    return beside.some((folder) => url.startsWith(new URL(folder, this.own).href));
  }

  report(problem) {
    this.test?.problems.push(problem);
  }

  async take(test, own, { width, height, dark }) {
    const { page } = this;
    Object.assign(this, { test, own });
    page.setDefaultTimeout(5000);
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light", reducedMotion: "reduce" });
  }

  // As new: what a test may have added is gone, and the mouse points at nothing.
  async leave() {
    const { page } = this;
    this.test = null;
    for (const event of ["requestfailed", "requestfinished", "download"]) page.removeAllListeners(event);
    await page.unrouteAll();
    await page.mouse.move(0, 0);
    await page.goto("about:blank");
  }
}

class Test {
  constructor(browser, options, name) {
    Object.assign(this, { browser, options, name, problems: [], contexts: [], servers: [], tabs: [] });
  }

  // The folder of the report that the binary makes of `inputs`; of this test alone.
  write(inputs, ...options) {
    const what = [this.name, ...inputs.map((input) => path.basename(input))].join(" of ");
    const folder = path.join(this.options.work, what.replace(/\W+/g, "_").slice(0, 200));
    rmSync(folder, { recursive: true, force: true });
    execFileSync(this.options.binary, [...inputs, "-o", folder, "--quiet", ...options], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    return folder;
  }

  // The same for tests that only look at it: written for the first of them.
  shared(inputs, ...options) {
    const { reports } = this.options;
    const key = JSON.stringify([inputs, options]);
    if (!reports.has(key)) reports.set(key, this.write(inputs, ...options));
    return reports.get(key);
  }

  async report(inputs, settings = {}) {
    return this.show(path.join(this.shared(inputs, "--no-store"), "index.html"), settings);
  }

  // The address of a server of the report in `folder`; it ends with the test.
  async serve(folder) {
    const server = spawn(this.options.binary, ["serve", folder, "--quiet"]);
    this.servers.push(server);
    const [line] = await once(server.stdout, "data");
    return String(line).trim();
  }

  // Opens a page with the data of a fixture.
  async open(run, settings = {}) {
    const file = path.join(this.options.work, `${this.name.replace(/\W+/g, "_")}.html`);
    writeFileSync(file, makePage(this.options.page, run));
    return this.show(file, settings);
  }

  async show(file, settings = {}) {
    return this.visit(pathToFileURL(file).href, settings);
  }

  // `own`: of a file, or of a server of ours, whose data and API the page may then ask for.
  // settings: hash, width, height, dark, script (false: a reader without JavaScript).
  async visit(own, { hash = "", width = 1280, height = 800, dark = false, script = true } = {}) {
    const idle = this.options.idleTabs;
    const kind = `${own.startsWith("http:")} ${script}`;
    const tab = idle[kind]?.pop() ?? (await Tab.open(this.browser, own.startsWith("http:"), script));
    this.tabs.push([kind, tab]);
    await tab.take(this, own, { width, height, dark });
    await tab.page.goto(own + hash);
    await tab.page.waitForSelector("h1");
    return tab.page;
  }

  // For people who want to look (--pictures); painting and packing them takes longer than all tests together.
  async screenshot(page, name, fullPage = false) {
    if (!this.options.pictures) return;
    await page.screenshot({ path: path.join(this.options.work, `${name}.png`), fullPage });
  }

  // Tabs of a test that failed may be in any state.
  async close(isGood) {
    for (const context of this.contexts) await context.close();
    for (const [kind, tab] of this.tabs) {
      if (isGood) {
        await tab.leave();
        (this.options.idleTabs[kind] ??= []).push(tab);
      } else {
        tab.test = null;
        await tab.context.close();
      }
    }
    for (const server of this.servers) server.kill();
  }
}

async function runOne(browser, options, { name, run }) {
  const test = new Test(browser, options, name);
  const start = performance.now();
  let failure = null;
  try {
    await run(test);
    if (test.problems.length > 0) failure = test.problems.slice(0, 5).join("\n    ");
  } catch (error) {
    failure = error.stack ?? String(error);
  }
  await test.close(failure === null);
  console.log(`${failure ? "FAIL" : "ok  "} ${name} (${Math.round(performance.now() - start)} ms)`);
  if (failure) console.log(`    ${failure}`);
  return failure === null;
}

async function collect(options) {
  const folder = path.join(here, options.folder);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".test.mjs"))
    .sort();
  const modules = await Promise.all(
    files.map((name) => import(pathToFileURL(path.join(folder, name)).href)),
  );
  for (const one of modules) if (one.skipped) console.log(`skipped: ${one.skipped}`);
  if (modules.every((one) => one.skipped)) process.exit(77);
  const tests = modules
    .flatMap((one) => one.tests)
    .filter((one) => one.name.includes(options.only));
  return tests;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      binary: { type: "string", default: "build/release/debrief" },
      work: { type: "string", default: "build/browser" },
      page: { type: "string" },
      folder: { type: "string", default: "." },
      only: { type: "string", default: "" },
      pictures: { type: "boolean", default: false },
    },
  });
  const binary = path.resolve(values.binary);
  const page = path.resolve(values.page ?? path.join(path.dirname(binary), "web", "page.html"));
  return { ...values, binary, page, work: path.resolve(values.work), reports: new Map(), idleTabs: {} };
}

async function main() {
  const options = readOptions();
  if (!existsSync(chromiumPath)) {
    console.log(`skipped: ${chromiumPath} is missing (apt-get install chromium)`);
    return 77;
  }
  mkdirSync(options.work, { recursive: true });
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumArgs });
  let passed = 0;
  let failed = 0;
  for (const test of await collect(options)) {
    if (test.needsBinary && !existsSync(options.binary)) {
      console.log(`skip ${test.name}: ${options.binary} is missing`);
      continue;
    }
    if (await runOne(browser, options, test)) ++passed;
    else ++failed;
  }
  await browser.close();
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

process.exit(await main());
