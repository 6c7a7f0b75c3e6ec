// The roofline: floating point operations a second by operations a byte, both on logarithmic scales. One dot a shape, as
// large as the time it takes; lines are what memory and computing allow. The table below says the same.
import { Chart, Grid, logAxis, type Axis, type Frame } from "../parts/chart";
import { counted, shareText, showTime } from "../parts/format";
import { most } from "../parts/rows";
import type { Dot, Roof, Roofs, ShapeSum } from "./roofline";

const height = 380;
const margins = { left: 62, right: 18, top: 28, bottom: 42 };
const [least, largest] = [3, 20]; // radius of a dot, px

// "1.2", "0.05", "1,200": three digits without a power.
export function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

export const speedOfMemory = (gbps: number) =>
  gbps >= 1000 ? `${figure(gbps / 1000)} TB/s` : `${figure(gbps)} GB/s`;

export const boundWords: Record<string, string> = {
  compute: "compute bound",
  memory: "memory bound",
  launch: "launch bound",
  transfer: "transfer",
  "": "device not known",
};

export function dotWords({ shape, intensity, tflops }: Dot): string {
  const roof = shape.efficiency === undefined ? "" : `, ${shareText(shape.efficiency)} of its roof`;
  return (
    `${shape.op} ${shape.shapes}: ${figure(tflops)} TFLOP/s at ${figure(intensity)} FLOPs a byte${roof}; ` +
    `${boundWords[shape.bound] ?? shape.bound}, ${showTime(shape.busy_ns)} in ${counted(shape.count, "call")}`
  );
}

interface Axes {
  x: Axis;
  y: Axis;
  frame: Frame;
}

type Piece = "line" | "name"; // names stand above the dots, lines below them

// The slope of the memory, up to the highest peak of computing.
function MemoryRoof({ roofs, x, y, frame, piece }: Axes & { roofs: Roofs; piece: Piece }) {
  const top = roofs.compute[0]?.tflops ?? 10 ** y.last;
  const at = (intensity: number) => (intensity * roofs.gbps) / 1e3;
  const from = Math.max(10 ** x.first, (10 ** y.first * 1e3) / roofs.gbps);
  const to = Math.min(10 ** x.last, (top * 1e3) / roofs.gbps);
  if (from >= to) return null;
  const [x0, y0, x1, y1] = [x.place(from), y.place(at(from)), x.place(to), y.place(at(to))];
  const angle = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI;
  const share = frame.width < 600 ? 0.3 : 0.45;
  const [tx, ty] = [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share];
  if (piece === "line") return <path class="roof" d={`M${x0} ${y0}L${x1} ${y1}`} />;
  return (
    <text class="roof-name" text-anchor="middle" transform={`translate(${tx} ${ty}) rotate(${angle}) translate(0 -6)`}>
      memory {speedOfMemory(roofs.gbps)}
    </text>
  );
}

// Names of peaks that lie close together stand above and below their lines.
function ComputeRoof(props: Axes & { roof: Roof; roofs: Roofs; isBelow: boolean; piece: Piece }) {
  const { roof, roofs, x, y, frame, isBelow, piece } = props;
  const ridge = (roof.tflops * 1e3) / roofs.gbps;
  const [from, to] = [x.place(Math.max(10 ** x.first, ridge)), frame.width - frame.right];
  const level = y.place(roof.tflops);
  if (from >= to) return null;
  if (piece === "line") return <path class="roof" d={`M${from} ${level}H${to}`} />;
  return (
    <text class="roof-name" x={to - 4} y={level + (isBelow ? 13 : -5)} text-anchor="end">
      {roof.name} {figure(roof.tflops)} TFLOP/s
    </text>
  );
}

function RoofPieces({ roofs, axes, piece }: { roofs: Roofs[]; axes: Axes; piece: Piece }) {
  return (
    <>
      {roofs.map((one) => (
        <g key={one.device}>
          <MemoryRoof roofs={one} piece={piece} {...axes} />
          {one.compute.map((roof, i) => {
            const above = one.compute[i - 1];
            const isBelow = above !== undefined && axes.y.place(roof.tflops) - axes.y.place(above.tflops) < 16;
            return <ComputeRoof key={roof.name} roof={roof} roofs={one} isBelow={isBelow} piece={piece} {...axes} />;
          })}
        </g>
      ))}
    </>
  );
}

function Roofline({ dots, roofs, axes, selected, onSelect }: DrawingProps & { axes: Axes }) {
  const { x, y } = axes;
  const longest = most(dots, (dot) => dot.shape.busy_ns);
  const radius = (dot: Dot) => least + (largest - least) * Math.sqrt(dot.shape.busy_ns / Math.max(1, longest));
  return (
    <>
      <RoofPieces roofs={roofs} axes={axes} piece="line" />
      {dots.map((dot) => (
        <circle
          key={dot.shape.key}
          class={`point bound-${dot.shape.bound || "unknown"}${dot.shape.key === selected ? " chosen" : ""}`}
          cx={x.place(dot.intensity)}
          cy={y.place(dot.tflops)}
          r={radius(dot)}
          onClick={() => onSelect(dot.shape)}
        >
          <title>{dotWords(dot)}</title>
        </circle>
      ))}
      <RoofPieces roofs={roofs} axes={axes} piece="name" />
    </>
  );
}

interface DrawingProps {
  dots: Dot[]; // the largest first: small ones stay in sight
  roofs: Roofs[];
  selected: string | null;
  onSelect: (shape: ShapeSum) => void;
}

// Peaks that no dot comes near would only squeeze the others: those of precisions that are used are enough.
export function RooflineChart(props: DrawingProps) {
  const { dots, roofs } = props;
  const ridges = roofs.flatMap((one) => one.compute.map((roof) => (roof.tflops * 1e3) / one.gbps));
  const peaks = roofs.flatMap((one) => one.compute.map((roof) => roof.tflops * 1.2));
  const label = `Roofline: ${counted(dots.length, "shape")} by FLOPs a byte and TFLOP/s; the table below has all of them`;
  return (
    <Chart name="roofline" label={label} height={height}>
      {(width) => {
        const frame = { ...margins, width, height };
        const x = logAxis([...dots.map((dot) => dot.intensity), ...ridges.map((one) => one * 2)], frame.left, width - frame.right);
        const y = logAxis([...dots.map((dot) => dot.tflops), ...peaks], height - frame.bottom, frame.top);
        return (
          <>
            <Grid
              frame={frame}
              x={{ axis: x, title: "arithmetic intensity (FLOPs a byte)", show: figure }}
              y={{ axis: y, title: "TFLOP/s", show: figure }}
            />
            <Roofline {...props} axes={{ x, y, frame }} />
          </>
        );
      }}
    </Chart>
  );
}
