// The selected slice in words: what it is, when, how long, what it has to do with others.
import { kindWords, familyOf } from "./kinds";
import { wordsOf } from "./hover";
import { linksOf } from "./links";
import { relationWords, type Relation } from "./relations";
import type { Scene } from "./scene";
import { useScene } from "./use_scene";
import { sliceAt, type Place, type Slice } from "./store";
import { selfTime } from "./summary";
import { timeText, toShown } from "./viewport";
import { count, duration, time } from "../parts/format";
import type { Run } from "../run/data";
import { currentRoute, href } from "../shell/route";

function selfOf(scene: Scene, place: Place, slice: Slice): number | null {
  const lane = scene.store.ready(place.process)?.lanes.get(place.lane.id);
  return lane && place.lane.kind === "thread" && slice.duration > 0
    ? selfTime(lane, slice.depth, place.index)
    : null;
}

function Links({ place, slice, run }: { place: Place; slice: Slice; run: Run }) {
  const links = linksOf(place, slice, run);
  if (links.length === 0) return null;
  const job = currentRoute().params.get("job");
  return (
    <div>
      <dt>see</dt>
      <dd>
        {links.map((one) => (
          <a key={one.view} class="id-link" href={href(one.view, { job, ...one.params })}>
            {one.words}
          </a>
        ))}
      </dd>
    </div>
  );
}

function RelationRow({ scene, relation }: { scene: Scene; relation: Relation }) {
  const slice = sliceAt(scene.store, relation.place);
  if (!slice) return null;
  return (
    <div class="wide">
      <dt>{relationWords(relation.kind, relation.isFrom)}</dt>
      <dd>
        <button class="plain" onClick={() => scene.select(relation.place)}>
          <bdi>{slice.name}</bdi>{" "}
          <span class="quiet">
            {duration(slice.duration)}, {relation.place.process.title}, {relation.place.lane.name}
          </span>
        </button>
      </dd>
    </div>
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

function Fact({ name, value, title }: { name: string; value: string; title?: string }) {
  if (!value) return null;
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

// A moment of the calendar, when the timeline has one: "2026-05-01 10:20:30.123".
function dateOf(scene: Scene, start: number): string {
  const { base } = scene.timeline;
  return base > 0 ? `${time(base + start)} UTC` : "";
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
        <span>
          <button onClick={() => scene.fit()} title="Key f">
            Fit
          </button>{" "}
          <button onClick={() => scene.clear()} title="Key Escape">
            Close
          </button>
        </span>
      </div>
      <dl class="tl-facts">
        <Fact name="what" value={kindWords(slice.kind)} />
        <Fact
          name="duration"
          value={slice.duration > 0 ? duration(slice.duration) : "a moment"}
          title={`${count(slice.duration)} ns`}
        />
        <Fact
          name="self"
          value={self === null ? "" : duration(self)}
          title="Without the slices directly inside of it"
        />
        <Fact
          name="start"
          value={timeText(start - scene.timeline.first, 1)}
          title={dateOf(scene, start)}
        />
        <Fact name="rank" value={rank === null ? "" : String(rank)} />
        <Fact name="attempt" value={attempt ? String(attempt) : ""} />
        <Fact name="lane" value={`${place.process.title}, ${place.lane.name}`} />
        <Links place={place} slice={slice} run={run} />
        {slice.note && (
          <div class="wide">
            <dt>note</dt>
            <dd>
              <bdi>{slice.note}</bdi>
            </dd>
          </div>
        )}
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
