// Who waits for whom: the island "waits" (src/outputs/report/html/collectives/waits.cc) and the graph that is made of it.
//
//   rank --at--> one op of one group --waits for--> ranks
//
// A node is ranks that are at the same op, in the same state, and wait for the same; ranks that a finding blames
// and ranks of a circle stand apart from others. When that still makes too many nodes for one picture (a
// mesh of hundreds of ranks has as many groups), nodes that differ only in the name of their group and wait
// for the same nodes are joined too (simplify).
import { clean } from "../run/clean";
import { loadJson, Once } from "../run/islands";
import { circlesOf } from "./circles";
import { ranksOf, withTexts, type Run as RankRun } from "./data";

type Maybe<T> = T | null;

export interface Wait {
  job: Maybe<number>;
  attempt: Maybe<number>;
  name: string;
  desc: string;
  seq: Maybe<number>;
  op: string;
  state: string;
  ranks: number[];
  on: number[]; // the first of them
  waits: number; // how many
  oldest_ns: Maybe<number>;
  newest_ns: Maybe<number>;
}

export interface Waits {
  waits: Wait[];
  left_out: number;
}

interface RawWait extends Omit<Wait, "name" | "desc" | "op" | "state" | "ranks" | "on"> {
  name: number;
  desc: number;
  op: number;
  state: number;
  ranks: RankRun[];
  on: RankRun[];
}

interface RawWaits {
  texts: string[];
  waits: RawWait[];
  left_out: number;
}

export const waitsIsland = new Once(async (): Promise<Waits> => {
  const raw = clean(await loadJson("waits")) as RawWaits;
  const waits = raw.waits.map((one) => ({
    ...one,
    ...withTexts(one, raw.texts, ["name", "desc", "op", "state"]),
    ranks: ranksOf(one.ranks),
    on: ranksOf(one.on),
  }));
  return { waits, left_out: raw.left_out };
});

// Waits of one attempt of one job: ranks of others have the same numbers.
export interface Scene {
  id: string; // in the address
  job: Maybe<number>;
  attempt: Maybe<number>;
  waits: Wait[];
}

export function scenesOf(waits: Waits, job: number | null): Scene[] {
  const scenes = new Map<string, Scene>();
  for (const wait of waits.waits) {
    if (job !== null && wait.job !== job) continue;
    const id = `${wait.job}.${wait.attempt}`;
    const scene = scenes.get(id) ?? { id, job: wait.job, attempt: wait.attempt, waits: [] };
    scene.waits.push(wait);
    scenes.set(id, scene);
  }
  return [...scenes.values()];
}

// waiting: for others; open: in an op that all members joined; done: it completed all that it issued, and
// others wait for what it has not; lost: others wait for it and it left no dump.
type NodeKind = "waiting" | "open" | "done" | "lost";

export interface WaitNode {
  id: string; // its lowest rank
  kind: NodeKind;
  ranks: number[];
  waits: Wait[]; // of waiting and open
  isBlamed: boolean;
  circle: number; // number of the circle it is in; -1: none
  clash: Wait[]; // of open: members that are in another op at the same place of the group
  to: Set<WaitNode>;
  behind: number; // ranks that wait for it, directly or through others
}

export interface WaitGraph {
  nodes: WaitNode[];
  circles: number[][]; // ranks that wait for each other
  joined: boolean; // groups of the same kind are shown as one
}

const mostNodes = 40;

interface Draft {
  key: string;
  kind: NodeKind;
  rank: number;
  wait?: Wait;
}

// One draft for each rank that waits or is waited for.
function draftsOf(scene: Scene, dumps: Set<number>): Draft[] {
  const drafts = new Map<number, Draft>();
  scene.waits.forEach((wait, i) => {
    const kind = wait.waits > 0 ? "waiting" : "open";
    for (const rank of wait.ranks) drafts.set(rank, { key: `${i}`, kind, rank, wait });
  });
  const waiters = new Map<number, number[]>(); // of ranks that are at nothing
  scene.waits.forEach((wait, i) => {
    for (const rank of wait.on)
      if (!drafts.has(rank)) waiters.set(rank, [...(waiters.get(rank) ?? []), i]);
  });
  for (const [rank, list] of waiters) {
    const kind = dumps.size > 0 && !dumps.has(rank) ? "lost" : "done";
    drafts.set(rank, { key: `${kind} ${list.join()}`, kind, rank });
  }
  return [...drafts.values()].sort((a, b) => a.rank - b.rank);
}

function joinRanks(
  drafts: Draft[],
  blamed: Set<number>,
  circleOf: Map<number, number>,
): WaitNode[] {
  const nodes = new Map<string, WaitNode>();
  for (const { key, kind, rank, wait } of drafts) {
    const [isBlamed, circle] = [blamed.has(rank), circleOf.get(rank) ?? -1];
    const full = `${key}/${isBlamed}/${circle}`;
    const node = nodes.get(full);
    if (node) node.ranks.push(rank);
    else
      nodes.set(full, {
        id: String(rank),
        kind,
        ranks: [rank],
        waits: wait ? [wait] : [],
        isBlamed,
        circle,
        clash: [],
        to: new Set(),
        behind: 0,
      });
  }
  return [...nodes.values()];
}

function connect(nodes: WaitNode[]): void {
  const nodeOf = new Map(nodes.flatMap((node) => node.ranks.map((rank) => [rank, node] as const)));
  for (const node of nodes) {
    node.to = new Set();
    for (const wait of node.waits) {
      for (const rank of wait.on) {
        const other = nodeOf.get(rank);
        if (other && (other !== node || node.circle >= 0)) node.to.add(other);
      }
    }
  }
}

// The coarsest grouping in which nodes of a class are alike and wait for the same classes: it is refined until
// it no longer changes, or would have too many classes.
function simplify(nodes: WaitNode[]): WaitNode[] {
  const alike = (node: WaitNode) =>
    [node.kind, node.isBlamed, node.circle, ...node.waits.map((one) => `${one.desc}/${one.op}`)].join("|");
  let classes = new Map(nodes.map((node) => [node, alike(node)]));
  for (let round = 0; round < 64; ++round) {
    const numbers = new Map<string, string>();
    const next = new Map<WaitNode, string>();
    for (const node of nodes) {
      const to = [...new Set([...node.to].map((one) => classes.get(one)))].sort();
      const key = `${classes.get(node)}>${to.join()}`;
      if (!numbers.has(key)) numbers.set(key, `${numbers.size}`);
      next.set(node, numbers.get(key) as string);
    }
    if (numbers.size === new Set(classes.values()).size || numbers.size > mostNodes) break;
    classes = next;
  }
  return joinClasses(nodes, classes);
}

function joinClasses(nodes: WaitNode[], classes: Map<WaitNode, string>): WaitNode[] {
  const joined = new Map<string, WaitNode>();
  for (const node of nodes) {
    const name = classes.get(node) as string;
    const one = joined.get(name);
    if (!one) joined.set(name, { ...node, ranks: [...node.ranks], waits: [...node.waits] });
    else {
      one.ranks.push(...node.ranks);
      one.waits.push(...node.waits);
    }
  }
  const all = [...joined.values()];
  for (const node of all) {
    node.ranks.sort((a, b) => a - b);
    node.id = String(node.ranks[0]);
  }
  return all;
}

// Where an op stands: the group and the place in its order.
type Place = Pick<Wait, "job" | "attempt" | "name" | "desc" | "seq" | "op" | "waits">;

// Those in another op at the same place of the group, which all members have reached: none of them can complete.
export function clashing<At extends Place>(one: At, all: At[]): At[] {
  return all.filter(
    (other) =>
      other.waits === 0 &&
      other.op !== one.op &&
      other.seq === one.seq &&
      other.name === one.name &&
      other.desc === one.desc &&
      other.job === one.job &&
      other.attempt === one.attempt,
  );
}

// How many ranks are held up by each node.
function countBehind(nodes: WaitNode[]): void {
  const from = new Map<WaitNode, WaitNode[]>(nodes.map((node) => [node, []]));
  for (const node of nodes) for (const to of node.to) from.get(to)?.push(node);
  for (const node of nodes) {
    const seen = new Set([node]);
    for (const one of seen) for (const before of from.get(one) ?? []) seen.add(before);
    node.behind = [...seen].reduce((sum, one) => sum + one.ranks.length, -node.ranks.length);
  }
}

export function makeGraph(scene: Scene, blamed: Set<number>, dumps: Set<number>): WaitGraph {
  const edges = new Map<number, number[]>();
  for (const wait of scene.waits) for (const rank of wait.ranks) edges.set(rank, wait.on);
  const circles = circlesOf(edges);
  const circleOf = new Map(circles.flatMap((ranks, i) => ranks.map((rank) => [rank, i] as const)));
  const exact = joinRanks(draftsOf(scene, dumps), blamed, circleOf);
  connect(exact);
  const joined = exact.length > mostNodes;
  const nodes = joined ? simplify(exact) : exact;
  connect(nodes);
  countBehind(nodes);
  for (const node of nodes)
    if (node.kind === "open" && node.waits[0]) node.clash = clashing(node.waits[0], scene.waits);
  return { nodes, circles, joined };
}
