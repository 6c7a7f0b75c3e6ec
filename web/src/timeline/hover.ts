// What the mouse points at, in words.
import { spotAt } from "./layout";
import type { Scene } from "./scene";
import { sliceAt, type Place, type Slice } from "./store";
import { timeAt, toOwn, toShown } from "./viewport";
import { counterWordsAt, sliceWords } from "./words";

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
