// Pages made from data that no job has to leave behind first: hostile texts, 20,000 inputs, nothing at
// all. The page is the one that the build embeds; its marks are filled in as outputs/report/html does it.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const htmlEscapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escapeHtml = (text) => text.replace(/[&<>"']/g, (c) => htmlEscapes[c]);

const packed = (bytes) => gzipSync(bytes).toString("base64");

// Rows by table, as the page wants to know them: of the islands' tables, and one of comm_match for a grid.
function rowsOf({ flight, ...islands }) {
  const rows = flight?.groups.length > 0 ? { comm_match: 1 } : {};
  for (const island of Object.values(islands)) {
    for (const [name, table] of Object.entries(island?.tables ?? {})) rows[name] = table.total;
  }
  return rows;
}

// `islands`: by name; what is no Uint8Array becomes JSON. null: left out. `rows`: more that tables have.
export function makePage(pageFile, { flight = null, compile = null, islands = {}, rows = {}, ...run }) {
  const headlines = run.findings
    .map((finding) => `<p>${escapeHtml(finding.headline)}</p>`)
    .join("\n");
  const island = (value) => JSON.stringify(value).replace(/</g, "\\u003c");
  const story = run.findings.length > 0 ? { jobs: [], evidence: {} } : null;
  const all = { flight, compile, texts: compile && {}, story, ...islands };
  const bytes = (value) => (value instanceof Uint8Array ? value : JSON.stringify(value));
  const values = {
    title: escapeHtml(`${run.findings[0]?.headline ?? "No findings"} - debrief`),
    headlines,
    data: island(run),
    contents: island({ rows: { ...rowsOf(all), ...rows } }),
    islands: Object.entries(all)
      .filter(([, value]) => value !== null)
      .map(
        ([name, value]) =>
          `<script type="text/plain" data-island="${name}">${packed(bytes(value))}</script>`,
      )
      .join("\n"),
  };
  return readFileSync(pageFile, "utf8").replace(
    /\{\{(title|headlines|data|contents|islands)\}\}/g,
    (_, name) => values[name],
  );
}

export function emptyRun() {
  return {
    schema: 1,
    tool: { name: "debrief", version: "0.1.0" },
    jobs: [],
    findings: [],
    analyses: [],
    diagnostics: [],
    inputs: [],
  };
}

export function makeFinding(number, fields = {}) {
  return {
    id: `f${number}`,
    rule: "flight.rule",
    severity: "warning",
    role: "observation",
    headline: `Finding ${number}`,
    job: 0,
    attempt: 0,
    ranks: [],
    groups: [],
    op: "",
    seq: null,
    compile_ids: [],
    source: [],
    evidence: [],
    explains: [],
    confidence: 1,
    why: "",
    next_step: "",
    ...fields,
  };
}

export function makeInput(number, fields = {}) {
  return {
    input: number,
    path: `job/input_${number}`,
    kind: "job_text",
    state: "imported",
    job: 0,
    attempt: 0,
    rank: null,
    bytes: 1000,
    content_bytes: null,
    rows: 10,
    start_ns: null,
    ...fields,
  };
}

const start = 1760000000123456789n;
const dp = { name: "7", desc: "mesh_dp", ranks: [5, 7] };

function hungInputs() {
  const kinds = [
    ["flight_recorder", (rank) => `nccl_trace_rank_${rank}`, "imported"],
    [
      "torch_trace",
      (rank) => `torch_trace/dedicated_log_torch_trace_rank_${rank}_x1.log`,
      "imported",
    ],
    ["job_text", (rank) => `stdout_rank${rank}.txt`, "imported"],
    ["chrome_trace", (rank) => `profile/rank-${rank}.1.pt.trace.json.gz`, "recognised"],
  ];
  const inputs = [];
  for (const [kind, path, state] of kinds) {
    for (let rank = 0; rank < 8; ++rank) {
      if (kind === "flight_recorder" && rank === 4) continue;
      if (kind === "chrome_trace" && rank > 5) continue;
      const packed = kind === "chrome_trace";
      inputs.push(
        makeInput(inputs.length, {
          path: `missing_collective/${path(rank)}`,
          kind,
          rank,
          state: kind === "torch_trace" && rank === 6 ? "failed" : state,
          bytes: 41234 * (rank + 1) * (packed ? 30 : 1),
          content_bytes: packed ? 912345 * (rank + 1) : null,
          rows: state === "imported" ? 640 + 17 * rank : 0,
          start_ns: Number(start) + rank * 1e6,
        }),
      );
    }
  }
  inputs.push(makeInput(inputs.length, { path: "missing_collective/torchfrtrace.txt", rows: 120 }));
  return inputs;
}

// What an 8-rank job leaves that hangs because rank 5 left out one all_reduce.
// lint: long - it is one object of data
export function hungRun() {
  const waits = [7].map((rank, i) =>
    makeFinding(2 + i, {
      rule: "flight.waiting",
      severity: "error",
      role: "consequence",
      ranks: [rank],
      groups: [dp],
      op: "all_reduce",
      seq: 16,
      headline: `Rank ${rank} has waited 601 s in all_reduce 16 of mesh_dp for rank 5`,
      source: [{ rank, file: "train.py", line: 52 }],
      explains: ["f3", "f4"],
      evidence: [
        {
          text: "Entry is started and not completed; the watchdog's time limit is 600 s",
          table: "collective",
          rows: [112],
        },
      ],
    }),
  );
  return {
    ...emptyRun(),
    jobs: [
      {
        job: 0,
        name: "missing_collective",
        world_size: 8,
        attempts: 1,
        inputs: 30,
        ranks: [0, 1, 2, 3, 4, 5, 6, 7],
      },
    ],
    findings: [
      makeFinding(1, {
        rule: "flight.skipped_collective",
        severity: "error",
        role: "cause",
        ranks: [5],
        groups: [dp],
        op: "all_reduce",
        seq: 16,
        headline: "Rank 5 skipped the all_reduce of mesh_dp at train.py:52",
        source: [
          { rank: 7, file: "train.py", line: 52 },
          { rank: 5, file: "train.py", line: 57 },
        ],
        explains: ["f2", "f5"],
        confidence: 0.9,
        why: "Every other member of mesh_dp has entry 16 as all_reduce; rank 5 went on to a broadcast of the world group with the same number of earlier calls. There is no dump from rank 4, which is not a member.",
        next_step:
          "Look at the branch around train.py:52: rank 5 took the other way. Make the condition the same on all ranks of mesh_dp.",
        evidence: [
          {
            text: "Rank 7 started all_reduce 16 of mesh_dp and never completed it",
            table: "collective",
            rows: [112],
          },
          {
            text: "Rank 5's last entry of mesh_dp is 15, completed; its next call is broadcast 9 of the world group",
            table: "collective",
            rows: [80, 81, 82],
          },
          {
            text: "Stack of rank 5 at its last call: train.py:57 in train_step",
            table: "collective",
            rows: [82],
          },
        ],
      }),
      ...waits,
      makeFinding(3, {
        rule: "flight.waiting",
        severity: "error",
        role: "consequence",
        ranks: [0, 1, 2, 3, 6],
        op: "broadcast",
        seq: 9,
        headline: "Ranks 0-3 and 6 wait in broadcast 9 of the world group for rank 7",
        groups: [{ name: "0", desc: "default_pg", ranks: [0, 1, 2, 3, 4, 5, 6, 7] }],
      }),
      makeFinding(4, {
        rule: "text.watchdog",
        severity: "warning",
        role: "consequence",
        ranks: [7],
        headline: "The watchdog of rank 7 ended the process after 600 s",
      }),
      makeFinding(5, {
        rule: "text.exit",
        severity: "warning",
        role: "consequence",
        ranks: [0, 1, 2, 3, 4, 5, 6],
        headline: "Seven ranks were ended by the launcher after rank 7 failed",
      }),
      makeFinding(6, {
        rule: "compile.recompiles",
        severity: "info",
        ranks: [2],
        compile_ids: ["0/0", "0/1"],
        confidence: 0.6,
        headline: "Rank 2 compiled one frame twice; the others once",
        why: "The log of rank 6 is cut short.",
        next_step: "Look at the changed guard of 0/1.",
      }),
    ],
    analyses: [
      { name: "flight", state: "ran", reason: "", findings: 3 },
      { name: "text", state: "ran", reason: "", findings: 2 },
      { name: "compile", state: "ran", reason: "", findings: 1 },
      { name: "op_costs", state: "ran", reason: "", findings: 0 },
      {
        name: "profile_breakdown",
        state: "not run",
        reason: "chrome_trace inputs are recognised, but this version has no reader for them",
        findings: 0,
      },
      {
        name: "memory_peak",
        state: "not run",
        reason:
          "no CUDA memory snapshot among the inputs: record one with torch.cuda.memory._record_memory_history()",
        findings: 0,
      },
    ],
    diagnostics: [
      {
        name: "torch_trace.truncated",
        severity: "error",
        input: 13,
        path: "missing_collective/torch_trace/dedicated_log_torch_trace_rank_6_x1.log",
        count: 1,
        meaning: "the log ends in the middle of a payload",
        remedy: "Copy the file again, or let the job flush its logs before it is killed.",
        first: [{ offset: 288630, line: null, detail: "payload of 5,120 bytes has 812" }],
      },
      {
        name: "text.invalid_utf8",
        severity: "warning",
        input: 17,
        path: "missing_collective/stdout_rank2.txt",
        count: 23,
        meaning: "bytes that are no UTF-8 were replaced",
        remedy: "Nothing to do unless the text matters.",
        first: [
          { offset: null, line: 41, detail: "byte 0xff" },
          { offset: null, line: 44, detail: "byte 0xfe" },
        ],
      },
      {
        name: "discovery.no_reader",
        severity: "info",
        input: 23,
        path: "missing_collective/profile/rank-0.1.pt.trace.json.gz",
        count: 1,
        meaning: "this version recognises the format and has no reader for it",
        remedy: "Use a later version.",
        first: [],
      },
    ],
    inputs: hungInputs(),
  };
}

// 1,024 ranks, 20,000 inputs with some holes, 500 findings and a diagnostic in every tenth input.
export function largeRun() {
  const kinds = ["flight_recorder", "torch_trace", "job_text", "chrome_trace"];
  const inputs = [];
  for (let rank = 0; inputs.length < 20000; rank = (rank + 1) % 1024) {
    const kind = kinds[(inputs.length % 7) % 4];
    const hole = kind === "flight_recorder" && rank === 517;
    inputs.push(
      makeInput(inputs.length, {
        kind: hole ? "job_text" : kind,
        rank,
        path: `big/host${rank >> 3}/rank_${rank}/${kind}_${inputs.length}.log`,
        bytes: (inputs.length * 7919) % 100000007,
        rows: inputs.length % 1000,
        start_ns: Number(start) + inputs.length * 1e6,
      }),
    );
  }
  return {
    ...emptyRun(),
    jobs: [
      {
        job: 0,
        name: "big",
        world_size: 1024,
        attempts: 1,
        inputs: 20000,
        ranks: Array.from({ length: 1024 }, (_, i) => i),
      },
    ],
    findings: Array.from({ length: 500 }, (_, i) =>
      makeFinding(i + 1, { ranks: [i, i + 2, i + 3], why: "w", next_step: "n" }),
    ),
    analyses: [{ name: "flight_collectives", state: "ran", reason: "", findings: 500 }],
    diagnostics: inputs
      .filter((one) => one.input % 10 === 0)
      .map((one) => ({
        name: "gzip.truncated",
        severity: "error",
        input: one.input,
        path: one.path,
        count: 1,
        meaning: "a gzip stream ends early",
        remedy: "Copy the file again.",
        first: [{ offset: one.input, line: null, detail: "" }],
      })),
    inputs,
  };
}

// Several jobs, one of them with attempts; for the choice of a job.
export function severalJobs() {
  const run = hungRun();
  const more = [1, 2].map((job) => ({
    job,
    name: `job_${job}`,
    world_size: 4,
    attempts: job,
    inputs: 4,
    ranks: [0, 1, 3],
  }));
  const inputs = more.flatMap(({ job }) =>
    [0, 1, 3].map((rank, i) =>
      makeInput(run.inputs.length + job * 10 + i, {
        job,
        rank,
        attempt: job === 2 && rank === 3 ? 1 : 0,
        path: `job_${job}/stdout_rank${rank}.txt`,
      }),
    ),
  );
  return {
    ...run,
    jobs: [...run.jobs, ...more],
    inputs: [...run.inputs, ...inputs],
    findings: [
      ...run.findings,
      makeFinding(7, { job: 2, ranks: [3], headline: "Rank 3 of job_2 was restarted" }),
    ],
  };
}

export const hostileTexts = [
  "</script><script>window.hacked = 1</script>",
  "<img src=x onerror='window.hacked = 1'>",
  "javascript:window.hacked=1",
  "\u202egnp.exe \u2066 \u0000 \u001b[31m \u2028 \ufeff",
  "{{data}} {{title}} $& $1 %s ${x} \" ' `",
  "x".repeat(100000),
];

export function hostileRun() {
  const run = hungRun();
  const text = hostileTexts.join(" ");
  const first = run.findings[0];
  Object.assign(first, {
    headline: text,
    why: text,
    next_step: text,
    op: text,
    rule: text,
    compile_ids: [text],
    source: [{ rank: 1, file: text, line: 1 }],
    groups: [{ name: text, desc: text, ranks: [1] }],
    evidence: [{ text, table: text, rows: [1] }],
  });
  run.jobs[0].name = text;
  run.inputs.forEach((input, i) =>
    Object.assign(input, { path: hostileTexts[i % 6], kind: i % 2 ? input.kind : text }),
  );
  run.analyses.forEach((one) => Object.assign(one, { name: text, reason: text }));
  run.diagnostics.forEach((one, i) =>
    Object.assign(one, {
      name: `${text}${i}`,
      path: text,
      meaning: text,
      remedy: text,
      first: [{ offset: 1, line: null, detail: text }],
    }),
  );
  return run;
}
