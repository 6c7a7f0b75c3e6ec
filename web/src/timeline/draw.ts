// One frame of the timeline's canvas: grid lines, rows, counters, texts, then what is marked: the selected slice
// with its arrows, the one pointed at, the chosen area.
import {
  blocksIn,
  foldedHeight,
  rowBox,
  rowHeight,
  type Block,
  type LaneBox,
  type Layout,
} from "./layout";
import { fillCounter, fillRow, greatestOf, type Label, type RowPen } from "./draw_rows";
import { families } from "./kinds";
import type { CounterData, Lane, Process } from "./model";
import { Pixels, type Palette } from "./pixels";
import type { Relation } from "./relations";
import type { Matches } from "./search";
import type { LaneView, Place, ProcessView, Store } from "./store";
import { ticksOf, toOwn, toShown, xOf, type Clock, type Span, type Viewport } from "./viewport";
import { valueText } from "./words";
import { fitCanvas } from "../parts/canvas";
import { count } from "../parts/format";

export interface Area extends Span {
  lanes: { process: Process; lane: Lane }[];
}

export interface Picture {
  layout: Layout;
  view: Viewport;
  zero: number; // where the ruler counts from
  top: number; // how far it is scrolled
  height: number;
  store: Store;
  clockOf: (process: Process) => Clock;
  selected: Place | null;
  relations: Relation[];
  hovered: Place | null;
  matches: Matches | null;
  area: Area | null;
  drag: { x0: number; x1: number; y0: number; y1: number } | null; // an area that is being drawn
}

interface Frame {
  context: CanvasRenderingContext2D;
  pixels: Pixels;
  palette: Palette;
  picture: Picture;
  ratio: number;
  labels: Label[];
}

function penOf(frame: Frame, process: Process, y: number, height: number): RowPen {
  const { picture, ratio } = frame;
  const clock = picture.clockOf(process);
  const top = Math.round((y - picture.top) * ratio);
  return {
    pixels: frame.pixels,
    palette: frame.palette,
    from: toOwn(clock, picture.view.from),
    to: toOwn(clock, picture.view.to),
    top,
    bottom: Math.round((y + height - picture.top) * ratio),
    labels: frame.labels,
    leastLabel: 30 * ratio,
    isSearching: picture.matches !== null,
    matches: undefined,
  };
}

function fillGrid(frame: Frame): void {
  const { picture, ratio, pixels, palette } = frame;
  for (const time of ticksOf(picture.view, picture.zero).times) {
    const x = Math.round(xOf(picture.view, time) * ratio);
    pixels.fill(x, x + 1, 0, pixels.height, palette.line);
  }
}

function fillLane(frame: Frame, process: Process, view: ProcessView, box: LaneBox): void {
  const lane = view.lanes.get(box.lane.id);
  if (!lane) return;
  if (lane.counters.length > 0) return fillCounters(frame, process, lane, box);
  const { top, height, matches } = frame.picture;
  const first = Math.max(0, Math.floor((top - box.y) / rowHeight));
  const end = Math.min(lane.rows.length, Math.ceil((top + height - box.y) / rowHeight));
  for (const row of lane.rows.slice(first, end)) {
    const pen = penOf(frame, process, box.y + row.depth * rowHeight, rowHeight - 1);
    pen.matches = matches?.byRow.get(row);
    fillRow(pen, view, row);
  }
}

function fillCounters(frame: Frame, process: Process, lane: LaneView, box: LaneBox): void {
  const pen = penOf(frame, process, box.y, box.height);
  const most = Math.max(...lane.counters.map(greatestOf));
  lane.counters.forEach((counter, i) => fillCounter(pen, counter, most, i === 0));
}

const openFamily = families.findIndex(([id]) => id === "open");
const annotation = families.findIndex(([id]) => id === "annotation");

// Lanes that stand for a folded process: those with most slices, annotations only when there is nothing else.
function summaryLanes(process: Process, view: ProcessView): LaneView[] {
  const lanes = process.lanes.flatMap((lane) => {
    const one = view.lanes.get(lane.id);
    return one?.data && one.data.kind.length > 0 ? [one] : [];
  });
  const work = lanes.filter((one) => view.familyOfKind[one.data?.kind[0] ?? 0] !== annotation);
  return (work.length > 0 ? work : lanes)
    .slice()
    .sort((a, b) => b.lane.slices - a.lane.slices)
    .slice(0, 3);
}

// Collectives of all groups in one row; what is not completed stands above what is, with its name.
function fillFlight(pen: RowPen, view: ProcessView, matches: Matches | null): void {
  const rows = [...view.lanes.values()].flatMap((lane) => lane.rows);
  const labels: Label[] = [];
  for (const row of rows) fillRow({ ...pen, labels: null, matches: matches?.byRow.get(row) }, view, row);
  for (const row of rows)
    fillRow({ ...pen, labels, only: openFamily, matches: matches?.byRow.get(row) }, view, row);
  const first = labels.sort((a, b) => (a.start ?? 0) - (b.start ?? 0))[0];
  const more = labels.length > 1 ? ` and ${labels.length - 1} more` : "";
  if (first && pen.labels) pen.labels.push({ ...first, text: first.text + more });
}

// The first counter of a monitor, and what the GPU reported below it.
function fillMonitor(pen: RowPen, view: ProcessView, matches: Matches | null): void {
  const lanes = [...view.lanes.values()];
  const [counter] = lanes.find((lane) => lane.counters.length > 0)?.counters ?? [];
  if (counter) fillCounter(pen, counter, greatestOf(counter), true);
  const top = counter ? pen.bottom - Math.round((pen.bottom - pen.top) / 3) : pen.top;
  for (const row of lanes.flatMap((lane) => lane.rows))
    fillRow({ ...pen, top, labels: null, matches: matches?.byRow.get(row) }, view, row);
}

// Short lanes above one another in the height of one row.
export function fillSummary(
  pen: RowPen,
  process: Process,
  view: ProcessView,
  matches: Matches | null,
): void {
  if (process.source === "flight") return fillFlight(pen, view, matches);
  if (process.source === "host") return fillMonitor(pen, view, matches);
  const lanes = summaryLanes(process, view);
  const height = (pen.bottom - pen.top) / Math.max(1, lanes.length);
  lanes.forEach((lane, i) => {
    const row = lane.rows[0];
    if (!row) return;
    const top = Math.round(pen.top + i * height);
    const bottom = Math.max(top + 1, Math.round(pen.top + (i + 1) * height) - (height > 3 ? 1 : 0));
    fillRow({ ...pen, top, bottom, labels: null, matches: matches?.byRow.get(row) }, view, row);
  });
}

function fillBlock(frame: Frame, block: Block): void {
  const { picture, palette, pixels } = frame;
  const view = picture.store.ready(block.process);
  if (!block.isOpen) {
    const pen = penOf(frame, block.process, block.y + 2, foldedHeight - 4);
    pixels.fill(0, pixels.width, pen.top, pen.bottom, palette.band);
    if (view) fillSummary(pen, block.process, view, picture.matches);
    return;
  }
  if (!view) return;
  for (const box of block.lanes)
    if (box.y + box.height > picture.top && box.y < picture.top + picture.height)
      fillLane(frame, block.process, view, box);
}

// Names in boxes: as much of a text as fits. The widths of characters are measured once for each font; a text's
// width is their sum, which is a little too much where the font kerns, never too little.
const widths = new Map<string, Float32Array>();
const other = 128; // the place of all characters beyond ASCII: as wide as a wide letter

function widthsOf(context: CanvasRenderingContext2D): Float32Array {
  let known = widths.get(context.font);
  if (!known) {
    known = new Float32Array(other + 1);
    for (let code = 32; code < 127; ++code)
      known[code] = context.measureText(String.fromCharCode(code)).width;
    known[other] = context.measureText("W").width;
    widths.set(context.font, known);
  }
  return known;
}

const dots = "\u2026";

// The text, its beginning with an ellipsis, or nothing when not even two letters fit.
function fitText(context: CanvasRenderingContext2D, text: string, room: number): string {
  const known = widthsOf(context);
  const end = room - (known[other] as number); // where a cut text must end
  let used = 0;
  let fits = 0;
  for (let i = 0; i < text.length; ++i) {
    used += known[Math.min(text.charCodeAt(i), other)] as number;
    if (used <= end) fits = i + 1;
    if (used > room) return fits < 2 ? "" : text.slice(0, fits) + dots;
  }
  return text;
}

// Texts by colour: setting a colour costs more than a text.
function drawLabels(frame: Frame): void {
  const { context, palette, ratio, labels } = frame;
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  labels.sort((a, b) => Number(a.isFaded) - Number(b.isFaded) || a.family - b.family);
  let colour = "";
  for (const label of labels) {
    const wanted = label.isFaded ? palette.quiet : (palette.ink[label.family] as string);
    if (wanted !== colour) context.fillStyle = colour = wanted;
    const text = fitText(context, label.text, label.width / ratio - 8);
    if (text) context.fillText(text, label.x / ratio + 4, label.y / ratio + rowHeight / 2);
  }
}

function drawStates(frame: Frame, blocks: Block[]): void {
  const { context, palette, picture } = frame;
  context.fillStyle = palette.quiet;
  context.font = `12px ${palette.font}`;
  for (const block of blocks) {
    const state = picture.store.stateOf(block.process);
    const slices = count(block.process.slices);
    const first = block.lanes[0];
    const y = (first ? first.y + rowHeight / 2 : block.y + foldedHeight / 2) - picture.top;
    if (state.state === "ready") continue;
    if (state.state === "failed") context.fillText("Its slices cannot be read.", 8, y);
    else if (state.state === "loading") context.fillText("Reading its slices ...", 8, y);
    else
      context.fillText(
        `${slices} ${block.process.slices === 1 ? "slice" : "slices"}, read when it is opened`,
        8,
        y,
      );
  }
}

// "1,005 to 1,980 MHz"; of bytes, which begin at 0, the most.
function rangeText(counter: CounterData): string {
  const most = greatestOf(counter);
  const least = counter.value.reduce((a, b) => Math.min(a, b), Infinity);
  if (counter.unit === "bytes") return `at most ${valueText(most, counter.unit)}`;
  if (least >= most) return valueText(most, counter.unit);
  return `${valueText(least, "")} to ${valueText(most, counter.unit)}`;
}

// "allocated (area) at most 71.3 MB, reserved (line) at most 80 MB".
function counterWords(counters: CounterData[]): string {
  const words = counters.map((one, i) => {
    const shape = counters.length > 1 ? ` (${i === 0 ? "area" : "line"})` : "";
    return `${one.name}${shape} ${rangeText(one)}`.trim();
  });
  return words.join(", ");
}

function drawCounterTexts(frame: Frame, blocks: Block[]): void {
  const { context, palette, picture } = frame;
  context.font = `11px ${palette.font}`;
  context.fillStyle = palette.text;
  for (const block of blocks) {
    const view = picture.store.ready(block.process);
    for (const box of block.lanes) {
      const counters = view?.lanes.get(box.lane.id)?.counters ?? [];
      if (counters.length === 0) continue;
      context.fillText(counterWords(counters), 6, box.y - picture.top + 8);
    }
  }
}

interface Box {
  x0: number;
  x1: number;
  y: number;
  height: number;
}

// Where a slice is on the canvas, in sight or not.
export function boxOf(picture: Picture, place: Place): Box | null {
  const lane = picture.store.ready(place.process)?.lanes.get(place.lane.id);
  const row = lane?.rows.find((one) => place.index >= one.first && place.index < one.end);
  const at = row && rowBox(picture.layout, place.process, place.lane, row.depth);
  if (!row || !at) return null;
  const clock = picture.clockOf(place.process);
  const x = (time: number) => xOf(picture.view, toShown(clock, time));
  return {
    x0: x(row.data.start[place.index] as number),
    x1: x(row.endOf(place.index)),
    y: at.y - picture.top,
    height: at.height - 1,
  };
}

// Far outside a canvas loses precision; the edges of a box there are not seen anyway.
const near = (value: number) => Math.max(-1e4, Math.min(1e5, value));

function outline(frame: Frame, place: Place, colour: string, width: number): void {
  const box = boxOf(frame.picture, place);
  if (!box) return;
  const { context } = frame;
  context.strokeStyle = colour;
  context.lineWidth = width;
  const x0 = near(box.x0);
  context.strokeRect(x0 - 1, box.y - 0.5, Math.max(3, near(box.x1) - x0) + 1, box.height + 1);
}

function drawArrows(frame: Frame, selected: Place): void {
  const { context, palette, picture } = frame;
  const own = boxOf(picture, selected);
  if (!own) return;
  context.strokeStyle = palette.text;
  context.fillStyle = palette.text;
  context.lineWidth = 1.5;
  for (const relation of picture.relations) {
    const other = boxOf(picture, relation.place);
    if (other) drawArrow(context, relation.isFrom ? other : own, relation.isFrom ? own : other);
  }
}

function drawArrow(context: CanvasRenderingContext2D, from: Box, to: Box): void {
  const [x0, y0] = [near(from.x0), from.y + from.height / 2];
  const [x1, y1] = [near(to.x0), to.y + to.height / 2];
  const bend = Math.max(24, Math.min(160, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 7, y1 - 4);
  context.lineTo(x1 - 7, y1 + 4);
  context.fill();
}

function drawArea(frame: Frame): void {
  const { context, palette, picture } = frame;
  const { area, drag, layout } = picture;
  context.strokeStyle = palette.accent;
  context.fillStyle = palette.accent;
  context.lineWidth = 1.5;
  const rectangle = (x: number, y: number, width: number, height: number) => {
    context.globalAlpha = 0.16;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    context.strokeRect(x, y, width, height);
  };
  if (drag) {
    rectangle(drag.x0, drag.y0 - picture.top, drag.x1 - drag.x0, drag.y1 - drag.y0);
  } else if (area) {
    const chosen = new Map(area.lanes.map((one) => [one.process, new Set<Lane>()]));
    for (const { process, lane } of area.lanes) chosen.get(process)?.add(lane);
    const boxes = blocksIn(layout, picture.top, picture.top + picture.height).flatMap((block) =>
      block.lanes.filter((one) => chosen.get(block.process)?.has(one.lane)),
    );
    const [x0, x1] = [near(xOf(picture.view, area.from)), near(xOf(picture.view, area.to))];
    for (const box of boxes) rectangle(x0, box.y - picture.top - 1, x1 - x0, box.height + 1);
  }
}

// Keeps the picture's memory from frame to frame.
export class Canvas {
  private pixels: Pixels | null = null;

  draw(canvas: HTMLCanvasElement, palette: Palette, picture: Picture): void {
    const context = fitCanvas(canvas, picture.view.width, picture.height);
    if (!context) return;
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = canvas;
    if (this.pixels?.width !== width || this.pixels.height !== height)
      this.pixels = new Pixels(width, height);
    const frame: Frame = { context, pixels: this.pixels, palette, picture, ratio, labels: [] };
    const blocks = blocksIn(picture.layout, picture.top, picture.top + picture.height);
    this.pixels.clear(palette.surface);
    fillGrid(frame);
    for (const block of blocks) fillBlock(frame, block);
    context.putImageData(this.pixels.image, 0, 0);
    drawLabels(frame);
    drawStates(frame, blocks);
    drawCounterTexts(frame, blocks);
    drawArea(frame);
    if (picture.hovered) outline(frame, picture.hovered, palette.quiet, 1);
    if (!picture.selected) return;
    outline(frame, picture.selected, palette.text, 2.5);
    drawArrows(frame, picture.selected);
  }
}
