// Tables about traffic and arrivals: the island "comm" (src/outputs/report/html/table_islands.cc).
import { loadJson, Once } from "../run/islands";
import { Tables, type RawTables, type Who } from "../run/tables";

interface OfGroup extends Who {
  group_name?: string;
  group_desc?: string;
  members?: number[];
}

export interface Traffic extends OfGroup {
  role?: string;
  op?: string;
  count?: number;
  input_bytes?: number;
  output_bytes?: number;
  slowest_ns?: number;
  slowest_seq?: number;
  median_ns?: number;
  median_spread_ns?: number;
  longest_spread_ns?: number;
}

export interface Arrival extends Who {
  clock_offset_ns?: number;
  offset_spread_ns?: number;
  clock_correction_ns?: number;
  times_last?: number;
  late_total_ns?: number;
  late_longest_ns?: number;
  late_third_ns?: number;
}

export interface ProfileArrival extends OfGroup {
  collectives?: number;
  wait_sum_ns?: number;
  wait_mean_ns?: number;
  times_last?: number;
  times_first?: number;
}

export interface Bandwidth extends OfGroup {
  definition?: string;
  group_size?: number;
  op?: string;
  bytes?: number;
  count?: number;
  basis?: string;
  mean_ns?: number;
  median_ns?: number;
  min_ns?: number;
  max_ns?: number;
  algbw?: number;
  busbw?: number;
}

export interface CommTables {
  comm_traffic: Traffic;
  comm_arrival: Arrival;
  profile_arrival: ProfileArrival;
  profile_bandwidth: Bandwidth;
}

export type Comm = Tables<CommTables>;

export const commIsland = new Once(
  async () => new Tables<CommTables>((await loadJson("comm")) as RawTables),
);
