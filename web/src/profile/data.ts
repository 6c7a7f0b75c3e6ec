// Profiles and memory snapshots: the island "profile" (run/tables.ts), and the timelines that its rows are of.
import type { ComponentType } from "preact";
import { useMemo } from "preact/hooks";
import { jobName } from "../parts/columns";
import { baseName } from "../parts/format";
import { withTables, type TableProps } from "../parts/loading";
import { grouped } from "../parts/rows";
import type { Run } from "../run/data";
import { tablesIsland, type Row, type TableName, type Tables, type Who } from "../run/tables";
import type { Params, Route } from "../shell/route";
import type { Needs } from "../view";

export type Breakdown = Row<"profile_breakdown">;
export type Kernel = Row<"profile_kernel">;
export type MemoryPeak = Row<"profile_memory_peak">;
export type MemoryUse = Row<"memory_use">;

export interface Step extends Row<"profile_step"> {
  row: number; // in the table, as evidence names it
}

const island = tablesIsland("profile", (raw) => {
  raw.tables.profile_step?.rows.forEach((row, i) => ((row as Step).row = i));
});

export const stepsOf = (tables: Tables) => tables.rows("profile_step") as Step[];

// What every figure of all devices of a timeline is in.
export const breakdownsOf = (tables: Tables) =>
  tables.rows("profile_breakdown").filter((row) => row.scope === "all");

export const profileNeeds = (tables: string[], missing: string, record: string): Needs => ({
  tables,
  missing,
  record,
});

export const recordProfile =
  "Run a few steps inside torch.profiler.profile(activities=[CPU, CUDA], record_shapes=True) and write one file for " +
  "each rank with export_chrome_trace() or tensorboard_trace_handler().";

export const withProfile = (component: ComponentType<TableProps>) => withTables(island, component);

// One profile of one process.
export interface Timeline extends Who {
  label: string;
  isOnly: boolean; // no other of the same rank
}

function labelOf(run: Run, row: Who, isOnly: boolean): string {
  const job = run.jobs.length > 1 ? `${jobName(run, row.job)}, ` : "";
  if (row.rank === undefined) return `${job}${fileName(run, row.input)}`;
  return `${job}rank ${row.rank}${isOnly ? "" : ` (${fileName(run, row.input)})`}`;
}

// What a reader knows an input by, where it has no rank.
export function fileName(run: Run, input: number | undefined): string {
  const path = run.inputs.find((one) => one.input === input)?.path;
  return (path && baseName(path)) || `input ${input ?? "?"}`;
}

// Those that have rows in any of the tables, in order of job, attempt and rank.
export function timelinesOf(run: Run, tables: Tables, names: TableName[]): Timeline[] {
  const rows = names.flatMap((name) => tables.rows(name) as Who[]);
  const found = [...grouped(rows, (row) => row.input)].flatMap(([input, [first]]) =>
    first && input !== undefined ? [first] : [],
  );
  const same = grouped(found, (row) => `${row.job} ${row.attempt} ${row.rank}`);
  const timelines = [...same.values()].flatMap((some) =>
    some.map(({ job, attempt, rank, input }) => {
      const known = Object.entries({ job, attempt, rank, input }).filter(([, value]) => value !== undefined);
      const who = Object.fromEntries(known) as Who;
      const isOnly = some.length === 1;
      return { ...who, isOnly, label: labelOf(run, who, isOnly) };
    }),
  );
  const order: (keyof Who)[] = ["job", "attempt", "rank", "input"];
  const place = (one: Who, of: keyof Who) => one[of] ?? -1;
  return timelines.sort((a, b) =>
    order.reduce((least, of) => least || place(a, of) - place(b, of), 0),
  );
}

// The timelines that have rows in the tables, and the one in the address.
export function useTimelines({ run, route, tables }: TableProps, names: TableName[]): PartProps {
  const timelines = useMemo(() => timelinesOf(run, tables, names), [run, tables]);
  return { run, route, tables, timelines, current: timelineInAddress(timelines, route) };
}

// Whether a row is of the chosen timeline; null: of any.
export const isOfTimeline = (current: Timeline | null) => (row: Who) =>
  current === null || row.input === current.input;

// What the parts of a view get.
export interface PartProps {
  run: Run;
  tables: Tables;
  route: Route;
  timelines: Timeline[];
  current: Timeline | null;
}

// The one in the address (?rank=3, ?input=7 where a rank has several); null when there is none.
function timelineInAddress(timelines: Timeline[], route: Route): Timeline | null {
  const [rank, input] = [route.params.get("rank"), route.params.get("input")];
  return (
    timelines.find((one) => input !== null && String(one.input) === input) ??
    timelines.find((one) => rank !== null && String(one.rank) === rank) ??
    null
  );
}

export function addressOf(timeline: Timeline | null): Params {
  const needsInput = timeline && (timeline.rank === undefined || !timeline.isOnly);
  return { rank: timeline?.rank, input: needsInput ? timeline.input : null };
}

// A short name for a long text, for addresses: two texts of one run have the same one in 10^12 times.
export function keyOfText(text: string): string {
  let [a, b] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < text.length; ++i) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b) + i;
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
}
