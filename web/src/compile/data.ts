// Compile logs: the island "compile" as typed tables (run/tables.ts).

import type { ComponentType } from "preact";
import { withTables } from "../parts/loading";
import { loadJson, Once } from "../run/islands";
import { Tables, type RawTables, type Who } from "../run/tables";
import type { Needs, ViewProps } from "../view";

export type { Who };

export interface Of extends Who {
  life?: number;
  entry?: number;
  compile_id?: string;
}

export interface Compilation extends Of {
  function?: string;
  file?: string;
  line?: number;
  number?: number;
  previous_id?: string;
  outcome?: string;
  is_last?: boolean;
  ops?: number;
  guards?: number;
  restarts?: number;
  seconds?: number;
  wasted_s?: number;
  start_ns?: number;
  first_entry?: number;
  last_entry?: number;
  user_file?: string;
  user_line?: number;
  caller_file?: string;
  caller_line?: number;
  break_reason?: string;
  break_file?: string;
  break_line?: number;
  fail_type?: string;
  fail_reason?: string;
  fail_file?: string;
  fail_line?: number;
  why?: string;
}

export interface Recompile extends Of {
  previous_id?: string;
  is_main?: boolean;
  kind?: string;
  source?: string;
  dimension?: number;
  old_value?: string;
  new_value?: string;
  symbol?: string;
  change?: string;
  guard?: string;
  reason?: string;
  user_file?: string;
  user_line?: number;
  user_code?: string;
  next_step?: string;
}

export interface FrameGroup extends Of {
  function?: string;
  file?: string;
  line?: number;
  compilations?: number;
  recompilations?: number;
  failures?: number;
  restarts?: number;
  seconds?: number;
  kind?: string;
  source?: string;
  why?: string;
}

export interface Break extends Of {
  kind?: string;
  reason?: string;
  explanation?: string;
  hints?: string;
  context?: string;
  link?: string;
  also?: string;
  user_file?: string;
  user_line?: number;
  user_function?: string;
  user_code?: string;
  user_stack?: string[];
  count?: number;
  compile_ids?: string;
  first_compile_id?: string;
  functions?: string;
  wasted_s?: number;
  resume_s?: number;
  resumes?: number;
}

export interface Failure extends Of {
  function?: string;
  file?: string;
  line?: number;
  fail_type?: string;
  reason?: string;
  text?: string;
  user_file?: string;
  user_line?: number;
  seconds?: number;
  falls_back?: boolean;
}

export interface Progress extends Of {
  frames?: number;
  whole?: number;
  broken?: number;
  empty?: number;
  failed?: number;
  unfinished?: number;
  compilations?: number;
  recompilations?: number;
  ops?: number;
  seconds?: number;
  wasted_s?: number;
  share?: number;
}

export interface Blocker extends Of {
  kind?: string;
  reason?: string;
  user_file?: string;
  user_line?: number;
  functions?: string;
  frames?: number;
  seconds?: number;
}

export interface Guard extends Of {
  position?: number;
  kind?: string;
  guard?: string;
  source?: string;
  code?: string;
  file?: string;
  line?: number;
  failed?: number;
  check_us?: number;
}

export interface Shape extends Of {
  kind?: string;
  symbol?: string;
  sources?: string;
  value?: string;
  range?: string;
  expression?: string;
  result?: string;
  reason?: string;
}

export interface Graph extends Of {
  kind?: string;
  name?: string;
  position?: number;
  ops?: number;
  nodes?: number;
  inputs?: number;
  outputs?: number;
  subgraphs?: number;
  input_bytes?: number;
  output_bytes?: number;
  symbols?: string;
  hash?: string;
  previous?: number;
}

export interface GraphOp extends Of {
  op?: string;
  count?: number;
}

export interface GraphInput extends Of {
  position?: number;
  name?: string;
  dtype?: string;
  sizes?: string;
  strides?: string;
  device?: string;
  bytes?: number;
  source?: string;
  is_parameter?: boolean;
}

export interface GraphChange extends Of {
  what?: string;
  name?: string;
  before?: string;
  now?: string;
  count?: number;
}

export interface Module extends Of {
  path?: string;
  parent?: string;
  depth?: number;
  parameters?: number;
  bytes?: number;
  total_bytes?: number;
  shapes?: string;
  nodes?: number;
}

export interface Phase extends Of {
  name?: string;
  depth?: number;
  start_ns?: number;
  end_ns?: number;
  self_ns?: number;
  area?: string;
  open?: boolean;
}

export interface Span extends Of {
  function?: string;
  file?: string;
  line?: number;
  seconds?: number;
  told_by?: string;
  dynamo_s?: number;
  aot_s?: number;
  inductor_s?: number;
  codegen_s?: number;
  triton_s?: number;
  ended?: boolean;
}

export interface PhaseTotal extends Who {
  name?: string;
  area?: string;
  count?: number;
  open?: number;
  total_ns?: number;
  self_ns?: number;
  share?: number;
}

export interface Kernel extends Of {
  kernel?: string;
  what?: string;
  seconds?: number;
  configs?: number;
  cache?: string;
  config?: string;
}

export interface Autotune extends Of {
  name?: string;
  shapes?: string;
  dtypes?: string;
  choices?: number;
  best?: string;
  best_description?: string;
  best_ms?: number;
  seconds?: number;
  precompile_seconds?: number;
  failed?: number;
  failure?: string;
}

export interface CacheUse extends Of {
  cache?: string;
  status?: string;
  detail?: string;
  key?: string;
  reason?: string;
  saved_s?: number;
  spent_s?: number;
  again?: boolean;
}

export interface CacheTotal extends Who {
  cache?: string;
  uses?: number;
  hits?: number;
  misses?: number;
  bypasses?: number;
  again?: number;
  saved_s?: number;
  spent_s?: number;
}

export interface Weight extends Who {
  divided_by?: string;
  name?: string;
  entries?: number;
  bytes?: number;
  share?: number;
}

export interface RankTime extends Who {
  compilations?: number;
  seconds?: number;
  share_of_slowest?: number;
  alone_s?: number;
  while_others_idle_s?: number;
}

export interface RankOnly extends Of {
  function?: string;
  file?: string;
  line?: number;
  nth?: number;
  seconds?: number;
  ranks?: number[];
  missing?: number[];
}

export interface FirstDifference extends Of {
  rank_a?: number;
  rank_b?: number;
  kind?: string;
  name?: string;
  difference?: string;
}

export interface Overlap extends Who {
  ranks?: number[];
  waiting?: number;
  seconds?: number;
  intervals?: number;
}

export interface CompileTables {
  compilation: Compilation;
  compile_recompile: Recompile;
  compile_frame_group: FrameGroup;
  compile_break: Break;
  compile_failure: Failure;
  compile_progress: Progress;
  compile_blocker: Blocker;
  compile_guard: Guard;
  compile_shape: Shape;
  compile_graph: Graph;
  compile_graph_op: GraphOp;
  compile_graph_input: GraphInput;
  compile_graph_change: GraphChange;
  compile_module: Module;
  compile_phase: Phase;
  compile_span: Span;
  compile_phase_total: PhaseTotal;
  compile_kernel: Kernel;
  compile_autotune: Autotune;
  compile_cache_use: CacheUse;
  compile_cache_total: CacheTotal;
  compile_weight: Weight;
  compile_overlap: Overlap;
}

export type TableName = keyof CompileTables;

export type Compile = Tables<CompileTables>;

export const compileIsland = new Once(
  async () => new Tables<CompileTables>((await loadJson("compile")) as RawTables),
);

export interface CompileProps extends ViewProps {
  compile: Compile; // of the chosen job
}

export const compileNeeds = (tables: string[]): Needs => ({
  tables,
  missing: "The run has no compile logs that tell.",
  record:
    "Start the job with TORCH_TRACE=DIR: each process then writes what torch.compile does into DIR.",
});

// A view of the compile logs' tables.
export const withCompile = (component: ComponentType<CompileProps>) =>
  withTables(compileIsland, "compile", component);

// "0/0_1", the second attempt, belongs to compilation 0/0.
export function withoutAttempt(id: string | undefined): string {
  return (id ?? "").replace(/_\d+$/, "");
}

// The address of a compilation: ids repeat among logs, ranks and lives of a process.
export function keyOf(row: Of): string {
  return [row.input ?? "", row.rank ?? "", row.life ?? 0, row.compile_id ?? ""].join(":");
}

// Whether a row of another table belongs to the compilation. Tables without the life of the process tell
// it by the entry.
export function isOf(one: Compilation, row: Of): boolean {
  if (row.input !== one.input || row.rank !== one.rank) return false;
  if (withoutAttempt(row.compile_id) !== one.compile_id) return false;
  if (row.life !== undefined) return row.life === (one.life ?? 0);
  if (row.entry === undefined) return true;
  return row.entry >= (one.first_entry ?? 0) && row.entry <= (one.last_entry ?? Infinity);
}

export function ranksOf(rows: Who[]): number[] {
  const ranks = new Set<number>();
  for (const row of rows) if (row.rank !== undefined) ranks.add(row.rank);
  return [...ranks].sort((a, b) => a - b);
}

export function sum<Row>(rows: Row[], value: (row: Row) => number | undefined): number {
  return rows.reduce((all, row) => all + (value(row) ?? 0), 0);
}

// The address of a graph break, the same on all ranks.
export function breakKey(row: Break): string {
  return [row.kind, row.user_file, row.user_line, row.reason?.slice(0, 80)]
    .map((part) => part ?? "")
    .join(":");
}

export interface JoinedBreak extends Break {
  key: string;
  ranks: number[];
}

function joinNames(a: string | undefined, b: string | undefined): string {
  const names = `${a ?? ""},${b ?? ""}`.split(/,\s*/).filter(Boolean);
  return [...new Set(names)].join(", ");
}

// The same break of several ranks, or of several lives of a process, is one.
export function joinBreaks(rows: Break[]): JoinedBreak[] {
  const found = new Map<string, JoinedBreak>();
  for (const row of rows) {
    const key = breakKey(row);
    const one = found.get(key);
    const ranks = row.rank === undefined ? [] : [row.rank];
    if (!one) {
      found.set(key, { ...row, key, ranks });
      continue;
    }
    one.ranks.push(...ranks.filter((rank) => !one.ranks.includes(rank)));
    one.count = (one.count ?? 0) + (row.count ?? 0);
    one.resumes = (one.resumes ?? 0) + (row.resumes ?? 0);
    one.wasted_s = (one.wasted_s ?? 0) + (row.wasted_s ?? 0);
    one.resume_s = (one.resume_s ?? 0) + (row.resume_s ?? 0);
    one.compile_ids = joinNames(one.compile_ids, row.compile_ids);
    one.functions = joinNames(one.functions, row.functions);
  }
  return [...found.values()];
}
