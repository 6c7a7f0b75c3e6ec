// The selected slice in words: what it is, when, how long, what it has to do with others.
import { views } from "views";
import { kindWords, familyOf } from "./kinds";
import { relationWords, type Relation } from "./relations";
import type { Scene } from "./scene";
import { useScene } from "./screen";
import { sliceAt, type Place, type Slice } from "./store";
import { selfTime } from "./summary";
import { timeText, toShown } from "./viewport";
import { wordsOf } from "./words";
import { count, duration, time } from "../parts/format";
import { Term } from "../parts/marks";
import { hasRows, type Run } from "../run/data";
import { to, type Params } from "../shell/route";

function selfOf(scene: Scene, place: Place, slice: Slice): number | null {
  const lane = scene.store.ready(place.process)?.lanes.get(place.lane.id);
  return lane && place.lane.kind === "thread" && slice.duration > 0
    ? selfTime(lane, slice.depth, place.index)
    : null;
}

// Where else in the report a slice is looked at. What it belongs to is read out of its name and note, which
// src/outputs/report/html/timeline_*.cc write; a text that is none of theirs gives no link.
interface Link {
  view: string;
  params: Params;
  words: string;
}

// "0/1, train_step at train.py:52" -> the compilation, by the key of compile/data.ts.
function compilation(place: Place, slice: Slice): Link[] {
  const id = /^(\[?[^,\s]*\d+\/\d+\]?)/.exec(slice.note)?.[1];
  if (place.process.source !== "compile" || !id) return [];
  const { rank } = place.process;
  const key = [place.process.id, rank ?? "", 0, id.replace(/_\d+$/, "")].join(":");
  return [{ view: "compile", params: { at: key }, words: `compilation ${id}` }];
}

// Of a Flight Recorder's lane "mesh_dp (7), ranks 5 and 7", or of a note "group mesh_dp (7), seq 16".
function groupOf(place: Place, slice: Slice): string | undefined {
  const text = place.process.source === "flight" ? place.lane.name : slice.note;
  return (/\(([^()]+)\)(?:,|$)/.exec(text) ?? /^group ([^,]+)/.exec(text))?.[1];
}

function collective(place: Place, slice: Slice): Link[] {
  const seq = /(?:^|, )seq (\d+)/.exec(slice.note)?.[1];
  const group = groupOf(place, slice);
  if (!slice.kind.startsWith("comm") || !seq || !group) return [];
  const params = { group, seq, rank: place.process.rank };
  return [{ view: "flight", params, words: `collective ${seq} of group ${group}` }];
}

// "train.py(52): step", "... at train.py:52".
function sourceLine(slice: Slice): Link[] {
  const found =
    slice.kind === "python"
      ? /^(.+\.py)\((\d+)\): /.exec(slice.name)
      : /(?:^|\s)(\S+\.py):(\d+)(?:\s|$)/.exec(slice.note);
  const [, file, line] = found ?? [];
  if (!file || !line) return [];
  return [{ view: "source", params: { file, line }, words: `${file}:${line}` }];
}

// Only to views that have something to show.
function linksOf(place: Place, slice: Slice, run: Run): Link[] {
  const hasView = (id: string) =>
    views.some((one) => one.id === id && (!one.needs || hasRows(run, one.needs.tables)));
  return [...compilation(place, slice), ...collective(place, slice), ...sourceLine(slice)].filter(
    (link) => hasView(link.view),
  );
}

function Links({ place, slice, run }: { place: Place; slice: Slice; run: Run }) {
  const links = linksOf(place, slice, run);
  if (links.length === 0) return null;
  return (
    <Term name="see">
      {links.map((one) => (
        <a key={one.view} class="id-link" href={to(one.view, one.params)}>
          {one.words}
        </a>
      ))}
    </Term>
  );
}

function RelationRow({ scene, relation }: { scene: Scene; relation: Relation }) {
  const slice = sliceAt(scene.store, relation.place);
  if (!slice) return null;
  return (
    <Term class="wide" name={relationWords(relation.kind, relation.isFrom)}>
      <button class="plain" onClick={() => scene.select(relation.place)}>
        <bdi>{slice.name}</bdi>{" "}
        <span class="quiet">
          {duration(slice.duration)}, {relation.place.process.title}, {relation.place.lane.name}
        </span>
      </button>
    </Term>
  );
}

const mostShown = 8;

function Relations({ scene }: { scene: Scene }) {
  const { shown, count: all } = scene.relations;
  const some = shown.slice(0, mostShown);
  const rest = all - some.length;
  return (
    <>
      {some.map((relation, i) => (
        <RelationRow key={i} scene={scene} relation={relation} />
      ))}
      {rest > 0 && (
        <div class="wide">
          <dt />
          <dd class="quiet">
            {count(rest)} more {rest === 1 ? "arrow" : "arrows"}
          </dd>
        </div>
      )}
    </>
  );
}

// A moment of the calendar, when the timeline has one: "2026-05-01 10:20:30.123".
function dateOf(scene: Scene, start: number): string {
  const { base } = scene.timeline;
  return base > 0 ? `${time(base + start)} UTC` : "";
}

// What can be done with what is selected.
export function PanelButtons({ scene }: { scene: Scene }) {
  return (
    <span>
      <button onClick={() => scene.fit()} title="Key f">
        Fit
      </button>{" "}
      <button onClick={() => scene.clear()} title="Key Escape">
        Close
      </button>
    </span>
  );
}

export function Details({ scene, run }: { scene: Scene; run: Run }) {
  const place = useScene(scene, (one) => one.selected);
  useScene(scene, (one) => one.isAligned);
  const slice = place && sliceAt(scene.store, place);
  if (!place || !slice) return null;
  const start = toShown(scene.clockOf(place.process), slice.start);
  const self = selfOf(scene, place, slice);
  const { rank, attempt } = place.process;
  return (
    <section class="tl-panel" aria-label="Selected slice">
      <div class="panel-head">
        <h2>
          <i class={`tl-swatch ${familyOf(slice.kind)}`} />
          <bdi>{slice.name || "(no name)"}</bdi>
        </h2>
        <PanelButtons scene={scene} />
      </div>
      <dl class="tl-facts">
        <Term name="what">{kindWords(slice.kind)}</Term>
        <Term name="duration" title={`${count(slice.duration)} ns`}>
          {slice.duration > 0 ? duration(slice.duration) : "a moment"}
        </Term>
        <Term name="self" title="Without the slices directly inside of it">
          {self === null ? "" : duration(self)}
        </Term>
        <Term name="start" title={dateOf(scene, start)}>
          {timeText(start - scene.timeline.first, 1)}
        </Term>
        <Term name="rank">{rank}</Term>
        <Term name="attempt">{attempt || ""}</Term>
        <Term name="lane">{`${place.process.title}, ${place.lane.name}`}</Term>
        <Links place={place} slice={slice} run={run} />
        <Term name="note" class="wide">
          {slice.note && <bdi>{slice.note}</bdi>}
        </Term>
        <Relations scene={scene} />
      </dl>
    </section>
  );
}

// For those who do not see the canvas.
export function Spoken({ scene }: { scene: Scene }) {
  const place = useScene(scene, (one) => one.selected);
  const slice = place && sliceAt(scene.store, place);
  return (
    <p class="unseen" aria-live="polite">
      {place && slice ? `${slice.name}, ${wordsOf(scene, place, slice)}` : ""}
    </p>
  );
}

export function Tip({ scene }: { scene: Scene }) {
  const hover = useScene(scene, (one) => one.hover);
  if (!hover) return null;
  const isRight = hover.x > scene.width * 0.6;
  const isLow = hover.y > scene.height * 0.6;
  const side = isRight
    ? { right: `${scene.width - hover.x + 14}px` }
    : { left: `calc(var(--tl-gutter) + ${hover.x + 14}px)` };
  const edge = isLow
    ? { bottom: `${scene.height - hover.y + 10}px` }
    : { top: `${hover.y + 84}px` };
  return (
    <div class="tl-tip" aria-hidden="true" style={{ ...side, ...edge }}>
      <b>
        <bdi>{hover.title}</bdi>
      </b>
      {hover.words}
      {hover.note && (
        <div>
          <bdi>{hover.note.slice(0, 300)}</bdi>
        </div>
      )}
    </div>
  );
}
