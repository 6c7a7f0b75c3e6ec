// The state of the timeline and everything that changes it. Frames are drawn from it (draw.ts) at most once per
// frame of the screen; components listen (useScene) and are only made anew when what they show has changed.
import { useLayoutEffect, useState } from "preact/hooks";
import * as address from "./address";
import { boxOf, Canvas, type Area, type Picture } from "./draw";
import {
  isShown,
  lanesBetween,
  makeLayout,
  rowHeight,
  spotAt,
  headerHeight,
  type Layout,
} from "./layout";
import { drawRuler, Minimap } from "./minimap";
import type { Process, Timeline } from "./model";
import { readPalette, type Palette } from "./pixels";
import { neighbour, relationsOf, type Relations, type Way } from "./relations";
import { positionOf, search, step, type Matches } from "./search";
import { sliceAt, Store, type Place, type Slice } from "./store";
import { summarise, type Summary } from "./summary";
import { counterWordsAt, sliceWords } from "./words";
import * as viewport from "./viewport";
import type { Clock, Span } from "./viewport";
import type { Run } from "../run/data";

export const gutter = 210; // px on the left, for the names of lanes

export interface Elements {
  box: HTMLElement;
  main: HTMLCanvasElement;
  minimap: HTMLCanvasElement;
  ruler: HTMLCanvasElement;
}

export interface Hover {
  place: Place | null; // null: a counter
  title: string;
  words: string;
  note: string;
  x: number;
  y: number;
}

const mostUnasked = 200_000; // slices that are read for folded processes

const noRelations: Relations = { shown: [], count: 0 };

export class Scene {
  readonly store = new Store(() => this.arrived());
  processes: Process[] = [];
  open = new Set<string>();
  layout: Layout = { blocks: [], height: 0 };
  isAligned = true;
  whole: Span;
  span: Span;
  width = 1000;
  height = 400;
  top = 0;
  selected: Place | null = null;
  relations = noRelations;
  hover: Hover | null = null;
  query = "";
  matches: Matches | null = null;
  area: Area | null = null;
  summary: Summary | null = null;
  drag: Picture["drag"] = null;
  isChoosing = false; // dragging chooses an area instead of moving
  pointer = NaN; // x of the mouse over the canvas

  private atFirst = new Set<string>();
  private wantedSlice: address.SliceAddress | null = null;
  private elements: Elements | null = null;
  private palette: Palette | null = null;
  private canvas = new Canvas();
  private minimap = new Minimap();
  private version = 0; // of what the minimap shows
  private asked = 0; // frame that is on its way
  private searches = 0;
  private summaries = 0;
  private listeners = new Set<() => void>();

  constructor(readonly timeline: Timeline) {
    this.whole = viewport.wholeOf(timeline.first, timeline.last);
    this.span = this.whole;
  }

  // Life

  attach(elements: Elements): () => void {
    this.elements = elements;
    this.resize();
    return () => {
      this.elements = null;
      cancelAnimationFrame(this.asked);
      this.asked = 0;
    };
  }

  // After a change of size or colours.
  resize(): void {
    if (!this.elements) return;
    const { box } = this.elements;
    const isLower = box.clientHeight < this.height; // a panel has opened below
    this.width = Math.max(50, box.clientWidth - gutter);
    this.height = box.clientHeight;
    this.palette = readPalette(box);
    if (isLower && this.selected) this.scrollToRow(this.selected);
    this.renew();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  schedule(): void {
    if (this.asked || !this.elements) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.drawFrame();
      for (const listener of this.listeners) listener();
    });
  }

  private renew(): void {
    ++this.version;
    this.schedule();
  }

  picture(): Picture {
    return {
      layout: this.layout,
      view: { ...this.span, width: this.width },
      zero: this.timeline.first,
      top: this.top,
      height: this.height,
      store: this.store,
      clockOf: this.clockOf,
      selected: this.selected,
      relations: this.relations.shown,
      hovered: this.hover?.place ?? null,
      matches: this.matches,
      area: this.area,
      drag: this.drag,
    };
  }

  private drawFrame(): void {
    if (!this.elements || !this.palette) return;
    const picture = this.picture();
    const { main, minimap, ruler } = this.elements;
    this.canvas.draw(main, this.palette, picture);
    this.minimap.draw(minimap, this.palette, picture, this.whole, String(this.version));
    drawRuler(ruler, this.palette, picture);
  }

  clockOf = (process: Process): Clock => viewport.clockOf(process.shift, this.isAligned);

  // Address

  apply(run: Run, params: URLSearchParams): void {
    this.processes = address.shownProcesses(this.timeline, run, params);
    this.atFirst = address.openAtFirst(this.processes, run);
    this.open = address.openIn(params) ?? new Set(this.atFirst);
    this.setAligned(params.get("clock") !== "raw");
    this.span = viewport.clamp(
      address.spanIn(params, this.timeline.base) ?? this.whole,
      this.whole,
    );
    this.wantedSlice = address.sliceIn(params.get("sel"), this.processes);
    if (this.wantedSlice) this.open.add(this.wantedSlice.process.id);
    if (!this.wantedSlice) this.selected = null;
    this.relayout();
    this.applyArea(address.areaIn(params.get("area"), this.processes));
    this.setQuery(params.get("q") ?? "");
    this.findWanted();
  }

  private applyArea(wanted: address.AreaAddress | null): void {
    if (!wanted) return this.setArea(null);
    const all = this.openLanes();
    const at = (one: typeof wanted.first) =>
      all.findIndex((other) => other.process === one.process && other.lane === one.lane);
    const lanes = all.slice(at(wanted.first), at(wanted.last) + 1);
    this.setArea({ from: wanted.from, to: wanted.to, lanes });
  }

  private isWhole(): boolean {
    return viewport.lengthOf(this.span) >= viewport.lengthOf(this.whole) * 0.9999;
  }

  params(): Record<string, string | null> {
    const isWhole = this.isWhole();
    const number = this.selected && sliceAt(this.store, this.selected)?.number;
    const { selected, area } = this;
    const [first, last] = [area?.lanes[0], area?.lanes[area.lanes.length - 1]];
    return {
      from: isWhole ? null : String(Math.floor(this.span.from)),
      to: isWhole ? null : String(Math.ceil(this.span.to)),
      open: address.openText(this.open, this.atFirst),
      clock: this.isAligned ? null : "raw",
      q: this.query || null,
      sel:
        selected && number !== null
          ? `${address.laneText(selected.process, selected.lane)}/${number}`
          : this.wantedText(),
      area:
        area && first && last
          ? [
              Math.floor(area.from),
              Math.ceil(area.to),
              address.laneText(first.process, first.lane),
              address.laneText(last.process, last.lane),
            ].join("~")
          : null,
    };
  }

  private wantedText(): string | null {
    const wanted = this.wantedSlice; // its island is still on the way
    return wanted && `${address.laneText(wanted.process, wanted.lane)}/${wanted.number}`;
  }

  // Slices have arrived.
  private arrived(): void {
    this.measure();
    this.findWanted();
    if (this.query) this.setQuery(this.query);
    if (this.area) this.setArea(this.area);
    this.renew();
  }

  private findWanted(): void {
    const wanted = this.wantedSlice;
    const data = wanted && this.store.ready(wanted.process)?.lanes.get(wanted.lane.id)?.data;
    if (!wanted || !data) return;
    this.wantedSlice = null;
    const index = data.number.indexOf(wanted.number);
    if (index >= 0) this.select({ process: wanted.process, lane: wanted.lane, index });
  }

  isBusy(): boolean {
    return this.processes.some((one) => this.store.stateOf(one).state === "loading");
  }

  failures(): number {
    const failed = (one: Process) => this.store.stateOf(one).state === "failed";
    return this.processes.filter(failed).length;
  }

  // Time

  setSpan(span: Span): void {
    this.span = viewport.clamp(span, this.whole);
    this.schedule();
  }

  zoom(factor: number, x = this.pointer): void {
    const view = { ...this.span, width: this.width };
    const at = viewport.timeAt(view, Number.isNaN(x) ? this.width / 2 : x);
    this.setSpan(viewport.zoom(this.span, factor, at, this.whole));
  }

  // By a share of what is in sight.
  pan(share: number): void {
    this.setSpan(viewport.pan(this.span, share * viewport.lengthOf(this.span), this.whole));
  }

  showWhole(): void {
    this.setSpan(this.whole);
  }

  // The chosen area, or else the selected slice.
  fit(): void {
    const span = this.area ?? this.selectedSpan();
    if (span) this.setSpan(viewport.around(span, this.span, this.whole));
  }

  selectedSpan(): Span | null {
    const slice = this.selected && sliceAt(this.store, this.selected);
    if (!this.selected || !slice) return null;
    const clock = this.clockOf(this.selected.process);
    const shown = (time: number) => viewport.toShown(clock, time);
    return { from: shown(slice.start), to: shown(slice.start + slice.duration) };
  }

  setAligned(isAligned: boolean): void {
    this.isAligned = isAligned;
    this.measure();
  }

  // The ends of the timeline: as the outline has them, or those of the slices of the shown processes when these
  // are some of all, or are on their own clocks, and have been read.
  private measure(): void {
    const wasWhole = this.isWhole();
    const { first, last, processes } = this.timeline;
    const isSome = this.processes.length < processes.length || !this.isAligned;
    const isRead = this.processes.every((one) => this.store.ready(one));
    const read = isSome && isRead ? this.extentRead() : { from: first, to: last };
    const { from, to } = read.to >= read.from ? read : { from: first, to: last };
    this.whole = viewport.wholeOf(from, to);
    this.setSpan(wasWhole ? this.whole : this.span);
    this.renew();
  }

  private extentRead(): Span {
    const extent = { from: Infinity, to: -Infinity };
    for (const process of this.processes) {
      const clock = this.clockOf(process);
      const lanes = [...(this.store.ready(process)?.lanes.values() ?? [])];
      for (const row of lanes.flatMap((lane) => lane.rows)) {
        if (row.end === row.first) continue;
        const start = row.data.start[row.first] as number;
        extent.from = Math.min(extent.from, viewport.toShown(clock, start));
        extent.to = Math.max(extent.to, viewport.toShown(clock, row.endOf(row.end - 1)));
      }
    }
    return extent;
  }

  // Rows

  private relayout(): void {
    this.layout = makeLayout(this.processes, this.open);
    void this.loadShown();
    this.renew();
  }

  // Those that are unfolded, then folded ones while they are few slices: their rows then tell something, and a
  // search finds them.
  private async loadShown(): Promise<void> {
    const { processes } = this;
    const isOpen = (one: Process) => this.open.has(one.id);
    await Promise.all(processes.filter(isOpen).map((one) => this.store.load(one)));
    let slices = 0;
    for (const one of processes) {
      slices += one.slices;
      if (slices > mostUnasked || processes !== this.processes) break;
      await this.store.load(one);
    }
  }

  toggle(process: Process): void {
    this.open = new Set(this.open);
    if (!this.open.delete(process.id)) this.open.add(process.id);
    this.relayout();
  }

  toggleAll(isOpen: boolean): void {
    this.open = new Set(isOpen ? this.processes.map((one) => one.id) : []);
    this.relayout();
  }

  setTop(top: number): void {
    if (top === this.top) return;
    this.top = top;
    this.hover = null;
    this.schedule();
  }

  private scrollTo(top: number): void {
    if (this.elements) this.elements.box.scrollTop = top;
  }

  // Selection

  placeAt(x: number, y: number): Place | null {
    const spot = spotAt(this.layout, y + this.top);
    const process = spot?.block.process;
    const lane = spot?.box?.lane;
    const row = process && lane && this.store.ready(process)?.lanes.get(lane.id)?.rows[spot.depth];
    if (!row) return null;
    const view = { ...this.span, width: this.width };
    const time = viewport.toOwn(this.clockOf(process), viewport.timeAt(view, x));
    const index = row.at(time, (3 * viewport.lengthOf(view)) / view.width);
    return index < 0 ? null : { process, lane, index };
  }

  select(place: Place | null, isRevealed = true): void {
    this.wantedSlice = null;
    this.selected = place;
    const slice = place && sliceAt(this.store, place);
    this.relations =
      place && slice
        ? relationsOf(place, slice.number, this.timeline.processes, this.store)
        : noRelations;
    if (place) {
      this.area = null;
      this.summary = null;
    }
    if (place && isRevealed) this.revealSelected(place);
    this.schedule();
  }

  private revealSelected(place: Place): void {
    if (!this.open.has(place.process.id)) this.toggle(place.process);
    const span = this.selectedSpan();
    if (span) this.span = viewport.reveal(span, this.span, this.whole);
    this.scrollToRow(place);
  }

  private scrollToRow(place: Place): void {
    const box = boxOf(this.picture(), place);
    if (!box) return;
    const isAbove = box.y < headerHeight;
    if (isAbove || box.y + rowHeight > this.height)
      this.scrollTo(this.top + box.y - this.height / 2);
  }

  // By an arrow key; the first press selects what is in the middle.
  move(way: Way): void {
    const view = this.selected && this.store.ready(this.selected.process);
    if (this.selected && view) {
      const next = neighbour(view, this.selected, way);
      if (next) this.select(next);
      return;
    }
    const lanes = this.openLanes();
    for (const { process, lane } of lanes) {
      const row = this.store.ready(process)?.lanes.get(lane.id)?.rows[0];
      const from = viewport.toOwn(this.clockOf(process), this.span.from);
      const index = row?.firstAfter(from) ?? 0;
      if (row && index < row.end) return this.select({ process, lane, index });
    }
  }

  words(place: Place, slice: Slice): string {
    const start = viewport.toShown(this.clockOf(place.process), slice.start) - this.timeline.first;
    return sliceWords(slice, start, `${place.process.title}, ${place.lane.name}`);
  }

  private hoverAt(x: number, y: number): Hover | null {
    const place = this.placeAt(x, y);
    const slice = place && sliceAt(this.store, place);
    if (place && slice)
      return { place, title: slice.name, words: this.words(place, slice), note: slice.note, x, y };
    const spot = spotAt(this.layout, y + this.top);
    const lane = spot?.box?.lane;
    const view = spot && this.store.ready(spot.block.process);
    const counters = (lane && view?.lanes.get(lane.id)?.counters) ?? [];
    if (!spot || !lane || counters.length === 0) return null;
    const at = viewport.timeAt({ ...this.span, width: this.width }, x);
    const words = counterWordsAt(counters, viewport.toOwn(this.clockOf(spot.block.process), at));
    return words ? { place: null, title: lane.name, words, note: "", x, y } : null;
  }

  // What the mouse points at; null: nothing.
  point(at: { x: number; y: number } | null): void {
    const hover = at && this.hoverAt(at.x, at.y);
    if (hover === null && this.hover === null) return;
    this.hover = hover;
    this.schedule();
  }

  private openLanes(): Area["lanes"] {
    return this.layout.blocks
      .filter((block) => block.isOpen)
      .flatMap(({ process }) => process.lanes.filter(isShown).map((lane) => ({ process, lane })));
  }

  // Area

  // Between two points of the canvas; `y` on the whole drawing. Without heights: all lanes.
  chooseArea(x0: number, x1: number, y: [number, number] | null): void {
    const view = { ...this.span, width: this.width };
    const [from, to] = [x0, x1].map((x) => viewport.timeAt(view, x)) as [number, number];
    const lanes = y ? lanesBetween(this.layout, y[0], y[1]) : this.openLanes();
    this.select(null);
    this.setArea(lanes.length > 0 ? { from, to, lanes } : null);
  }

  setArea(area: Area | null): void {
    this.area = area;
    if (area) this.selected = null;
    if (!area) this.summary = null;
    const number = ++this.summaries;
    const isStale = () => number !== this.summaries;
    if (area)
      void summarise(this.store, area.lanes, area, this.clockOf, isStale).then((summary) => {
        if (isStale()) return;
        this.summary = summary;
        this.schedule();
      });
    this.schedule();
  }

  clear(): void {
    this.select(null);
    this.setArea(null);
  }

  // Search

  // `isGoing`: to the first match after what is in sight begins, once they are all known.
  setQuery(query: string, isGoing = false): void {
    this.query = query;
    const number = ++this.searches;
    const isStale = () => number !== this.searches;
    if (!query) {
      this.matches = null;
      return this.renew();
    }
    const targets = this.processes.flatMap((process) => {
      const view = this.store.ready(process);
      return view ? [{ process, view }] : [];
    });
    const update = (matches: Matches) => {
      this.matches = matches;
      if (matches.isComplete && isGoing) this.nextMatch(1);
      this.renew();
    };
    void search(targets, query, update, isStale);
  }

  nextMatch(direction: 1 | -1): void {
    if (!this.matches) return;
    const isMatch = this.selected && positionOf(this.matches, this.selected, this.clockOf) >= 0;
    const from = isMatch ? this.selected : this.selectedSpan()?.from;
    const place = step(this.matches, from ?? this.span.from, direction, this.clockOf);
    if (place) this.select(place);
  }
}

// What a component shows of the scene; it is made anew when that changes. `pick` returns the same object while
// it means the same.
export function useScene<T>(scene: Scene, pick: (scene: Scene) => T): T {
  const [value, setValue] = useState(() => pick(scene));
  useLayoutEffect(() => {
    const update = () => setValue(() => pick(scene));
    update();
    return scene.listen(update);
  }, [scene]);
  return value;
}
