// The timeline's islands: the outline, and the slices of processes that have been opened, each read once and kept as
// rows that can be searched. There is no object for a slice: it is a lane and an index (Place).
import { clean } from "../run/clean";
import { loadIsland, loadJson, Once } from "../run/islands";
import { decodeIsland } from "./decode";
import { families, familyOf, shaded } from "./kinds";
import type { CounterData, IslandData, Lane, LaneData, Process, Timeline } from "./model";
import { shades } from "./pixels";
import { depthOf, rowsOf, type Row } from "./rows";
import { shadeOf, shortName } from "./short_name";
import { toShown, type Clock, type Span } from "./viewport";

export const timelineIsland = new Once(async () => clean(await loadJson("timeline")) as Timeline);

const islands = new Map<string, Once<IslandData>>();

// Slices by the name of their island (Process.island).
function islandData(name: string): Once<IslandData> {
  let island = islands.get(name);
  if (!island) {
    island = new Once(async () => decodeIsland(await loadIsland(name)));
    islands.set(name, island);
  }
  return island;
}

export interface LaneView {
  lane: Lane;
  data: LaneData | null; // null: a counter
  rows: Row[];
  counters: CounterData[];
}

export interface ProcessView {
  island: IslandData;
  familyOfKind: Uint8Array; // into kinds.ts' families
  families: Uint8Array; // by family: 1 when a slice is of it
  lanes: Map<string, LaneView>; // by Lane.id
  labelOf: (text: number) => string; // what stands in a box: the text shortened
  shadeOf: (text: number, family: number) => number;
}

type ProcessState =
  | { state: "closed" | "loading" }
  | { state: "ready"; view: ProcessView }
  | { state: "failed"; reason: string };

export interface Place {
  process: Process;
  lane: Lane;
  index: number;
}

function familiesIn(lanes: Map<string, LaneView>, familyOfKind: Uint8Array): Uint8Array {
  const kinds = new Uint8Array(256);
  for (const { data } of lanes.values())
    for (let i = 0; data && i < data.kind.length; ++i) kinds[data.kind[i] as number] = 1;
  const found = new Uint8Array(families.length);
  familyOfKind.forEach((family, kind) => {
    if (kinds[kind]) found[family] = 1;
  });
  return found;
}

function viewOf(process: Process, island: IslandData): ProcessView {
  const order = families.map(([id]) => id);
  const lanes = new Map<string, LaneView>();
  for (const lane of process.lanes) {
    const key = `${process.id}/${lane.id}`;
    const data = island.lanes.get(key) ?? null;
    const counters = island.counters.get(key) ?? [];
    lanes.set(lane.id, { lane, data, rows: data ? rowsOf(data) : [], counters });
  }
  const familyOfKind = Uint8Array.from(island.kinds, (kind) => order.indexOf(familyOf(kind)));
  return {
    island,
    familyOfKind,
    families: familiesIn(lanes, familyOfKind),
    lanes,
    ...looksOf(island),
  };
}

const isShaded = families.map(([id]) => shaded.has(id));

// Labels and shades of texts, found out when a slice with the text is first drawn.
function looksOf({ texts }: IslandData): Pick<ProcessView, "labelOf" | "shadeOf"> {
  const labels: (string | undefined)[] = [];
  const shade = new Uint8Array(texts.length).fill(255);
  return {
    labelOf: (text) => (labels[text] ??= shortName(texts[text] ?? "")),
    shadeOf: (text, family) => {
      if (!isShaded[family]) return 0;
      if (shade[text] === 255) shade[text] = shadeOf(texts[text] ?? "", shades);
      return shade[text] ?? 0;
    },
  };
}

export class Store {
  private states = new Map<string, ProcessState>();

  constructor(private changed: () => void) {}

  stateOf(process: Process): ProcessState {
    return this.states.get(process.id) ?? { state: "closed" };
  }

  ready(process: Process): ProcessView | null {
    const state = this.states.get(process.id);
    return state?.state === "ready" ? state.view : null;
  }

  // Reads the process's slices unless they are there or on their way.
  async load(process: Process): Promise<void> {
    if (this.states.has(process.id)) return;
    this.states.set(process.id, { state: "loading" });
    const loaded = await islandData(process.island).get();
    if (loaded.state === "ready")
      this.states.set(process.id, { state: "ready", view: viewOf(process, loaded.value) });
    if (loaded.state === "failed")
      this.states.set(process.id, { state: "failed", reason: loaded.reason });
    this.changed();
  }
}

// From the first start to the last end of what has been read; the wrong way round when that is nothing.
export function extentOf(
  store: Store,
  processes: Process[],
  clockOf: (process: Process) => Clock,
): Span {
  const extent = { from: Infinity, to: -Infinity };
  for (const process of processes) {
    const clock = clockOf(process);
    const lanes = [...(store.ready(process)?.lanes.values() ?? [])];
    for (const row of lanes.flatMap((lane) => lane.rows)) {
      if (row.end === row.first) continue;
      const start = row.data.start[row.first] as number;
      extent.from = Math.min(extent.from, toShown(clock, start));
      extent.to = Math.max(extent.to, toShown(clock, row.endOf(row.end - 1)));
    }
  }
  return extent;
}

// A slice, read out of its columns.
export interface Slice {
  name: string;
  note: string;
  kind: string;
  start: number; // of the process's clock
  duration: number;
  depth: number;
  number: number;
}

export function sliceAt(store: Store, place: Place): Slice | null {
  const view = store.ready(place.process);
  const lane = view?.lanes.get(place.lane.id);
  const data = lane?.data;
  if (!view || !lane || !data || place.index >= data.start.length) return null;
  const i = place.index;
  return {
    name: view.island.texts[data.name[i] as number] ?? "",
    note: view.island.texts[data.note[i] as number] ?? "",
    kind: view.island.kinds[data.kind[i] as number] ?? "",
    start: data.start[i] as number,
    duration: data.duration[i] as number,
    depth: depthOf(lane.rows, i),
    number: data.number[i] as number,
  };
}
