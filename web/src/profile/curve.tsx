// Memory over time as a drawing: most bytes in use and most bytes reserved in each span, the peak marked. uPlot draws it
// and lets the reader point and zoom; what it shows also stands in words beside it.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { coloursOf, type Colour } from "../parts/canvas";
import { durationInWords, memory } from "../parts/format";
import type { Row } from "../run/tables";

type Span = Row<"profile_memory_curve"> | Row<"memory_timeline">;

// A moment of the curve.
export interface Moment {
  ns: number;
  bytes: number;
  words: string; // "peak", "out of memory"
}

interface Props {
  spans: Span[];
  moments: Moment[];
  label: string;
}

const seconds = (value: number | null) =>
  value === null ? "" : value === 0 ? "0" : durationInWords(Math.round(value * 1e9));
const size = (value: number | null) => (value === null ? "" : memory(Math.round(value)));

const powersOfTwo = Array.from({ length: 50 }, (_, i) => 2 ** i);

// A ring with its words and value. It is drawn last, over the curves; the words of a second one stand below its ring, so that
// both can be read where they are close.
function mark({ ns, bytes, words }: Moment, place: number, start: number, colour: Colour) {
  return (plot: uPlot) => {
    const [x, y] = [plot.valToPos((ns - start) / 1e9, "x", true), plot.valToPos(bytes, "y", true)];
    const { ctx, bbox } = plot;
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) return;
    const scale = window.devicePixelRatio || 1;
    ctx.save();
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.arc(x, y, 5 * scale, 0, 2 * Math.PI);
    ctx.fillStyle = colour("--surface");
    ctx.fill();
    ctx.lineWidth = 2 * scale;
    ctx.strokeStyle = colour("--error");
    ctx.stroke();
    ctx.fillStyle = colour("--error");
    ctx.font = `600 ${12 * scale}px system-ui, sans-serif`;
    const isRight = x > bbox.left + bbox.width * 0.8;
    ctx.textAlign = isRight ? "right" : "left";
    ctx.fillText(`${words} ${memory(bytes)}`, x + (isRight ? -10 : 10) * scale, y + (place === 0 ? -8 : 20) * scale);
    ctx.restore();
  };
}

// Seconds from the first event, and two values of each span; a step holds until the next.
function dataOf(spans: Span[]): uPlot.AlignedData {
  const start = spans[0]?.begin_ns ?? 0;
  const last = spans[spans.length - 1];
  const times = spans.map((span) => ((span.begin_ns ?? start) - start) / 1e9);
  const values = (of: (span: Span) => number | undefined) => spans.map((span) => of(span) ?? null);
  const allocated = values((span) => span.most_allocated_bytes);
  const reserved = values((span) => span.most_reserved_bytes);
  if (last) {
    times.push(((last.end_ns ?? start) - start) / 1e9);
    allocated.push(last.allocated_bytes ?? null);
    reserved.push(last.reserved_bytes ?? null);
  }
  return [times, allocated, reserved];
}

function makePlot(box: HTMLElement, { spans, moments }: Props): uPlot {
  const colour = coloursOf(box);
  const start = spans[0]?.begin_ns ?? 0;
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const memory = colour("--part-memory");
  const value = (_: uPlot, one: number | null) => size(one);
  const line = { ...(stepped && { paths: stepped }), points: { show: false }, width: 1.5, value };
  const options: uPlot.Options = {
    width: Math.max(320, box.clientWidth - 24),
    height: 250,
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.12)] } },
    axes: [
      { ...axis, size: 28, values: (_, ticks) => ticks.map(seconds) },
      { ...axis, size: 76, incrs: powersOfTwo, values: (_, ticks) => ticks.map(size) },
    ],
    series: [
      { label: "time", value: (_, value) => seconds(value) },
      { ...line, label: "allocated", stroke: memory, fill: `${memory}30` },
      { ...line, label: "reserved", stroke: colour("--part-communication"), dash: [6, 4] },
    ],
    cursor: { drag: { x: true, y: false } },
    hooks: { draw: moments.map((moment, place) => mark(moment, place, start, colour)) },
  };
  return new uPlot(options, dataOf(spans), box);
}

export function Curve(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let plot = makePlot(element, props);
    const again = () => {
      plot.destroy();
      plot = makePlot(element, props);
    };
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", again);
    const resize = () => plot.setSize({ width: Math.max(320, element.clientWidth - 24), height: 250 });
    window.addEventListener("resize", resize);
    return () => {
      scheme.removeEventListener("change", again);
      window.removeEventListener("resize", resize);
      plot.destroy();
    };
  }, [props.spans, props.moments]);
  return <div class="curve" ref={box} role="img" aria-label={props.label} />;
}
