// The report that the binary itself writes.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { faintTexts } from "./looks.test.mjs";
import { allViews, goTo, idOf, pressKeyOf, settled } from "./steps.mjs";

const examples = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "examples");

const hungJob = {
  name: "report: examples/hung-job",
  needsBinary: true,
  async run(t) {
    const folder = path.join(examples, "hung-job");
    assert.ok(existsSync(folder), `${folder} is missing`);
    const page = await t.report([folder]);
    // The first screen names the rank, what it did and where.
    assert.match(await page.locator("h1").innerText(), /Rank 5 skipped 4 collectives of mesh_dp/);
    assert.match(await page.locator("h1").innerText(), /dist_job\.py:53/);
    await t.screenshot(page, "example_verdict");
    await pressKeyOf(page, "Inputs");
    await page.getByRole("heading", { level: 1, name: "Inventory" }).waitFor();
    assert.ok(
      (await page.locator("table.matrix .cell").count()) >= 8,
      "eight ranks left something",
    );
    await t.screenshot(page, "example_inventory");
    await goTo(page, "Inputs", "Diagnostics");
    await page.getByRole("heading", { level: 1, name: "Diagnostics" }).waitFor();
  },
};

const both = ["hung-job", "two-rank-profile"].map((one) => path.join(examples, one));

// What each view says, in order of the navigation.
async function textsOf(page) {
  const texts = {};
  for (const address of await allViews(page)) {
    await page.evaluate((hash) => (location.hash = hash), address);
    await settled(page);
    texts[idOf(address)] = await page.locator("main").innerText();
  }
  return texts;
}

const singleFile = {
  name: "report: one file says the same as several",
  needsBinary: true,
  async run(t) {
    const several = await textsOf(await t.report(both));
    const folder = t.write(both, "--no-store", "--single-file");
    assert.deepEqual(readdirSync(folder).sort(), [".debrief", "findings.json", "index.html"]);
    const single = await textsOf(await t.show(path.join(folder, "index.html")));
    assert.deepEqual(Object.keys(single), Object.keys(several));
    assert.match(single.profile_flames, /--single-file/, "flame graphs say where they are");
    for (const id of Object.keys(several))
      if (id !== "profile_flames") assert.equal(single[id], several[id], id);
  },
};

const lostData = {
  name: "report: a page without its data says what is missing",
  needsBinary: true,
  async run(t) {
    // A folder of its own: the browser remembers the data of those that were looked at before.
    const page = await t.show(path.join(t.write(both, "--no-store"), "index.html"));
    await page.route(/report_data/, (route) => route.abort());
    await page.evaluate(() => (location.hash = "#/flight"));
    await page.getByText("report_data/flight.js cannot be read").waitFor();
    assert.match(await page.locator("main").innerText(), /copy the whole folder/);
    t.problems = []; // the browser's words about the file
  },
};

const contrast = {
  name: "report: every text of every view reaches a contrast of 4.5",
  needsBinary: true,
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.report(both, { dark });
      for (const address of await allViews(page)) {
        await page.evaluate((hash) => (location.hash = hash), address);
        await settled(page);
        const faint = await page.evaluate(faintTexts);
        assert.deepEqual(faint, [], `${address} ${dark ? "dark" : "light"}`);
      }
    }
  },
};

export const tests = [hungJob, singleFile, lostData, contrast];
