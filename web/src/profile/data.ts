// Profiles and memory snapshots: the island "profile" as typed tables (run/tables.ts), what their columns mean, and the
// timelines that they are of. docs/tables.md says what the columns are; values that are null in the table are missing.
import type { ComponentType } from "preact";
import { withTables } from "../parts/loading";
import type { Run } from "../run/data";
import { loadJson, Once } from "../run/islands";
import { Tables, type RawTables, type Who } from "../run/tables";
import type { Route } from "../shell/route";
import type { Needs, ViewProps } from "../view";

// What every figure of a window of time has in common.
export interface Parts {
  compute_ns?: number;
  exposed_communication_ns?: number;
  exposed_memory_ns?: number;
  other_ns?: number;
  idle_ns?: number;
}

export interface Breakdown extends Who {
  scope?: string;
  device?: number;
  stream?: number;
  step?: number;
  total_ns?: number;
  busy_ns?: number;
  idle_ns?: number;
  compute_ns?: number;
  exposed_communication_ns?: number;
  exposed_memcpy_ns?: number;
  communication_ns?: number;
  memcpy_ns?: number;
  other_ns?: number;
  kernels?: number;
  idle_known?: boolean;
  note?: string;
}

export interface Step extends Who, Parts {
  row: number; // in the table, as evidence names it
  step?: number;
  label?: number;
  host_ns?: number;
  start_ns?: number;
  duration_ns?: number;
  busy_ns?: number;
  works?: number;
  kernels?: number;
  whole?: boolean;
}

export interface Overlap extends Who {
  scope?: string;
  device?: number;
  step?: number;
  computation_ns?: number;
  communication_ns?: number;
  overlap_ns?: number;
  overlap_pct?: number;
}

export interface RankRow extends Who {
  windows?: number;
  window_source?: string;
  step_ns?: number;
  host_own_ns?: number;
  compute_ns?: number;
  communication_ns?: number;
  idle_ns?: number;
  data_loading_ns?: number;
  collectives?: number;
  times_last?: number;
  caused_wait_ns?: number;
  own_delay_ns?: number;
  excess_host_ns?: number;
  excess_compute_ns?: number;
  excess_data_ns?: number;
  straggler?: boolean;
  reason?: string;
}

interface Durations {
  count?: number;
  total_ns?: number;
  min_ns?: number;
  max_ns?: number;
  mean_ns?: number;
  median_ns?: number;
  stddev_ns?: number;
}

export interface Kernel extends Who, Durations {
  name?: string;
  device_class?: string;
  share_pct?: number;
  blocks?: number;
  threads?: number;
  registers?: number;
  occupancy_pct?: number;
}

export interface KernelOp extends Who, Durations {
  kernel?: string;
  op?: string;
  shapes?: string;
}

export interface Op extends Who {
  name?: string;
  count?: number;
  host_total_ns?: number;
  host_self_ns?: number;
  device_total_ns?: number;
  device_self_ns?: number;
  works?: number;
}

export interface OpShape extends Op {
  shapes?: string;
  dtypes?: string;
}

export interface Module extends Op {
  parent?: string;
  depth?: number;
}

export interface Idle extends Who {
  device?: number;
  category?: string;
  detail?: string;
  idle_ns?: number;
  ratio?: number;
  gaps?: number;
  longest_ns?: number;
  busiest_host?: string;
}

export interface Gap extends Who {
  place?: number;
  device?: number;
  start_ns?: number;
  end_ns?: number;
  duration_ns?: number;
  cause?: string;
  host?: string;
  host_kind?: string;
  op?: string;
  work?: string;
}

export interface Critical extends Who {
  window?: string;
  step?: number;
  state?: string;
  reason?: string;
  total_ns?: number;
  cpu_ns?: number;
  data_loading_ns?: number;
  gpu_compute_ns?: number;
  gpu_communication_ns?: number;
  gpu_memcpy_ns?: number;
  kernel_launch_delay_ns?: number;
  kernel_kernel_delay_ns?: number;
}

interface OfDevice extends Who {
  device_type?: number;
  device?: number;
}

export interface MemoryPeak extends OfDevice {
  events?: number;
  totals_known?: boolean;
  peak_allocated_bytes?: number;
  peak_ns?: number;
  reserved_at_peak_bytes?: number;
  op?: string;
  module?: string;
  peak_reserved_bytes?: number;
  capacity_bytes?: number;
  reserved_capacity_pct?: number;
  allocated_capacity_pct?: number;
}

// A span of the curve of a profile or of a snapshot's trace.
export interface Span extends OfDevice {
  begin_ns?: number;
  end_ns?: number;
  events?: number;
  allocated_bytes?: number;
  reserved_bytes?: number;
  most_allocated_bytes?: number;
  most_reserved_bytes?: number;
}

export interface AliveOp extends OfDevice {
  op?: string;
  module?: string;
  source?: string;
  allocations?: number;
  bytes?: number;
  share_pct?: number;
}

export interface MemoryOp extends OfDevice {
  op?: string;
  allocations?: number;
  allocated_bytes?: number;
  frees?: number;
  freed_bytes?: number;
  net_bytes?: number;
}

export interface MemoryUse extends Who {
  device?: number;
  segments?: number;
  end_reserved_bytes?: number;
  end_allocated_bytes?: number;
  end_requested_bytes?: number;
  end_pending_bytes?: number;
  end_free_bytes?: number;
  end_split_bytes?: number;
  largest_free_bytes?: number;
  events?: number;
  start_allocated_bytes?: number;
  start_reserved_bytes?: number;
  peak_allocated_bytes?: number;
  peak_ns?: number;
  peak_reserved_bytes?: number;
  peak_unused_bytes?: number;
  peak_unused_share?: number;
  peak_annotation?: string;
  most_reserved_bytes?: number;
  segment_allocs?: number;
  segment_frees?: number;
  retries?: number;
  ooms?: number;
}

export interface Holder extends Who {
  device?: number;
  moment?: string;
  pool?: string;
  bytes?: number;
  count?: number;
  share?: number;
  frame?: string;
  stack?: string[];
}

export interface TableRows {
  profile_breakdown: Breakdown;
  profile_step: Step;
  profile_overlap: Overlap;
  profile_rank: RankRow;
  profile_kernel: Kernel;
  profile_kernel_op: KernelOp;
  profile_op: Op;
  profile_op_shape: OpShape;
  profile_module: Module;
  profile_idle: Idle;
  profile_gap: Gap;
  profile_critical_summary: Critical;
  profile_memory_peak: MemoryPeak;
  profile_memory_curve: Span;
  profile_memory_holder: AliveOp;
  profile_memory_op: MemoryOp;
  memory_use: MemoryUse;
  memory_timeline: Span;
  memory_holder: Holder;
}

export type TableName = keyof TableRows;
export type Profile = Tables<TableRows>;
export type ProfileProps = ViewProps & { profile: Profile };

interface Island extends RawTables {
  meanings?: Record<string, Record<string, string>>;
}

let meanings: Record<string, Record<string, string>> = {};

const island = new Once(async (): Promise<Profile> => {
  const raw = (await loadJson("profile")) as Island;
  meanings = raw.meanings ?? {};
  raw.tables.profile_step?.rows.forEach((row, i) => ((row as Step).row = i));
  return new Tables<TableRows>(raw);
});

// What a column means, in the words of its table; for hovering.
export function meaning<Name extends TableName>(
  table: Name,
  column: keyof TableRows[Name] & string,
): string {
  const text = meanings[table]?.[column] ?? "";
  return text && text[0]?.toUpperCase() + text.slice(1);
}

export const profileNeeds = (tables: string[], missing: string, record: string): Needs => ({
  tables,
  missing,
  record,
});

export const recordProfile =
  "Run a few steps inside torch.profiler.profile(activities=[CPU, CUDA], record_shapes=True) and write one file for " +
  "each rank with export_chrome_trace() or tensorboard_trace_handler().";

export const withProfile = (component: ComponentType<ProfileProps>) =>
  withTables(island, "profile", component);

export function sum<Row>(rows: Row[], value: (row: Row) => number | undefined): number {
  return rows.reduce((all, row) => all + (value(row) ?? 0), 0);
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1] ?? 0, sorted[middle] ?? 0];
  return sorted.length % 2 ? high : (low + high) / 2;
}

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
  return path?.slice(path.lastIndexOf("/") + 1) || `input ${input ?? "?"}`;
}

export function jobName(run: Run, job: number | undefined): string {
  return run.jobs.find((one) => one.job === job)?.name || `job ${job}`;
}

// Those that have rows in any of the tables, in order of job, attempt and rank.
export function timelinesOf(run: Run, profile: Profile, names: TableName[]): Timeline[] {
  const found = new Map<number, Who>();
  for (const name of names)
    for (const row of profile.rows(name) as Who[])
      if (row.input !== undefined && !found.has(row.input)) found.set(row.input, row);
  const key = (row: Who) => `${row.job} ${row.attempt} ${row.rank}`;
  const times = new Map<string, number>();
  for (const row of found.values()) times.set(key(row), (times.get(key(row)) ?? 0) + 1);
  return [...found.values()]
    .map(({ job, attempt, rank, input }) => {
      const who = Object.fromEntries(
        Object.entries({ job, attempt, rank, input }).filter(([, value]) => value !== undefined),
      ) as Who;
      const isOnly = times.get(key(who)) === 1;
      return { ...who, isOnly, label: labelOf(run, who, isOnly) };
    })
    .sort(
      (a, b) =>
        (a.job ?? -1) - (b.job ?? -1) ||
        (a.attempt ?? -1) - (b.attempt ?? -1) ||
        (a.rank ?? -1) - (b.rank ?? -1) ||
        (a.input ?? 0) - (b.input ?? 0),
    );
}

// The one in the address (?rank=3, ?input=7 where a rank has several); null when there is none.
export function timelineInAddress(timelines: Timeline[], route: Route): Timeline | null {
  const [rank, input] = [route.params.get("rank"), route.params.get("input")];
  return (
    timelines.find((one) => input !== null && String(one.input) === input) ??
    timelines.find((one) => rank !== null && String(one.rank) === rank) ??
    null
  );
}

export function addressOf(timeline: Timeline | null): Record<string, string | null> {
  const needsInput = timeline && (timeline.rank === undefined || !timeline.isOnly);
  return {
    rank: timeline?.rank === undefined ? null : String(timeline.rank),
    input: needsInput ? String(timeline.input) : null,
  };
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
