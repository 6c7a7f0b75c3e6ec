// What every process of the run did, when: profiles, compilers, collectives, lines of output, samples of GPUs, on one
// clock.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { AreaPanel } from "../timeline/area";
import { Details, Spoken, Tip } from "../timeline/details";
import { listen } from "../timeline/input";
import { Labels } from "../timeline/labels";
import { minimapHeight, rulerHeight } from "../timeline/minimap";
import type { Timeline } from "../timeline/model";
import type { Way } from "../timeline/relations";
import { Scene } from "../timeline/scene";
import { gutter, useScene } from "../timeline/screen";
import { timelineIsland } from "../timeline/store";
import { id, Legend, setChoosing, Tools } from "../timeline/tools";
import { lengthOf, timeText } from "../timeline/viewport";
import { watchLook } from "../parts/canvas";
import { count, counted, duration } from "../parts/format";
import { Waiting } from "../parts/loading";
import { useOnce } from "../run/islands";
import type { Run } from "../run/data";
import { useKeys, type Key } from "../shell/keys";
import { setParams, type Route } from "../shell/route";
import type { View, ViewProps } from "../view";

function useTimelineKeys(scene: Scene): void {
  const key = (name: string, does: string, act: () => void): Key => ({ key: name, does, act });
  const keys = useMemo(
    () => [
      key("w", "Zoom in", () => scene.zoom(0.8)),
      key("s", "Zoom out", () => scene.zoom(1.25)),
      key("a", "Move to earlier times", () => scene.pan(-0.15)),
      key("d", "Move to later times", () => scene.pan(0.15)),
      key("f", "Fit the selection", () => scene.fit()),
      key("0", "Show the whole time", () => scene.showWhole()),
      key("m", "Dragging selects an area", () => setChoosing(scene, !scene.isChoosing)),
      key("n", "Next match", () => scene.nextMatch(1)),
      key("N", "Previous match", () => scene.nextMatch(-1)),
      key("[", "Fold all processes", () => scene.toggleAll(false)),
      key("]", "Unfold all processes", () => scene.toggleAll(true)),
      key("\u2190\u2192", "Previous, next slice of the row", () => undefined), // press() below
      key("\u2191\u2193", "Enclosing slice, first one inside", () => undefined),
      key("Escape", "Clear the selection", () => scene.clear()),
    ],
    [scene],
  );
  useKeys(keys);
}

const wait = 250; // ms without change before the address is written

// The address and the scene follow each other.
function useAddress(scene: Scene, run: Run, route: Route): void {
  const written = useRef<string | null>(null);
  const params = route.params.toString();
  useLayoutEffect(() => {
    if (params === written.current) return;
    written.current = params;
    scene.apply(run, route.params);
  }, [scene, run, params]);
  useEffect(() => {
    let timer = 0;
    const write = () => {
      setParamsOf(scene);
      written.current = new URLSearchParams(location.hash.split(/\?(.*)/s)[1] ?? "").toString();
    };
    const forget = scene.screen.listen(() => {
      clearTimeout(timer);
      timer = window.setTimeout(write, wait);
    });
    return () => {
      clearTimeout(timer);
      forget();
    };
  }, [scene]);
}

function setParamsOf(scene: Scene): void {
  setParams(id, scene.params(), true);
}

const ways: Record<string, Way> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

function press(scene: Scene, event: KeyboardEvent): void {
  const way = ways[event.key];
  if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  scene.move(way);
}

// The length of what is in sight and where it begins.
function InSight({ scene }: { scene: Scene }) {
  const span = useScene(scene, (one) => one.span);
  const from = span.from - scene.timeline.first;
  return (
    <div class="in-sight" style={{ width: `${gutter()}px` }}>
      <b>{duration(lengthOf(span))}</b>
      from {timeText(from, Math.max(1, lengthOf(span) / 1000))}
    </div>
  );
}

function Canvases({ scene, blamed }: { scene: Scene; blamed: Set<number> }) {
  const box = useRef<HTMLDivElement>(null);
  const main = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const layout = useScene(scene, (one) => one.layout);
  const isChoosing = useScene(scene, (one) => one.isChoosing);
  const isBusy = useScene(scene, (one) => one.isBusy());
  const width = useScene(scene, (one) => one.width);
  const height = useScene(scene, (one) => one.height);
  useLayoutEffect(() => {
    if (!box.current || !main.current || !minimap.current || !ruler.current) return;
    const elements = {
      box: box.current,
      main: main.current,
      minimap: minimap.current,
      ruler: ruler.current,
    };
    const detach = scene.screen.attach(elements);
    const deafen = listen(scene, elements);
    const unwatch = watchLook(box.current, () => scene.resize());
    return () => {
      detach();
      deafen();
      unwatch();
    };
  }, [scene]);
  const left = `${gutter()}px`;
  const across = (top: number, tall: number) => ({
    left,
    top: `${top}px`,
    width: `${width}px`,
    height: `${tall}px`,
  });
  return (
    <div class="tl-frame" style={{ "--tl-gutter": left }}>
      <div class="tl-strip" style={{ height: `${minimapHeight + rulerHeight + 1}px` }}>
        <InSight scene={scene} />
        <canvas
          ref={minimap}
          class="tl-minimap"
          role="img"
          aria-label="The whole time; the part in sight is framed"
          title="Click or drag to move the part in sight"
          style={across(0, minimapHeight)}
        />
        <canvas
          ref={ruler}
          class="tl-ruler"
          role="img"
          aria-label="Ruler"
          title="Drag to choose a time of all lanes"
          style={across(minimapHeight, rulerHeight)}
        />
      </div>
      <div
        ref={box}
        class={`tl-box${isChoosing ? " choosing" : ""}`}
        tabIndex={0}
        role="application"
        aria-busy={isBusy}
        aria-roledescription="timeline"
        aria-label={`Timeline of ${counted(scene.processes.length, "process", "processes")}. Arrow keys go from slice to slice; up and down to the enclosing and the enclosed.`}
        onKeyDown={(event) => press(scene, event)}
      >
        <div class="tl-canvas">
          <canvas
            ref={main}
            role="img"
            aria-label="Slices; the selected one is described below"
            style={across(0, height)}
          />
        </div>
        <div style={{ height: `${layout.height}px` }} />
        <Labels scene={scene} blamed={blamed} />
      </div>
      <Tip scene={scene} />
    </div>
  );
}

function LeftOut({ timeline }: { timeline: Timeline }) {
  if (timeline.leftOut === 0) return null;
  return (
    <p class="quiet left-out">
      {count(timeline.leftOut)} of {counted(timeline.slices, "slice")} are not on this page, the
      shortest of their lanes and, of thousands of ranks, most of those that no finding names:{" "}
      <code>debrief query</code> has all.
    </p>
  );
}

function blamedRanks(run: Run): Set<number> {
  return new Set(run.findings.filter((one) => one.role === "cause").flatMap((one) => one.ranks));
}

function Shown({ timeline, run, route }: { timeline: Timeline; run: Run; route: Route }) {
  const scene = useMemo(() => new Scene(timeline), [timeline]);
  const blamed = useMemo(() => blamedRanks(run), [run]);
  useAddress(scene, run, route);
  useTimelineKeys(scene);
  return (
    <div class="timeline">
      <Tools scene={scene} route={route} />
      <Canvases scene={scene} blamed={blamed} />
      <Details scene={scene} run={run} />
      <AreaPanel scene={scene} />
      <Spoken scene={scene} />
      <Legend scene={scene} />
      <LeftOut timeline={timeline} />
    </div>
  );
}

function TimelineView({ run, route }: ViewProps) {
  const loaded = useOnce(timelineIsland);
  if (loaded.state === "ready" && loaded.value.processes.length > 0)
    return <Shown timeline={loaded.value} run={run} route={route} />;
  return (
    <>
      <h1>Timeline</h1>
      {loaded.state === "ready" ? (
        <p class="empty">
          Nothing in this run has a time: the lines of the output have no timestamps, and there are no profiles.
        </p>
      ) : (
        <Waiting loaded={loaded} />
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Timeline",
  order: 60,
  needs: {
    tables: ["timeline_slice", "compile_phase", "comm_op", "text_event", "host_sample"],
    missing: "Nothing that has times was found.",
    record:
      "Profile some steps with torch.profiler and write them with export_chrome_trace(FILE) on each rank. " +
      "TORCH_TRACE=DIR adds the phases of the compiler, TORCH_FR_BUFFER_SIZE=2000 (before PyTorch 2.9 " +
      "TORCH_NCCL_TRACE_BUFFER_SIZE) the collectives of the Flight Recorder.",
  },
  component: TimelineView,
};
