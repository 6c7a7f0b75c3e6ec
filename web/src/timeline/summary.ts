// What an area of the timeline holds: its slices by name and by kind, and how busy its lanes are. Only the parts
// inside of the area count. One pass over the slices in it, in pieces.
import { familyOf, type Family } from "./kinds";
import type { Lane, Process } from "./model";
import { lowerBound, type Row } from "./rows";
import { Breaks } from "./search";
import type { LaneView, ProcessView, Store } from "./store";
import { lengthOf, toOwn, type Clock, type Span } from "./viewport";

export interface NameSum {
  name: string;
  kind: string;
  count: number;
  total: number; // ns
  least: number;
  most: number;
}

export interface Summary {
  names: NameSum[]; // longest total first
  families: { family: Family; count: number; total: number }[];
  slices: number;
  lanes: number;
  busy: number; // mean share of the time in which a lane has a slice
  unread: number; // lanes whose slices are not there yet
}

// Sums by text number: arrays as long as the island's texts, thrown away at the end.
class Sums {
  count: Uint32Array;
  total: Float64Array;
  least: Float64Array;
  most: Float64Array;
  kind: Uint8Array;

  constructor(readonly view: ProcessView) {
    const size = view.island.texts.length;
    this.count = new Uint32Array(size);
    this.total = new Float64Array(size);
    this.least = new Float64Array(size).fill(Infinity);
    this.most = new Float64Array(size);
    this.kind = new Uint8Array(size);
  }

  // Slices of the row in the span, which is on the process's clock; returns their sum.
  add(row: Row, span: Span): number {
    const { start, name, kind } = row.data;
    let sum = 0;
    for (let i = row.firstAfter(span.from); i < row.end; ++i) {
      const begin = start[i] as number;
      if (begin >= span.to) break;
      const part = Math.min(row.endOf(i), span.to) - Math.max(begin, span.from);
      const text = name[i] as number;
      this.count[text] = (this.count[text] as number) + 1;
      this.total[text] = (this.total[text] as number) + part;
      if (part < (this.least[text] as number)) this.least[text] = part;
      if (part > (this.most[text] as number)) this.most[text] = part;
      this.kind[text] = kind[i] as number;
      sum += part;
    }
    return sum;
  }
}

// Time in which at least one of the rows has a slice. Rows of a thread lie inside of its first.
function busyTime(lane: LaneView, span: Span): number {
  const rows = lane.lane.kind === "thread" ? lane.rows.slice(0, 1) : lane.rows;
  const at = rows.map((row) => row.firstAfter(span.from));
  let covered = span.from;
  let busy = 0;
  for (;;) {
    let next = -1;
    rows.forEach((row, r) => {
      const i = at[r] as number;
      if (i >= row.end || (row.data.start[i] as number) >= span.to) return;
      const chosen = rows[next];
      const start = row.data.start[i] as number;
      if (!chosen || start < (chosen.data.start[at[next] as number] as number)) next = r;
    });
    const row = rows[next];
    if (!row) return busy;
    const i = (at[next] as number)++;
    const end = Math.min(row.endOf(i), span.to);
    const begin = Math.max(row.data.start[i] as number, covered);
    if (end > begin) busy += end - begin;
    covered = Math.max(covered, end);
  }
}

function namesOf(all: Sums[]): NameSum[] {
  const byName = new Map<string, NameSum>();
  for (const sums of all) {
    const { texts, kinds } = sums.view.island;
    sums.count.forEach((count, text) => {
      if (count === 0) return;
      const name = texts[text] as string;
      const kind = kinds[sums.kind[text] as number] ?? "";
      const key = `${kind}/${name}`;
      const one = byName.get(key) ?? { name, kind, count: 0, total: 0, least: Infinity, most: 0 };
      one.count += count;
      one.total += sums.total[text] as number;
      one.least = Math.min(one.least, sums.least[text] as number);
      one.most = Math.max(one.most, sums.most[text] as number);
      byName.set(key, one);
    });
  }
  return [...byName.values()].sort((a, b) => b.total - a.total || b.count - a.count);
}

function familiesOf(names: NameSum[]): Summary["families"] {
  const sums = new Map<Family, { count: number; total: number }>();
  for (const one of names) {
    const sum = sums.get(familyOf(one.kind)) ?? { count: 0, total: 0 };
    sums.set(familyOf(one.kind), { count: sum.count + one.count, total: sum.total + one.total });
  }
  return [...sums].map(([family, sum]) => ({ family, ...sum })).sort((a, b) => b.total - a.total);
}

export async function summarise(
  store: Store,
  lanes: { process: Process; lane: Lane }[],
  span: Span,
  clockOf: (process: Process) => Clock,
  isStale: () => boolean,
): Promise<Summary | null> {
  const breaks = new Breaks();
  const sums = new Map<ProcessView["island"], Sums>();
  let [busy, counted, unread] = [0, 0, 0];
  for (const { process, lane } of lanes) {
    const view = store.ready(process);
    const laneView = view?.lanes.get(lane.id);
    if (!view || !laneView) {
      ++unread;
      continue;
    }
    if (!laneView.data) continue;
    const clock = clockOf(process);
    const own = { from: toOwn(clock, span.from), to: toOwn(clock, span.to) };
    const sum = sums.get(view.island) ?? new Sums(view);
    sums.set(view.island, sum);
    for (const row of laneView.rows) {
      sum.add(row, own);
      await breaks.take();
      if (isStale()) return null;
    }
    busy += busyTime(laneView, own) / lengthOf(own);
    ++counted;
  }
  const names = namesOf([...sums.values()]);
  return {
    names,
    families: familiesOf(names),
    slices: names.reduce((all, one) => all + one.count, 0),
    lanes: counted,
    busy: counted > 0 ? busy / counted : 0,
    unread,
  };
}

// Time of slice `index` that none of the slices directly below it on the thread covers.
export function selfTime(lane: LaneView, depth: number, index: number): number {
  const row = lane.rows[depth] as Row;
  const below = lane.rows[depth + 1];
  const duration = row.data.duration[index] as number;
  if (!below) return duration;
  const start = row.data.start[index] as number;
  let self = duration;
  let i = lowerBound(below.data.start, below.first, below.end, start);
  for (; i < below.end && (below.data.start[i] as number) < start + duration; ++i)
    self -= below.data.duration[i] as number;
  return Math.max(0, self);
}
