// Bandwidth by message size, both on logarithmic scales: one point for each group, op and size. Ops differ in
// shape and colour. The table below it says the same.
import { Chart, Grid, logAxis, type Frame } from "../parts/chart";
import { bytes, counted } from "../parts/format";
import { groupTitle } from "./data";
import type { Row } from "../run/tables";

type Bandwidth = Row<"profile_bandwidth">;

const height = 300;
const margins = { left: 72, right: 28, top: 26, bottom: 40 };

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
  const label = `Bus bandwidth by message size, ${counted(points.length, "point")}; the table below has all of them`;
  return (
    <Chart name="bandwidth" label={label} height={height}>
      {(width) => <Points points={points} ops={ops} frame={{ ...margins, width, height }} />}
    </Chart>
  );
}

function Points({ points, ops, frame }: { points: Bandwidth[]; ops: string[]; frame: Frame }) {
  const x = logAxis(points.map((row) => row.bytes as number), frame.left, frame.width - frame.right);
  const y = logAxis(points.map((row) => row.busbw as number), frame.height - frame.bottom, frame.top);
  return (
    <>
      <Grid
        frame={frame}
        x={{ axis: x, title: "message size", show: bytes }}
        y={{ axis: y, title: "bus bandwidth", show: speed }}
      />
      {points.map((row, i) => {
        const { shape, colour } = opMark(ops, row.op ?? "");
        const at = `translate(${x.place(row.bytes as number)} ${y.place(row.busbw as number)})`;
        return (
          <path key={i} class="point" d={shape} fill={colour} transform={at}>
            <title>{pointWords(row)}</title>
          </path>
        );
      })}
    </>
  );
}
