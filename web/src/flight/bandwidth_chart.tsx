// Bandwidth by message size, both on logarithmic scales: one point for each group, op and size. Ops differ in
// shape and colour. The table below it says the same.
import { bytes, counted } from "../parts/format";
import { groupTitle } from "./data";
import type { Row } from "../run/tables";

type Bandwidth = Row<"profile_bandwidth">;

const size = { width: 1180, height: 300 };
const frame = { left: 72, right: 16, top: 12, bottom: 40 };

// Six of each, so that ops of one colour differ in shape.
const shapes = [
  "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
  "M-4 -4h8v8h-8z",
  "M0 -5.5 5 4h-10z",
  "M0 -5.5 5 0 0 5.5 -5 0z",
  "M-4 -5h8l-4 10z",
  "M-5 -1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z",
];
const colours = ["dynamo", "triton", "inductor", "aot", "codegen", "other"];

function opMark(ops: string[], op: string): { shape: string; colour: string } {
  const at = Math.max(0, ops.indexOf(op));
  return {
    shape: shapes[at % shapes.length] as string,
    colour: `var(--area-${colours[(at + Math.floor(at / 6)) % colours.length]})`,
  };
}

export function OpMark({ ops, op }: { ops: string[]; op: string }) {
  const { shape, colour } = opMark(ops, op);
  return (
    <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
      <path d={shape} fill={colour} />
    </svg>
  );
}

interface Axis {
  first: number; // power of ten
  last: number;
  place: (value: number) => number;
}

function axisOf(values: number[], from: number, to: number): Axis {
  const logs = values.map(Math.log10);
  const first = Math.floor(Math.min(...logs));
  const last = Math.max(first + 1, Math.ceil(Math.max(...logs)));
  const place = (value: number) => from + ((Math.log10(value) - first) / (last - first)) * (to - from);
  return { first, last, place };
}

// Powers of ten, of wide ranges every second or third.
function ticks({ first, last }: Axis): number[] {
  const step = Math.max(1, Math.ceil((last - first) / 6));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
}

// Gigabytes a second; small ones in the unit that reads best.
export function speed(value: number): string {
  if (value === 0) return "0 B/s";
  return `${bytes(value * 1e9 >= 1000 ? Math.round(value * 1e9) : Number((value * 1e9).toPrecision(3)))}/s`;
}

function pointWords(row: Bandwidth): string {
  const group = groupTitle({ name: row.group_name ?? "", desc: row.group_desc ?? "" });
  return `${row.op} of ${bytes(row.bytes ?? 0)} in ${group}: bus ${speed(row.busbw ?? 0)}, ${counted(row.count ?? 0, "time")}`;
}

export function BandwidthChart({ rows, ops }: { rows: Bandwidth[]; ops: string[] }) {
  const points = rows.filter((row) => (row.bytes ?? 0) > 0 && (row.busbw ?? 0) > 0);
  if (points.length === 0)
    return <p class="empty">No collective has a size, a time and a known number of members.</p>;
  const x = axisOf(points.map((row) => row.bytes as number), frame.left, size.width - frame.right);
  const y = axisOf(points.map((row) => row.busbw as number), size.height - frame.bottom, frame.top);
  return (
    <svg
      class="bandwidth"
      viewBox={`0 0 ${size.width} ${size.height}`}
      role="img"
      aria-label={`Bus bandwidth by message size, ${counted(points.length, "point")}; the table below has all of them`}
    >
      {ticks(x).map((tick) => (
        <g key={tick}>
          <path class="grid-line" d={`M${x.place(tick)} ${frame.top}V${size.height - frame.bottom}`} />
          <text x={x.place(tick)} y={size.height - frame.bottom + 16} text-anchor="middle">
            {bytes(tick)}
          </text>
        </g>
      ))}
      {ticks(y).map((tick) => (
        <g key={tick}>
          <path class="grid-line" d={`M${frame.left} ${y.place(tick)}H${size.width - frame.right}`} />
          <text x={frame.left - 8} y={y.place(tick) + 4} text-anchor="end">
            {speed(tick)}
          </text>
        </g>
      ))}
      <text class="axis" x={frame.left + 8} y={frame.top + 12}>
        bus bandwidth
      </text>
      <text class="axis" x={(frame.left + size.width) / 2} y={size.height - 6} text-anchor="middle">
        message size
      </text>
      {points.map((row, i) => {
        const { shape, colour } = opMark(ops, row.op ?? "");
        const at = `translate(${x.place(row.bytes as number)} ${y.place(row.busbw as number)})`;
        return (
          <path key={i} class="point" d={shape} fill={colour} transform={at}>
            <title>{pointWords(row)}</title>
          </path>
        );
      })}
    </svg>
  );
}
