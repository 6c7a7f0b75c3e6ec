// The verdict: the answer on the first screen, and everything it rests on.
import assert from "node:assert/strict";
import { emptyRun, hungRun, largeRun, makeFinding, makeInput, severalJobs } from "./fixtures/fixture.mjs";
import { goTo, hasCount, pressKeyOf } from "./steps.mjs";

const headline = "Rank 5 skipped the all_reduce of mesh_dp at train.py:52";
const text = (page, selector) => page.locator(selector).innerText();

// True when all of the element is on the first screen.
async function inSight(page, selector) {
  const box = await page.locator(selector).first().boundingBox();
  const { width, height } = page.viewportSize();
  return (
    box !== null &&
    box.y >= 0 &&
    box.y + box.height <= height &&
    box.x >= 0 &&
    box.x + box.width <= width
  );
}

async function noSidewaysScroll(page) {
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(over, 0, "the page scrolls sideways");
}

const answersFirst = {
  name: "verdict: the first screen names rank, group, op and line",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(hungRun(), { dark });
      assert.equal(await text(page, "h1"), headline);
      assert.equal(await page.title(), `${headline} - debrief`);
      assert.equal(await text(page, ".hero .blamed"), "5");
      assert.match(
        await text(page, ".hero .blame"),
        /group\s*mesh_dp.*all_reduce.*16.*train\.py:52/s,
      );
      assert.match(await text(page, ".hero .kicker"), /Error.*cause.*confidence high \(90 %\)/s);
      for (const part of ["h1", ".hero .blamed", ".hero .next-step", ".grounds .evidence"])
        assert.ok(await inSight(page, part), part);
      const sizes = await page.evaluate(() =>
        [...document.querySelectorAll("body *")].map((one) =>
          parseFloat(getComputedStyle(one).fontSize),
        ),
      );
      const own = await page
        .locator("h1")
        .evaluate((one) => parseFloat(getComputedStyle(one).fontSize));
      assert.equal(own, Math.max(...sizes), "the headline is the largest text");
      await noSidewaysScroll(page);
      await t.screenshot(page, `verdict_${dark ? "dark" : "light"}`);
    }
  },
};

const folds = {
  name: "verdict: consequences fold under their cause, and the address keeps it",
  async run(t) {
    const page = await t.open(hungRun());
    await hasCount(page.locator("ol.findings > li"), 1, "the first finding is the story itself");
    await hasCount(page.getByText("Rank 7 has waited 601 s"), 0);
    await page.getByRole("button", { name: "4 consequences" }).click();
    await page.getByRole("button", { name: /Rank 7 has waited 601 s/ }).click();
    await page.getByText("the watchdog's time limit is 600 s").waitFor();
    assert.match(page.url(), /finding=f2/);
    assert.equal(await text(page, ".grounds .affected"), "7", "a consequence blames nobody");
    await hasCount(page.locator(".grounds .blamed"), 0);
    await page.getByRole("button", { name: "2 consequences" }).click();
    await page.getByText("The watchdog of rank 7 ended the process").waitFor();
    await page.reload();
    await page.getByText("the watchdog's time limit is 600 s").waitFor();
    await page.getByText("The watchdog of rank 7 ended the process").waitFor();
    await t.screenshot(page, "verdict_unfolded", true);
    await page.getByRole("button", { name: "4 consequences" }).click();
    await hasCount(page.getByText("Rank 7 has waited 601 s"), 0, "folds again");
    await page.goBack();
    await page.getByText("Rank 7 has waited 601 s").waitFor();
  },
};

const details = {
  name: "verdict: evidence, reason and next step",
  async run(t) {
    const page = await t.open(hungRun());
    await page.locator("details.analysed summary").click();
    const body = await text(page, "main");
    for (const part of [
      "never completed it in collective row 112",
      "There is no dump from rank 4",
      "Look at the branch around train.py:52",
      "flight.skipped_collective",
      "profile breakdown",
      "this version has no reader for them",
      "nothing to report",
      "the log ends in the middle",
    ]) {
      assert.ok(body.includes(part), part);
    }
    await hasCount(page.locator(".finding.open"), 0);
    await page.keyboard.press("j");
    await page.getByText("Look at the changed guard of 0/1.").waitFor();
    await page.keyboard.press("k");
    await hasCount(page.getByText("Look at the changed guard of 0/1."), 0);
    await page
      .locator(".facts")
      .getByRole("link", { name: /diagnostics/ })
      .click();
    assert.equal(await text(page, "h1"), "Diagnostics");
  },
};

const nothing = {
  name: "verdict: no findings, no analysis, no inputs",
  async run(t) {
    const full = hungRun();
    const quiet = {
      ...full,
      findings: [],
      analyses: full.analyses.map((one) => ({ ...one, findings: 0 })),
    };
    let page = await t.open(quiet);
    assert.equal(await text(page, "h1"), "No problem found");
    assert.match(
      await text(page, ".hero"),
      /4 analyses looked at \d+ outputs, .*Flight Recorder dumps.*2 analyses need other kinds of data/s,
    );
    await t.screenshot(page, "verdict_no_findings");
    page = await t.open({
      ...quiet,
      analyses: quiet.analyses.filter((one) => one.state !== "ran"),
    });
    assert.equal(await text(page, "h1"), "Nothing was analysed");
    page = await t.open(emptyRun());
    assert.equal(await text(page, "h1"), "No inputs were found");
    await t.screenshot(page, "verdict_empty");
    for (const view of ["Inventory", "Diagnostics"]) {
      await goTo(page, "Inputs", view);
      await page.locator(".empty").first().waitFor();
    }
  },
};

const circle = {
  name: "verdict: findings that explain each other are all shown",
  async run(t) {
    const findings = [
      makeFinding(1, { explains: ["f2"] }),
      makeFinding(2, { explains: ["f1", "f2", "none"] }),
    ];
    const page = await t.open({ ...emptyRun(), findings, inputs: [makeInput(0)] });
    await page.getByRole("button", { name: "1 consequence" }).click();
    await page.getByRole("button", { name: /Finding 2/ }).waitFor();
  },
};

const many = {
  name: "verdict: 500 findings",
  async run(t) {
    const page = await t.open(largeRun());
    await hasCount(page.locator("ol.findings > li"), 200);
    await page.getByRole("button", { name: "Show all 499" }).click();
    await page.locator("#finding-f500").waitFor();
    const last = await t.open(largeRun(), { hash: "#/verdict?finding=f499" });
    await last.locator("#finding-f499.open").waitFor();
    assert.ok(await inSight(last, "#finding-f499"), "the finding of the address is in sight");
  },
};

const jobs = {
  name: "verdict: choice of a job",
  async run(t) {
    const page = await t.open(severalJobs());
    await page.getByRole("combobox", { name: "Job" }).selectOption({ label: "job_2" });
    await page.getByRole("heading", { level: 1, name: "Rank 3 of job_2 was restarted" }).waitFor();
    assert.match(page.url(), /job=2/);
    await page.keyboard.press("Escape");
    await pressKeyOf(page, "Inputs");
    await page.getByRole("heading", { level: 1, name: "Inventory" }).waitFor();
    assert.match(page.url(), /inventory\?job=2/, "the job stays");
    assert.equal(await page.locator(".holes").first().innerText(), "Ranks that left nothing: 2");
    await page.getByRole("button", { name: "attempt 1" }).click();
    await page.getByText("missing: 0\u20132").waitFor();
    await t.screenshot(page, "inventory_jobs");
  },
};

const manyJobs = {
  name: "verdict: of several jobs one line each, the worst first, which leads to the job",
  async run(t) {
    const page = await t.open(severalJobs());
    const lines = page.locator(".job-verdicts li");
    await hasCount(lines, 3);
    assert.match(await lines.nth(0).innerText(), new RegExp(headline));
    assert.match(await lines.nth(1).innerText(), /job_2.*Rank 3 of job_2 was restarted/s);
    assert.match(await lines.nth(2).innerText(), /job_1.*no findings/s);
    assert.ok(await inSight(page, ".job-verdicts"));
    await noSidewaysScroll(page);
    await t.screenshot(page, "verdict_jobs");
    await lines.nth(1).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Rank 3 of job_2 was restarted" }).waitFor();
    assert.match(page.url(), /job=2/);
    await hasCount(lines, 0, "one job has no list");
  },
};

const narrow = {
  name: "verdict: narrow window",
  async run(t) {
    const page = await t.open(hungRun(), { width: 420, height: 800 });
    for (const view of ["verdict", "inventory", "diagnostics"]) {
      await page.goto(`${page.url().split("#")[0]}#/${view}`);
      await page.locator(`nav a[aria-current=page][href^="#/${view}"]`).first().waitFor();
      await noSidewaysScroll(page);
      await t.screenshot(page, `narrow_${view}`, true);
    }
  },
};

export const tests = [answersFirst, folds, details, nothing, circle, many, jobs, manyJobs, narrow];
