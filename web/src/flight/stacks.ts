// Where the cells of the grids were issued: the island "flight_stacks" (src/outputs/report/html/collectives/flight.cc).
//
// Each stack is there once. A column has the stack that most of its cells have; cells that have another are
// listed. Groups stand in the order of the island "flight", of all jobs.
import { clean } from "../run/clean";
import { loadJson, Once } from "../run/islands";

export interface StackFrame {
  file: string;
  line: number;
  name: string; // of the function
  kind: "own" | "library" | "native";
}

interface GroupStacks {
  column: number[];
  others: Map<number, Map<number, number>>; // by column and row: cells with another stack
}

export interface Stacks {
  stacks: StackFrame[][]; // innermost first
  cut: number; // frames that a bound took
  groups: GroupStacks[];
}

interface RawStacks {
  texts: string[];
  frames: [number, number, number, number][];
  stacks: number[][];
  cut: number;
  groups: { column: number[]; cells: [number, number, number][]; left_out: number }[];
}

const kinds: StackFrame["kind"][] = ["own", "library", "native"];

function unpackStacks(raw: RawStacks): Stacks {
  const frames = raw.frames.map(([file, line, name, kind]) => ({
    file: raw.texts[file] ?? "",
    line,
    name: raw.texts[name] ?? "",
    kind: kinds[kind] ?? "native",
  }));
  return {
    cut: raw.cut,
    stacks: raw.stacks.map((list) => list.flatMap((i) => frames[i] ?? [])),
    groups: raw.groups.map((group) => ({ column: group.column, others: byColumn(group.cells) })),
  };
}

function byColumn(cells: [number, number, number][]): GroupStacks["others"] {
  const others: GroupStacks["others"] = new Map();
  for (const [column, row, stack] of cells) {
    const rows = others.get(column) ?? new Map<number, number>();
    rows.set(row, stack);
    others.set(column, rows);
  }
  return others;
}

export const stacksIsland = new Once(async () =>
  unpackStacks(clean(await loadJson("flight_stacks")) as RawStacks),
);

export interface CellStacks {
  own: StackFrame[]; // empty: none was recorded, or the rank never issued it
  other: StackFrame[]; // of members that came another way, or, when it has none, of most members
  rows: number[]; // whose that is; empty: most members'
}

// `isIssued`: the rank has an entry of its own.
export function stacksOf(
  stacks: Stacks,
  group: number,
  row: number,
  column: number,
  isIssued: boolean,
): CellStacks {
  const one = stacks.groups[group];
  const usual = stacks.stacks[one?.column[column] ?? -1] ?? [];
  const others = one?.others.get(column) ?? new Map<number, number>();
  const number = others.get(row);
  if (number !== undefined) return { own: stacks.stacks[number] ?? [], other: usual, rows: [] };
  if (!isIssued) return { own: [], other: usual, rows: [] };
  const [first] = others.values();
  const rows = [...others].filter(([, stack]) => stack === first).map(([at]) => at);
  return { own: usual, other: stacks.stacks[first ?? -1] ?? [], rows };
}

function sameFrame(a: StackFrame | undefined, b: StackFrame | undefined): boolean {
  return a?.file === b?.file && a?.line === b?.line && a?.name === b?.name;
}

// How many outermost frames two stacks share: the frame inside of these is the first that differs, as the
// program ran.
export function sharedFrames(a: StackFrame[], b: StackFrame[]): number {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && sameFrame(a[a.length - 1 - same], b[b.length - 1 - same])) ++same;
  return same;
}

// Frames in a row that belong together: own ones stand alone, those of libraries are folded.
export interface Fold {
  first: number; // number of the first of them in the stack
  frames: StackFrame[];
  library: string; // empty: own
}

// "/venv/lib/python3.12/site-packages/torch/nn/module.py" -> "torch"
function libraryOf(frame: StackFrame): string {
  if (frame.kind === "native") return "native code";
  const found = /(?:site-packages|dist-packages)\/([^/]+)/.exec(frame.file)?.[1];
  if (found) return found.replace(/\.py$/, "");
  return /(^|\/)torch\//.test(frame.file) ? "torch" : "Python";
}

export function foldsOf(stack: StackFrame[]): Fold[] {
  const folds: Fold[] = [];
  stack.forEach((frame, i) => {
    const library = frame.kind === "own" ? "" : libraryOf(frame);
    const last = folds[folds.length - 1];
    if (last && library && last.library === library) last.frames.push(frame);
    else folds.push({ first: i, frames: [frame], library });
  });
  return folds;
}
