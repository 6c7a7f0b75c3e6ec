// Ranks side by side: one row for each, who agrees with whom, and the two texts of a first difference.
import assert from "node:assert/strict";
import { hasCount } from "./steps.mjs";
import { emptyRun, hungRun, makeFinding, makeInput } from "./fixtures/fixture.mjs";

const text = (page, selector) => page.locator(selector).first().innerText();
const job = { job: 0, attempt: 0 };
const table = (rows) => ({ total: rows.length, rows });
const section = (page, name) => page.getByRole("region", { name, exact: true }).first();

// Rank 3 of 4 compiled another graph, and rank 1 comes late.
function rankTables() {
  const ranks = [0, 1, 2, 3];
  return {
    compile_rank_time: table(
      ranks.map((rank) => ({ ...job, rank, compilations: 4, seconds: rank === 3 ? 2.5 : 1, alone_s: 0 })),
    ),
    compile_rank_check: table([
      { ...job, what: "compile_ids", state: "differs", detail: "2 groups among 4 ranks" },
      { ...job, what: "cache", state: "consistent", detail: "" },
      { ...job, what: "order", state: "unavailable", detail: "fewer than two ranks tell their execution order" },
    ]),
    compile_divergence: table([
      { ...job, what: "compile_ids", group_number: 0, ranks: [0, 1, 2], detail: "1 compile ids" },
      { ...job, what: "compile_ids", group_number: 1, ranks: [3], detail: "2 compile ids; besides 1/0" },
    ]),
    compile_first_difference: table([
      {
        ...job,
        rank_a: 0,
        rank_b: 3,
        entry_a: 11,
        entry_b: 31,
        kind: "graph",
        name: "dynamo_output_graph",
        compile_id: "0/0",
        difference: "- add\n+ addmm",
      },
    ]),
    compile_rank_only: table([
      { ...job, function: "extra_fn", file: "train.py", line: 90, nth: 0, compile_id: "1/0", seconds: 0.7, ranks: [3], missing: [0, 1, 2] },
    ]),
    compile_overlap: table([{ ...job, ranks: [1], waiting: 3, seconds: 0.5, intervals: 2 }]),
    compile_runtime_delta: table([
      { ...job, pairing: "graph", graph: "-_0_0_0", delta_ms: 1.5, fastest_rank: 0, fastest_ms: 2, slowest_rank: 3, slowest_ms: 3.5, tied: false, ranks },
    ]),
    compile_order: table(
      ranks.flatMap((rank) => [
        { ...job, rank, position: 0, compile_id: "0/0", schedule_mismatch: false, cache_mismatch: false },
        { ...job, rank, position: 1, compile_id: rank === 3 ? "1/0" : "2/0", schedule_mismatch: true, cache_mismatch: false },
      ]),
    ),
    profile_rank: table(
      ranks.map((rank) => ({ ...job, rank, step_ns: 150e6 + rank, compute_ns: 40e6, host_own_ns: rank === 1 ? 120e6 : 70e6, ...(rank === 1 && { straggler: true, reason: "host" }) })),
    ),
    comm_arrival: table(
      ranks.map((rank) => ({ ...job, rank, times_last: rank === 1 ? 30 : 2, late_third_ns: rank === 1 ? 55e6 : 5e6 })),
    ),
  };
}

// Two graphs of three lines, of which one differs.
function texts() {
  const graphs = ["x = 1\ny = add(x)\nreturn y\n", "x = 1\ny = addmm(x)\nreturn y\n"];
  const of = (rank, entry, number) => ({
    input: rank,
    rank,
    life: 0,
    id: "0/0",
    artifacts: [[entry, 0, 0, 0, 0, graphs[number].length, number]],
  });
  return {
    texts: {
      kinds: ["dynamo_output_graph"],
      names: ["dynamo_output_graph"],
      forms: ["text"],
      texts: [
        [0, 0, graphs[0].length, 3, 0],
        [0, graphs[0].length, graphs[1].length, 3, 0],
      ],
      compilations: [of(0, 11, 0), of(3, 31, 1)],
    },
    "text/0": new TextEncoder().encode(graphs.join("")),
  };
}

function ranksRun(tables = rankTables()) {
  return {
    ...emptyRun(),
    jobs: [{ job: 0, name: "run", world_size: 4, attempts: 1, inputs: 4, ranks: [0, 1, 2, 3] }],
    inputs: [0, 1, 2, 3].map((rank) => ({
      ...makeInput(rank),
      kind: "torch_trace",
      job: 0,
      attempt: 0,
      rank,
    })),
    findings: [
      makeFinding(1, { role: "cause", headline: "Rank 1 is a straggler", job: 0, attempt: 0, ranks: [1] }),
    ],
    islands: { ranks: { tables }, ...texts() },
  };
}

const matrix = {
  name: "ranks: one row for each, and what blames it",
  async run(t) {
    for (const dark of [false, true]) {
      const page = await t.open(ranksRun(), { dark, hash: "#/ranks" });
      const rows = page.locator('[aria-label="All ranks"].virtual tbody tr');
      await hasCount(rows, 4);
      const slow = await rows.nth(1).innerText();
      assert.match(slow, /1\s+1.00 s.*150 ms\s+40.0 ms\s+120 ms\s+its host is slow\s+30\s+55.0 ms\s+.*Rank 1 is a straggler/s);
      assert.match(await rows.nth(3).innerText(), /3\s+2.50 s\s+0 s\s+compilations\s/);
      await t.screenshot(page, `ranks_${dark ? "dark" : "light"}`, true);
      await page.getByRole("link", { name: "Rank 1 is a straggler" }).click();
      await page.waitForFunction(() => /verdict\?finding=f1/.test(location.hash));
    }
  },
};

const agree = {
  name: "ranks: who agrees with whom",
  async run(t) {
    const page = await t.open(ranksRun(), { hash: "#/ranks" });
    const checks = await section(page, "Did all ranks compile the same?").innerText();
    for (const part of ["ranks 0\u20132", "rank 3", "differs from most", "2 compile ids; besides 1/0", "fewer than two ranks tell"])
      assert.ok(checks.includes(part), `${part} in ${checks}`);
    assert.match(checks, /differ\s+compilations.*agree\s+caches/s);
    assert.match(await section(page, "Expected time of graphs").innerText(), /1.50 ms\s+rank 0: 2.00 ms\s+rank 3: 3.50 ms/);
    const order = await section(page, "Order of graphs, where ranks differ").innerText();
    assert.match(order, /1\s+2\/0 on ranks 0\u20132; 1\/0 on rank 3\s+differ\s+agree/);
  },
};

const filtered = {
  name: "ranks: a chosen rank leaves what concerns it",
  async run(t) {
    const page = await t.open(ranksRun(), { hash: "#/ranks" });
    const rows = page.locator('[aria-label="All ranks"].virtual tbody tr');
    await rows.nth(1).getByRole("button").click();
    await page.waitForFunction(() => /ranks\?rank=1/.test(location.hash));
    await hasCount(rows, 4, "the others stay beside it");
    assert.match(await section(page, "First difference of each rank").innerText(), /This rank compiled what most ranks did/);
    assert.match(await section(page, "Expected time of graphs").innerText(), /neither the fastest nor the slowest/);
    assert.match(await page.getByRole("link", { name: "Its arrivals" }).getAttribute("href"), /flight_arrivals\?rank=1/);
    await page.locator("body").press("j");
    await page.locator("body").press("j");
    await page.waitForFunction(() => /rank=3/.test(location.hash));
    assert.match(await section(page, "First difference of each rank").innerText(), /Rank 3 compiled another graph/);
    assert.match(await section(page, "Some compiled while others did not").innerText(), /never compiled while others did not/);
    await page.getByRole("button", { name: "Show all ranks" }).click();
    await page.waitForFunction(() => !/rank=/.test(location.hash));
  },
};

const difference = {
  name: "ranks: the two texts side by side",
  async run(t) {
    const page = await t.open(ranksRun(), { hash: "#/ranks" });
    await page.getByRole("button", { name: "Compare the texts" }).click();
    await page.locator(".code-diff").scrollIntoViewIfNeeded();
    await page.getByText("y = addmm(x)").waitFor();
    const diff = await text(page, ".code-diff");
    await page.getByText("y = add(x)").waitFor();
    for (const part of ["of rank 0, as most ranks", "of rank 3", "1 line only left, 1 only right"])
      assert.ok(diff.includes(part), `${part} in ${diff}`);
    assert.match(page.url(), /diff=3/);
    await t.screenshot(page, "ranks_diff");
    await page.reload();
    await page.locator(".code-diff").waitFor();
  },
};

const hostile = {
  name: "ranks: hostile texts stay text",
  async run(t) {
    const bad = "</script><img src=x onerror=alert(1)>\u202e";
    const tables = rankTables();
    for (const { rows } of Object.values(tables))
      for (const row of rows)
        for (const [name, value] of Object.entries(row)) if (typeof value === "string") row[name] = bad;
    const page = await t.open(ranksRun(tables), { hash: "#/ranks" });
    await page.locator(".virtual").first().waitFor();
    assert.ok((await text(page, "main")).includes("<img src=x onerror=alert(1)>\\u202e"));
    await hasCount(page.locator("img"), 0);
  },
};

const partial = {
  name: "ranks: only dumps, and nothing at all",
  async run(t) {
    const { comm_arrival } = rankTables();
    const some = { total: 9, rows: comm_arrival.rows };
    let page = await t.open(ranksRun({ comm_arrival: some }), { hash: "#/ranks" });
    assert.match(await text(page, "main"), /last in dumps.*5 rows of comm_arrival not on this page/s);
    await hasCount(page.getByText("First difference of each rank"), 0);
    page = await t.open(hungRun(), { hash: "#/ranks" });
    assert.match(await text(page, ".missing"), /Nothing that compares ranks.*TORCH_TRACE/s);
  },
};

const many = {
  name: "ranks: 512 ranks scroll",
  async run(t) {
    const tables = rankTables();
    const row = tables.comm_arrival.rows[0];
    tables.comm_arrival = table(Array.from({ length: 512 }, (_, rank) => ({ ...row, rank })));
    const page = await t.open(ranksRun(tables), { hash: "#/ranks?rank=500" });
    await page.locator("tr.selected").waitFor();
    assert.match(await page.locator("tr.selected").innerText(), /^500/);
    assert.ok((await page.locator('[aria-label="All ranks"].virtual tbody tr').count()) < 80);
  },
};

export const tests = [matrix, agree, filtered, difference, hostile, partial, many];
