// Ranks beside each other: the island "ranks" (src/outputs/report/html/table_islands.cc) as typed tables, and one row
// for each rank with what all of them say of it.
import { Tables, type RawTables, type Who } from "../run/tables";
import { loadJson, Once } from "../run/islands";
import type { Finding, Run } from "../run/data";
import type { FirstDifference, Overlap, RankOnly, RankTime } from "../compile/data";
import type { Arrival } from "../flight/comm";

export interface RankCheck extends Who {
  what?: string;
  state?: string;
  detail?: string;
}

export interface Divergence extends Who {
  what?: string;
  group_number?: number;
  ranks?: number[];
  detail?: string;
}

export interface Difference extends FirstDifference {
  entry_a?: number;
  entry_b?: number;
}

export interface RuntimeDelta extends Who {
  pairing?: string;
  graph?: string;
  delta_ms?: number;
  fastest_rank?: number;
  fastest_ms?: number;
  slowest_rank?: number;
  slowest_ms?: number;
  tied?: boolean;
  ranks?: number[];
}

export interface Order extends Who {
  position?: number;
  compile_id?: string;
  schedule_mismatch?: boolean;
  cache_mismatch?: boolean;
}

export interface ProfileRank extends Who {
  windows?: number;
  window_source?: string;
  step_ns?: number;
  communication_ns?: number;
  compute_ns?: number;
  idle_ns?: number;
  own_delay_ns?: number;
  times_last?: number;
  collectives?: number;
  straggler?: boolean;
  reason?: string;
}

export interface RankTables {
  compile_rank_time: RankTime;
  compile_rank_check: RankCheck;
  compile_divergence: Divergence;
  compile_first_difference: Difference;
  compile_rank_only: RankOnly;
  compile_overlap: Overlap;
  compile_runtime_delta: RuntimeDelta;
  compile_order: Order;
  profile_rank: ProfileRank;
  comm_arrival: Arrival;
}

export type Ranks = Tables<RankTables>;

export const ranksIsland = new Once(
  async () => new Tables<RankTables>((await loadJson("ranks")) as RawTables),
);

// Everything about one rank of one attempt.
export interface RankRow {
  key: string;
  job: number;
  attempt: number;
  rank: number;
  time?: RankTime;
  profile?: ProfileRank;
  arrival?: Arrival;
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
export function divergenceOf(ranks: Ranks, check: RankCheck): Divergence[] {
  return ranks
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

export function rankRows(ranks: Ranks, run: Run): RankRow[] {
  const all = new RankRows();
  for (const row of ranks.rows("compile_rank_time")) all.at(row).time = row;
  for (const row of ranks.rows("profile_rank")) all.at(row).profile = row;
  for (const row of ranks.rows("comm_arrival")) all.at(row).arrival = row;
  for (const check of ranks.rows("compile_rank_check"))
    for (const group of minorities(divergenceOf(ranks, check)))
      for (const rank of group.ranks ?? []) all.at(check, rank).apart.push(check.what ?? "");
  for (const row of ranks.rows("compile_first_difference")) all.at(row, row.rank_b).difference = row;
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

export function orderPlaces(ranks: Ranks): OrderPlace[] {
  const places = new Map<string, { place: OrderPlace; ran: Map<string, number[]> }>();
  for (const row of ranks.rows("compile_order")) {
    const key = `${row.job}.${row.attempt}.${row.position}`;
    const { job, attempt, position = 0 } = row;
    const one = places.get(key) ?? {
      place: { job, attempt, position, ran: [], schedule: false, cache: false },
      ran: new Map<string, number[]>(),
    };
    const id = row.compile_id ?? "nothing";
    one.ran.set(id, [...(one.ran.get(id) ?? []), row.rank ?? -1]);
    one.place.schedule ||= row.schedule_mismatch ?? false;
    one.place.cache ||= row.cache_mismatch ?? false;
    places.set(key, one);
  }
  return [...places.values()]
    .map(({ place, ran }) => ({ ...place, ran: [...ran] }))
    .filter((one) => one.ran.length > 1 || one.schedule || one.cache);
}
