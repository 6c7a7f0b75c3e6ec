// The source view: files by weight, lines with what points at them, ways to and from other views.
import assert from "node:assert/strict";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hasCount } from "./steps.mjs";
import { compileTables, hostileName, withCompile } from "./fixtures/compile_fixture.mjs";
import { allIslands } from "./fixtures/compile_islands.mjs";
import { emptyRun, makeFinding } from "./fixtures/fixture.mjs";
import { faintTexts } from "./looks.test.mjs";

const examples = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "examples");

// With findings at line 52, which the island knows, and line 57, which it does not.
function run() {
  const finding = makeFinding(1, {
    severity: "error",
    headline: "Rank 5 skipped the all_reduce at train.py:52",
    compile_ids: ["0/1"],
    ranks: [1],
    source: [
      { rank: 7, file: "train.py", line: 52 },
      { rank: 5, file: "train.py", line: 57 },
    ],
  });
  return {
    ...withCompile(compileTables()),
    findings: [finding],
    islands: allIslands(),
    rows: { compile_entry: 10 },
  };
}

const view = {
  name: "source: files, lines, gaps and what points at a line",
  async run(t) {
    const page = await t.open(run(), { hash: "#/source" });
    const files = page.locator(".file-list li");
    await hasCount(files, 3);
    assert.match(await files.first().innerText(), /train\.py[^]*6.00 s, 2 failed, 6 breaks/);
    const lines = page.getByRole("region", { name: "Lines", exact: true });
    const text = await lines.innerText();
    for (const part of [
      "11 lines",
      "forward begins here",
      hostileName,
      "dist.all_reduce(x)",
      "4 lines",
      "57",
    ])
      assert.ok(text.includes(part), `${part} in ${text}`);
    await page.getByRole("button", { name: "Line 14" }).click();
    assert.match(page.url(), /line=14/);
    const detail = page.getByRole("complementary", { name: "Selected line" });
    assert.match(
      await detail.innerText(),
      /3 guards, which failed 2 times[^]*triton_poi_fused_add_0/,
    );
    assert.match(await detail.innerText(), /and 29 more/);
    await page.keyboard.press("j");
    await page.getByRole("link", { name: "6 graph breaks" }).waitFor();
    assert.match(page.url(), /line=41/);
    await page.keyboard.press("k");
    await detail.getByRole("link", { name: /rank 0 0\/1/ }).click();
    await page.getByRole("heading", { level: 2, name: "0/1 forward" }).waitFor();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
  },
};

const links = {
  name: "source: from findings to lines and back, to collectives and breaks",
  async run(t) {
    const page = await t.open(run(), { hash: "#/verdict" });
    const chip = page.getByRole("link", { name: /rank 7 at.*train\.py:52/ }).first();
    await chip.click();
    const detail = page.getByRole("complementary", { name: "Selected line" });
    await detail.waitFor();
    assert.match(page.url(), /source\?file=train\.py&line=52/);
    const flight = await detail
      .getByRole("link", { name: "Show the last one in its group" })
      .getAttribute("href");
    assert.equal(flight, "#/flight?group=7&seq=16&rank=5");
    await detail.getByRole("link", { name: /Rank 5 skipped/ }).click();
    await page.waitForFunction(() => location.hash.includes("finding=f1"));
    await page
      .getByRole("link", { name: /compile id/ })
      .first()
      .click();
    await page.getByRole("table", { name: "Compilations", exact: true }).waitFor();
    assert.match(page.url(), /id%3A0%2F1\+rank%3A1/);
    const rows = page.getByRole("table", { name: "Compilations", exact: true }).locator("tbody tr");
    await hasCount(rows, 1);
    await rows.getByRole("link", { name: /train\.py:12/ }).click();
    await page.getByRole("heading", { level: 1, name: "Source" }).waitFor();
    const unknown = await t.open(run(), { hash: "#/source?file=gone.py&line=3" });
    assert.match(await unknown.locator("main").innerText(), /Nothing is known about gone\.py/);
  },
};

const looks = {
  name: "source: contrast in both schemes, narrow and wide; nothing scrolls sideways",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(run(), {
        dark,
        width: dark ? 420 : 1280,
        hash: "#/source?line=14",
      });
      await page.getByRole("complementary", { name: "Selected line" }).waitFor();
      assert.deepEqual(await page.evaluate(faintTexts), [], dark ? "dark" : "light");
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(over, 0);
      await t.screenshot(page, `source_${dark ? "dark" : "light"}`, true);
    }
  },
};

const empty = {
  name: "source: without logs it says how to record them",
  async run(t) {
    const page = await t.open(emptyRun(), { hash: "#/source" });
    assert.match(await page.locator("main").innerText(), /TORCH_TRACE=DIR/);
    const none = { ...run(), islands: { source: { files: [], left_out: 0 } } };
    const page2 = await t.open(none, { hash: "#/source" });
    assert.match(await page2.locator("main").innerText(), /points at a line of source/);
  },
};

const recorded = {
  name: "source: the report that the binary writes",
  needsBinary: true,
  async run(t) {
    const page = await t.report([path.join(examples, "hung-job")], { hash: "#/source" });
    await page.getByRole("region", { name: "Lines", exact: true }).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("complementary", { name: "Selected line" }).waitFor();
  },
};

export const tests = [view, links, looks, empty, recorded];
