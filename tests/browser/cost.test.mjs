// Cost: what to fix first, where the time of ranks goes, what collectives and compiled regions cost.
import assert from "node:assert/strict";
import { hasCount } from "./steps.mjs";
import { emptyRun, hungRun, makeFinding, makeInput } from "./fixtures/fixture.mjs";

const job = { job: 0, attempt: 0 };
const ms = 1e6;
const table = (rows) => ({ total: rows.length, rows });
const section = (page, name) => page.getByRole("region", { name, exact: true }).first();

const fixes = [
  { ...job, position: 0, kind: "late_rank", reason: "host", culprit: 1, lost_ns: 600 * ms, share: 0.6, ranks: [0, 2], times: 12, group_name: "3", op: "all_reduce", text: "rank 1's host makes 2 ranks wait" },
  { ...job, position: 1, kind: "compile", reason: "compile", lost_ns: 200 * ms, share: 0.2, ranks: [1], times: 2, compile_id: "4/1", function: "forward", file: "/src/model.py", line: 12, text: "compiling forward (model.py:12) again on rank 1" },
  { ...job, position: 2, kind: "idle", reason: "data", lost_ns: 100 * ms, share: 0.1, ranks: [0, 1, 2], text: "the data loader is waited for on ranks 0-2" },
  { ...job, position: 3, kind: "idle", reason: "unknown", lost_ns: 100 * ms, share: 0.1, ranks: [2], text: "devices idle for a reason that is not recorded on rank 2" },
];

const rank = (number, fields) => ({
  ...job, rank: number, windows: 4, window_source: "step", measured_by: "device", wall_ns: 1000 * ms, busy_ns: 700 * ms, compute_ns: 600 * ms,
  transfer_ns: 100 * ms, undivided_ns: 0, lost_ns: 300 * ms, wait_ns: 200 * ms, compile_ns: 0, data_ns: 100 * ms, sync_ns: 0, allocation_ns: 0,
  host_ns: 0, pace_ns: 0, unknown_ns: 0, share: 0.3, caused_ns: 0, region_ns: 400 * ms, compiled_gpu_ns: 300 * ms, ...fields,
});

function costTables() {
  return {
    cost_fix: table(fixes),
    cost_rank: table([rank(0), rank(1, { wait_ns: 0, host_ns: 200 * ms, caused_ns: 600 * ms }), rank(2)]),
    cost_collective: table([
      { ...job, group_name: "3", group_desc: "mesh_dp", members: [0, 1, 2], op: "all_reduce", times: 12, bytes: 4e6, transfer_ns: 300 * ms, wait_ns: 400 * ms, exposed_ns: 700 * ms, last_rank: 2, last_wait_ns: 250 * ms, blamed_rank: 1, blamed_wait_ns: 390 * ms },
    ]),
    cost_region: table([
      { ...job, rank: 1, compile_id: "4/1", function: "forward", file: "/src/model.py", line: 12, compile_ns: 2500 * ms, again: true, gpu_ns: 80 * ms, kernels: 40, runs: 8, region_ns: 90 * ms, gpu_ns_a_run: 10 * ms, compile_ns_a_run: 312.5 * ms },
    ]),
  };
}

function costRun(tables = costTables()) {
  return {
    ...emptyRun(),
    jobs: [{ job: 0, name: "run", world_size: 3, attempts: 1, inputs: 3, ranks: [0, 1, 2] }],
    inputs: [0, 1, 2].map((one) => ({ ...makeInput(one), kind: "chrome_trace", job: 0, attempt: 0, rank: one })),
    findings: [makeFinding(1, { role: "cause", headline: "Rank 1 comes late", ranks: [1] })],
    islands: { cost: { tables } },
  };
}

const first = {
  name: "cost: what to fix first, and where to look",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(costRun(), { dark, hash: "#/cost" });
      const list = section(page, "Fix this first").locator("> ol > li");
      await list.first().waitFor();
      await hasCount(list, 3, "what names nothing to fix stands apart");
      assert.match(await list.nth(0).innerText(), /Rank 1's host makes 2 ranks wait\s+mostly at all_reduce of group 3, 12 collectives.*600 ms lost . 60\.0 %/s);
      assert.match(await list.nth(1).innerText(), /Compiling forward.*2 compilations.*model\.py:12.*200 ms/s);
      assert.match(await section(page, "Fix this first").locator("summary").innerText(), /1 smaller cause without a fix that would make steps shorter: 100 ms, 10\.0 % of the lost time/);
      await t.screenshot(page, `cost_${dark ? "dark" : "light"}`, true);
      await list.nth(0).getByRole("link", { name: "finding f1" }).click();
      await page.waitForFunction(() => /verdict\?finding=f1/.test(location.hash));
    }
  },
};

const replayed = {
  name: "cost: what steps would gain comes before what ranks lose",
  async run(t) {
    const tables = costTables();
    const gains = [10, 40, 20, 0]; // the last would make no step shorter: folded
    tables.cost_fix = table(
      [...fixes.slice(0, 3), fixes[0]].map((fix, i) => ({ ...fix, position: [2, 0, 1, 3][i], gain_ns: 4 * gains[i] * ms, step_ns: (200 - gains[i]) * ms, step_before_ns: 200 * ms })),
    );
    const page = await t.open(costRun(tables), { hash: "#/cost" });
    const list = section(page, "Fix this first").locator("> ol > li");
    await hasCount(list, 3);
    assert.match(await list.nth(0).innerText(), /Compiling forward.*without this, steps would take 160 ms instead of 200 ms/s);
    assert.match(await list.nth(2).innerText(), /Rank 1's host.*without this, steps would take 190 ms instead of 200 ms/s);
    assert.match(await section(page, "Fix this first").locator("summary").innerText(), /1 smaller cause without a fix that would make steps shorter/);
  },
};

const ranks = {
  name: "cost: ranks, collectives and regions",
  async run(t) {
    const page = await t.open(costRun(), { hash: "#/cost" });
    const numbers = await page.getByRole("list", { name: "Lost time" }).innerText();
    assert.match(numbers, /900 ms lost\s+30\.0 % of 3.00 s in steps.*40\.0 % compiled.*2\.50 s compiling/s);
    const rows = section(page, "Where the time of each rank goes").locator(".virtual tbody tr");
    await hasCount(rows, 3);
    assert.match(await rows.nth(1).innerText(), /1\s+1.00 s\s+300 ms\s+30\.0 %\s+0\s+600 ms/);
    const bar = rows.nth(0).getByRole("img");
    assert.equal(
      await bar.getAttribute("aria-label"),
      "computing 600 ms (60.0 %), moving data 100 ms (10.0 %), waiting for ranks 200 ms (20.0 %), data loading 100 ms (10.0 %)",
    );
    assert.match(await section(page, "Collectives").innerText(), /all_reduce\s+mesh_dp \[0.2\]\s+12\s+4\.00 MB\s+700 ms\s+300 ms\s+400 ms\s+rank 2, 250 ms\s+rank 1, 390 ms/);
    assert.match(await section(page, "Compiled regions").innerText(), /4\/1\s+forward.*model\.py:12\s+again\s+2\.50 s\s+8\s+80.0 ms\s+10.0 ms/s);
  },
};

const many = {
  name: "cost: the rest of a long list is one step away",
  async run(t) {
    const tables = costTables();
    tables.cost_fix = { total: 40, rows: Array.from({ length: 20 }, (_, i) => ({ ...fixes[0], position: i, lost_ns: (30 - i) * ms })) };
    const page = await t.open(costRun(tables), { hash: "#/cost" });
    const list = section(page, "Fix this first").locator("> ol > li");
    await list.first().waitFor();
    await hasCount(list, 8);
    assert.match(await section(page, "Fix this first").innerText(), /20 rows of cost_fix not on this page/);
    await page.getByRole("button", { name: "Show all 20" }).click();
    await page.waitForFunction(() => /all=1/.test(location.hash));
    await hasCount(list, 20);
  },
};

const hostile = {
  name: "cost: hostile texts stay texts",
  async run(t) {
    const bad = "</script><img src=x onerror=alert(1)>\u202e";
    const tables = costTables();
    for (const { rows } of Object.values(tables)) {
      for (const [i, row] of rows.entries())
        rows[i] = Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, typeof value === "string" && name !== "kind" ? bad : value]),
        );
    }
    const page = await t.open(costRun(tables), { hash: "#/cost" });
    await page.locator(".virtual").first().waitFor();
    assert.ok((await page.locator("main").innerText()).includes("<img src=x onerror=alert(1)>\\u202e"));
    await hasCount(page.locator("img"), 0);
  },
};

const partial = {
  name: "cost: compile logs alone, and nothing at all",
  async run(t) {
    const { cost_region } = costTables();
    let page = await t.open(costRun({ cost_region }), { hash: "#/cost" });
    const main = await page.locator("main").innerText();
    assert.match(main, /2\.50 s compiling again.*Where steps lose time is not known: no profile was recorded.*Compiled regions/s);
    assert.ok(!main.includes("Where the time of each rank goes"));
    page = await t.open(hungRun(), { hash: "#/cost" });
    assert.match(await page.locator(".missing").innerText(), /Neither profiles nor compile logs.*TORCH_TRACE/s);
  },
};

// A job of `count` ranks of which `slow` costs 60 % of a step.
function replayedRun(count, slow) {
  const gain = (number) => (number === slow ? 0.6 : 0.0004);
  const numbers = Array.from({ length: count }, (_, i) => i);
  const changes = numbers.map((number) => ({
    ...job, kind: "rank", name: `rank ${number}`, worker_rank: number, step_ns: 100 * ms, gain_ns: gain(number) * 250 * ms, gain_share: gain(number),
  }));
  return costRun({
    cost_rank: table(numbers.map((number) => rank(number))),
    what_if_job: table([{ ...job, source: "profiles", workers: count, replayed_ns: 250 * ms, typical_ns: 100 * ms, slowdown: 2.5 }]),
    what_if_change: table(changes),
  });
}

const mapOf = (page) => section(page, "What each rank costs the job");

const heat = {
  name: "cost: what each rank costs the job",
  async run(t) {
    let page = await t.open(replayedRun(8, 5), { hash: "#/cost" });
    const cells = mapOf(page).locator(".heat-cell");
    await hasCount(cells, 8);
    assert.match(await mapOf(page).locator(".takeaway").innerText(), /A step takes 250 ms; with every rank like the others it would take 100 ms \(2\.50 x faster\)/);
    assert.equal(await cells.nth(5).locator("title").textContent(), "Rank 5: costs 150 ms a step, 60.0 %");
    assert.match(await cells.nth(5).getAttribute("class"), /heat-6/);
    await hasCount(mapOf(page).locator(".heat-cell.heat-0"), 7);
    assert.match(await mapOf(page).getByRole("list").innerText(), /below 1 %.*from 80 %/s);
    await cells.nth(5).click();
    await page.waitForFunction(() => /timeline\?rank=5/.test(location.hash));
    page = await t.open(replayedRun(16384, 9001), { hash: "#/cost", width: 390 });
    await hasCount(mapOf(page).locator(".heat-cell"), 2048, "ranks share cells");
    const hot = mapOf(page).locator(".heat-cell.heat-6");
    await hasCount(hot, 1);
    assert.match(await hot.locator("title").textContent(), /^Ranks 9000.9007: rank 9001 costs 150 ms a step/);
  },
};

const stages = {
  name: "cost: workers of pipeline stages, and jobs that were not replayed",
  async run(t) {
    const worker = (stage, replica, slowdown) => ({ ...job, kind: "worker", worker_rank: stage * 2 + replica, stage, replica, slowdown });
    const replay = { ...job, source: "stages", replayed_ns: 250 * ms, typical_ns: 200 * ms, slowdown: 1.25 };
    const change = table([worker(0, 0, 1), worker(0, 1, 1.25), worker(1, 0, 0.98), worker(1, 1, 1)]);
    let page = await t.open(costRun({ what_if_job: table([replay]), what_if_change: change }), { hash: "#/cost" });
    await hasCount(mapOf(page).locator(".heat-cell"), 4);
    assert.match(await mapOf(page).locator("svg").textContent(), /stage 0.*stage 1.*Rank 1, stage 0: costs 50.0 ms a step, 20\.0 %/s);
    page = await t.open(costRun({ what_if_job: table([{ ...job, why_not: "its steps lack ops" }]) }), { hash: "#/cost" });
    assert.match(await mapOf(page).innerText(), /could not be replayed: its steps lack ops/);
    page = await t.open(costRun(), { hash: "#/cost" });
    assert.match(await mapOf(page).locator(".empty").innerText(), /No job was replayed: that takes profiles of two ranks/);
  },
};

export const tests = [first, replayed, ranks, many, hostile, partial, heat, stages];
