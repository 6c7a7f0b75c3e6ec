// The row above the timeline: search, filters, clock, what dragging does.
import { useEffect, useRef, useState } from "preact/hooks";
import { families } from "./kinds";
import type { Process, Source, Timeline } from "./model";
import type { Scene } from "./scene";
import { useScene } from "./screen";
import { positionOf, type Matches } from "./search";
import type { Place } from "./store";
import { count } from "../parts/format";
import { setParams, type Route } from "../shell/route";

export const id = "timeline";

function foundWords(scene: Scene, matches: Matches | null, selected: Place | null): string {
  if (!matches) return "";
  if (!matches.isComplete) return `${count(matches.count)} so far`;
  if (matches.count === 0) return "none found";
  const at = selected ? positionOf(matches, selected, scene.clockOf) : -1;
  return at < 0 ? `${count(matches.count)} found` : `${count(at + 1)} of ${count(matches.count)}`;
}

// Typing waits a moment before it searches; Enter goes to the next, with shift to the one before.
function Search({ scene }: { scene: Scene }) {
  const query = useScene(scene, (one) => one.finder.query);
  const matches = useScene(scene, (one) => one.finder.matches);
  const selected = useScene(scene, (one) => one.selected);
  const [text, setText] = useState(query);
  const timer = useRef(0);
  useEffect(() => setText((now) => (now.trim() === query ? now : query)), [query]);
  const input = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => scene.setQuery(value.trim()), 120);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    clearTimeout(timer.current);
    if (text.trim() !== scene.finder.query) scene.setQuery(text.trim(), true);
    else scene.nextMatch(event.shiftKey ? -1 : 1);
  };
  return (
    <>
      <input
        type="search"
        class="filter"
        value={text}
        placeholder="Search names and notes (/)"
        aria-label="Search slices"
        title="Enter: next, shift + Enter: previous. In processes that have been opened."
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => input(event.currentTarget.value)}
        onKeyDown={press}
      />
      {matches && (
        <>
          <button aria-label="Previous match" title="Key N" onClick={() => scene.nextMatch(-1)}>
            {"\u2039"}
          </button>
          <button aria-label="Next match" title="Key n" onClick={() => scene.nextMatch(1)}>
            {"\u203a"}
          </button>
        </>
      )}
      <span class="found" role="status">
        {foundWords(scene, matches, selected)}
      </span>
    </>
  );
}

const sourceWords: Record<Source, string> = {
  profile: "profiles",
  compile: "compile logs",
  flight: "Flight Recorder",
  text: "job output",
  recorder: "recorder",
  host: "GPU monitors",
};

interface ChoiceProps {
  name: string;
  param: string;
  values: [value: string, words: string][];
  route: Route;
}

function Choice({ name, param, values, route }: ChoiceProps) {
  if (values.length < 2) return null;
  const value = route.params.get(param) ?? "";
  const isListed = value === "" || values.some(([one]) => one === value);
  return (
    <label>
      {name}
      <select
        value={value}
        onChange={(event) =>
          setParams(id, { [param]: event.currentTarget.value || null, open: null })
        }
      >
        <option value="">all</option>
        {!isListed && <option value={value}>{value}</option>}
        {values.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function ranksOf(processes: Process[]): [string, string][] {
  const ranks = new Set(processes.flatMap((one) => (one.rank === null ? [] : [one.rank])));
  return [...ranks].sort((a, b) => a - b).map((rank) => [String(rank), String(rank)]);
}

function sourcesOf(processes: Process[]): [string, string][] {
  return [...new Set(processes.map((one) => one.source))].map((one) => [one, sourceWords[one]]);
}

function hasShifts(timeline: Timeline): boolean {
  return timeline.processes.some(({ shift }) => shift.offset !== 0 || shift.drift !== 0);
}

export function Tools({ scene, route }: { scene: Scene; route: Route }) {
  const isAligned = useScene(scene, (one) => one.isAligned);
  const isChoosing = useScene(scene, (one) => one.isChoosing);
  const { timeline } = scene;
  return (
    <div class="tl-tools">
      <h1>Timeline</h1>
      <Search scene={scene} />
      <span class="space" />
      <Choice name="Rank" param="rank" values={ranksOf(timeline.processes)} route={route} />
      <Choice name="Source" param="source" values={sourcesOf(timeline.processes)} route={route} />
      {hasShifts(timeline) && (
        <button
          aria-pressed={!isAligned}
          title="Times as each rank recorded them, not brought to one clock"
          onClick={() => scene.setAligned(!isAligned)}
        >
          Raw clocks
        </button>
      )}
      <button
        aria-pressed={isChoosing}
        title="Dragging chooses an area (key m); with shift it always does"
        onClick={() => setChoosing(scene, !isChoosing)}
      >
        Select area
      </button>
      <span role="group" aria-label="Zoom">
        <button aria-label="Zoom in" title="Key w" onClick={() => scene.zoom(0.5, NaN)}>
          +
        </button>{" "}
        <button aria-label="Zoom out" title="Key s" onClick={() => scene.zoom(2, NaN)}>
          {"\u2212"}
        </button>{" "}
        <button title="Key 0" onClick={() => scene.showWhole()}>
          Fit
        </button>
      </span>
    </div>
  );
}

export function setChoosing(scene: Scene, isChoosing: boolean): void {
  scene.isChoosing = isChoosing;
  scene.screen.schedule();
}

// Families that the slices read so far have, as one word that only changes when they do.
function familiesIn(scene: Scene): string {
  const found = new Set<number>();
  for (const process of scene.processes)
    scene.store.ready(process)?.families.forEach((is, family) => is && found.add(family));
  return [...found].sort((a, b) => a - b).join(" ");
}

export function Legend({ scene }: { scene: Scene }) {
  const found = useScene(scene, familiesIn);
  if (!found) return null;
  return (
    <div class="tl-legend" aria-label="Colours">
      {found.split(" ").map((at) => {
        const [family, words] = families[Number(at)] ?? ["other", "other"];
        return (
          <span key={family}>
            <i class={`tl-swatch ${family}`} /> {words}
          </span>
        );
      })}
      <span>opacity = share of the pixel that is busy</span>
    </div>
  );
}
