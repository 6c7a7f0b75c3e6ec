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

export function hungWithFlight() {
  return { ...hungRun(), flight: hungFlight() };
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
  return {
    ...emptyRun(),
    jobs: [{ job: 0, name: "large", world_size: count, attempts: 1, inputs: count, ranks }],
    inputs: [makeInput(0)],
    findings: [finding],
    flight: makeFlight([
      makeGroup([0], 1900, cells, {
        name: "0",
        desc: "default_pg",
        role: "world",
        members: [[0, 1, count]],
        total: 2000,
      }),
    ]),
  };
}
