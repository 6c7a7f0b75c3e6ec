// Which span of time is in sight, and how times and pixels answer each other. All of it is pure.
//
// Times are nanoseconds as in model.ts. `from` and `to` are on the clock that is shown; a process's own clock is
// a straight line away (Clock), so rows are searched in their own times and only the edges are converted.
import { roundStep } from "../parts/format";
import type { Shift } from "./model";

export interface Span {
  from: number;
  to: number;
}

export interface Viewport extends Span {
  width: number; // px
}

// shown = scale * own + offset
export interface Clock {
  scale: number;
  offset: number;
}

const ownClock: Clock = { scale: 1, offset: 0 };

export function clockOf(shift: Shift, isAligned: boolean): Clock {
  if (!isAligned) return ownClock;
  return { scale: 1 + shift.drift, offset: shift.offset - shift.drift * shift.middle };
}

export const toShown = (clock: Clock, time: number): number => clock.scale * time + clock.offset;
export const toOwn = (clock: Clock, time: number): number => (time - clock.offset) / clock.scale;

export const lengthOf = (span: Span): number => span.to - span.from;
export const xOf = (view: Viewport, time: number): number =>
  ((time - view.from) / lengthOf(view)) * view.width;
export const timeAt = (view: Viewport, x: number): number =>
  view.from + (x / view.width) * lengthOf(view);

const shortest = 10; // ns across the whole width: nothing is recorded more finely
const spare = 0.02; // of the whole, kept free at both ends

// The whole with a little room at its ends.
export function wholeOf(first: number, last: number): Span {
  const room = Math.max((last - first) * spare, shortest / 2);
  return { from: first - room, to: last + room };
}

// `span` inside of `whole`, neither longer than it nor too short to tell times apart.
export function clamp(span: Span, whole: Span): Span {
  const length = Math.min(Math.max(lengthOf(span), shortest), lengthOf(whole));
  const middle = (span.from + span.to) / 2;
  const from = Math.min(Math.max(middle - length / 2, whole.from), whole.to - length);
  return { from, to: from + length };
}

// Scales by `factor` (< 1: closer); the time `at` keeps its place.
export function zoom(span: Span, factor: number, at: number, whole: Span): Span {
  const longest = lengthOf(whole) / lengthOf(span);
  const least = shortest / lengthOf(span);
  const by = Math.min(Math.max(factor, least), longest);
  return clamp({ from: at - (at - span.from) * by, to: at + (span.to - at) * by }, whole);
}

export function pan(span: Span, by: number, whole: Span): Span {
  return clamp({ from: span.from + by, to: span.to + by }, whole);
}

// A slice with room around it; a moment gets the length that is in sight now, at most 1 ms.
export function around(span: Span, now: Span, whole: Span): Span {
  const length = lengthOf(span);
  const room = length > 0 ? length * 0.6 : Math.min(lengthOf(now), 1e6) / 2;
  return clamp({ from: span.from - room, to: span.to + room }, whole);
}

// Moves `now` so that the slice is in sight; stays where it is when it is already.
export function reveal(span: Span, now: Span, whole: Span): Span {
  const length = lengthOf(now);
  if (span.from >= now.from && span.to <= now.to) return now;
  if (lengthOf(span) > length && span.from < now.to && span.to > now.from) return now;
  const middle = lengthOf(span) > length ? span.from + length * 0.4 : (span.from + span.to) / 2;
  return clamp({ from: middle - length / 2, to: middle + length / 2 }, whole);
}

// Above a minute, steps that a clock has.
const clockSteps = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400].map((s) => s * 1e9);

function tickStep(view: Viewport): number {
  const least = view.width < 480 ? 70 : 110; // pixels: of a phone, so that there is more than one
  const wanted = Math.max(1, (lengthOf(view) / view.width) * least);
  if (wanted <= 30e9) return roundStep(wanted);
  return clockSteps.find((one) => one >= wanted) ?? Math.ceil(wanted / 86400e9) * 86400e9;
}

interface Ticks {
  step: number;
  times: number[];
}

// Marks of the ruler, counted from `zero`: at most one in `least` pixels.
export function ticksOf(view: Viewport, zero: number): Ticks {
  const step = tickStep(view);
  const times: number[] = [];
  for (let n = Math.ceil((view.from - zero) / step); zero + n * step <= view.to; ++n)
    times.push(zero + n * step);
  return { step, times };
}

const units: [size: number, name: string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
];

function unitOf(size: number): [number, string] {
  return units.find(([least]) => size >= least) ?? [1, "ns"];
}

// A time with as many digits as tell steps of `step` apart: "12.345 ms", "1:02:05".
export function timeText(ns: number, step: number): string {
  const size = Math.abs(ns);
  if (size >= 60e9 && step >= 1e6) return clockText(ns, step);
  const [unit, name] = unitOf(Math.max(size, step));
  const digits = Math.max(0, Math.ceil(Math.log10(unit / Math.max(1, step)) - 1e-9));
  const text = (ns / unit).toFixed(Math.min(9, digits));
  return `${Number(text) === 0 ? "0" : text} ${name}`;
}

function clockText(ns: number, step: number): string {
  const digits = Math.min(3, Math.max(0, Math.ceil(Math.log10(1e9 / step) - 1e-9)));
  const unit = 10 ** digits;
  const all = Math.round((Math.abs(ns) / 1e9) * unit); // whole steps, so that no 59.9996 becomes :60
  const whole = Math.floor(all / unit);
  const two = (value: number) => String(value).padStart(2, "0");
  const rest = digits > 0 ? `.${String(all % unit).padStart(digits, "0")}` : "";
  const hours = Math.floor(whole / 3600);
  const text = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${rest}`;
  return `${ns < 0 ? "\u2212" : ""}${hours > 0 ? `${hours}:` : ""}${text}`;
}
