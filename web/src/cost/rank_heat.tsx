// What each rank costs the job: a heat map of what a step would gain if the rank were like the others.
import { Chart } from "../parts/chart";
import { counted, duration, rankList, shareText } from "../parts/format";
import { Section } from "../parts/listing";
import { Legend } from "../parts/marks";
import type { Tables } from "../run/tables";
import { to } from "../shell/route";
import { heatLevel, heatLimits, heatMapOf, type Heat, type HeatMap, type Replay } from "./heat_map";

const gutter = { stages: 64, profiles: 44 };
const headHeight = 26;
const [smallest, widest] = [12, 44]; // of a cell, px

function costWords(heat: Heat): string {
  if (heat.share === null) return "not replayed: no slower than those that were";
  if (heat.share < 0.001) return "costs the job nothing";
  return `costs ${duration(Math.round(heat.ns ?? 0))} a step, ${shareText(heat.share)}`;
}

function cellWords(cell: Heat[], isStages: boolean): string {
  const [hottest] = cell;
  if (!hottest) return "";
  const place = isStages ? `, stage ${hottest.row}` : "";
  if (cell.length === 1) return `Rank ${hottest.rank}${place}: ${costWords(hottest)}`;
  const ranks = rankList(cell.map((one) => one.rank), 4);
  return `Ranks ${ranks}${place}: rank ${hottest.rank} ${costWords(hottest)}, the others less`;
}

function Cell({ cell, size, left, isStages }: { cell: Heat[]; size: number; left: number; isStages: boolean }) {
  const heat = cell[0] as Heat;
  const [x, y] = [left + heat.column * size, headHeight + heat.row * size];
  const level = heat.share === null ? "none" : heatLevel(heat.share);
  const words = cellWords(cell, isStages);
  return (
    <a href={to("timeline", { rank: heat.rank })} aria-label={words}>
      <rect class={`heat-cell heat-${level}`} x={x + 1} y={y + 1} width={size - 2} height={size - 2} rx={size > 16 ? 3 : 1}>
        <title>{words}</title>
      </rect>
      {cell.length === 1 && size >= 26 && (
        <text class={`heat-text heat-on-${level}`} x={x + size / 2} y={y + size / 2 + 4} text-anchor="middle">
          {heat.rank}
        </text>
      )}
    </a>
  );
}

// The first rank or the stage of each row; every so many-th where they would touch.
function RowNames({ map, size, left }: { map: HeatMap; size: number; left: number }) {
  if (map.rows === 1 && !map.isStages) return null;
  const every = Math.ceil(16 / size);
  const first = (row: number) =>
    Math.min(...map.cells.filter((cell) => cell[0]?.row === row).flatMap((cell) => cell.map((one) => one.rank)));
  return (
    <>
      {Array.from({ length: map.rows }, (_, row) =>
        row % every === 0 ? (
          <text key={row} x={left - 8} y={headHeight + (row + 0.5) * size + 4} text-anchor="end">
            {map.isStages ? `stage ${row}` : first(row)}
          </text>
        ) : null,
      )}
    </>
  );
}

// Narrow screens get small cells before they get short rows.
function cellSize(width: number, columns: number): number {
  return Math.max(smallest, Math.min(widest, Math.floor(width / Math.max(1, columns))));
}

function Cells({ map, width, left }: { map: HeatMap; width: number; left: number }) {
  const size = cellSize(width - left - 12, map.columns);
  const shared = map.perCell > 1 ? `, ${map.perCell} to a cell` : "";
  const head = map.isStages ? `replicas${shared}` : `ranks in order${shared}`;
  return (
    <g>
      <text class="axis" x={left} y={16}>
        {head}
      </text>
      <RowNames map={map} size={size} left={left} />
      {map.cells.map((cell) => (
        <Cell key={cell[0]?.rank} cell={cell} size={size} left={left} isStages={map.isStages} />
      ))}
    </g>
  );
}

function HeatLegend({ hasNone }: { hasNone: boolean }) {
  const words = (level: number) =>
    level === 0 ? `below ${shareText(heatLimits[0] ?? 0).replace(".0", "")}` : `from ${shareText(heatLimits[level - 1] ?? 0).replace(".0", "")}`;
  const levels = Array.from({ length: heatLimits.length + 1 }, (_, level) => ({
    id: String(level),
    mark: <i class={`heat heat-${level}`} />,
    words: words(level),
  }));
  const none = { id: "none", mark: <i class="heat none" />, words: "not replayed" };
  return (
    <Legend
      label="Colours: share of a step"
      isQuiet
      before={<span>share of a step that goes away:</span>}
      items={hasNone ? [...levels, none] : levels}
    />
  );
}

function takeaway(job: Replay): string {
  const { replayed_ns: now = 0, typical_ns: then = 0, slowdown = 1 } = job;
  const step = `A step takes ${duration(now)}`;
  if (slowdown < 1.03) return `${step}; with every rank like the others it would take as long. No rank costs the job time.`;
  return `${step}; with every rank like the others it would take ${duration(then)} (${slowdown.toFixed(2)} x faster).`;
}

function OfJob({ tables, job, isOnly }: { tables: Tables; job: Replay; isOnly: boolean }) {
  if (job.why_not) return <p class="empty">The job could not be replayed: {job.why_not}.</p>;
  if (!isOnly)
    return (
      <>
        <p class="takeaway">{takeaway(job)}</p>
        <p class="empty">Several timelines of this job were replayed: give debrief one of them for its ranks.</p>
      </>
    );
  const left = gutter[job.source === "stages" ? "stages" : "profiles"];
  const mapIn = (width: number) => heatMapOf(tables, job, Math.floor((width - left - 12) / smallest));
  const map = mapIn(800);
  if (!map) return <p class="empty">One rank alone was recorded: there is nobody to compare it with.</p>;
  const hasNone = map.cells.some((cell) => cell.some((one) => one.share === null));
  const label = `${takeaway(job)} ${counted(map.cells.length, "cell")}; the hottest: ${hottestWords(map)}`;
  return (
    <>
      <p class="takeaway">{takeaway(job)}</p>
      <Sized label={label} mapIn={mapIn} left={left} />
      <HeatLegend hasNone={hasNone} />
    </>
  );
}

function hottestWords(map: HeatMap): string {
  const [first] = [...map.cells].sort((a, b) => (b[0]?.share ?? 0) - (a[0]?.share ?? 0));
  return first ? cellWords(first, map.isStages) : "none";
}

// The height follows from the width, which is known once the page is drawn.
function Sized(props: { label: string; mapIn: (width: number) => HeatMap | null; left: number }) {
  const { label, mapIn, left } = props;
  const heightIn = (width: number) => {
    const map = mapIn(width);
    return headHeight + 12 + (map ? map.rows * cellSize(width - left - 12, map.columns) : 0);
  };
  return (
    <Chart name="rank-heat" label={label} height={heightIn}>
      {(width) => {
        const map = mapIn(width);
        return map && <Cells map={map} width={width} left={left} />;
      }}
    </Chart>
  );
}

const isOnly = (jobs: Replay[], job: Replay) =>
  jobs.every((one) => one === job || one.job !== job.job || one.attempt !== job.attempt);

export function RankHeat({ tables }: { tables: Tables }) {
  const jobs = tables.rows("what_if_job");
  return (
    <Section title="What each rank costs the job">
      {jobs.length === 0 ? (
        <p class="empty">
          No job was replayed: that takes profiles of two ranks or more with whole steps, and the collectives between them.
        </p>
      ) : (
        jobs.map((job, i) => <OfJob key={i} tables={tables} job={job} isOnly={isOnly(jobs, job)} />)
      )}
    </Section>
  );
}
