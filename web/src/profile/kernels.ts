// Kernels of several timelines added up: rows of profile_kernel and of profile_kernel_op become one for each name.
import { grouped, largestFirst } from "../parts/rows";
import type { Row } from "../run/tables";
import { keyOfText, type Kernel } from "./data";

type KernelOp = Row<"profile_kernel_op">;

export interface Durations {
  count: number;
  total_ns: number;
  min_ns: number;
  max_ns: number;
  mean_ns: number;
  stddev_ns?: number;
  median_ns?: number; // of a single row: medians cannot be added up
}

export interface KernelSum extends Durations {
  key: string; // in the address
  name: string;
  device_class: string;
  rows: Kernel[];
}

export interface OpSum extends Durations {
  op: string;
  shapes: string;
}

// Sums, the extremes, and the standard deviation of all together: squares around the common mean.
function addUp(rows: (Kernel | KernelOp)[]): Durations {
  let [count, total, squares] = [0, 0, 0];
  let [min, max] = [Infinity, 0];
  for (const row of rows) {
    count += row.count ?? 0;
    total += row.total_ns ?? 0;
    min = Math.min(min, row.min_ns ?? Infinity);
    max = Math.max(max, row.max_ns ?? 0);
  }
  const mean = count > 0 ? total / count : 0;
  for (const row of rows) {
    const number = row.count ?? 0;
    squares += (number - 1) * (row.stddev_ns ?? 0) ** 2 + number * ((row.mean_ns ?? mean) - mean) ** 2;
  }
  const [only] = rows;
  return {
    count,
    total_ns: total,
    min_ns: min === Infinity ? 0 : min,
    max_ns: max,
    mean_ns: mean,
    ...(count > 1 && { stddev_ns: Math.sqrt(Math.max(0, squares) / (count - 1)) }),
    ...(rows.length === 1 && only?.median_ns !== undefined && { median_ns: only.median_ns }),
  };
}

export function sumKernels(rows: Kernel[]): KernelSum[] {
  const groups = grouped(rows, (row) => `${row.device_class ?? ""}\n${row.name ?? ""}`);
  const sums = [...groups].map(([key, group]) => ({
    ...addUp(group),
    key: keyOfText(key),
    name: group[0]?.name ?? "",
    device_class: group[0]?.device_class ?? "",
    rows: group,
  }));
  return largestFirst(sums, (row) => row.total_ns);
}

export function sumKernelOps(rows: KernelOp[]): OpSum[] {
  const groups = grouped(rows, (row) => `${row.op ?? ""}\n${row.shapes ?? ""}`);
  const sums = [...groups.values()].map((group) => ({
    ...addUp(group),
    op: group[0]?.op ?? "",
    shapes: group[0]?.shapes ?? "",
  }));
  return largestFirst(sums, (row) => row.total_ns);
}
