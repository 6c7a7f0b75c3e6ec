// What `debrief convert` writes, opened in a viewer that others made: speedscope, from file://.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const speedscope = path.join(root, "node_modules/speedscope/dist/release/index.html");
const profiles = path.join(root, "examples/two-rank-profile");

// Converts the example and opens the result in speedscope, as its own command line does it: by a script
// that hands over the file.
async function openInSpeedscope(t, format, name, ...flags) {
  const file = path.join(t.options.work, name);
  execFileSync(t.options.binary, ["convert", profiles, "--to", format, "-o", file, "--quiet", ...flags]);
  const script = `${file}.js`;
  const base64 = readFileSync(file).toString("base64");
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, "${base64}")`);
  const context = await t.browser.newContext({ viewport: { width: 1280, height: 800 } });
  t.contexts.push(context);
  await context.setOffline(true);
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  page.on("pageerror", (error) => t.problems.push(`thrown: ${error.message}`));
  page.on("dialog", (dialog) => {
    t.problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(`${pathToFileURL(speedscope).href}#localProfilePath=${script}`);
  await page.waitForFunction((wanted) => document.title.includes(wanted), name.split(".")[0]);
  return page;
}

const chrome = {
  name: "convert: Chrome JSON of two ranks loads in speedscope, a profile a thread",
  needsBinary: true,
  async run(t) {
    const page = await openInSpeedscope(t, "chrome", "two_ranks.json");
    const text = await page.locator("body").innerText();
    assert.match(text, /rank 0: python/);
    assert.match(text, /1\/6/, "two threads and four streams");
    await t.screenshot(page, "convert_chrome");
  },
};

const packed = {
  name: "convert: packed Chrome JSON loads in speedscope",
  needsBinary: true,
  async run(t) {
    const page = await openInSpeedscope(t, "chrome", "one_rank.json.gz", "--ranks", "1");
    assert.match(await page.locator("body").innerText(), /1\/3/);
  },
};

const collapsed = {
  name: "convert: collapsed stacks load in speedscope",
  needsBinary: true,
  async run(t) {
    const page = await openInSpeedscope(t, "collapsed", "stacks.collapsed.txt");
    assert.ok((await page.locator("canvas").count()) > 0);
  },
};

export const tests = [chrome, packed, collapsed];
