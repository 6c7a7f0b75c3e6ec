// The island "lanes" (src/outputs/report/html/compile/lanes.cc): when each rank compiled. Made into rows of boxes, one
// for each rank (or log, where ranks are not told), on a common clock or from the begin of each log.
import { loadJson, Once } from "../run/islands";
import { clean } from "../run/clean";
import type { Tables } from "../run/tables";
import { keyOf, type Compilation, type Span } from "./data";
import { statusOf, type Status } from "./status";

export interface RawLanes {
  base_ns: number;
  job: (number | null)[];
  input: (number | null)[];
  rank: (number | null)[];
  life: (number | null)[];
  id: string[];
  phase: string[];
  start_us: number[];
  us: number[];
  open: boolean[];
  left_out: number;
}

export const lanesIsland = new Once(async () => clean(await loadJson("lanes")) as RawLanes);

export interface Box {
  key: string; // of the compilation
  id: string;
  phase: string;
  start: number; // microseconds
  end: number;
  start_ns: number; // since 1970
  end_ns: number;
  open: boolean; // it never ended
  status: Status;
  compilation: Compilation | undefined;
  span: Span | undefined; // where its time went
}

export interface Lane {
  name: string;
  rank: number | null;
  job: number | null;
  boxes: Box[]; // by begin
  busy: number; // microseconds in which it compiled
}

export type Clock = "wall" | "log";

function byKey<Row extends Compilation | Span>(rows: Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [keyOf(row), row]));
}

// Microseconds that are covered; boxes are in order of begin.
function covered(boxes: Box[]): number {
  let sum = 0;
  let until = -Infinity;
  for (const box of boxes) {
    sum += Math.max(0, box.end - Math.max(box.start, until));
    until = Math.max(until, box.end);
  }
  return sum;
}

function laneName(
  rank: number | null,
  input: number | null,
  job: number | null,
  several: boolean,
): string {
  const name = rank === null ? `log ${input ?? "?"}` : `rank ${rank}`;
  return several ? `job ${job} ${name}` : name;
}

function boxOf(
  raw: RawLanes,
  i: number,
  compilations: Map<string, Compilation>,
  spans: Map<string, Span>,
): Box {
  const id = raw.id[i] ?? "";
  const key = [raw.input[i] ?? "", raw.rank[i] ?? "", raw.life[i] ?? 0, id].join(":");
  const start = raw.start_us[i] ?? 0;
  const open = raw.open[i] ?? false;
  const compilation = compilations.get(key);
  const status = open ? "unfinished" : compilation ? statusOf(compilation) : "ok";
  return {
    key,
    id,
    phase: raw.phase[i] ?? "",
    start,
    end: start + (raw.us[i] ?? 0),
    start_ns: raw.base_ns + start * 1000,
    end_ns: raw.base_ns + (start + (raw.us[i] ?? 0)) * 1000,
    open,
    status,
    compilation,
    span: spans.get(key),
  };
}

// From the begin of each log: a restart of the process is a life of its own and begins at 0 again.
function toLogClock(lane: Lane): void {
  const first = new Map<string, number>();
  const logOf = (box: Box) => box.key.split(":").slice(0, 3).join(":");
  for (const box of lane.boxes) if (!first.has(logOf(box))) first.set(logOf(box), box.start);
  for (const box of lane.boxes) {
    const begin = first.get(logOf(box)) ?? 0;
    box.start -= begin;
    box.end -= begin;
  }
  lane.boxes.sort((a, b) => a.start - b.start);
}

export function makeLanes(
  raw: RawLanes,
  tables: Tables,
  job: number | null,
  clock: Clock,
): Lane[] {
  const compilations = byKey(tables.rows("compilation"));
  const spans = byKey(tables.rows("compile_span"));
  const several = job === null && new Set(raw.job).size > 1;
  const lanes = new Map<string, Lane>();
  raw.id.forEach((_, i) => {
    const [ofJob, rank, input] = [raw.job[i] ?? null, raw.rank[i] ?? null, raw.input[i] ?? null];
    if (job !== null && ofJob !== job) return;
    const key = `${ofJob} ${rank ?? `log ${input}`}`;
    let lane = lanes.get(key);
    if (!lane) {
      lane = { name: laneName(rank, input, ofJob, several), rank, job: ofJob, boxes: [], busy: 0 };
      lanes.set(key, lane);
    }
    lane.boxes.push(boxOf(raw, i, compilations, spans));
  });
  const order = (lane: Lane) => lane.rank ?? Infinity;
  const all = [...lanes.values()].sort(
    (a, b) => (a.job ?? 0) - (b.job ?? 0) || order(a) - order(b),
  );
  for (const lane of all) {
    lane.boxes.sort((a, b) => a.start - b.start);
    lane.busy = covered(lane.boxes);
    if (clock === "log") toLogClock(lane);
  }
  return all;
}

export interface Extent {
  from: number; // microseconds
  to: number;
}

export function extentOf(lanes: Lane[]): Extent {
  let [from, to] = [Infinity, -Infinity];
  for (const lane of lanes)
    for (const box of lane.boxes) {
      from = Math.min(from, box.start);
      to = Math.max(to, box.end);
    }
  return from <= to ? { from, to: Math.max(to, from + 1) } : { from: 0, to: 1 };
}
