// How compilation proceeds on each rank: which of them compile while others wait.
import { useMemo } from "preact/hooks";
import { compileNeeds, withCompile } from "../compile/data";
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
import { AreaLegend, timelineAt } from "../compile/parts";
import { StatusLegend } from "../compile/status";
import { chosen, Tabs, useSteps } from "../parts/choices";
import { numberColumn, textColumn } from "../parts/columns";
import { count, counted, duration, rankList, seconds, time } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Rows, Section, Sheet } from "../parts/listing";
import { Load, type TableProps } from "../parts/loading";
import { fact, Numbers, type Fact } from "../parts/marks";
import { sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Row as RowOf } from "../run/tables";
import { useKeys } from "../shell/keys";
import { goTo, param, setParams, to, type Route } from "../shell/route";
import type { View } from "../view";

const id = "compile_lanes";

const clocks = [
  { id: "wall", title: "Wall clock" },
  { id: "log", title: "From the start of each log" },
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
  const mean = sum(lanes, (lane) => lane.busy) / lanes.length;
  const bad = (lane: Lane) =>
    lane.boxes.some((box) => box.status === "failed" || box.status === "unfinished");
  return [
    fact(count(lanes.length), lanes.length === 1 ? "rank" : "ranks", "with compile logs"),
    fact(duration((whole.to - whole.from) * 1000), "from first to last", "",
      "From the start of the first compilation to the end of the last"),
    fact(duration(busiest.busy * 1000), busiest.name,
      `compiled longest; ${duration(mean * 1000)} on average`),
    fact(count(lanes.filter(bad).length), "with failures", "",
      "Ranks on which a compilation failed or never ended"),
  ];
}

function Selected({ lane, box }: Row) {
  return (
    <p class="panel lane-words" role="status">
      {boxWords(lane, box)}.{" "}
      <a class="id-link" href={to("compile", { at: box.key })}>
        Show compilation {box.id}
      </a>
      <a href={timelineAt({ ...(lane.rank !== null && { rank: lane.rank }), ...box })}>
        Show this time in the timeline
      </a>
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
  numberColumn("start", origin === null ? "begin in its log" : "begin (UTC)", 190, (row) => row.box.start,
    (us) => (origin === null ? duration(us * 1000) || "0" : time(origin + us * 1000))),
  numberColumn("time", "time", 100, (row) => row.box.end - row.box.start, (us) => duration(us * 1000)),
  textColumn("status", "outcome", 130, (row) => row.box.status),
];

const overlapColumns: Column<RowOf<"compile_overlap">>[] = [
  textColumn("ranks", "these ranks compiled", 0, (row) => rankList(row.ranks ?? [])),
  numberColumn("waiting", "while so many did not", 160, (row) => row.waiting),
  numberColumn("seconds", "for", 110, (row) => row.seconds, seconds),
  numberColumn("intervals", "times", 80, (row) => row.intervals),
];

const zoom = (span: Extent | null) =>
  setParams(
    id,
    {
      from: span && Math.max(0, Math.round(span.from)),
      to: span && Math.round(Math.max(span.to, span.from + 10)),
    },
    true,
  );

function useLaneKeys(rows: Row[]): void {
  const keys = useMemo(() => [...new Set(rows.map((row) => row.box.key))], [rows]); // one may have several boxes
  useSteps("compilation", (by) => {
    const from = keys.indexOf(param("at") ?? ""); // keys may come faster than the page is drawn
    const next = keys[Math.max(0, Math.min(keys.length - 1, from + by))];
    if (next) setParams(id, { at: next }, true);
  });
  const open = () => {
    const now = param("at");
    if (now) goTo("compile", { at: now });
  };
  useKeys([
    { key: "o", does: "Open the selected compilation", act: open },
    { key: "0", does: "Show the whole time", act: () => zoom(null) },
  ]);
}

interface ListProps {
  rows: Row[];
  selected: Row | undefined;
  origin: number | null; // of a common clock
}

function BoxList({ rows, selected, origin }: ListProps) {
  const idOf = ({ box }: Row) => `${box.key} ${box.start}`;
  return (
    <details class="by-rank">
      <summary>The same as a list ({counted(rows.length, "stretch", "stretches")})</summary>
      <Rows
        label="Compilations by rank and time"
        rows={rows}
        columns={boxColumns(origin)}
        idOf={idOf}
        selected={selected ? idOf(selected) : null}
        onSelect={(row) => setParams(id, { at: row.box.key }, true)}
      />
    </details>
  );
}

function Content({ raw, run, route, tables }: TableProps & { raw: RawLanes }) {
  const clock = chosen(clocks, route.params.get("clock")) as Clock;
  const lanes = useMemo(
    () => makeLanes(raw, tables, run.job, clock),
    [raw, tables, run.job, clock],
  );
  const whole = useMemo(() => extentOf(lanes), [lanes]);
  const extent = wantedExtent(route, whole);
  const at = route.params.get("at");
  const rows = useMemo(
    () => lanes.flatMap((lane) => lane.boxes.map((box) => ({ lane, box }))),
    [lanes],
  );
  useLaneKeys(rows);
  const selected = rows.find((row) => row.box.key === at);
  if (lanes.length === 0) return <p class="empty">No compilation of this job has a time.</p>;
  const forget = { from: null, to: null };
  return (
    <>
      <Numbers label="Lanes in numbers" facts={facts(lanes, whole)} partial={raw.left_out > 0} />
      <Section
        title="Ranks over time"
        side={
          <div class="choices">
            {extent !== whole && <button onClick={() => zoom(null)}>Show all</button>}
            <Tabs view={id} param="clock" tabs={clocks} current={clock} label="Clock" forget={forget} />
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
        {selected && <Selected {...selected} />}
      </Section>
      <Sheet
        title="Who compiled while others did not"
        label="Sets of ranks that compiled together"
        rows={tables.rows("compile_overlap")}
        columns={overlapColumns}
      >
        <LeftOut tables={tables} names={["compile_overlap"]} />
      </Sheet>
      <BoxList rows={rows} selected={selected} origin={clock === "wall" ? raw.base_ns : null} />
      {raw.left_out > 0 && (
        <p class="quiet left-out">
          {counted(raw.left_out, "shorter stretch", "shorter stretches")} of{" "}
          <code>compile_phase</code> are not on this page: <code>debrief query</code> has all.
        </p>
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
  component: withCompile((props) => (
    <Load title="Lanes" once={lanesIsland}>
      {(raw) => <Content {...props} raw={raw} />}
    </Load>
  )),
};
