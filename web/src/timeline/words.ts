// Slices and counters in a sentence, as shown under the mouse and read aloud, and what the mouse points at.
import { bytes, count, duration } from "../parts/format";
import { kindWords } from "./kinds";
import { spotAt } from "./layout";
import type { CounterData } from "./model";
import { lowerBound } from "./rows";
import type { Scene } from "./scene";
import { sliceAt, type Place, type Slice } from "./store";
import { timeAt, timeText, toOwn, toShown } from "./viewport";

export function valueText(value: number, unit: string): string {
  return unit === "bytes" ? bytes(value) : `${count(Number(value.toPrecision(6)))} ${unit}`.trim();
}

// `start`: from the beginning of the timeline, on the clock that is shown.
function sliceWords(slice: Slice, start: number, where: string): string {
  const long = slice.duration > 0 ? `${duration(slice.duration)} at` : "at";
  return `${kindWords(slice.kind)}, ${long} ${timeText(start, 1e3)}, ${where}`;
}

// The values at a time of the process's clock; "" before the first.
function counterWordsAt(counters: CounterData[], time: number): string {
  const words = counters.flatMap((one) => {
    const at = lowerBound(one.time, 0, one.time.length, time) - 1;
    if (at < 0) return [];
    return [`${one.name} ${valueText(one.value[at] as number, one.unit)}`.trim()];
  });
  return words.join(", ");
}

export interface Hover {
  place: Place | null; // null: a counter
  title: string;
  words: string;
  note: string;
  x: number;
  y: number;
}

export function wordsOf(scene: Scene, place: Place, slice: Slice): string {
  const start = toShown(scene.clockOf(place.process), slice.start) - scene.timeline.first;
  return sliceWords(slice, start, `${place.process.title}, ${place.lane.name}`);
}

function counterAt(scene: Scene, x: number, y: number): Hover | null {
  const spot = spotAt(scene.layout, y + scene.top);
  const lane = spot?.box?.lane;
  const view = spot && scene.store.ready(spot.block.process);
  const counters = (lane && view?.lanes.get(lane.id)?.counters) ?? [];
  if (!spot || !lane || counters.length === 0) return null;
  const at = timeAt({ ...scene.span, width: scene.width }, x);
  const words = counterWordsAt(counters, toOwn(scene.clockOf(spot.block.process), at));
  return words ? { place: null, title: lane.name, words, note: "", x, y } : null;
}

export function hoverAt(scene: Scene, x: number, y: number): Hover | null {
  const place = scene.placeAt(x, y);
  const slice = place && sliceAt(scene.store, place);
  if (!place || !slice) return counterAt(scene, x, y);
  return { place, title: slice.name, words: wordsOf(scene, place, slice), note: slice.note, x, y };
}
