// Lost time: the island "cost" (src/outputs/report/html/table_islands.cc) as typed tables, and the states that a rank can be in.
import type { Part, Values } from "../profile/parts";
import { loadJson, Once } from "../run/islands";
import { Tables, type RawTables, type Who } from "../run/tables";

export interface CostFix extends Who {
  position?: number;
  kind?: string;
  reason?: string;
  culprit?: number;
  lost_ns?: number;
  share?: number;
  ranks?: number[];
  times?: number;
  group_name?: string;
  op?: string;
  compile_id?: string;
  function?: string;
  file?: string;
  line?: number;
  text?: string;
}

export interface CostRank extends Who {
  windows?: number;
  window_source?: string;
  measured_by?: string;
  wall_ns?: number;
  busy_ns?: number;
  compute_ns?: number;
  transfer_ns?: number;
  undivided_ns?: number;
  lost_ns?: number;
  wait_ns?: number;
  compile_ns?: number;
  data_ns?: number;
  sync_ns?: number;
  allocation_ns?: number;
  host_ns?: number;
  pace_ns?: number;
  unknown_ns?: number;
  share?: number;
  caused_ns?: number;
  region_ns?: number;
  compiled_gpu_ns?: number;
}

export interface CostCollective extends Who {
  group_name?: string;
  group_desc?: string;
  members?: number[];
  op?: string;
  times?: number;
  bytes?: number;
  transfer_ns?: number;
  wait_ns?: number;
  exposed_ns?: number;
  last_rank?: number;
  last_wait_ns?: number;
  blamed_rank?: number;
  blamed_wait_ns?: number;
}

export interface CostRegion extends Who {
  compile_id?: string;
  function?: string;
  file?: string;
  line?: number;
  compile_ns?: number;
  again?: boolean;
  alone?: boolean;
  gpu_ns?: number;
  kernels?: number;
  runs?: number;
  region_ns?: number;
  gpu_ns_a_run?: number;
  compile_ns_a_run?: number;
}

export interface CostTables {
  cost_fix: CostFix;
  cost_rank: CostRank;
  cost_collective: CostCollective;
  cost_region: CostRegion;
}

export type Cost = Tables<CostTables>;

export const costIsland = new Once(
  async () => new Tables<CostTables>((await loadJson("cost")) as RawTables),
);

const busy: Part[] = [
  { id: "compute", words: "computing", meaning: "A device computes, copies or fills" },
  {
    id: "transfer",
    words: "moving data",
    meaning: "A collective moves data: all its recorded members have begun it. Not hidden by computing",
  },
  {
    id: "undivided",
    words: "communication, not divided",
    meaning: "Communication of which cannot be told how much is waiting. Not hidden by computing",
  },
];

const lost: Part[] = [
  { id: "wait", words: "waiting for ranks", meaning: "A collective waits for its last member" },
  { id: "host", words: "host launches late", meaning: "The device has nothing to do until the host launches more" },
  { id: "data", words: "data loading", meaning: "The host loads data before it launches more" },
  { id: "sync", words: "host waited for device", meaning: "The host waited for the device before it launched more" },
  { id: "compile", words: "compiling", meaning: "The host compiles" },
  { id: "allocation", words: "allocating memory", meaning: "The host allocates device memory" },
  { id: "pace", words: "between kernels", meaning: "Between kernels that were both queued" },
  { id: "unknown", words: "not known", meaning: "Nothing that is recorded tells why the device idles" },
];

export const states: Part[] = [...busy, ...lost];

export function valuesOf(row: CostRank): Values {
  const numbers = row as Record<string, number | undefined>;
  return Object.fromEntries(states.map((one) => [one.id, numbers[`${one.id}_ns`] ?? 0]));
}

// Only those that some row has.
export function statesIn(rows: CostRank[]): Part[] {
  const all = rows.map(valuesOf);
  return states.filter((one) => all.some((values) => (values[one.id] ?? 0) > 0));
}

export function sumOf<Row>(rows: Row[], value: (row: Row) => number | undefined): number {
  return rows.reduce((sum, row) => sum + (value(row) ?? 0), 0);
}
