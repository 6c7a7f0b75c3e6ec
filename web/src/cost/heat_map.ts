// What each rank costs the job, as cells of a heat map: rows of what_if_change, and how they are laid out.
//
//   profiles          ranks in order, as many a row as fit
//   pipeline stages   a row a stage, a column a replica
//
// Thousands of ranks share cells; a cell is as hot as the hottest in it.
import { smallestFirst } from "../parts/rows";
import type { Row, Tables } from "../run/tables";

export type Replay = Row<"what_if_job">;

export interface Heat {
  rank: number;
  column: number;
  row: number;
  share: number | null; // of a step that the rank costs; null: not replayed
  ns: number | null;
}

export interface HeatMap {
  cells: Heat[][]; // of one place each, the hottest first
  rows: number;
  columns: number;
  perCell: number; // ranks that share one, at most
  isStages: boolean;
}

const isOf = (job: Replay) => (row: { job?: number; attempt?: number }) =>
  row.job === job.job && row.attempt === job.attempt;

// A worker's part of the slowdown: what a step would take more if all others were typical.
function ofWorkers(tables: Tables, job: Replay): Heat[] {
  return tables.rows("what_if_change").flatMap((row) => {
    if (row.kind !== "worker" || !isOf(job)(row) || row.worker_rank === undefined) return [];
    const { slowdown } = row;
    const share = slowdown === undefined ? null : Math.max(0, 1 - 1 / slowdown);
    const ns = slowdown === undefined ? null : Math.max(0, slowdown - 1) * (job.typical_ns ?? 0);
    return [{ rank: row.worker_rank, row: row.stage ?? 0, column: row.replica ?? 0, share, ns }];
  });
}

// Ranks that were not replayed were no slower than those that were.
function ofRanks(tables: Tables, job: Replay): Heat[] {
  const changes = tables.rows("what_if_change").filter((row) => row.kind === "rank" && isOf(job)(row));
  const byRank = new Map(changes.map((row) => [row.worker_rank, row]));
  const recorded = tables.rows("cost_rank").filter(isOf(job));
  const ranks = new Set([...recorded.map((row) => row.rank), ...byRank.keys()]);
  const known = [...ranks].filter((rank): rank is number => rank !== undefined);
  return known.map((rank) => {
    const row = byRank.get(rank);
    const [share, ns] = [row?.gain_share, row?.gain_ns].map((one) => (one === undefined ? null : Math.max(0, one)));
    return { rank, row: 0, column: 0, share: share ?? null, ns: ns ?? null };
  });
}

const hottestFirst = (cell: Heat[]): Heat[] => [...cell].sort((a, b) => (b.share ?? -1) - (a.share ?? -1));

function inPlaces(heats: Heat[], rows: number, columns: number, perCell: number, isStages: boolean): HeatMap {
  const places = new Map<number, Heat[]>();
  for (const heat of heats) {
    const at = heat.row * columns + heat.column;
    const cell = places.get(at);
    if (cell) cell.push(heat);
    else places.set(at, [heat]);
  }
  return { cells: [...places.values()].map(hottestFirst), rows, columns, perCell, isStages };
}

const mostCells = 2048;

// Ranks that share a cell are neighbours: a power of two of them, so that hosts stay together.
function sharing(count: number, most: number): number {
  let share = 1;
  while (Math.ceil(count / share) > most) share *= 2;
  return share;
}

// `fitting`: cells beside each other.
export function heatMapOf(tables: Tables, job: Replay, fitting: number): HeatMap | null {
  const isStages = job.source === "stages";
  const heats = smallestFirst(isStages ? ofWorkers(tables, job) : ofRanks(tables, job), (one) => one.rank);
  if (heats.length < 2) return null;
  if (isStages) {
    const [rows, replicas] = [1 + Math.max(...heats.map((one) => one.row)), 1 + Math.max(...heats.map((one) => one.column))];
    const share = sharing(replicas, Math.max(1, fitting));
    const columns = Math.ceil(replicas / share);
    return inPlaces(heats.map((one) => ({ ...one, column: Math.floor(one.column / share) })), rows, columns, share, true);
  }
  const share = sharing(heats.length, mostCells);
  const cells = Math.ceil(heats.length / share);
  let columns = 8; // a host often has so many
  while (columns * 2 <= fitting && columns < cells) columns *= 2;
  columns = Math.min(columns, Math.max(1, fitting), cells);
  const placed = heats.map((one, i) => {
    const at = Math.floor(i / share);
    return { ...one, row: Math.floor(at / columns), column: at % columns };
  });
  return inPlaces(placed, Math.ceil(cells / columns), columns, share, false);
}

// Shares of a step at which the colour changes. They are the same for all jobs: a healthy one is pale.
export const heatLimits = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8];

export const heatLevel = (share: number): number => heatLimits.filter((limit) => share >= limit).length;
