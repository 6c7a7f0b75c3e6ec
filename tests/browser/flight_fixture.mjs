// Collectives for the page: a hung job of 8 ranks, and one of any size.
import { hungRun, makeFinding, emptyRun, makeInput } from "./fixture.mjs";

const texts = [
  "all_reduce",
  "[[4096, 1024]] BFloat16",
  "train.py:52 train_step",
  "completed",
  "waiting",
  "started",
  "mesh_dp",
  "7",
  "scheduled",
  "[[4096, 1023]] BFloat16",
  "mismatch",
];
const text = (value) => {
  if (!texts.includes(value)) texts.push(value);
  return texts.indexOf(value);
};

// A group whose cells are given row by row.
export function makeGroup(members, first, cells, fields = {}) {
  const columns = cells[0].length;
  const has = (column, states) => cells.some((row) => states.includes(row[column]));
  const list = (value) => Array.from({ length: columns }, (_, i) => value(i));
  return {
    job: 0,
    attempt: 0,
    name: "7",
    desc: "mesh_dp",
    role: "dp",
    p2p: false,
    members: members.map((rank) => [rank, 1, 1]),
    total: columns,
    trouble: list((i) => (has(i, "mstx") ? 1 : 0)).reduce((a, b) => a + b, 0),
    seq: list((i) => first + i),
    op: list(() => 0),
    sizes: list(() => 1),
    line: list(() => 2),
    status: list((i) => (has(i, "m") ? 4 : has(i, "x") ? 10 : has(i, "st") ? 5 : 3)),
    cells,
    differs: [],
    ...fields,
  };
}

// Where cells were issued: all of a column alike, but for `cells`, [column, row, stack] of the first group.
export function makeStacks(flight, cells = []) {
  const torch = "/venv/lib/python3.12/site-packages/torch/distributed/c10d.py";
  return {
    texts: [torch, "all_reduce", "/home/u/train.py", "train_step", "main", "wrapper"],
    frames: [
      [0, 3068, 1, 1],
      [0, 83, 5, 1],
      [2, 52, 3, 0],
      [2, 70, 4, 0],
      [2, 60, 3, 0],
    ],
    stacks: [
      [0, 1, 2, 3],
      [0, 1, 4, 3],
    ],
    cut: 0,
    groups: flight.groups.map((group, i) => ({
      column: group.seq.map(() => 0),
      cells: i === 0 ? cells : [],
      left_out: 0,
    })),
  };
}

export function makeFlight(groups, incomplete = []) {
  return { texts, groups, left_out: 0, incomplete, incomplete_left_out: 0 };
}

function waiting(rank, fields = {}) {
  return {
    job: 0,
    attempt: 0,
    rank,
    name: text("7"),
    desc: text("mesh_dp"),
    seq: 16,
    op: text("all_reduce"),
    state: text("started"),
    age_ns: 601e9,
    waits_for: [[5, 1, 1]],
    waits: 1,
    ...fields,
  };
}

// Rank 5 left out sequence 16 of mesh_dp; the world waits in its next barrier.
export function hungFlight() {
  const world = [0, 1, 2, 3, 4, 5, 6, 7].map((rank) =>
    rank === 4 ? "u".repeat(12) : "c".repeat(10) + ([5, 7].includes(rank) ? "mm" : "ts"),
  );
  return makeFlight(
    [
      makeGroup([5, 7], 1, ["c".repeat(15) + "m", "c".repeat(15) + "t"]),
      makeGroup([0, 1, 2, 3, 4, 5, 6, 7], 30, world, {
        name: "0",
        desc: "default_pg",
        role: "world",
        total: 400,
        seq: [3, 4, 5, 34, 35, 36, 37, 38, 39, 40, 41, 42],
      }),
      makeGroup([4, 6], 1, ["cccc", "ccxc"], {
        differs: [[2, 1, 0, 9, 2]],
      }),
    ],
    [
      waiting(7),
      ...[0, 1, 2, 3, 6].map((rank) =>
        waiting(rank, {
          name: text("0"),
          desc: text("default_pg"),
          seq: 41,
          waits_for: [[5, 2, 2]],
          waits: 2,
          age_ns: 600.4e9,
        }),
      ),
    ],
  );
}

// Ranks 0 to 3 and 6 wait in the barrier of the world for 5 and 7, rank 7 in its own group for 5.
function hungWaits() {
  const of = (ranks, on, fields) => ({
    job: 0,
    attempt: 0,
    name: text("0"),
    desc: text("default_pg"),
    seq: 41,
    op: text("all_reduce"),
    state: text("started"),
    ranks,
    on,
    waits: 2,
    oldest_ns: 600.4e9,
    newest_ns: 600.2e9,
    ...fields,
  });
  return {
    texts,
    waits: [
      of([[0, 1, 4], [6, 1, 1]], [[5, 2, 2]], {}),
      of([[7, 1, 1]], [[5, 1, 1]], { name: text("7"), desc: text("mesh_dp"), seq: 16, waits: 1 }),
    ],
    left_out: 0,
  };
}

// Rank 7 comes 45 ms late to every sequence but the last, to which rank 5 never came.
export function lateArrivals(count = 16) {
  const seq = Array.from({ length: count }, (_, i) => i + 1);
  const last = (value) => seq.map((_, i) => (i === count - 1 ? value : null));
  const group = {
    job: 0,
    attempt: 0,
    name: 0,
    desc: 1,
    members: [[5, 2, 2]],
    total: 400,
    seq,
    op: seq.map(() => 2),
    late_us: [last(-1).map((one) => one ?? 0), last(0).map((one) => one ?? 45000)],
  };
  const profile = {
    ...group,
    name: 3,
    desc: 3,
    members: [[0, 1, 3]],
    total: count,
    late_us: [1200, 0, 30].map((late) => seq.map(() => late)),
  };
  return {
    texts: ["7", "mesh_dp", "all_reduce", "0"],
    flight: { groups: [group], left_out: 3 },
    profile: { groups: [profile], left_out: 0 },
  };
}

const table = (rows) => ({ total: rows.length, rows });

export function trafficTables() {
  const group = { job: 0, attempt: 0, group_name: "7", group_desc: "mesh_dp", members: [5, 7] };
  const speeds = [
    [1024, 0.07, 8],
    [1048576, 12.5, 4],
  ];
  return {
    tables: {
      comm_traffic: table([
        {
          ...group,
          role: "dp",
          op: "all_reduce",
          count: 36,
          input_bytes: 9464832,
          output_bytes: 9464832,
          median_ns: 105e6,
          slowest_ns: 211e6,
          median_spread_ns: 2.1e6,
        },
      ]),
      comm_arrival: table(
        [5, 7].map((rank) => ({
          job: 0,
          attempt: 0,
          rank,
          clock_correction_ns: rank === 7 ? 2e8 : 0,
          times_last: rank,
          late_third_ns: 44e6,
        })),
      ),
      profile_bandwidth: table([
        ...speeds.flatMap(([bytes, busbw, count]) =>
          ["debrief", "tracelens"].map((definition) => ({
            ...group,
            definition,
            group_size: 2,
            op: "all_reduce",
            bytes,
            count,
            basis: "min_over_ranks",
            median_ns: 15e6,
            algbw: busbw,
            busbw,
          })),
        ),
        { ...group, definition: "debrief", op: "barrier", bytes: 0, count: 1, median_ns: 36e6, algbw: 0, busbw: 0 },
      ]),
    },
  };
}

export function hungWithFlight() {
  const flight = hungFlight();
  return {
    ...hungRun(),
    flight,
    islands: {
      flight_stacks: makeStacks(flight, [[7, 1, 1]]),
      waits: hungWaits(),
      arrivals: lateArrivals(),
      comm: trafficTables(),
    },
  };
}

// Ranks that wait for each other: 0 for 1 and 1 for 0; 2 and 3 for 1; rank 9 left no dump.
export function circleWaits() {
  const of = (rank, on, seq) => ({
    job: 0,
    attempt: 0,
    name: text("0"),
    desc: text("default_pg"),
    seq,
    op: text("all_reduce"),
    state: text("scheduled"),
    ranks: rank,
    on,
    waits: on.reduce((sum, run) => sum + run[2], 0),
    oldest_ns: 5e9,
    newest_ns: 5e9,
  });
  return {
    texts,
    waits: [
      of([[0, 1, 1]], [[1, 1, 1]], 3),
      of([[1, 1, 1]], [[0, 1, 1]], 4),
      of([[2, 1, 2]], [[1, 1, 1]], 5),
      of([[4, 1, 1]], [[9, 1, 1]], 6),
    ],
    left_out: 0,
  };
}

// A mesh whose ranks each wait for the next group: more nodes than fit a picture unless groups of a kind are joined.
export function meshWaits(count) {
  const waits = [];
  for (let rank = 0; rank < count; ++rank) {
    if (rank === 1) continue;
    const on = rank % 2 === 0 ? rank + 1 : rank === 3 ? 1 : 3;
    waits.push({
      job: 0,
      attempt: 0,
      name: text(String(rank)),
      desc: text(rank % 2 === 0 ? "mesh_tp" : "mesh_dp"),
      seq: 7,
      op: text("all_reduce"),
      state: text("started"),
      ranks: [[rank, 1, 1]],
      on: [[on, 1, 1]],
      waits: 1,
      oldest_ns: 1e9,
      newest_ns: 1e9,
    });
  }
  return { texts, waits, left_out: 12 };
}

// One rank of many never came.
export function manyRanks(count, columns) {
  const blamed = Math.floor(count * 0.6);
  const ranks = Array.from({ length: count }, (_, rank) => rank);
  const cells = ranks.map((rank) => {
    const stop = columns - 8;
    const after = rank === blamed ? "m".repeat(8) : `t${"s".repeat(7)}`;
    return "c".repeat(stop) + after;
  });
  const finding = makeFinding(1, {
    rule: "flight.skipped_collective",
    severity: "error",
    role: "cause",
    headline: `Rank ${blamed} skipped the all_reduce of default_pg`,
    ranks: [blamed],
    groups: [{ name: "0", desc: "default_pg", ranks }],
    op: "all_reduce",
    seq: 1900 + columns - 8,
  });
  const flight = makeFlight([
    makeGroup([0], 1900, cells, {
      name: "0",
      desc: "default_pg",
      role: "world",
      members: [[0, 1, count]],
      total: 2000,
    }),
  ]);
  return {
    ...emptyRun(),
    jobs: [{ job: 0, name: "large", world_size: count, attempts: 1, inputs: count, ranks }],
    inputs: [makeInput(0)],
    findings: [finding],
    flight,
    islands: { flight_stacks: makeStacks(flight) },
  };
}
