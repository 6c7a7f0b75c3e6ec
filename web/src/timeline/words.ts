// Slices and counters in a sentence, as shown under the mouse and read aloud.
import { kindWords } from "./kinds";
import type { CounterData } from "./model";
import { lowerBound } from "./rows";
import type { Slice } from "./store";
import { timeText } from "./viewport";
import { bytes, count, duration } from "../parts/format";

export function valueText(value: number, unit: string): string {
  return unit === "bytes" ? bytes(value) : `${count(Number(value.toPrecision(6)))} ${unit}`.trim();
}

// `start`: from the beginning of the timeline, on the clock that is shown.
export function sliceWords(slice: Slice, start: number, where: string): string {
  const long = slice.duration > 0 ? `${duration(slice.duration)} at` : "at";
  return `${kindWords(slice.kind)}, ${long} ${timeText(start, 1e3)}, ${where}`;
}

// The values at a time of the process's clock; "" before the first.
export function counterWordsAt(counters: CounterData[], time: number): string {
  const words = counters.flatMap((one) => {
    const at = lowerBound(one.time, 0, one.time.length, time) - 1;
    if (at < 0) return [];
    return [`${one.name} ${valueText(one.value[at] as number, one.unit)}`.trim()];
  });
  return words.join(", ");
}
