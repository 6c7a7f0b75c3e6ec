// Memory over time as a drawing: most bytes in use and most bytes reserved in each span, the peak marked. uPlot draws it
// and lets the reader point and zoom; what it shows also stands in words beside it.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { bytes, duration } from "../parts/format";
import type { Span } from "./data";

interface Props {
  spans: Span[];
  peak: { ns: number; bytes: number } | null;
  label: string;
}

interface Colours {
  text: string;
  line: string;
  allocated: string;
  fill: string;
  reserved: string;
  peak: string;
  ground: string;
}

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: of("--quiet"),
    line: of("--line"),
    allocated: of("--part-memory"),
    fill: `${of("--part-memory")}30`,
    reserved: of("--part-communication"),
    peak: of("--error"),
    ground: of("--surface"),
  };
}

const seconds = (value: number | null) =>
  value === null ? "" : value === 0 ? "0" : duration(Math.round(value * 1e9));
const size = (value: number | null) => (value === null ? "" : bytes(Math.round(value)));

// The moment of the peak, a ring with its value. It is drawn last, over the curves.
function peakMark(at: number, value: number, colours: Colours) {
  return (plot: uPlot) => {
    const [x, y] = [plot.valToPos(at, "x", true), plot.valToPos(value, "y", true)];
    const { ctx, bbox } = plot;
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) return;
    const scale = window.devicePixelRatio || 1;
    ctx.save();
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.arc(x, y, 5 * scale, 0, 2 * Math.PI);
    ctx.fillStyle = colours.ground;
    ctx.fill();
    ctx.lineWidth = 2 * scale;
    ctx.strokeStyle = colours.peak;
    ctx.stroke();
    ctx.fillStyle = colours.peak;
    ctx.font = `600 ${12 * scale}px system-ui, sans-serif`;
    const isRight = x > bbox.left + bbox.width * 0.8;
    ctx.textAlign = isRight ? "right" : "left";
    ctx.fillText(`peak ${bytes(value)}`, x + (isRight ? -10 : 10) * scale, y - 8 * scale);
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

function makePlot(box: HTMLElement, { spans, peak }: Props): uPlot {
  const colours = coloursOf(box);
  const start = spans[0]?.begin_ns ?? 0;
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const axis = { stroke: colours.text, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const line = { ...(stepped && { paths: stepped }), points: { show: false }, width: 1.5 };
  const options: uPlot.Options = {
    width: Math.max(320, box.clientWidth - 24),
    height: 250,
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.12)] } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map(seconds) },
      { ...axis, size: 76, values: (_, ticks) => ticks.map(size) },
    ],
    series: [
      { label: "time", value: (_, value) => seconds(value) },
      { ...line, label: "allocated", stroke: colours.allocated, fill: colours.fill, value: (_, value) => size(value) },
      { ...line, label: "reserved", stroke: colours.reserved, dash: [6, 4], value: (_, value) => size(value) },
    ],
    cursor: { drag: { x: true, y: false } },
    hooks: { draw: peak ? [peakMark((peak.ns - start) / 1e9, peak.bytes, colours)] : [] },
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
  }, [props.spans, props.peak?.ns, props.peak?.bytes]);
  return <div class="curve" ref={box} role="img" aria-label={props.label} />;
}
