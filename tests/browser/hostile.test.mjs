// Inputs of every kind whose texts are all hostile (hostile_inputs.py), through every view: text stays text.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { allViews, idOf, settled } from "./steps.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

// What a text could have become; runs in the page. The only frame is that of the flame graphs.
function escaped() {
  const found = [];
  if (window.hacked) found.push("a script ran");
  for (const one of document.querySelectorAll("main img, main script, main object, main embed, main form, main base"))
    found.push(one.outerHTML.slice(0, 200));
  for (const one of document.querySelectorAll("main iframe"))
    if (!one.src.startsWith(new URL("report_data/speedscope/index.html#", location.href).href)) found.push(one.outerHTML.slice(0, 200));
  for (const one of document.querySelectorAll("a[href]"))
    if (!one.getAttribute("href").startsWith("#")) found.push(`link to ${one.getAttribute("href").slice(0, 200)}`);
  for (const one of document.querySelectorAll("*"))
    for (const { name } of one.attributes) if (name.startsWith("on")) found.push(`${one.tagName} has ${name}`);
  const text = document.body.innerText;
  const bad = /[\u0000\u001b\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]/.exec(text);
  if (bad) found.push(`an unseen character: ${JSON.stringify(text.slice(Math.max(0, bad.index - 60), bad.index + 20))}`);
  return found;
}

// Rows, folds and tabs lead to more texts: each of the first few is opened.
async function openMore(page) {
  for (const selector of ["main [role=tab]", "main button[aria-expanded=false]", "main tr.selectable", "main summary"]) {
    const count = Math.min(4, await page.locator(selector).count());
    for (let i = 0; i < count; ++i) {
      const one = page.locator(selector).nth(i);
      if (await one.isVisible().catch(() => false)) await one.click({ timeout: 1000 }).catch(() => {});
    }
  }
}

const everyKind = {
  name: "hostile: texts of every kind of input stay text in every view",
  needsBinary: true,
  async run(t) {
    const inputs = path.join(t.options.work, "hostile_inputs");
    execFileSync("python3", [path.join(here, "hostile_inputs.py"), inputs]);
    const trace = path.join(inputs, "profile_rank1.json");
    execFileSync(t.options.binary, [
      "convert",
      trace,
      "--to",
      "perfetto",
      "-o",
      path.join(inputs, "rank1.pftrace"),
      "--quiet",
    ]);
    const page = await t.report([inputs]);
    page.setDefaultTimeout(10000);
    let shown = 0;
    for (const address of await allViews(page)) {
      await page.evaluate((hash) => (location.hash = hash), address);
      await settled(page);
      assert.deepEqual(await page.evaluate(escaped), [], address);
      await openMore(page);
      assert.deepEqual(await page.evaluate(escaped), [], `${address}, opened`);
      if ((await page.locator("main").innerText()).includes("window.hacked=1")) ++shown;
      await t.screenshot(page, `hostile_${idOf(address)}`);
    }
    assert.ok(shown >= 6, `the texts are shown in ${shown} views`);
    assert.match(await page.title(), /Rank 5/);
  },
};

export const tests = [everyKind];
