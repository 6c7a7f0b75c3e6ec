// SQL: in a page that `debrief serve` is behind, and what a page from a file says instead.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { hasCount } from "./steps.mjs";
import { compileTables, withCompile } from "./fixtures/compile_fixture.mjs";
import { hungRun, makePage } from "./fixtures/fixture.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const job = path.join(here, "..", "..", "examples", "hung-job");

const editor = (page) => page.getByRole("textbox", { name: "SQL" });
const cells = (page, column) =>
  page.locator(`.sql-results tbody tr:not(.spacer) td:nth-child(${column})`);

async function run(page, sql) {
  await editor(page).fill(sql);
  await editor(page).press("Control+Enter");
  await page.locator(".sql-results[aria-busy=false], .sql-error").waitFor();
}

const queries = {
  name: "serve: a statement gives rows, in the order of a click, and has an address",
  needsBinary: true,
  async run(t) {
    const own = await t.serve(t.shared([job]));
    const page = await t.visit(own, { hash: "#/sql" });
    await run(page, "SELECT range AS n, range % 7 AS rest, '<b>' || range AS text FROM range(3000)");
    assert.match(await page.locator(".sql-results [role=status]").innerText(), /first 500 rows.* ms/);
    assert.equal(await cells(page, 1).first().innerText(), "0");
    assert.equal(await cells(page, 3).first().innerText(), "<b>0");

    // The order is SQL's: the largest of all rows, not of those on the page.
    await page.getByRole("button", { name: "n", exact: true }).click();
    await page.getByRole("button", { name: "n", exact: true }).click();
    await page.locator("th[aria-sort=descending]").waitFor();
    await page.waitForFunction(
      () => document.querySelector(".sql-results tbody td")?.textContent === "2999",
    );

    // Scrolling to the end brings the next page.
    await page.locator(".table-box").evaluate((box) => (box.scrollTop = box.scrollHeight));
    await page.getByText(/first 1,000 rows/).waitFor();

    const copied = await t.visit(own, { hash: new URL(page.url()).hash });
    await copied.waitForFunction(
      () => document.querySelector(".sql-results tbody td")?.textContent === "2999",
    );
    await t.screenshot(page, "sql_rows");
  },
};

const failures = {
  name: "serve: an error is shown plainly, and nothing but reading is allowed",
  needsBinary: true,
  async run(t) {
    const page = await t.visit(await t.serve(t.shared([job])), { hash: "#/sql" });
    // The browser itself notes that an answer was no success.
    const isNote = (text) => text.includes("Failed to load resource");
    await run(page, "SELECT nothing FROM input");
    assert.match(await page.locator(".sql-error").innerText(), /nothing.*not found/s);
    await run(page, "DROP VIEW input");
    assert.match(await page.locator(".sql-error").innerText(), /only statements that read/);
    t.problems = t.problems.filter((text) => !isNote(text));
    await run(page, "SELECT count(*) AS inputs FROM input");
    assert.notEqual(await cells(page, 1).first().innerText(), "0");
  },
};

const tables = {
  name: "serve: tables with their columns, examples and the CSV",
  needsBinary: true,
  async run(t) {
    const page = await t.visit(await t.serve(t.shared([job])), { hash: "#/sql" });
    await page.getByRole("searchbox", { name: "Filter tables" }).fill("finding");
    await page.locator(".sql-tables button", { hasText: /^finding \d/ }).click();
    await page.getByText("one conclusion of an analysis").waitFor();
    await page.getByText("what to do", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Show its rows" }).click();
    await page.getByText("Rank 5 skipped").first().waitFor();

    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "All rows as CSV" }).click(),
    ]);
    assert.match(readFileSync(await file.path(), "utf8"), /^job,attempt,rank,finding,rule/);

    const choice = page.getByRole("combobox", { name: "Examples" });
    const titles = await choice.locator("option:not([disabled])").allInnerTexts();
    assert.equal(titles.length, 5);
    for (const title of titles) {
      await choice.selectOption({ label: title });
      await page.locator(".sql-results[aria-busy=false]").waitFor();
      await hasCount(page.locator(".sql-error"), 0, title);
    }
    await t.screenshot(page, "sql_tables");
  },
};

const fromFile = {
  name: "serve: from a file the page says how to get SQL",
  async run(t) {
    const page = await t.open(hungRun(), { hash: "#/sql" });
    assert.match(
      await page.locator("main").innerText(),
      /SQL needs a server: run debrief serve FOLDER/,
    );
    assert.match(await page.locator("main").innerText(), /debrief query FOLDER "SELECT finding,/);
    await hasCount(page.getByRole("button", { name: "Copy" }), 6);
    await t.screenshot(page, "sql_file", true);
  },
};

const leftOut = {
  name: "serve: rows that the page leaves out come from the store",
  needsBinary: true,
  async run(t) {
    const folder = t.write([job]);
    const lists = { compilation: compileTables().compilation };
    const run = withCompile(lists, { compilation: 1200 });
    writeFileSync(path.join(folder, "index.html"), makePage(t.options.page, run));
    const page = await t.visit(await t.serve(folder), { hash: "#/compile" });
    await page.getByRole("button", { name: "Show all rows" }).click();
    await page.getByRole("region", { name: /All rows of compilation, \d+ rows/ }).waitFor();
    await page.getByRole("link", { name: "as SQL" }).click();
    assert.equal(await editor(page).inputValue(), "SELECT * FROM compilation");

    const file = await t.open(run, { hash: "#/compile" });
    const words = await file.locator("section .left-out").innerText();
    assert.match(words, /1,200 rows of compilation are not on this page/);
    assert.match(words, /debrief query FOLDER "SELECT \* FROM compilation"/);
  },
};

export const tests = [leftOut, queries, failures, tables, fromFile];
