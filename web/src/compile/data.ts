// Compile logs: the island "compile" (run/tables.ts), and which rows belong to which compilation.
import type { ComponentType } from "preact";
import { withTables, type TableProps } from "../parts/loading";
import { tablesIsland, type Row, type Who } from "../run/tables";
import type { Needs } from "../view";

export interface Of extends Who {
  life?: number;
  entry?: number;
  compile_id?: string;
}

export type Compilation = Row<"compilation">;
export type Recompile = Row<"compile_recompile">;
export type Break = Row<"compile_break">;
export type Failure = Row<"compile_failure">;
export type Graph = Row<"compile_graph">;
export type Guard = Row<"compile_guard">;
export type Module = Row<"compile_module">;
export type Phase = Row<"compile_phase">;
export type Span = Row<"compile_span">;

export const compileIsland = tablesIsland("compile");

export const compileNeeds = (tables: string[]): Needs => ({
  tables,
  missing: "No compile log has the data of this view.",
  record:
    "Start the job with TORCH_TRACE=DIR: each process then writes what torch.compile does into DIR.",
});

// A view of the compile logs' tables.
export const withCompile = (component: ComponentType<TableProps>) => withTables(compileIsland, component);

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

// Each once, ascending.
export function ranksOf(ranks: (number | null | undefined)[]): number[] {
  const known = new Set(ranks.flatMap((rank) => rank ?? []));
  return [...known].sort((a, b) => a - b);
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
