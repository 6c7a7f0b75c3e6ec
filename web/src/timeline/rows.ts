// Finding slices in a row: slices of one depth of a lane, which do not overlap, so that their starts and their
// ends rise together and both can be searched by halves.
import type { LaneData } from "./model";
import { Overview } from "./overview";

// The first of starts[from, to) that is not below `time`; `to` when there is none.
export function lowerBound(starts: Float64Array | Uint32Array, from: number, to: number, time: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The same when the answer is expected close to `from`: doubles its step, then halves.
export function gallop(starts: Float64Array, from: number, to: number, time: number): number {
  let step = 1;
  let low = from;
  while (low + step < to && (starts[low + step] as number) < time) {
    low += step;
    step *= 2;
  }
  return lowerBound(starts, low, Math.min(to, low + step + 1), time);
}

// Slices [first, end) of a lane: one row of boxes.
export class Row {
  private made: Overview | null = null;

  constructor(
    readonly data: LaneData,
    readonly depth: number,
    readonly first: number,
    readonly end: number,
  ) {}

  // Made when the row first comes into sight.
  overview(): Overview {
    this.made ??= new Overview(this.data.duration, this.first, this.end);
    return this.made;
  }

  endOf(i: number): number {
    return (this.data.start[i] as number) + (this.data.duration[i] as number);
  }

  // The first slice that ends after `time`, or is a moment at it.
  firstAfter(time: number): number {
    const at = lowerBound(this.data.start, this.first, this.end, time);
    return at > this.first && this.endOf(at - 1) > time ? at - 1 : at;
  }

  // The slice at `time`, or the nearest that is at most `reach` away; -1: none. Times of the process's clock.
  at(time: number, reach: number): number {
    const next = lowerBound(this.data.start, this.first, this.end, time);
    const before = next - 1;
    if (before >= this.first && this.endOf(before) >= time) return before;
    const behind = before >= this.first ? time - this.endOf(before) : Infinity;
    const ahead = next < this.end ? (this.data.start[next] as number) - time : Infinity;
    if (Math.min(behind, ahead) > reach) return -1;
    return behind <= ahead ? before : next;
  }
}

export function rowsOf(data: LaneData): Row[] {
  const rows: Row[] = [];
  for (let depth = 0; depth + 1 < data.depthFirst.length; ++depth)
    rows.push(
      new Row(data, depth, data.depthFirst[depth] as number, data.depthFirst[depth + 1] as number),
    );
  return rows;
}

export function depthOf(rows: Row[], index: number): number {
  return rows.findIndex((row) => index >= row.first && index < row.end);
}
