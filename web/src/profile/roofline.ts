// What ops do against what their device could do: rows of profile_roofline, the roofs that follow from them, and where
// a shape stands among these.
import { shapesOf } from "../parts/format";
import { grouped, largestFirst, sum } from "../parts/rows";
import type { Row, Tables, Who } from "../run/tables";
import { keyOfText } from "./data";

type Roofline = Row<"profile_roofline">;

// All calls of an op with the same arguments, of all chosen ranks.
export interface ShapeSum {
  key: string;
  op: string;
  shapes: string;
  dtypes: string;
  category: string;
  bound: string; // "": the device is not known
  precision: string;
  count: number;
  busy_ns: number;
  save_ns: number;
  flops: number | undefined; // of a call
  bytes: number | undefined;
  tflops: number | undefined;
  gbps: number | undefined;
  efficiency: number | undefined; // share of its roof
  hasModel: boolean;
}

function sumShape(rows: Roofline[]): ShapeSum {
  const first = rows[0] as Roofline;
  const busy = sum(rows, (row) => row.busy_ns);
  const calls = sum(rows, (row) => row.count);
  const ofAll = (value: (row: Roofline) => number | undefined) =>
    value(first) === undefined ? undefined : sum(rows, (row) => (value(row) ?? 0) * (row.count ?? 0));
  const [flops, bytes, roof] = [(r: Roofline) => r.flops, (r: Roofline) => r.bytes, (r: Roofline) => r.roof_ns].map(ofAll);
  const rate = (all: number | undefined, unit: number) => (all === undefined || busy === 0 ? undefined : all / busy / unit);
  const longest = largestFirst(rows, (row) => row.busy_ns)[0] as Roofline;
  return {
    key: keyOfText([first.op, first.shapes, first.dtypes].join("\n")),
    op: first.op ?? "",
    shapes: shapesOf(first.shapes),
    dtypes: first.dtypes ?? "",
    category: first.category ?? "",
    bound: longest.bound ?? "",
    precision: first.precision ?? "",
    count: calls,
    busy_ns: busy,
    save_ns: sum(rows, (row) => row.save_ns),
    flops: first.flops,
    bytes: first.bytes,
    tflops: rate(flops, 1e3), // FLOP a nanosecond is 1e9 a second
    gbps: rate(bytes, 1),
    efficiency: rate(roof, 1),
    hasModel: first.flops !== undefined || first.bytes !== undefined,
  };
}

export function sumShapes(rows: Roofline[]): ShapeSum[] {
  const same = grouped(rows, (row) => [row.op, row.shapes, row.dtypes].join("\n"));
  return largestFirst([...same.values()].map(sumShape), (one) => one.busy_ns);
}

export interface Roof {
  name: string; // "bf16"
  tflops: number;
}

// What one kind of device can do.
export interface Roofs {
  device: string;
  gbps: number; // of its memory
  compute: Roof[]; // highest first
}

const shortest = 50; // ns: times are whole nanoseconds, so shorter ones give a peak to worse than 1 %

// The peaks that the rows were compared with; the longest time gives them best.
function roofsOfDevice(device: string, rows: Roofline[]): Roofs | null {
  const memory = largestFirst(rows, (row) => row.memory_ns)[0];
  const gbps = (memory?.bytes ?? 0) / (memory?.memory_ns ?? 0);
  if (!(gbps > 0) || (memory?.memory_ns ?? 0) < shortest) return null;
  const compute = [...grouped(rows, (row) => row.precision ?? "")].flatMap(([name, of]) => {
    const best = largestFirst(of, (row) => row.compute_ns)[0];
    const tflops = (best?.flops ?? 0) / (best?.compute_ns ?? 0) / 1e3;
    return name && tflops > 0 && (best?.compute_ns ?? 0) >= shortest ? [{ name, tflops }] : [];
  });
  return { device, gbps, compute: largestFirst(compute, (roof) => roof.tflops) };
}

// One for each kind of device that the rows are of.
export function roofsOf(tables: Tables, rows: Roofline[]): Roofs[] {
  const whose = (row: Who) => `${row.job} ${row.attempt} ${row.rank}`;
  const devices = new Map(tables.rows("profile_mfu").map((row) => [whose(row), row.device_name ?? ""]));
  return [...grouped(rows, (row) => devices.get(whose(row)) ?? "")].flatMap(
    ([device, of]) => roofsOfDevice(device, of) ?? [],
  );
}

export interface Dot {
  shape: ShapeSum;
  intensity: number; // FLOPs a byte
  tflops: number;
}

// Those that have a place: without floating point operations there is none on a logarithmic scale.
export function dotsOf(shapes: ShapeSum[]): Dot[] {
  return shapes.flatMap((shape) => {
    const intensity = (shape.flops ?? 0) / (shape.bytes ?? 0);
    const { tflops = 0 } = shape;
    return intensity > 0 && intensity < Infinity && tflops > 0 ? [{ shape, intensity, tflops }] : [];
  });
}
