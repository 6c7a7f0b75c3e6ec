// The report that the binary itself writes.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { goTo, pressKeyOf } from "./steps.mjs";

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

export const tests = [hungJob];
