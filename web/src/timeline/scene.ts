// The state of the timeline and everything that changes it. Frames are drawn from it (screen.ts); components
// listen (useScene) and are only made anew when what they show has changed.
import * as address from "./address";
import { boxOf, type Area, type Picture } from "./draw";
import {
  isShown,
  lanesBetween,
  makeLayout,
  rowHeight,
  spotAt,
  headerHeight,
  type Layout,
} from "./layout";
import type { Process, Timeline } from "./model";
import { neighbour, relationsOf, type Relations, type Way } from "./relations";
import { Finder, positionOf, step } from "./search";
import { Screen } from "./screen";
import { extentOf, sliceAt, Store, type Place } from "./store";
import { summarise, type Summary } from "./summary";
import * as viewport from "./viewport";
import { hoverAt, type Hover } from "./words";
import type { Clock, Span } from "./viewport";
import type { Run } from "../run/data";

const mostUnasked = 200_000; // slices that are read for folded processes

const noRelations: Relations = { shown: [], count: 0 };

export class Scene {
  readonly store = new Store(() => this.arrived());
  readonly screen = new Screen(
    () => this.picture(),
    () => this.whole,
  );
  processes: Process[] = [];
  open = new Set<string>();
  layout: Layout = { blocks: [], height: 0 };
  isAligned = true;
  whole: Span;
  span: Span;
  top = 0;
  selected: Place | null = null;
  relations = noRelations;
  hover: Hover | null = null;
  readonly finder = new Finder(() => this.screen.renew());
  area: Area | null = null;
  summary: Summary | null = null;
  drag: Picture["drag"] = null;
  isChoosing = false; // dragging chooses an area instead of moving
  pointer = NaN; // x of the mouse over the canvas

  private moment: Span | null = null; // where the timeline opens
  private atFirst = new Set<string>();
  private wantedSlice: address.SliceAddress | null = null;
  private wantedStep: address.StepAddress | null = null;
  private summaries = 0;

  constructor(readonly timeline: Timeline) {
    this.whole = viewport.wholeOf(timeline.first, timeline.last);
    this.span = this.whole;
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
      matches: this.finder.matches,
      area: this.area,
      drag: this.drag,
    };
  }

  get width(): number {
    return this.screen.width;
  }

  get height(): number {
    return this.screen.height;
  }

  // A panel that opens below must not hide what is selected.
  resize(): void {
    if (this.screen.resize() && this.selected) this.scrollToRow(this.selected);
  }

  clockOf = (process: Process): Clock => viewport.clockOf(process.shift, this.isAligned);

  // Address

  apply(run: Run, params: URLSearchParams): void {
    this.processes = address.shownProcesses(this.timeline, run, params);
    this.atFirst = address.openAtFirst(this.timeline, this.processes, run);
    this.open = address.openIn(params) ?? new Set(this.atFirst);
    this.moment = address.momentOf(this.timeline, run);
    this.setAligned(params.get("clock") !== "raw");
    this.span = viewport.clamp(
      address.spanIn(params, this.timeline.base) ?? this.moment ?? this.whole,
      this.whole,
    );
    this.wantedSlice = address.sliceIn(params.get("sel"), this.processes);
    this.wantedStep = address.stepIn(params, this.processes);
    for (const one of [this.wantedSlice, this.wantedStep]) if (one) this.open.add(one.process.id);
    if (!this.wantedSlice) this.selected = null;
    this.relayout();
    this.applyArea(address.areaIn(params.get("area"), this.processes));
    this.setQuery(params.get("q") ?? "");
    this.findWanted();
    this.findStep();
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

  // Is in sight what is without a word in the address?
  private isAtFirst(): boolean {
    const { span, moment } = this;
    if (!moment) return this.isWhole();
    const near = viewport.lengthOf(moment) / 1e4;
    return Math.abs(span.from - moment.from) < near && Math.abs(span.to - moment.to) < near;
  }

  params(): Record<string, string | null> {
    const isAtFirst = this.isAtFirst();
    const slice = this.selected && sliceAt(this.store, this.selected);
    const wanted =
      this.selected && slice ? { ...this.selected, number: slice.number } : this.wantedSlice;
    return {
      from: isAtFirst ? null : String(Math.floor(this.span.from)),
      to: isAtFirst ? null : String(Math.ceil(this.span.to)),
      open: address.openText(this.open, this.atFirst),
      clock: this.isAligned ? null : "raw",
      q: this.finder.query || null,
      sel: wanted && address.sliceText(wanted),
      step: null, // it has become the selection
      area: this.area && address.areaText(this.area, this.area.lanes),
    };
  }

  // Slices have arrived.
  private arrived(): void {
    this.measure();
    this.findWanted();
    this.findStep();
    if (this.finder.query) this.setQuery(this.finder.query);
    if (this.area) this.setArea(this.area);
    this.screen.renew();
  }

  private findWanted(): void {
    const wanted = this.wantedSlice;
    const data = wanted && this.store.ready(wanted.process)?.lanes.get(wanted.lane.id)?.data;
    if (!wanted || !data) return;
    this.wantedSlice = null;
    const index = data.number.indexOf(wanted.number);
    if (index >= 0) this.select({ process: wanted.process, lane: wanted.lane, index });
  }

  private findStep(): void {
    const wanted = this.wantedStep;
    const view = wanted && this.store.ready(wanted.process);
    const data = view?.lanes.get(wanted?.lane.id ?? "")?.data;
    if (!wanted || !view || !data) return;
    this.wantedStep = null;
    const name = view.island.texts.indexOf(`step ${wanted.step}`);
    const index = name < 0 ? -1 : data.name.indexOf(name);
    if (index < 0) return;
    this.select({ process: wanted.process, lane: wanted.lane, index });
    this.fit();
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
    this.screen.schedule();
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
    const read =
      isSome && isRead
        ? extentOf(this.store, this.processes, this.clockOf)
        : { from: first, to: last };
    const { from, to } = read.to >= read.from ? read : { from: first, to: last };
    this.whole = viewport.wholeOf(from, to);
    this.setSpan(wasWhole ? this.whole : this.span);
    this.screen.renew();
  }

  // Rows

  private relayout(): void {
    this.layout = makeLayout(this.processes, this.open);
    void this.loadShown();
    this.screen.renew();
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
    this.screen.schedule();
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
    this.screen.schedule();
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
      this.screen.scrollTo(this.top + box.y - this.height / 2);
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

  // What the mouse points at; null: nothing.
  point(at: { x: number; y: number } | null): void {
    const hover = at && hoverAt(this, at.x, at.y);
    if (hover === null && this.hover === null) return;
    this.hover = hover;
    this.screen.schedule();
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
        this.screen.schedule();
      });
    this.screen.schedule();
  }

  clear(): void {
    this.select(null);
    this.setArea(null);
  }

  // Search

  // `isGoing`: to the first match after what is in sight begins, once they are all known.
  setQuery(query: string, isGoing = false): void {
    const targets = this.processes.flatMap((process) => {
      const view = this.store.ready(process);
      return view ? [{ process, view }] : [];
    });
    void this.finder.set(query, targets).then((isDone) => {
      if (isDone && isGoing) this.nextMatch(1);
    });
  }

  nextMatch(direction: 1 | -1): void {
    const { matches } = this.finder;
    if (!matches) return;
    const isMatch = this.selected && positionOf(matches, this.selected, this.clockOf) >= 0;
    const from = isMatch ? this.selected : this.selectedSpan()?.from;
    const place = step(matches, from ?? this.span.from, direction, this.clockOf);
    if (place) this.select(place);
  }
}
