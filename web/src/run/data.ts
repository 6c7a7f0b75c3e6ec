// The run: types of the data island (docs/formats/findings_json.md), reading it, and what every view
// derives from it. What only some views show lies in islands (islands.ts).
import { clean } from "./clean";

export type Severity = "error" | "warning" | "info";
export type InputState = "imported" | "recognised" | "skipped" | "failed";
type Maybe<T> = T | null;

export interface Job {
  job: number;
  name: string;
  world_size: Maybe<number>;
  attempts: number;
  inputs: number;
  ranks: number[];
}

export interface Group {
  name: string;
  desc: string;
  ranks: number[];
}

export interface SourceLine {
  rank: Maybe<number>;
  file: string;
  line: Maybe<number>;
}

export interface Evidence {
  text: string;
  table: string;
  rows: number[];
}

export interface Finding {
  id: string;
  rule: string;
  severity: Severity;
  role: "cause" | "consequence" | "observation";
  headline: string;
  job: Maybe<number>;
  attempt: Maybe<number>;
  ranks: number[];
  groups: Group[];
  op: string;
  seq: Maybe<number>;
  compile_ids: string[];
  source: SourceLine[];
  evidence: Evidence[];
  explains: string[];
  confidence: Maybe<number>;
  why: string;
  next_step: string;
}

export interface Analysis {
  name: string;
  state: "ran" | "not run" | "failed";
  reason: string;
  findings: number;
}

interface Occurrence {
  offset: Maybe<number>;
  line: Maybe<number>;
  detail: string;
}

export interface Diagnostic {
  name: string;
  severity: Severity;
  input: Maybe<number>;
  path: Maybe<string>;
  count: number;
  meaning: string;
  remedy: string;
  first: Occurrence[];
}

export interface Input {
  input: number;
  path: string;
  kind: string;
  state: InputState;
  job: Maybe<number>;
  attempt: Maybe<number>;
  rank: Maybe<number>;
  bytes: Maybe<number>;
  content_bytes: Maybe<number>;
  rows: Maybe<number>;
  start_ns: Maybe<number>;
}

export interface Run {
  schema: number;
  tool: { name: string; version: string };
  jobs: Job[];
  findings: Finding[];
  analyses: Analysis[];
  diagnostics: Diagnostic[];
  inputs: Input[];
  job: Maybe<number>; // the chosen one; null: all
  rows: Record<string, number>; // of every table that has any, whatever the job
}

// What the page holds besides the run.
interface Contents {
  rows: Record<string, number>;
}

// Texts in it are not clean yet.
function readIsland(id: string): unknown {
  const island = document.getElementById(id);
  if (!island) throw new Error("This page has no data: it was not written completely.");
  const value: unknown = JSON.parse(island.textContent ?? "");
  island.remove(); // a second copy of a large text would only cost memory
  return value;
}

// Rows as a page has them where there may be thousands: names once, then the values of each.
interface Columns {
  columns: string[];
  rows: unknown[][];
}

function rowsOf({ columns, rows }: Columns): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])));
}

// The run of this page; an Error with a sentence for the reader when there is none.
export function readRun(): Run {
  const page = clean(readIsland("debrief-data")) as Omit<Run, "inputs"> & { inputs: Columns };
  if (page.schema !== 1)
    throw new Error(`This page reads schema 1; its data has schema ${page.schema}.`);
  const run = { ...page, inputs: rowsOf(page.inputs) as unknown as Input[] };
  const contents = readIsland("debrief-contents") as Contents;
  return { ...run, job: null, rows: contents.rows };
}

// Whether the run has rows of any of these tables.
export function hasRows(run: Run, tables: string[]): boolean {
  return tables.some((name) => (run.rows[name] ?? 0) > 0);
}

// The part of the run that belongs to one job; all of it for null. What belongs to no job in particular
// (a diagnostic of no input) stays; an analysis stays with its findings for this job.
export function ofJob(run: Run, job: number | null): Run {
  if (job === null) return run;
  const inputs = run.inputs.filter((input) => input.job === job);
  const numbers = new Set(inputs.map((input) => input.input));
  const findings = run.findings.filter((finding) => finding.job === job || finding.job === null);
  const made = (name: string) =>
    findings.filter((finding) => finding.rule.startsWith(`${name}.`)).length;
  return {
    ...run,
    job,
    jobs: run.jobs.filter((one) => one.job === job),
    findings,
    analyses: run.analyses.map((one) => ({ ...one, findings: made(one.name) })),
    diagnostics: run.diagnostics.filter((one) => one.input === null || numbers.has(one.input)),
    inputs,
  };
}

export interface FindingNode {
  finding: Finding;
  children: FindingNode[]; // what it explains
}

// Findings as a forest: each stands under the first finding that explains it. A circle, which only a
// defect of ours could make, is broken instead of hiding its members.
export function findingForest(findings: Finding[]): FindingNode[] {
  const nodes = new Map(
    findings.map((finding) => [finding.id, { finding, children: [] } as FindingNode]),
  );
  const parent = new Map<string, string>();
  const isAbove = (id: string, below: string): boolean => {
    for (let at: string | undefined = below; at !== undefined; at = parent.get(at))
      if (at === id) return true;
    return false;
  };
  for (const cause of findings) {
    for (const id of cause.explains) {
      const node = nodes.get(id);
      if (!node || parent.has(id) || isAbove(id, cause.id)) continue;
      parent.set(id, cause.id);
      nodes.get(cause.id)?.children.push(node);
    }
  }
  return findings
    .filter((one) => !parent.has(one.id))
    .map((one) => nodes.get(one.id) as FindingNode);
}

export function countAll(nodes: FindingNode[]): number {
  return nodes.reduce((sum, node) => sum + 1 + countAll(node.children), 0);
}

// The ids from a root down to `id`; empty when it is not there.
export function pathTo(nodes: FindingNode[], id: string): string[] {
  for (const node of nodes) {
    if (node.finding.id === id) return [id];
    const rest = pathTo(node.children, id);
    if (rest.length > 0) return [node.finding.id, ...rest];
  }
  return [];
}
