// Collectives: types of the island "flight" (src/outputs/report/html/collectives/flight.cc), reading it, and addresses of
// groups.
import { clean } from "../run/clean";
import type { Finding } from "../run/data";
import { loadJson, Once } from "../run/islands";

type Maybe<T> = T | null;
export type Run = [first: number, step: number, count: number];

// One character a cell.
export const cellWords: Record<string, string> = {
  c: "completed",
  t: "started",
  s: "pending",
  m: "never issued",
  x: "mismatch",
  u: "unknown",
  ".": "not in it",
};

// As findings name it: the recorder's "scheduled" is what they call pending.
export const shownState = (state: string) => (state === "scheduled" ? "pending" : state);

export const cellDefinitions: Record<string, string> = {
  c: "The watchdog saw it completed",
  t: "Running on the device, not completed: started, pending",
  s: "Issued by the host, not started on the device (the recorder's state scheduled)",
  m: "The dump reaches that far and does not have it: the rank never issued it",
  x: "Issued with another operation, size or type than the others",
  u: "No dump of the rank, or its ring no longer holds the entry",
  ".": "Member of the group that takes no part, as in a send between two others",
};

export interface Difference {
  op: string;
  sizes: string;
  line: string;
}

export interface FlightGroup {
  id: string; // in the address
  number: number; // its place in the island, of all jobs
  job: Maybe<number>;
  attempt: Maybe<number>;
  name: string;
  desc: string;
  role: string;
  p2p: boolean;
  members: number[];
  total: number; // sequences in the dumps; the grid has the last ones and those that matter
  trouble: number; // sequences that did not complete or do not agree
  seq: number[];
  op: string[];
  sizes: string[];
  line: string[];
  status: string[];
  cells: string[]; // by member
  differs: Map<string, Difference>; // by "column,row"
}

export interface Incomplete {
  job: Maybe<number>;
  attempt: Maybe<number>;
  rank: Maybe<number>;
  name: string;
  desc: string;
  seq: Maybe<number>;
  op: string;
  state: string;
  age_ns: Maybe<number>;
  waits_for: number[]; // the first of them
  waits: number; // how many
}

export interface Flight {
  groups: FlightGroup[];
  left_out: number;
  incomplete: Incomplete[];
  incomplete_left_out: number;
}

const mostRanks = 2_000_000;

// Texts for the numbers that stand for them.
export function withTexts<Names extends string>(row: Record<Names, number>, texts: string[], names: Names[]) {
  return Object.fromEntries(names.map((name) => [name, texts[row[name]] ?? ""])) as Record<Names, string>;
}

export function ranksOf(runs: Run[]): number[] {
  const ranks: number[] = [];
  for (const [first, step, length] of runs)
    for (let i = 0; i < length && ranks.length < mostRanks; ++i) ranks.push(first + i * step);
  return ranks;
}

interface RawGroup extends Omit<
  FlightGroup,
  "id" | "number" | "members" | "op" | "sizes" | "line" | "status" | "differs"
> {
  members: Run[];
  op: number[];
  sizes: number[];
  line: number[];
  status: number[];
  differs: [number, number, number, number, number][];
}

interface RawIncomplete extends Omit<Incomplete, "name" | "desc" | "op" | "state" | "waits_for"> {
  name: number;
  desc: number;
  op: number;
  state: number;
  waits_for: Run[];
}

interface RawFlight {
  texts: string[];
  groups: RawGroup[];
  left_out: number;
  incomplete: RawIncomplete[];
  incomplete_left_out: number;
}

export const flightIsland = new Once(async () =>
  unpackFlight(clean(await loadJson("flight")) as RawFlight),
);

// The part of one job; all of it for null.
export function flightOfJob(flight: Flight, job: number | null): Flight {
  if (job === null) return flight;
  const groups = flight.groups.filter((one) => one.job === job);
  const incomplete = flight.incomplete.filter((one) => one.job === job);
  return { ...flight, groups, incomplete };
}

function unpackFlight(raw: RawFlight): Flight {
  const text = (i: number) => raw.texts[i] ?? "";
  const groups = raw.groups.map((group, number) => ({
    ...group,
    id: "",
    number,
    members: ranksOf(group.members),
    op: group.op.map(text),
    sizes: group.sizes.map(text),
    line: group.line.map(text),
    status: group.status.map(text),
    differs: new Map(
      group.differs.map(([column, row, op, sizes, line]) => [
        `${column},${row}`,
        { op: text(op), sizes: text(sizes), line: text(line) },
      ]),
    ),
  }));
  const incomplete = raw.incomplete.map((one) => ({
    ...one,
    ...withTexts(one, raw.texts, ["name", "desc", "op", "state"]),
    waits_for: ranksOf(one.waits_for),
  }));
  nameGroups(groups);
  return { ...raw, groups, incomplete };
}

// What tells groups apart.
export interface NamedGroup {
  id: string;
  job: Maybe<number>;
  attempt: Maybe<number>;
  name: string;
  desc: string;
  members: number[];
  p2p: boolean;
}

export function groupTitle(group: { name: string; desc: string; p2p?: boolean }): string {
  const name =
    group.desc && group.desc !== group.name ? `${group.desc} (${group.name})` : group.name;
  return `${name || "unnamed group"}${group.p2p ? ", point to point" : ""}`;
}

// The grid's group that a row of another table is about.
export function groupWith(
  flight: Flight,
  row: { job: Maybe<number>; attempt: Maybe<number>; name: string },
  rank: number,
): FlightGroup | undefined {
  return flight.groups.find(
    (one) =>
      one.name === row.name &&
      one.job === row.job &&
      one.attempt === row.attempt &&
      one.members.includes(rank),
  );
}

// The name of a group, and where several have it, what tells them apart.
export function nameGroups(groups: NamedGroup[]): void {
  const uses = new Map<string, number>();
  for (const one of groups) uses.set(one.name, (uses.get(one.name) ?? 0) + 1);
  for (const one of groups) {
    const more = [one.job, one.attempt, one.members[0], one.p2p ? "p2p" : ""].join(".");
    one.id = uses.get(one.name) === 1 ? one.name || "none" : `${one.name}@${more}`;
  }
}

function sameRanks(a: number[], b: number[]): boolean {
  if (a.length !== b.length) return false;
  const all = new Set(a);
  return b.every((rank) => all.has(rank));
}

// Whether the finding is about this group.
export function isAbout(finding: Finding, group: FlightGroup): boolean {
  if (finding.job !== null && finding.job !== group.job) return false;
  if (finding.attempt !== null && finding.attempt !== group.attempt) return false;
  return finding.groups.some(
    (one) =>
      one.name === group.name && (one.ranks.length === 0 || sameRanks(one.ranks, group.members)),
  );
}

// The group that a finding is about, the one with its sequence first.
export function groupOf(finding: Finding, flight: Flight): FlightGroup | undefined {
  const groups = flight.groups.filter((one) => isAbout(finding, one));
  return groups.find((one) => one.seq.includes(finding.seq ?? -1)) ?? groups[0];
}
