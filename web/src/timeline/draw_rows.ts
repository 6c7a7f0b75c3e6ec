// Filling the slices of a row into the picture. A frame costs what is in sight in pixels, however many slices
// there are: at most two boxes for each pixel column of a row.
//
// Slices too short for a pixel of their own share one: it gets the colour of the longest, the paler the less of
// the pixel's time is taken. Where the next pixel begins among the slices is found by doubling steps.
import type { CounterData } from "./model";
import { Overview, type Extent } from "./overview";
import { families } from "./kinds";
import { boxAt, faded, fillStripes, levels, type Palette, type Pixels } from "./pixels";
import { gallop, lowerBound, type Row } from "./rows";
import { hasMatch } from "./search";
import type { ProcessView } from "./store";

// A box wide enough for its name. In pixels of the picture.
export interface Label {
  text: string;
  x: number;
  y: number;
  width: number;
  family: number;
  isFaded: boolean;
  start?: number; // of its slice
}

export interface RowPen {
  pixels: Pixels;
  palette: Palette;
  from: number; // what is in sight, on the process's clock
  to: number;
  top: number; // px of the picture
  bottom: number;
  labels: Label[] | null; // null: boxes have no text
  leastLabel: number; // px
  isSearching: boolean;
  matches: Uint32Array | undefined;
  only?: number; // slices of this family alone
}

const openFamily = families.findIndex(([id]) => id === "open");
const outputFamily = families.findIndex(([id]) => id === "output");

const extent: Extent = { greatest: -1, sum: 0 };

function levelOf(share: number, isMoment: boolean): number {
  if (isMoment) return levels - 1;
  return Math.min(levels - 1, Math.floor(share * levels));
}

// One pixel that slices [first, end) of the row share.
function fillShared(
  pen: RowPen,
  view: ProcessView,
  row: Row,
  first: number,
  end: number,
  x: number,
) {
  const { pixels, palette } = pen;
  if (hasMatch(pen.matches, first, end)) {
    pixels.fill(x, x + 1, pen.top, pen.bottom, palette.found);
    return;
  }
  row.overview().of(first, end, extent);
  const family = view.familyOfKind[row.data.kind[extent.greatest] as number] as number;
  const longest = row.data.duration[extent.greatest] as number;
  const pixelTime = (pen.to - pen.from) / pixels.width;
  const level = pen.isSearching ? faded : levelOf(extent.sum / pixelTime, longest === 0);
  const shade = view.shadeOf(row.data.name[extent.greatest] as number, family);
  const colour = (palette.boxes[family] as Uint32Array)[boxAt(shade, level)] as number;
  pixels.fill(x, x + (longest === 0 ? 2 : 1), pen.top, pen.bottom, colour);
  if (longest === 0 && family === outputFamily) labelMoment(pen, view, row, first, end, x);
}

const longestLabel = 420; // px, of a moment

// A line of output has its text beside its mark, as far as there is room before the next one.
function labelMoment(pen: RowPen, view: ProcessView, row: Row, first: number, end: number, x: number): void {
  if (!pen.labels || end - first > 1) return;
  const scale = pen.pixels.width / (pen.to - pen.from);
  const next = end < row.end ? ((row.data.start[end] as number) - pen.from) * scale : Infinity;
  const width = Math.min(next - x - 4, pen.pixels.width - x - 4, longestLabel);
  if (width < pen.leastLabel) return;
  const name = view.island.texts[row.data.name[first] as number] ?? "";
  const note = view.island.texts[row.data.note[first] as number] ?? "";
  const text = note ? `${name}: ${note}` : name;
  pen.labels.push({ text, x: x + 2, y: pen.top, width, family: outputFamily, isFaded: pen.isSearching });
}

function fillOne(pen: RowPen, view: ProcessView, row: Row, i: number, x0: number, x1: number) {
  const { pixels, palette } = pen;
  const family = view.familyOfKind[row.data.kind[i] as number] as number;
  const isFaded = pen.isSearching && !hasMatch(pen.matches, i, i + 1);
  const colours = palette.boxes[family] as Uint32Array;
  const name = row.data.name[i] as number;
  const shade = view.shadeOf(name, family);
  const left = Math.round(x0);
  const right = Math.max(left + 1, Math.round(x1) - (x1 - x0 > 3 ? 1 : 0)); // a gap to the next
  const colour = colours[boxAt(shade, isFaded ? faded : levels - 1)] as number;
  pixels.fill(left, right, pen.top, pen.bottom, colour);
  if (family === openFamily && !isFaded)
    fillStripes(pixels, left, right, pen.top, pen.bottom, palette.stripe);
  if (pen.isSearching && !isFaded)
    pixels.fill(left, right, pen.bottom - 3, pen.bottom, palette.found);
  const from = Math.max(0, left);
  const width = Math.min(right, pixels.width) - from;
  if (!pen.labels || width < pen.leastLabel) return;
  const start = row.data.start[i] as number;
  pen.labels.push({ text: labelOf(view, row, i, family), x: from, y: pen.top, width, family, isFaded, start });
}

// "all_reduce #16": of what is not completed its number is what a reader looks for.
function labelOf(view: ProcessView, row: Row, i: number, family: number): string {
  const name = view.labelOf(row.data.name[i] as number);
  if (family !== openFamily) return name;
  const note = view.island.texts[row.data.note[i] as number] ?? "";
  const seq = /^seq (\d+)/.exec(note)?.[1];
  return seq ? `${name} #${seq}` : name;
}

const isOther = (pen: RowPen, view: ProcessView, row: Row, i: number): boolean =>
  pen.only !== undefined && view.familyOfKind[row.data.kind[i] as number] !== pen.only;

export function fillRow(pen: RowPen, view: ProcessView, row: Row): void {
  const { start } = row.data;
  const scale = pen.pixels.width / (pen.to - pen.from);
  let i = row.firstAfter(pen.from);
  while (i < row.end && (start[i] as number) < pen.to) {
    const x0 = ((start[i] as number) - pen.from) * scale;
    const x1 = (row.endOf(i) - pen.from) * scale;
    if (isOther(pen, view, row, i)) {
      ++i;
      continue;
    }
    if (x1 - x0 >= 1) {
      fillOne(pen, view, row, i, x0, x1);
      ++i;
      continue;
    }
    const x = Math.floor(x0);
    let next = gallop(start, i, row.end, pen.from + (x + 1) / scale);
    if (next <= i) next = i + 1;
    // A long one that only begins in this pixel has boxes of its own.
    if (next - 1 > i && (row.data.duration[next - 1] as number) * scale >= 1) --next;
    fillShared(pen, view, row, i, next, x);
    i = next;
  }
}

const overviews = new WeakMap<CounterData, Overview>();

function overviewOf(counter: CounterData): Overview {
  let made = overviews.get(counter);
  if (!made) overviews.set(counter, (made = new Overview(counter.value, 0, counter.value.length)));
  return made;
}

// The greatest value of a counter in a row of pixels is where its area reaches up to.
export function fillCounter(
  pen: RowPen,
  counter: CounterData,
  most: number,
  isArea: boolean,
): void {
  const { time, value } = counter;
  const overview = overviewOf(counter);
  const pixelTime = (pen.to - pen.from) / pen.pixels.width;
  const height = pen.bottom - pen.top;
  let at = lowerBound(time, 0, time.length, pen.from);
  for (let x = 0; x < pen.pixels.width; ++x) {
    const next = gallop(time, at, time.length, pen.from + (x + 1) * pixelTime);
    overview.of(Math.max(0, at - 1), next, extent); // the value before holds until the first in the pixel
    at = next;
    if (extent.greatest < 0) continue;
    const share = most > 0 ? Math.max(0, value[extent.greatest] as number) / most : 0;
    const top = pen.bottom - Math.max(1, Math.round(share * height));
    if (isArea) pen.pixels.fill(x, x + 1, top, pen.bottom, pen.palette.counter);
    else pen.pixels.fill(x, x + 1, top, top + 2, pen.palette.counterLine);
  }
}

export function greatestOf(counter: CounterData): number {
  if (counter.value.length === 0) return 0;
  overviewOf(counter).of(0, counter.value.length, extent);
  return counter.value[extent.greatest] as number;
}
