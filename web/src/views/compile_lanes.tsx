// How compilation proceeds on each rank: which of them compile while others wait.
import { useMemo } from "preact/hooks";
import { compileNeeds, withCompile, type CompileProps, type Overlap } from "../compile/data";
import { hasView, timelineParams } from "../compile/one_links";
import { boxWords, LaneCanvas } from "../compile/lane_canvas";
import {
  extentOf,
  lanesIsland,
  makeLanes,
  type Box,
  type Clock,
  type Extent,
  type Lane,
  type RawLanes,
} from "../compile/lanes";
import {
  AreaLegend,
  LeftOut,
  Numbers,
  Rows,
  Section,
  Tabs,
  chosen,
  numberColumn,
  seconds,
  textColumn,
  type Fact,
} from "../compile/parts";
import { StatusLegend } from "../compile/status";
import { count, counted, duration, rankList, time } from "../parts/format";
import { Waiting } from "../parts/loading";
import type { Column } from "../parts/table";
import { useOnce } from "../run/islands";
import { useKeys } from "../shell/keys";
import { currentRoute, goTo, href, setParams, type Route } from "../shell/route";
import type { View } from "../view";

const id = "compile_lanes";

const clocks = [
  { id: "wall", title: "Wall clock" },
  { id: "log", title: "From the begin of each log" },
];

// Microseconds as the address has them; the whole when it has none.
function wantedExtent(route: Route, whole: Extent): Extent {
  const from = Number(route.params.get("from") ?? "NaN");
  const to = Number(route.params.get("to") ?? "NaN");
  return to > from ? { from, to } : whole;
}

function facts(lanes: Lane[], whole: Extent): Fact[] {
  const busiest = lanes.reduce(
    (most, lane) => (lane.busy > most.busy ? lane : most),
    lanes[0] as Lane,
  );
  const all = lanes.reduce((sum, lane) => sum + lane.busy, 0);
  const bad = (lane: Lane) =>
    lane.boxes.some((box) => box.status === "failed" || box.status === "unfinished");
  return [
    {
      value: count(lanes.length),
      label: lanes.length === 1 ? "rank" : "ranks",
      note: "with compile logs",
    },
    {
      value: duration((whole.to - whole.from) * 1000),
      label: "from first to last",
      definition: "From the begin of the first compilation to the end of the last",
    },
    {
      value: duration(busiest.busy * 1000),
      label: busiest.name,
      note: `compiled longest; ${duration((all / lanes.length) * 1000)} on average`,
    },
    {
      value: count(lanes.filter(bad).length),
      label: "with failures",
      definition: "Ranks on which a compilation failed or never ended",
    },
  ];
}

function Selected({ lane, box, job }: { lane: Lane; box: Box; job: string | null }) {
  return (
    <p class="panel lane-words" role="status">
      {boxWords(lane, box)}.{" "}
      <a class="id-link" href={href("compile", { job, at: box.key })}>
        Show compilation {box.id}
      </a>
      {hasView("timeline") && (
        <a
          href={href("timeline", {
            job,
            ...timelineParams({ ...(lane.rank !== null && { rank: lane.rank }), ...box }),
          })}
        >
          Show this time in the timeline
        </a>
      )}
    </p>
  );
}

interface Row {
  lane: Lane;
  box: Box;
}

const boxColumns = (origin: number | null): Column<Row>[] => [
  textColumn("lane", "rank", 100, (row) => row.lane.name),
  textColumn("id", "id", 70, (row) => row.box.id),
  textColumn("function", "function", 0, (row) => row.box.compilation?.function ?? row.box.phase, {
    opens: true,
  }),
  textColumn("phase", "outermost phase", 190, (row) => row.box.phase),
  numberColumn(
    "start",
    origin === null ? "begin in its log" : "begin (UTC)",
    190,
    (row) => row.box.start,
    (us) => (origin === null ? duration(us * 1000) || "0" : time(origin + us * 1000)),
  ),
  numberColumn(
    "time",
    "time",
    100,
    (row) => row.box.end - row.box.start,
    (us) => duration(us * 1000),
  ),
  textColumn("status", "outcome", 130, (row) => row.box.status),
];

function Overlaps({ compile }: Pick<CompileProps, "compile">) {
  const rows = compile.rows("compile_overlap");
  const columns = useMemo(
    (): Column<Overlap>[] => [
      textColumn("ranks", "these ranks compiled", 0, (row) => rankList(row.ranks ?? [])),
      numberColumn("waiting", "while so many did not", 160, (row) => row.waiting),
      numberColumn("seconds", "for", 110, (row) => row.seconds, seconds),
      numberColumn("intervals", "times", 80, (row) => row.intervals),
    ],
    [],
  );
  if (rows.length === 0) return null;
  return (
    <Section title="Who compiled while others did not" number={rows.length}>
      <Rows label="Sets of ranks that compiled together" rows={rows} columns={columns} empty="" />
      <LeftOut compile={compile} names={["compile_overlap"]} />
    </Section>
  );
}

function Content({ raw, run, route, compile }: CompileProps & { raw: RawLanes }) {
  const clock = chosen(clocks, route.params.get("clock")) as Clock;
  const lanes = useMemo(
    () => makeLanes(raw, compile, run.job, clock),
    [raw, compile, run.job, clock],
  );
  const whole = useMemo(() => extentOf(lanes), [lanes]);
  const extent = wantedExtent(route, whole);
  const at = route.params.get("at");
  const rows = useMemo(
    () => lanes.flatMap((lane) => lane.boxes.map((box) => ({ lane, box }))),
    [lanes],
  );
  const keys = useMemo(() => [...new Set(rows.map((row) => row.box.key))], [rows]); // one may have several boxes
  const selected = rows.find((row) => row.box.key === at);
  const columns = useMemo(() => boxColumns(clock === "wall" ? raw.base_ns : null), [clock, raw]);
  const zoom = (to: Extent | null) =>
    setParams(
      id,
      {
        from: to && String(Math.max(0, Math.round(to.from))),
        to: to && String(Math.round(Math.max(to.to, to.from + 10))),
      },
      true,
    );
  const move = (by: number) => {
    const now = currentRoute().params.get("at"); // keys may come faster than the page is drawn
    const from = keys.indexOf(now ?? "");
    const next = keys[Math.max(0, Math.min(keys.length - 1, from + by))];
    if (next) setParams(id, { at: next }, true);
  };
  const open = () => {
    const now = currentRoute().params.get("at");
    if (now) goTo("compile", { at: now });
  };
  useKeys([
    { key: "j", does: "Next compilation", act: () => move(1) },
    { key: "k", does: "Previous compilation", act: () => move(-1) },
    { key: "o", does: "Open the selected compilation", act: open },
    { key: "0", does: "Show the whole time", act: () => zoom(null) },
  ]);
  if (lanes.length === 0) return <p class="empty">No compilation of this job has a time.</p>;
  return (
    <>
      <Numbers label="Lanes in numbers" facts={facts(lanes, whole)} partial={raw.left_out > 0} />
      <Section
        title="Ranks over time"
        side={
          <div class="choices">
            {extent !== whole && <button onClick={() => zoom(null)}>Show all</button>}
            <Tabs
              view={id}
              param="clock"
              tabs={clocks}
              current={clock}
              label="Clock"
              forget={{ from: null, to: null }}
            />
          </div>
        }
      >
        <StatusLegend />
        <LaneCanvas
          lanes={lanes}
          extent={extent}
          selected={at}
          onSelect={(_, box) => setParams(id, { at: box.key === at ? null : box.key }, true)}
          onZoom={zoom}
        />
        <div class="lane-foot">
          <AreaLegend />
          <span class="quiet">Double click zooms in, with Shift out.</span>
        </div>
        {selected && <Selected {...selected} job={route.params.get("job")} />}
      </Section>
      <Overlaps compile={compile} />
      <details class="by-rank">
        <summary>The same as a list ({counted(rows.length, "stretch", "stretches")})</summary>
        <Rows
          label="Compilations by rank and time"
          rows={rows}
          columns={columns}
          idOf={(row) => `${row.box.key} ${row.box.start}`}
          selected={selected ? `${selected.box.key} ${selected.box.start}` : null}
          onSelect={(row) => setParams(id, { at: row.box.key }, true)}
          empty=""
        />
      </details>
      {raw.left_out > 0 && (
        <p class="quiet left-out">
          {counted(raw.left_out, "shorter stretch", "shorter stretches")} of{" "}
          <code>compile_phase</code> are not on this page: <code>debrief query</code> has all.
        </p>
      )}
    </>
  );
}

function Lanes(props: CompileProps) {
  const loaded = useOnce(lanesIsland);
  return (
    <>
      <h1>Lanes</h1>
      {loaded.state === "ready" ? (
        <Content {...props} raw={loaded.value} />
      ) : (
        <Waiting loaded={loaded} />
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Lanes",
  section: "Compile",
  order: 32,
  needs: compileNeeds(["compile_span"]),
  component: withCompile(Lanes),
};
