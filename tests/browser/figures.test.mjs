// One number, one source: what the page shows of five jobs is what the sheets, the JSON and the terminal of the same binary say.
// Amounts are compared as text, so that they have one way of being written, too (tests/amounts.def).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { formats } from "./format.test.mjs";
import { settled } from "./steps.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const sum = (rows, column) => rows.reduce((all, row) => all + (row[column] ?? 0), 0);
const most = (rows, column) => Math.max(...rows.map((row) => row[column] ?? 0));
const squeezed = (text) => text.replace(/\s+/g, " ").trim();

// What the binary says of one job without the page; sheets are read once.
class Said {
  constructor({ binary, work }, job, texts) {
    Object.assign(this, { binary, job, texts, sheets: new Map() });
    const verdict = [job, "--no-store", "--no-report", "-o", path.join(work, "figures_verdict")];
    this.answer = JSON.parse(this.run(...verdict, "--json"));
    this.terminal = squeezed(this.run(...verdict));
    this.markdown = squeezed(this.run(...verdict, "--markdown"));
  }

  run(...words) {
    return execFileSync(this.binary, [...words, "--quiet"], { encoding: "utf8", env: { PATH: process.env.PATH, COLUMNS: "200" } });
  }

  // Rows of a table of `debrief profile SHEET`; `is`: which of them.
  rows(sheet, table, is = () => true) {
    if (!this.sheets.has(sheet)) this.sheets.set(sheet, JSON.parse(this.run("profile", sheet, this.job, "--json", "--top", "0")).sheets);
    return this.sheets.get(sheet).filter((one) => one.table === table).flatMap((one) => one.rows).filter(is);
  }

  compiled() {
    return JSON.parse(this.run("compile", this.job, "--summary", "--json"));
  }

  share(part, whole) {
    return this.texts.shareText(whole > 0 ? part / whole : 0);
  }
}

const isWhole = (row) => row.scope === "all" && row.definition === "debrief";

// Facts of a view: "VALUE LABEL" and the note beside it, as in "28.5 % idle" and "447 us of 1.57 ms".
const views = {
  profile(said, { duration, showTime }) {
    const rows = said.rows("breakdown", "profile_breakdown", isWhole);
    const total = sum(rows, "total_ns");
    const part = (label, column) => [`${said.share(sum(rows, column), total)} ${label}`, `${showTime(sum(rows, column))} of ${duration(total)}`];
    return [part("compute", "compute_ns"), part("exposed comm.", "exposed_communication_ns"), part("exposed copies", "exposed_memcpy_ns"), part("idle", "idle_ns")];
  },
  profile_idle(said, { duration }) {
    const whole = said.rows("breakdown", "profile_breakdown", isWhole);
    const gaps = said.rows("idle", "profile_idle", (row) => row.definition === "debrief");
    return [
      [`${said.share(sum(whole, "idle_ns"), sum(whole, "total_ns"))} idle`, `${duration(sum(whole, "idle_ns"))} of ${duration(sum(whole, "total_ns"))}`],
      [`${sum(gaps, "gaps").toLocaleString("en-US")} gaps`, `longest ${duration(most(gaps, "longest_ns"))}`],
    ];
  },
  profile_kernels(said, { duration, count }) {
    const rows = said.rows("kernels", "profile_kernel", (row) => row.definition === "debrief");
    return [[`${duration(sum(rows, "total_ns"))} of work`, `${count(sum(rows, "count"))} kernels, copies and fills`]];
  },
  profile_ops(said, { duration }) {
    const rows = said.rows("ops", "profile_op");
    return [[`${duration(sum(rows, "host_self_ns"))} on the host`], [`${duration(sum(rows, "device_self_ns"))} on devices`]];
  },
  profile_roofline(said, { duration }) {
    const rows = said.rows("roofline", "profile_roofline", (row) => row.definition === "debrief");
    return [[`${duration(sum(rows, "busy_ns"))} of GPU time`], [`${duration(sum(rows, "save_ns"))} could be saved`]];
  },
  profile_memory(said, { memory }) {
    const [use] = said.rows("memory", "memory_use");
    const [peak] = said.rows("memory", "profile_memory_peak").sort((a, b) => b.peak_allocated_bytes - a.peak_allocated_bytes);
    if (use) return [[`${memory(use.peak_allocated_bytes)} peak in use`], [`${memory(use.end_allocated_bytes)} in use at the end`, `of ${memory(use.end_reserved_bytes)} reserved`]];
    return [[`${memory(peak.peak_allocated_bytes)} peak allocated`]];
  },
  // What is lost stands in the evidence of the finding that leads.
  cost(said) {
    const texts = said.answer.findings.filter((one) => one.rule.startsWith("cost.")).flatMap((one) => one.evidence.map((each) => each.text));
    const lost = texts.map((text) => /^(\S+ \w+) lost: /.exec(text)?.[1]).find(Boolean);
    return lost ? [[`${lost} lost`]] : [];
  },
  compile(said, { seconds, count }) {
    const rows = said.compiled().compilation;
    return [[`${count(rows.length)} compilations`], [`${count(rows.filter((row) => row.outcome === "failed").length)} failed`], [`${seconds(sum(rows, "seconds"))} in all`]];
  },
  compile_cost(said, { seconds }) {
    return [[`${seconds(sum(said.compiled().compilation, "seconds"))} in phases`]];
  },
};

const jobs = {
  "hung-job": ["compile", "compile_cost"],
  "slow-job": ["cost", "profile", "profile_idle", "profile_kernels", "profile_ops", "profile_roofline", "profile_memory"],
  "two-rank-profile": ["profile", "profile_idle", "profile_kernels", "profile_ops", "profile_roofline", "profile_memory"],
  "out-of-memory": ["profile_memory"],
  recompiles: ["compile", "compile_cost"],
};

async function checkVerdict(page, said) {
  const [first] = said.answer.findings;
  const shown = squeezed(await page.locator("main").innerText()).replaceAll("\u00a0", " ");
  if (!first) return assert.ok(shown.includes("No problem found") && said.terminal.includes("No problem found"), shown);
  assert.ok(shown.includes(first.headline), `the page does not say ${first.headline}: ${shown}`);
  assert.ok(said.terminal.includes(first.headline), `the terminal does not say ${first.headline}`);
  const sure = `${Math.floor(100 * first.confidence + 0.5)} %`;
  for (const [where, text] of Object.entries({ page: shown, Markdown: said.markdown })) assert.ok(text.includes(sure), `${where}: ${sure}`);
  for (const { text } of first.evidence.slice(0, 2)) assert.ok(shown.includes(squeezed(text).slice(0, 60)), `the page has no evidence ${text}`);
}

async function checkView(page, said, view) {
  await page.evaluate((to) => (location.hash = to), `#/${view}`);
  await page.waitForFunction((to) => location.hash === to, `#/${view}`);
  await settled(page);
  const facts = (await page.locator("main .numbers > li").allInnerTexts()).map(squeezed);
  const expected = views[view](said, said.texts);
  assert.ok(expected.length > 0, `${view}: nothing to compare`);
  for (const words of expected)
    assert.ok(facts.some((fact) => words.every((one) => fact.includes(one))), `#/${view} of ${said.job}: no ${words} in ${facts.join(" | ")}`);
}

const test = ([job, names]) => ({
  name: `figures: page, sheets, JSON, Markdown and terminal agree on ${job}`,
  needsBinary: true,
  async run(t) {
    const folder = path.join(root, "examples", job);
    const said = new Said(t.options, folder, await formats());
    const page = await t.report([folder], { hash: "#/verdict" });
    await checkVerdict(page, said);
    for (const view of names) await checkView(page, said, view);
  },
});

export const tests = Object.entries(jobs).map(test);
