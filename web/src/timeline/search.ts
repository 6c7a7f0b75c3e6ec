// Slices whose name or note has a text in it. Texts are few and slices many, so the texts are tested first, then
// every slice by the number of its text. Work is done in pieces, between which the page stays alive.
//
// Matches are kept as ascending indices for each row: the next one in time is found by searching every row by
// halves, with no order over all of them.
import type { Process } from "./model";
import { lowerBound, type Row } from "./rows";
import type { LaneView, Place, ProcessView } from "./store";
import { toShown, type Clock } from "./viewport";

interface SearchTarget {
  process: Process;
  view: ProcessView;
}

interface RowMatches {
  process: Process;
  lane: LaneView;
  row: Row;
  indices: Uint32Array;
}

export interface Matches {
  query: string;
  count: number;
  isComplete: boolean;
  rows: RowMatches[];
  byRow: Map<Row, Uint32Array>;
}

// Lets the page handle what has happened meanwhile, every 8 ms.
export class Breaks {
  private since = performance.now();

  async take(): Promise<void> {
    if (performance.now() - this.since < 8) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.since = performance.now();
  }
}

async function matchingTexts(texts: string[], query: string, breaks: Breaks): Promise<Uint8Array> {
  const needle = query.toLowerCase();
  const flags = new Uint8Array(texts.length);
  for (let i = 0; i < texts.length; ++i) {
    if ((texts[i] as string).toLowerCase().includes(needle)) flags[i] = 1;
    if (i % 2048 === 2047) await breaks.take();
  }
  return flags;
}

// Counts first, so that the answer is exactly as large as it must be.
function matchingSlices(row: Row, flags: Uint8Array): Uint32Array {
  const { name, note } = row.data;
  const isMatch = (i: number) => flags[name[i] as number] === 1 || flags[note[i] as number] === 1;
  let count = 0;
  for (let i = row.first; i < row.end; ++i) if (isMatch(i)) ++count;
  const indices = new Uint32Array(count);
  let at = 0;
  for (let i = row.first; at < count; ++i) if (isMatch(i)) indices[at++] = i;
  return indices;
}

// Calls `update` from time to time and at the end; stops when `isStale` says so.
export async function search(
  targets: SearchTarget[],
  query: string,
  update: (matches: Matches) => void,
  isStale: () => boolean,
): Promise<void> {
  const breaks = new Breaks();
  const flagsOf = new Map<ProcessView["island"], Uint8Array>();
  const found: Matches = { query, count: 0, isComplete: false, rows: [], byRow: new Map() };
  for (const { process, view } of targets) {
    const flags =
      flagsOf.get(view.island) ?? (await matchingTexts(view.island.texts, query, breaks));
    flagsOf.set(view.island, flags);
    for (const lane of view.lanes.values()) {
      for (const row of lane.rows) {
        if (isStale()) return;
        addRow(found, { process, lane, row, indices: matchingSlices(row, flags) });
        await breaks.take();
      }
    }
    if (!isStale()) update({ ...found });
  }
  if (!isStale()) update({ ...found, isComplete: true });
}

function addRow(found: Matches, one: RowMatches): void {
  if (one.indices.length === 0) return;
  found.rows.push(one);
  found.byRow.set(one.row, one.indices);
  found.count += one.indices.length;
}

// The search that is going on, or the last one: a new one ends it.
export class Finder {
  query = "";
  matches: Matches | null = null; // null: nothing is searched for
  private turn = 0;

  constructor(private changed: () => void) {}

  // Whether it came to its end.
  async set(query: string, targets: SearchTarget[]): Promise<boolean> {
    this.query = query;
    const turn = ++this.turn;
    const isStale = () => turn !== this.turn;
    if (!query) {
      this.matches = null;
      this.changed();
      return true;
    }
    const update = (matches: Matches) => {
      this.matches = matches;
      this.changed();
    };
    await search(targets, query, update, isStale);
    return !isStale();
  }
}

// How many of `indices` are below `index`.
const below = (indices: Uint32Array, index: number) => lowerBound(indices, 0, indices.length, index);

// Whether a match lies in [from, to).
export function hasMatch(indices: Uint32Array | undefined, from: number, to: number): boolean {
  if (!indices) return false;
  const at = below(indices, from);
  return at < indices.length && (indices[at] as number) < to;
}

// Matches are ordered by time, then by row.
interface Spot {
  time: number;
  row: number;
}

const isBefore = (a: Spot, b: Spot) => a.time < b.time || (a.time === b.time && a.row < b.row);

type ClockOf = (process: Process) => Clock;

function timeOf(one: RowMatches, at: number, clockOf: ClockOf): number {
  return toShown(clockOf(one.process), one.row.data.start[one.indices[at] as number] as number);
}

// How many matches of a row stand before `spot`; with `orAt`, one at it too.
function countBefore(
  one: RowMatches,
  row: number,
  spot: Spot,
  orAt: boolean,
  clockOf: ClockOf,
): number {
  let [low, high] = [0, one.indices.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const here = { time: timeOf(one, middle, clockOf), row };
    if (isBefore(here, spot) || (orAt && !isBefore(spot, here))) low = middle + 1;
    else high = middle;
  }
  return low;
}

function spotOf(matches: Matches, place: Place, clockOf: ClockOf): Spot | null {
  const row = matches.rows.findIndex(
    (one) =>
      one.lane.lane === place.lane &&
      one.process === place.process &&
      place.index >= one.row.first &&
      place.index < one.row.end,
  );
  const one = matches.rows[row];
  if (!one) return null;
  const start = one.row.data.start[place.index] as number;
  return { time: toShown(clockOf(place.process), start), row };
}

// The next match after `from` (a place, or a time), or the one before; around the end to the other.
export function step(
  matches: Matches,
  from: Place | number,
  direction: 1 | -1,
  clockOf: ClockOf,
): Place | null {
  const spot =
    typeof from === "number"
      ? { time: from, row: -1 }
      : (spotOf(matches, from, clockOf) ?? { time: -Infinity, row: -1 });
  return (
    pick(matches, spot, direction, clockOf) ?? pick(matches, edge(direction), direction, clockOf)
  );
}

const edge = (direction: 1 | -1): Spot =>
  direction > 0 ? { time: -Infinity, row: -1 } : { time: Infinity, row: Infinity };

function pick(matches: Matches, spot: Spot, direction: 1 | -1, clockOf: ClockOf): Place | null {
  let best: Spot | null = null;
  let place: Place | null = null;
  matches.rows.forEach((one, row) => {
    const at =
      direction > 0
        ? countBefore(one, row, spot, true, clockOf)
        : countBefore(one, row, spot, false, clockOf) - 1;
    if (at < 0 || at >= one.indices.length) return;
    const here = { time: timeOf(one, at, clockOf), row };
    if (best && !(direction > 0 ? isBefore(here, best) : isBefore(best, here))) return;
    best = here;
    place = { process: one.process, lane: one.lane.lane, index: one.indices[at] as number };
  });
  return place;
}

// "the 3rd of 12": how many matches stand before the place; -1 when it is none.
export function positionOf(matches: Matches, place: Place, clockOf: ClockOf): number {
  const spot = spotOf(matches, place, clockOf);
  const own = spot && matches.rows[spot.row];
  if (!spot || !own || own.indices[below(own.indices, place.index)] !== place.index) return -1;
  return matches.rows.reduce(
    (sum, one, row) => sum + countBefore(one, row, spot, false, clockOf),
    0,
  );
}
