// The island "source" (src/outputs/report/html/source/source.cc): what is known about lines of source, by file.
import { clean } from "../run/clean";
import type { Finding } from "../run/data";
import { loadJson, Once } from "../run/islands";

export interface LineList {
  count: number;
  first: string[]; // some of them
}

export interface SourceLine {
  line: number;
  code?: string;
  function?: string;
  seconds?: number;
  breaks?: number;
  exports?: number; // issues of torch.export
  guards?: number;
  failed_guards?: number;
  nodes?: number;
  compiled?: LineList; // addresses of compilations
  recompiled?: LineList;
  failed?: LineList;
  kernels?: LineList; // names
  collectives?: LineList;
  call?: { group: string; seq: number | null; rank: number | null };
}

interface SourceFile {
  job: number | null;
  file: string;
  user: boolean;
  lines: SourceLine[]; // by number
}

export interface Source {
  files: SourceFile[]; // heaviest first
  left_out: number; // lines
}

export const sourceIsland = new Once(async () => clean(await loadJson("source")) as Source);

// What a file has to tell, added up.
export interface FileTotal {
  file: SourceFile;
  seconds: number;
  compiled: number;
  recompiled: number;
  breaks: number;
  failed: number;
  exports: number;
  nodes: number;
  collectives: number;
  findings: number;
}

// Findings by line of a file. Findings name files as their inputs do: with folders or without.
export function findingsOf(findings: Finding[], file: string): Map<number, Finding[]> {
  const found = new Map<number, Finding[]>();
  for (const finding of findings)
    for (const place of finding.source) {
      if (place.line === null || !isSameFile(place.file, file)) continue;
      const list = found.get(place.line) ?? [];
      if (!list.includes(finding)) list.push(finding);
      found.set(place.line, list);
    }
  return found;
}

// "train.py" and "/home/user/train.py" are taken for the same.
export function isSameFile(a: string, b: string): boolean {
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}

export function totalOf(file: SourceFile, findings: Finding[]): FileTotal {
  const sum = (value: (line: SourceLine) => number | undefined) =>
    file.lines.reduce((all, line) => all + (value(line) ?? 0), 0);
  const lists = [...findingsOf(findings, file.file).values()];
  return {
    file,
    seconds: sum((line) => line.seconds),
    compiled: sum((line) => line.compiled?.count),
    recompiled: sum((line) => line.recompiled?.count),
    breaks: sum((line) => line.breaks),
    failed: sum((line) => line.failed?.count),
    exports: sum((line) => line.exports),
    nodes: sum((line) => line.nodes),
    collectives: sum((line) => line.collectives?.count),
    findings: new Set(lists.flat()).size,
  };
}

// A row of the page: a line, or so many lines between two of which nothing is known.
export type Row = { line: SourceLine } | { gap: number; after: number };

export function rowsOf(file: SourceFile, extra: number[]): Row[] {
  const lines = new Map(file.lines.map((line) => [line.line, line]));
  for (const number of extra) if (!lines.has(number)) lines.set(number, { line: number });
  const rows: Row[] = [];
  let before = 0;
  for (const line of [...lines.values()].sort((a, b) => a.line - b.line)) {
    if (line.line > before + 1) rows.push({ gap: line.line - before - 1, after: before });
    rows.push({ line });
    before = line.line;
  }
  return rows;
}
