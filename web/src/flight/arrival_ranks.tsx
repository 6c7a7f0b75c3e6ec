// Arrivals by rank: how late each is by and large, how often last, and who stands out.
import { Bar, numberColumn } from "../compile/parts";
import { count, counted, duration } from "../parts/format";
import type { Column } from "../parts/table";
import { summaries, type Against, type Kind, type Lateness, type RankSummary } from "./arrivals";
import type { Comm } from "./comm";

const nanos = (ns: number) => (ns === 0 ? "0 s" : duration(ns));
export const micros = (us: number) => nanos(us * 1000);

// What the run's tables say of a rank beyond the sequences of this page.
export interface Row extends RankSummary {
  all_last?: number | undefined; // of all groups
  third_ns?: number | undefined;
  correction_ns?: number | undefined;
  wait_mean_ns?: number | undefined;
}

export function rowsOf(lateness: Lateness, kind: Kind, comm: Comm | null): Row[] {
  const { group } = lateness;
  const isHere = (one: { job?: number; attempt?: number }) =>
    one.job === (group.job ?? undefined) && one.attempt === (group.attempt ?? undefined);
  const found = new Map<number | undefined, Partial<Row>>();
  if (kind === "flight") {
    for (const one of comm?.rows("comm_arrival") ?? [])
      if (isHere(one))
        found.set(one.rank, {
          all_last: one.times_last,
          third_ns: one.late_third_ns,
          correction_ns: one.clock_correction_ns,
        });
  } else {
    for (const one of comm?.rows("profile_arrival") ?? [])
      if (isHere(one) && one.group_name === group.name && one.group_desc === group.desc)
        found.set(one.rank, { wait_mean_ns: one.wait_mean_ns });
  }
  return summaries(lateness).map((one) => ({ ...one, ...found.get(one.rank) }));
}

export function columnsOf(kind: Kind, against: Against, rows: Row[]): Column<Row>[] {
  const slowest = rows.reduce((most, row) => Math.max(most, row.median_us ?? 0), 0);
  const behind = `behind the ${against} member`;
  const all: Column<Row>[] = [
    { id: "rank", title: "rank", width: 80, number: true, opens: true, value: (row) => row.rank },
    numberColumn(
      "median",
      "median lateness",
      0,
      (row) => row.median_us ?? undefined,
      (us) => <Bar share={slowest > 0 ? us / slowest : 0} text={micros(us)} />,
      { definition: `Median of its time ${behind}, over the sequences of this page` },
    ),
    numberColumn("longest", "longest", 120, (row) => row.longest_us ?? undefined, micros, {
      definition: `The longest of these`,
    }),
    numberColumn("last", "came last", 120, (row) => row.last, undefined, {
      definition: "Sequences of this page to which it came last of all members",
    }),
    numberColumn("first", "came first", 120, (row) => row.first, undefined, {
      definition: "Sequences of this page to which it came first",
    }),
  ];
  const flight: Column<Row>[] = [
    numberColumn("all_last", "last in all groups", 150, (row) => row.all_last, undefined, {
      definition: "Collectives of all groups of the rank to which it came last (comm_arrival)",
    }),
    numberColumn("third", "third-longest delay", 170, (row) => row.third_ns, duration, {
      definition: "Behind the last but one member, of all groups: one delay is chance, three are a straggler",
    }),
    numberColumn("clock", "clock taken off", 140, (row) => row.correction_ns, nanos, {
      definition: "How far its clock is ahead of the others', where that is clear; taken off its times",
    }),
  ];
  const profile: Column<Row>[] = [
    numberColumn("wait", "mean wait for the last", 190, (row) => row.wait_mean_ns, duration, {
      definition: "Its waiting for the last member, mean over all collectives of the group (profile_arrival)",
    }),
  ];
  return [...all, ...(kind === "flight" ? flight : profile)];
}

// Of the sequences, the share to which one of so many ranks comes last only if something is wrong with it:
// three times its fair share and a fifth at least; of few ranks half of the way from its fair share to always.
function clearShare(ranks: number): number {
  return Math.min((1 + 1 / ranks) / 2, Math.max(3 / ranks, 0.2));
}

// Who stands out, and the sentence that a reader takes away.
export function takeaway(rows: Row[], total: number): { rank: number | null; words: string } {
  const [first] = rows;
  if (total === 0 || !first)
    return { rank: null, words: "No sequence has times of two members." };
  const most = rows.reduce((best, row) => (row.last > best.last ? row : best), first);
  const often = `to ${count(most.last)} of ${counted(total, "sequence")}`;
  if (total >= 5 && most.last > clearShare(rows.length) * total) {
    const late = micros(most.median_us ?? 0);
    return { rank: most.rank, words: `Rank ${most.rank} came last ${often}, with a median lateness of ${late}.` };
  }
  const late = rows.reduce((best, row) => ((row.longest_us ?? 0) > (best.longest_us ?? 0) ? row : best), first);
  const words =
    `No rank is last again and again: rank ${most.rank} most often, ${often}. ` +
    `The longest delay is ${micros(late.longest_us ?? 0)}, of rank ${late.rank}.`;
  return { rank: null, words };
}
