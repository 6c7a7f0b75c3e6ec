// Inventory and diagnostics: holes at a glance, filters, order, and speed with 20,000 inputs.
import assert from "node:assert/strict";
import { hungRun, largeRun } from "./fixtures/fixture.mjs";
import { goTo, hasCount, pressKeyOf } from "./steps.mjs";

const rows = (page) => page.locator("table.virtual tbody tr:not(.spacer)");

const matrix = {
  name: "inventory: holes of the matrix",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(hungRun(), { hash: "#/inventory", dark });
      const row = page.locator("table.matrix tbody tr", { hasText: "Flight Recorder dump" });
      await hasCount(row.locator(".cell.imported"), 7);
      await hasCount(row.locator(".cell.none"), 1);
      assert.equal(
        await row.locator(".cell.none").getAttribute("aria-label"),
        "rank 4, Flight Recorder dump: nothing",
      );
      assert.equal(await row.locator(".words").innerText(), "missing: 4");
      await hasCount(page.locator(".cell.failed[aria-label^='rank 6, compile log']"), 1);
      assert.equal(
        await page
          .locator("table.matrix tbody tr", { hasText: "compile log" })
          .locator(".words")
          .innerText(),
        "not read: 6",
      );
      await t.screenshot(page, `inventory_${dark ? "dark" : "light"}`);
      await page.getByRole("button", { name: "rank 5, output: 1 input, imported" }).click();
      await page.getByText("1 of 30").waitFor();
      await hasCount(rows(page), 1);
      assert.match(await rows(page).innerText(), /stdout_rank5\.txt/);
    }
  },
};

const filter = {
  name: "inventory: filter and order survive a reload",
  async run(t) {
    const page = await t.open(hungRun(), { hash: "#/inventory" });
    await page.keyboard.press("/");
    await page.keyboard.type("TORCH rank:3");
    await page.getByRole("status").filter({ hasText: "1 of 30" }).waitFor();
    await page.keyboard.press("Escape");
    await page.reload();
    await page.getByRole("status").filter({ hasText: "1 of 30" }).waitFor();
    assert.equal(await page.getByLabel("Filter inputs").inputValue(), "TORCH rank:3");
    await page.getByLabel("Filter inputs").fill("constructor:x (");
    await page.getByText("No input matches the filter.").waitFor();
    await page.getByLabel("Filter inputs").fill("rank:none");
    await page.getByRole("status").filter({ hasText: "1 of 30" }).waitFor();
    await page.getByLabel("Filter inputs").fill("");
    const size = page.getByRole("columnheader", { name: "size" });
    await size.getByRole("button").click();
    await size.getByRole("button").click();
    assert.equal(await size.getAttribute("aria-sort"), "descending");
    assert.match(await rows(page).first().innerText(), /rank-5\.1\.pt\.trace\.json\.gz/);
    await page.reload();
    assert.match(await rows(page).first().innerText(), /rank-5\.1\.pt\.trace\.json\.gz/);
  },
};

const keyboard = {
  name: "frame: keys and help",
  async run(t) {
    const page = await t.open(hungRun());
    await pressKeyOf(page, "Inputs");
    await goTo(page, "Inputs", "Diagnostics");
    await page.getByRole("heading", { level: 1, name: "Diagnostics" }).waitFor();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog");
    await help.getByText("Show these keys").waitFor();
    await t.screenshot(page, "help");
    await page.keyboard.press("1");
    assert.ok(await help.isVisible(), "keys do nothing behind the help");
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await pressKeyOf(page, "Inputs");
    await page.getByRole("heading", { level: 1, name: "Inventory" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("3");
    assert.equal(
      await page.getByLabel("Filter inputs").inputValue(),
      "3",
      "keys are text in a filter",
    );
    await page.goto(`${page.url().split("#")[0]}#/no_such_view?finding=%00&job=99`);
    await page.getByRole("heading", { level: 1, name: /Rank 5 skipped/ }).waitFor();
  },
};

const diagnostics = {
  name: "diagnostics: kinds, places, remedy",
  async run(t) {
    const page = await t.open(hungRun(), { hash: "#/diagnostics" });
    assert.match(
      await page.locator(".kinds li").first().innerText(),
      /Error[\s\S]*the log ends in the middle of a payload[\s\S]*Copy the file again/i,
    );
    await page.getByRole("button", { name: /text.invalid_utf8 23 in/ }).click();
    await page.getByRole("status").filter({ hasText: "1 of 3" }).waitFor();
    await rows(page).first().click();
    const panel = page.getByRole("complementary", { name: "Selected diagnostic" });
    assert.match(await panel.innerText(), /line 44: byte 0xfe[\s\S]*and 21 more/);
    await page.reload();
    await panel.waitFor();
    await t.screenshot(page, "diagnostics_light");
    const dark = await t.open(hungRun(), { hash: "#/diagnostics", dark: true });
    await t.screenshot(dark, "diagnostics_dark");
  },
};

const large = {
  name: "inventory: 20,000 inputs of 1,024 ranks",
  async run(t) {
    const page = await t.open(largeRun(), { hash: "#/inventory" });
    const paint = await page.waitForFunction(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    );
    const first = await paint.jsonValue();
    assert.ok(first > 0 && first < 1000, `first paint after ${first} ms`);
    assert.ok((await rows(page).count()) < 100, "only rows in sight are elements");
    assert.ok(await page.getByText("missing: 517").isVisible());
    await t.screenshot(page, "inventory_large");

    // Jump through the whole table; a jump must show rows at once. One of them may have waited for the machine.
    const box = page.getByRole("region", { name: "Inputs, 20,000 rows" });
    const median = await box.evaluate(async (element) => {
      const jumps = [];
      for (let i = 1; i <= 40; ++i) {
        const start = performance.now();
        element.scrollTop = (element.scrollHeight * i) / 41;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        jumps.push(performance.now() - start);
      }
      return jumps.sort((a, b) => a - b)[20];
    });
    assert.ok(median < 250, `a jump took ${median} ms`);
    await box.evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await page.getByText("_19999.log").waitFor();

    const typed = await page.evaluate(async () => {
      const start = performance.now();
      const input = document.querySelector("input[type=search]");
      input.value = "host7/ kind:job_text";
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return performance.now() - start;
    });
    assert.ok(typed < 300, `filtering took ${typed} ms`);
    await page.getByText(/ of 20,000/).waitFor();
    assert.match(await rows(page).first().innerText(), /host7\//);
    console.log(
      `     first paint ${Math.round(first)} ms, a jump ${Math.round(median)} ms, filter ${Math.round(typed)} ms`,
    );
  },
};

export const tests = [matrix, filter, keyboard, diagnostics, large];
