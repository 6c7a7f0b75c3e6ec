// Ranks beside each other: the island "ranks" (src/outputs/report/html/rank_data.cc), and one row for each rank with what all
// its tables say of it.
import { grouped } from "../parts/rows";
import type { Finding, Run } from "../run/data";
import { tablesIsland, type Row, type Tables, type Who } from "../run/tables";

export type RankCheck = Row<"compile_rank_check">;
export type Divergence = Row<"compile_divergence">;
export type Difference = Row<"compile_first_difference">;

export const ranksIsland = tablesIsland("ranks");

// Everything about one rank of one attempt.
export interface RankRow {
  key: string;
  job: number;
  attempt: number;
  rank: number;
  time?: Row<"compile_rank_time">;
  profile?: Row<"profile_rank">;
  arrival?: Row<"comm_arrival">;
  apart: string[]; // checks in which it is not with most ranks
  difference?: Difference;
  blamed: Finding[];
}

// Groups of a check that are not the largest; of equal ones all but the first.
export function minorities(groups: Divergence[]): Divergence[] {
  const largest = groups.reduce<Divergence | undefined>(
    (best, one) => ((one.ranks?.length ?? 0) > (best?.ranks?.length ?? 0) ? one : best),
    undefined,
  );
  return groups.filter((one) => one !== largest);
}

// Rows of one attempt and one check.
export function divergenceOf(tables: Tables, check: RankCheck): Divergence[] {
  return tables
    .rows("compile_divergence")
    .filter(
      (one) => one.what === check.what && one.job === check.job && one.attempt === check.attempt,
    );
}

class RankRows {
  rows = new Map<string, RankRow>();

  at(who: Who, rank = who.rank): RankRow {
    const [job, attempt] = [who.job ?? 0, who.attempt ?? 0];
    const key = `${job}.${attempt}.${rank}`;
    let row = this.rows.get(key);
    if (!row) {
      row = { key, job, attempt, rank: rank ?? -1, apart: [], blamed: [] };
      this.rows.set(key, row);
    }
    return row;
  }

  sorted(): RankRow[] {
    return [...this.rows.values()].sort(
      (a, b) => a.job - b.job || a.attempt - b.attempt || a.rank - b.rank,
    );
  }
}

export function rankRows(tables: Tables, run: Run): RankRow[] {
  const all = new RankRows();
  for (const row of tables.rows("compile_rank_time")) all.at(row).time = row;
  for (const row of tables.rows("profile_rank")) all.at(row).profile = row;
  for (const row of tables.rows("comm_arrival")) all.at(row).arrival = row;
  for (const check of tables.rows("compile_rank_check"))
    for (const group of minorities(divergenceOf(tables, check)))
      for (const rank of group.ranks ?? []) all.at(check, rank).apart.push(check.what ?? "");
  for (const row of tables.rows("compile_first_difference")) all.at(row, row.rank_b).difference = row;
  const rows = all.sorted();
  for (const finding of run.findings.filter((one) => one.role === "cause")) {
    for (const row of rows)
      if (
        finding.ranks.includes(row.rank) &&
        (finding.job === null || finding.job === row.job) &&
        (finding.attempt === null || finding.attempt === row.attempt)
      )
        row.blamed.push(finding);
  }
  return rows;
}

// Places of the execution order at which ranks ran something else, or have other schedules or caches for it.
export interface OrderPlace {
  job: number | undefined;
  attempt: number | undefined;
  position: number;
  ran: [compile_id: string, ranks: number[]][];
  schedule: boolean;
  cache: boolean;
}

export function orderPlaces(tables: Tables): OrderPlace[] {
  const places = grouped(tables.rows("compile_order"), (row) => `${row.job}.${row.attempt}.${row.position}`);
  return [...places.values()]
    .map((rows) => ({
      job: rows[0]?.job,
      attempt: rows[0]?.attempt,
      position: rows[0]?.position ?? 0,
      ran: [...grouped(rows, (row) => row.compile_id ?? "nothing")].map(
        ([id, of]): [string, number[]] => [id, of.map((row) => row.rank ?? -1)],
      ),
      schedule: rows.some((row) => row.schedule_mismatch),
      cache: rows.some((row) => row.cache_mismatch),
    }))
    .filter((one) => one.ran.length > 1 || one.schedule || one.cache);
}
