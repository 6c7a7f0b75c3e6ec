// Islands of the timeline from plain objects, packed as src/outputs/report/html/timeline/island.h says.
import { emptyRun } from "./fixture.mjs";

function varint(bytes, value) {
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  bytes.push(value);
}

const folded = (value) => (value < 0 ? -2 * value - 1 : 2 * value);

class Texts {
  list = [""];

  number(text = "") {
    const at = this.list.indexOf(text);
    return at < 0 ? this.list.push(text) - 1 : at;
  }
}

// lanes: {"1/a": [[{start, duration, name, note, kind, number}, ...] of depth 0, ...]}
// counters: {"1/c": [{name, unit, points: [[time, value], ...]}]}; flows: [{from, to, kind}], sorted by `to`
export function makeIsland({ lanes = {}, counters = {}, flows = [] }) {
  const texts = new Texts();
  const kinds = [];
  const flowKinds = [];
  const numberOf = (list, one) => (list.includes(one) ? list.indexOf(one) : list.push(one) - 1);
  const blocks = Array.from({ length: 10 }, () => []);
  for (const rows of Object.values(lanes)) {
    let before = 0;
    for (const row of rows) {
      let end = 0;
      for (const slice of row) {
        varint(blocks[0], slice.start - end);
        varint(blocks[1], slice.duration);
        varint(blocks[2], texts.number(slice.name));
        varint(blocks[3], texts.number(slice.note));
        blocks[4].push(numberOf(kinds, slice.kind));
        varint(blocks[5], folded(slice.number - before));
        before = slice.number;
        end = slice.start + slice.duration;
      }
    }
  }
  for (const { points } of Object.values(counters).flat()) {
    for (const column of [0, 1])
      points.forEach((point, i) =>
        varint(blocks[6], folded(point[column] - (points[i - 1]?.[column] ?? 0))),
      );
  }
  flows.forEach((flow, i) => {
    varint(blocks[7], flow.to - (flows[i - 1]?.to ?? 0));
    varint(blocks[8], folded(flow.from - (flows[i - 1]?.from ?? 0)));
    blocks[9].push(numberOf(flowKinds, flow.kind));
  });
  const header = Buffer.from(
    JSON.stringify({
      kinds,
      flowKinds,
      texts: texts.list,
      lanes: Object.entries(lanes).map(([key, rows]) => [key, rows.map((row) => row.length)]),
      counters: Object.entries(counters).map(([key, series]) => [
        key,
        series.map((one) => [one.name, one.unit, one.points.length, 1]),
      ]),
      flows: flows.length,
      bytes: blocks.map((block) => block.length),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return new Uint8Array(
    Buffer.concat([length, header, ...blocks.map((block) => Buffer.from(block))]),
  );
}

export function makeProcess(id, fields = {}) {
  return {
    id,
    title: `rank ${id}`,
    job: 0,
    attempt: 0,
    rank: Number(id),
    source: "profile",
    lanes: [],
    island: `timeline/${id}`,
    slices: 10,
    shift: { offset: 0, drift: 0, middle: 0 },
    ...fields,
  };
}

export const makeLane = (id, name, kind, depths, slices) => ({ id, name, kind, depths, slices });

const ms = 1_000_000;

// A rank of 100 ms: a thread with nested slices, a stream that it launches kernels on, a counter.
//
//   thread   step (0-90)                                     stream   gemm (20-30), all_reduce (40-80)
//            linear (10-20)      all_reduce (30-40)
//            launch (12-14)      launch (32-33)
export function rankIsland(id, { texts = {} } = {}) {
  const name = (word) => texts[word] ?? word;
  const slice = (start, duration, word, kind, number, note = "") => ({
    start: start * ms,
    duration: duration * ms,
    name: name(word),
    note,
    kind,
    number,
  });
  return makeIsland({
    lanes: {
      [`${id}/main`]: [
        [slice(0, 90, "step", "annotation", 0)],
        [slice(10, 10, "linear", "op", 1, "[4, 8], [8, 8]"), slice(30, 10, "all_reduce", "op", 3)],
        [slice(12, 2, "launch", "runtime", 2), slice(32, 1, "launch", "runtime", 4)],
      ],
      [`${id}/s7`]: [
        [
          slice(20, 10, "gemm", "kernel", 5),
          slice(40, 40, "all_reduce", "comm", 6, "group mesh_dp (7), seq 16"),
        ],
      ],
    },
    counters: {
      [`${id}/memory`]: [
        {
          name: "allocated",
          unit: "bytes",
          points: [
            [0, 1000],
            [50 * ms, 5_000_000],
          ],
        },
      ],
    },
    flows: [
      { from: 2, to: 5, kind: "launch" },
      { from: 4, to: 6, kind: "launch" },
    ],
  });
}

const rankLanes = [
  makeLane("main", "thread 1 (python3)", "thread", 3, 5),
  makeLane("s7", "stream 7", "stream", 1, 2),
  makeLane("memory", "memory", "counter", 1, 0),
  makeLane("idle", "thread of nothing", "thread", 0, 0),
];

// `ranks` ranks; rank 1's clock is 5 ms behind.
export function timelineRun(ranks, options = {}) {
  const numbers = Array.from({ length: ranks }, (_, rank) => String(rank));
  const processes = numbers.map((id) =>
    makeProcess(id, {
      lanes: rankLanes,
      slices: 7,
      shift: { offset: id === "1" ? 5 * ms : 0, drift: 0, middle: 0 },
      ...options.process,
    }),
  );
  const islands = Object.fromEntries(
    numbers.map((id) => [`timeline/${id}`, rankIsland(id, options)]),
  );
  const timeline = {
    base: 1.76e18,
    first: 0,
    last: 95 * ms,
    processes,
    slices: 7 * ranks + (options.leftOut ?? 0),
    leftOut: options.leftOut ?? 0,
  };
  return {
    ...emptyRun(),
    islands: { timeline, ...islands },
    rows: { timeline_slice: 7 * ranks },
  };
}
