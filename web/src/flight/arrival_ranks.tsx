// Arrivals by rank: how late each is by and large, how often last, and who stands out.
import { barColumn, numberColumn } from "../parts/columns";
import { count, counted, duration } from "../parts/format";
import { most } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Tables, Who } from "../run/tables";
import { summaries, type Against, type Kind, type Lateness, type RankSummary } from "./arrivals";

const nanos = (ns: number) => (ns === 0 ? "0 s" : duration(ns));
export const micros = (us: number) => nanos(us * 1000);

// What the run's tables say of a rank beyond the sequences of this page.
interface Row extends RankSummary {
  all_last?: number | undefined; // of all groups
  third_ns?: number | undefined;
  correction_ns?: number | undefined;
  wait_mean_ns?: number | undefined;
}

export function rowsOf(lateness: Lateness, kind: Kind, tables: Tables): Row[] {
  const { group } = lateness;
  const isHere = (one: Who) =>
    one.job === (group.job ?? undefined) && one.attempt === (group.attempt ?? undefined);
  const found = new Map<number | undefined, Partial<Row>>();
  if (kind === "flight") {
    for (const one of tables.rows("comm_arrival"))
      if (isHere(one))
        found.set(one.rank, {
          all_last: one.times_last,
          third_ns: one.late_third_ns,
          correction_ns: one.clock_correction_ns,
        });
  } else {
    for (const one of tables.rows("profile_arrival"))
      if (isHere(one) && one.group_name === group.name && one.group_desc === group.desc)
        found.set(one.rank, { wait_mean_ns: one.wait_mean_ns });
  }
  return summaries(lateness).map((one) => ({ ...one, ...found.get(one.rank) }));
}

export function columnsOf(kind: Kind, against: Against, rows: Row[]): Column<Row>[] {
  const all: Column<Row>[] = [
    numberColumn("rank", "rank", 80, (row) => row.rank, undefined, { opens: true }),
    barColumn("median", "median lateness", 0, (row) => row.median_us, most(rows, (row) => row.median_us),
      micros, `Median of its time behind the ${against} member, over the sequences of this page`),
    numberColumn("longest", "longest", 120, (row) => row.longest_us, micros, "The longest of these"),
    numberColumn("last", "arrived last", 120, (row) => row.last, undefined,
      "Sequences of this page at which it arrived last of all members"),
    numberColumn("first", "arrived first", 120, (row) => row.first, undefined,
      "Sequences of this page at which it arrived first"),
  ];
  const flight: Column<Row>[] = [
    numberColumn("all_last", "last in all groups", 150, (row) => row.all_last, undefined,
      "Collectives of all groups of the rank at which it arrived last (comm_arrival)"),
    numberColumn("third", "late 3 x or more by", 170, (row) => row.third_ns, duration,
      "It was late at least three times by this much, behind the last but one member, in all groups: once is chance, three times is a straggler"),
    numberColumn("clock", "clock corrected by", 150, (row) => row.correction_ns, nanos,
      "How far its clock is ahead of the others', where that is clear; its times are corrected by it"),
  ];
  const profile: Column<Row>[] = [
    numberColumn("wait", "mean wait for the last", 190, (row) => row.wait_mean_ns, duration,
      "Its waiting for the last member, mean over all collectives of the group (profile_arrival)"),
  ];
  return [...all, ...(kind === "flight" ? flight : profile)];
}

// Of the sequences, the share to which one of so many ranks comes last only if something is wrong with it:
// three times its fair share and a fifth at least; of few ranks half of the way from its fair share to always.
function clearShare(ranks: number): number {
  return Math.min((1 + 1 / ranks) / 2, Math.max(3 / ranks, 0.2));
}

const leastToJudge = 5; // sequences

// Who stands out, and the sentence that a reader takes away.
export function takeaway(rows: Row[], total: number): { rank: number | null; words: string } {
  const [first] = rows;
  if (total === 0 || !first)
    return { rank: null, words: "No sequence has times of two members." };
  const most = rows.reduce((best, row) => (row.last > best.last ? row : best), first);
  const often = `at ${count(most.last)} of ${counted(total, "sequence")}`;
  if (total >= leastToJudge && most.last > clearShare(rows.length) * total) {
    const late = micros(most.median_us ?? 0);
    return { rank: most.rank, words: `Rank ${most.rank} arrived last ${often}, by ${late} in the median.` };
  }
  const late = rows.reduce((best, row) => ((row.longest_us ?? 0) > (best.longest_us ?? 0) ? row : best), first);
  // Of a few sequences nothing follows: a finding may call the rank a straggler by what it does in other groups.
  const words =
    `${total < leastToJudge ? "R" : "No rank stands out: r"}ank ${most.rank} arrived last most often, ${often}. ` +
    `The longest delay is ${micros(late.longest_us ?? 0)}, of rank ${late.rank}.`;
  return { rank: null, words };
}
