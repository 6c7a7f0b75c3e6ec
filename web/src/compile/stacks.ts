// The island "stacks" (src/outputs/report/html/compile/stacks.cc): where in the program compilations began. From it a
// forest is made for what the reader wants to see: some ranks, the user's own frames or all of them.
import { clean } from "../run/clean";
import { loadJson, Once } from "../run/islands";
import type { Tables } from "../run/tables";
import { baseName } from "../parts/format";
import { keyOf, ranksOf, type Compilation } from "./data";
import { looks, statusOf, statusOfEnd, type Status } from "./status";

interface RawTree {
  job: number | null;
  parent: number[];
  frame: number[];
  node: number[];
  input: (number | null)[];
  rank: (number | null)[];
  life: (number | null)[];
  id: string[];
  seconds: (number | null)[];
  status: string[];
}

export interface Stacks {
  frames: [file: string, name: string, line: number, isUser: boolean][];
  trees: RawTree[];
  left_out: number; // compilations that are not in it
}

export const stacksIsland = new Once(async () => clean(await loadJson("stacks")) as Stacks);

// A compilation that began at a frame.
export interface End {
  key: string; // its address
  id: string;
  rank: number | null;
  seconds: number;
  status: Status;
}

export interface StackNode {
  id: string; // in the address
  file: string;
  name: string;
  line: number;
  isUser: boolean;
  children: StackNode[];
  ends: End[];
  // With all below it:
  seconds: number;
  count: number;
  statuses: Map<Status, number>;
}

interface Wanted {
  rank: number | null; // null: all
  library: boolean; // frames of installed packages too
}

function endsOf(
  tree: RawTree,
  known: Map<string, Compilation>,
  rank: number | null,
): Map<number, End[]> {
  const ends = new Map<number, End[]>();
  tree.node.forEach((node, i) => {
    const ofRank = tree.rank[i] ?? null;
    if (rank !== null && ofRank !== rank) return;
    const id = tree.id[i] ?? "";
    const key = [tree.input[i] ?? "", ofRank ?? "", tree.life[i] ?? 0, id].join(":");
    const row = known.get(key);
    const status = row ? statusOf(row) : statusOfEnd(tree.status[i] ?? "");
    const list = ends.get(node) ?? [];
    list.push({ key, id, rank: ofRank, seconds: tree.seconds[i] ?? 0, status });
    ends.set(node, list);
  });
  return ends;
}

// Adds up what is below each node; parents come before their children.
function addUp(nodes: StackNode[], parents: number[]): void {
  for (let i = nodes.length - 1; i >= 0; --i) {
    const node = nodes[i] as StackNode;
    for (const end of node.ends) {
      node.seconds += end.seconds;
      node.count += 1;
      node.statuses.set(end.status, (node.statuses.get(end.status) ?? 0) + 1);
    }
    const parent = nodes[parents[i] ?? -1];
    if (!parent) continue;
    parent.seconds += node.seconds;
    parent.count += node.count;
    for (const [status, number] of node.statuses)
      parent.statuses.set(status, (parent.statuses.get(status) ?? 0) + number);
  }
}

// Hangs each node below the next one above it that is shown. A frame of a library is shown when asked for,
// or when a compilation began right there.
function hang(nodes: StackNode[], parents: number[], library: boolean): StackNode[] {
  const roots: StackNode[] = [];
  const shown: (StackNode | null)[] = [];
  nodes.forEach((node, i) => {
    const above = shown[parents[i] ?? -1] ?? null;
    const isShown = node.count > 0 && (node.isUser || library || node.ends.length > 0);
    shown.push(isShown ? node : above);
    if (isShown) (above?.children ?? roots).push(node);
  });
  for (const node of nodes) node.children.sort((a, b) => b.seconds - a.seconds);
  return roots.sort((a, b) => b.seconds - a.seconds);
}

function forestOf(
  tree: RawTree,
  number: number,
  stacks: Stacks,
  ends: Map<number, End[]>,
  library: boolean,
) {
  const nodes = tree.parent.map((_, i): StackNode => {
    const [file, name, line, isUser] = stacks.frames[tree.frame[i] ?? -1] ?? ["", "", 0, false];
    const own = ends.get(i) ?? [];
    const nothing = { children: [], seconds: 0, count: 0, statuses: new Map() };
    return { id: `${number}.${i}`, file, name, line, isUser, ends: own, ...nothing };
  });
  addUp(nodes, tree.parent);
  return hang(nodes, tree.parent, library);
}

export function makeForest(
  stacks: Stacks,
  tables: Tables,
  job: number | null,
  wanted: Wanted,
): StackNode[] {
  const known = new Map(tables.rows("compilation").map((row) => [keyOf(row), row]));
  return stacks.trees.flatMap((tree, i) =>
    job !== null && tree.job !== job
      ? []
      : forestOf(tree, i, stacks, endsOf(tree, known, wanted.rank), wanted.library),
  );
}

export function ranksIn(stacks: Stacks, job: number | null): number[] {
  const trees = stacks.trees.filter((tree) => job === null || tree.job === job);
  return ranksOf(trees.flatMap((tree) => tree.rank));
}

export function nodeName(node: StackNode): string {
  return `${node.name || "?"} (${baseName(node.file)}:${node.line})`;
}

// "2 failed, 1 ok"
export function statusWords(statuses: Map<Status, number>): string {
  return looks
    .filter((look) => statuses.has(look.status))
    .map((look) => `${statuses.get(look.status)} ${look.words}`)
    .join(", ");
}

// The node of that id and the nodes above it, outermost first; empty when it is not there.
export function pathTo(forest: StackNode[], id: string): StackNode[] {
  for (const node of forest) {
    if (node.id === id) return [node];
    const rest = pathTo(node.children, id);
    if (rest.length > 0) return [node, ...rest];
  }
  return [];
}

// Parents before their children, as a reader sees them from top to bottom.
export function allNodes(forest: StackNode[]): StackNode[] {
  const found: StackNode[] = [];
  const add = (nodes: StackNode[]) => {
    for (const node of nodes) {
      found.push(node);
      add(node.children);
    }
  };
  add(forest);
  return found;
}

// Nodes that match, and those above and below them.
export function filtered(forest: StackNode[], matches: (node: StackNode) => boolean): StackNode[] {
  return forest.flatMap((node) => {
    if (matches(node)) return [node];
    const children = filtered(node.children, matches);
    return children.length > 0 ? [{ ...node, children }] : [];
  });
}
