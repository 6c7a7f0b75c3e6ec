// What a slice has to do with others: the arrows that lead to it and from it, and its neighbours by keys.
import type { Flows, IslandData, Process } from "./model";
import { lowerBound, type Row } from "./rows";
import type { LaneView, Place, ProcessView, Store } from "./store";

export interface Relation {
  kind: string; // of the flow
  isFrom: boolean; // the other is where the arrow begins
  place: Place;
}

export interface Relations {
  shown: Relation[];
  count: number; // of arrows, those not shown included
}

const most = 50; // arrows of one slice that are looked up

interface Arrow {
  kind: number;
  isFrom: boolean;
  number: number;
}

// Sorted by `to`: those that end here are together; those that begin here are anywhere.
function arrowsOf(flows: Flows, number: number): Arrow[] {
  const arrows: Arrow[] = [];
  let low = lowerBound(flows.to, 0, flows.to.length, number);
  const add = (i: number, isFrom: boolean, other: Uint32Array) =>
    arrows.push({ kind: flows.kind[i] as number, isFrom, number: other[i] as number });
  for (; low < flows.to.length && flows.to[low] === number; ++low) add(low, true, flows.from);
  for (let i = flows.from.indexOf(number); i >= 0; i = flows.from.indexOf(number, i + 1))
    add(i, false, flows.to);
  return arrows;
}

// Where slices of these numbers are: one pass over the columns of the island's lanes.
function placesOf(
  numbers: Set<number>,
  processes: Process[],
  store: Store,
  island: IslandData,
): Map<number, Place> {
  const places = new Map<number, Place>();
  for (const process of processes) {
    const view = store.ready(process);
    if (view?.island !== island) continue;
    for (const { lane, data } of view.lanes.values()) {
      if (!data) continue;
      for (let i = 0; i < data.number.length && places.size < numbers.size; ++i) {
        const number = data.number[i] as number;
        if (numbers.has(number)) places.set(number, { process, lane, index: i });
      }
    }
  }
  return places;
}

export function relationsOf(
  place: Place,
  number: number,
  processes: Process[],
  store: Store,
): Relations {
  const island = store.ready(place.process)?.island;
  if (!island) return { shown: [], count: 0 };
  const arrows = arrowsOf(island.flows, number);
  const wanted = arrows.slice(0, most);
  if (wanted.length === 0) return { shown: [], count: 0 };
  const places = placesOf(new Set(wanted.map((one) => one.number)), processes, store, island);
  const shown = wanted.flatMap((one) => {
    const other = places.get(one.number);
    return other
      ? [{ kind: island.flowKinds[one.kind] ?? "", isFrom: one.isFrom, place: other }]
      : [];
  });
  return { shown, count: arrows.length };
}

// "launched by": what the other slice is to this one.
export function relationWords(kind: string, isFrom: boolean): string {
  if (/launch|ac2g|correlation/.test(kind)) return isFrom ? "launched by" : "launched";
  if (/fwd|bwd/.test(kind)) return isFrom ? "forward pass" : "backward pass";
  return `${isFrom ? "from" : "to"}${kind ? ` (${kind.replace(/_/g, " ")})` : ""}`;
}

function rowOf(lane: LaneView, index: number): Row | undefined {
  return lane.rows.find((row) => index >= row.first && index < row.end);
}

export type Way = "left" | "right" | "up" | "down";

// Where an arrow key leads: along the row, to the enclosing slice, or to the first one inside.
export function neighbour(view: ProcessView, place: Place, way: Way): Place | null {
  const lane = view.lanes.get(place.lane.id);
  const row = lane && rowOf(lane, place.index);
  if (!lane || !row) return null;
  if (way === "left" || way === "right") {
    const index = place.index + (way === "left" ? -1 : 1);
    return index >= row.first && index < row.end ? { ...place, index } : null;
  }
  const other = lane.rows[row.depth + (way === "up" ? -1 : 1)];
  if (!other) return null;
  const start = row.data.start[place.index] as number;
  if (way === "up") {
    const index = other.at(start, 0);
    return index < 0 ? null : { ...place, index };
  }
  const index = lowerBound(other.data.start, other.first, other.end, start);
  const isInside =
    index < other.end && (other.data.start[index] as number) <= row.endOf(place.index);
  return isInside ? { ...place, index } : null;
}
