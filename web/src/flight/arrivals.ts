// How late each rank came to each collective: the island "arrivals" (src/outputs/report/html/collectives/arrivals.cc), and what
// is derived from it.
import { median } from "../parts/rows";
import { clean } from "../run/clean";
import { loadJson, Once } from "../run/islands";
import { nameGroups, ranksOf, type NamedGroup, type Run as RankRun } from "./data";

// flight: when the host issued the op, from dumps; profile: when it began, from profiles.
export type Kind = "flight" | "profile";

export interface ArrivalGroup extends NamedGroup {
  total: number; // collectives in the run; the island has the last ones
  seq: number[];
  op: string[];
  late_us: number[][]; // by member, then by sequence: behind the first; -1: no time
}

interface ArrivalKind {
  groups: ArrivalGroup[];
  left_out: number;
}

export type Arrivals = Record<Kind, ArrivalKind>;

interface RawGroup extends Omit<ArrivalGroup, "id" | "p2p" | "name" | "desc" | "members" | "op"> {
  name: number;
  desc: number;
  members: RankRun[];
  op: number[];
}

interface RawArrivals extends Record<Kind, { groups: RawGroup[]; left_out: number }> {
  texts: string[];
}

export const arrivalsIsland = new Once(async (): Promise<Arrivals> => {
  const raw = (await loadJson("arrivals")) as RawArrivals;
  const texts = clean(raw.texts) as string[];
  const unpack = (kind: Kind): ArrivalKind => {
    const groups = raw[kind].groups.map((group) => ({
      ...group,
      id: "",
      p2p: false,
      name: texts[group.name] ?? "",
      desc: texts[group.desc] ?? "",
      members: ranksOf(group.members),
      op: group.op.map((i) => texts[i] ?? ""),
    }));
    nameGroups(groups);
    return { groups, left_out: raw[kind].left_out };
  };
  return { flight: unpack("flight"), profile: unpack("profile") };
});

export type Against = "first" | "median";

// One collective.
interface ColumnFacts {
  known: number; // members with a time
  last: number; // row of the one that came last; -1: fewer than two have a time
  first: number;
  median: number; // microseconds behind the first
}

function columnFacts(group: ArrivalGroup, column: number): ColumnFacts {
  const values: number[] = [];
  let [first, last] = [-1, -1];
  const late = (row: number) => group.late_us[row]?.[column] ?? -1;
  for (let row = 0; row < group.members.length; ++row) {
    if (late(row) < 0) continue;
    values.push(late(row));
    if (first < 0 || late(row) < late(first)) first = row;
    if (last < 0 || late(row) > late(last)) last = row;
  }
  const isTold = values.length > 1;
  return {
    known: values.length,
    first: isTold ? first : -1,
    last: isTold ? last : -1,
    median: isTold ? median(values) : 0,
  };
}

// What is shown: microseconds behind the first or behind the median; null: no time, or nobody to compare with.
export class Lateness {
  columns: ColumnFacts[];

  constructor(
    readonly group: ArrivalGroup,
    readonly against: Against,
  ) {
    this.columns = group.seq.map((_, column) => columnFacts(group, column));
  }

  at(row: number, column: number): number | null {
    const late = this.group.late_us[row]?.[column] ?? -1;
    const facts = this.columns[column];
    if (late < 0 || !facts || facts.last < 0) return null;
    return this.against === "first" ? late : late - facts.median;
  }
}

export interface RankSummary {
  rank: number;
  known: number; // collectives of the page in which it is compared
  median_us: number | null;
  longest_us: number | null;
  last: number; // how often it came last
  first: number;
}

export function summaries(lateness: Lateness): RankSummary[] {
  const { group, columns } = lateness;
  const [first, last] = [new Map<number, number>(), new Map<number, number>()];
  for (const facts of columns) {
    first.set(facts.first, (first.get(facts.first) ?? 0) + 1);
    last.set(facts.last, (last.get(facts.last) ?? 0) + 1);
  }
  return group.members.map((rank, row) => {
    const values = columns.flatMap((_, column) => lateness.at(row, column) ?? []);
    return {
      rank,
      known: values.length,
      median_us: values.length > 0 ? median(values) : null,
      longest_us: values.reduce<number | null>((most, one) => Math.max(most ?? one, one), null),
      last: last.get(row) ?? 0,
      first: first.get(row) ?? 0,
    };
  });
}

export const heatSteps = 8;

// Steps of the colours: 1, 3, 10, 30 ... microseconds, the largest below the longest delay last. The least colour is
// for all below the first of them.
export function thresholds(lateness: Lateness): number[] {
  let most = 1;
  lateness.group.members.forEach((_, row) =>
    lateness.columns.forEach((_, column) => {
      most = Math.max(most, lateness.at(row, column) ?? 0);
    }),
  );
  const halfDecade = (i: number) => (i % 2 === 0 ? 1 : 3) * 10 ** Math.floor(i / 2);
  let top = heatSteps - 1; // 3 ms: smaller spreads are noise and stay pale
  while (halfDecade(top + 1) <= most) ++top;
  return Array.from({ length: heatSteps - 1 }, (_, i) => halfDecade(top - heatSteps + 2 + i));
}

export function stepOf(limits: number[], value: number): number {
  let step = 0;
  while (step < limits.length && value >= (limits[step] as number)) ++step;
  return step;
}
