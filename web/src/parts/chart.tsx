// Drawings in the width that the page has: letters keep their size on a narrow screen. Logarithmic axes, and the grid
// that belongs to them.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { watchLook } from "./canvas";

export interface Axis {
  first: number; // power of ten
  last: number;
  place: (value: number) => number; // px
}

// Over whole powers of ten.
export function logAxis(values: number[], from: number, to: number): Axis {
  const logs = values.map(Math.log10);
  const first = Math.floor(logs.reduce((a, b) => Math.min(a, b), Infinity));
  const last = Math.max(first + 1, Math.ceil(logs.reduce((a, b) => Math.max(a, b), -Infinity)));
  const place = (value: number) => from + ((Math.log10(value) - first) / (last - first)) * (to - from);
  return { first, last, place };
}

// Powers of ten, of wide ranges every second or third.
function ticks({ first, last }: Axis, most: number): number[] {
  const step = Math.max(1, Math.ceil((last - first) / most));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
}

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  width: number;
  height: number;
}

export interface Scale {
  axis: Axis;
  title: string;
  show: (value: number) => string;
}

const halfTick = 24; // px, half of a long text: "10,000" at the right end would be cut

// Lines and texts of both axes. The title of the vertical one stands above it.
export function Grid({ frame, x, y }: { frame: Frame; x: Scale; y: Scale }) {
  const bottom = frame.height - frame.bottom;
  const most = Math.max(2, Math.floor((frame.width - frame.left) / 90));
  return (
    <g class="chart-grid">
      {ticks(x.axis, Math.min(8, most)).map((tick) => (
        <g key={`x${tick}`}>
          <path d={`M${x.axis.place(tick)} ${frame.top}V${bottom}`} />
          <text
            x={x.axis.place(tick)}
            y={bottom + 16}
            text-anchor={x.axis.place(tick) + halfTick > frame.width ? "end" : "middle"}
          >
            {x.show(tick)}
          </text>
        </g>
      ))}
      {ticks(y.axis, 6).map((tick) => (
        <g key={`y${tick}`}>
          <path d={`M${frame.left} ${y.axis.place(tick)}H${frame.width - frame.right}`} />
          <text x={frame.left - 8} y={y.axis.place(tick) + 4} text-anchor="end">
            {y.show(tick)}
          </text>
        </g>
      ))}
      <text class="axis" x={8} y={14}>
        {y.title}
      </text>
      <text class="axis" x={(frame.left + frame.width - frame.right) / 2} y={frame.height - 6} text-anchor="middle">
        {x.title}
      </text>
    </g>
  );
}

interface ChartProps {
  name: string; // class of style
  label: string; // what is seen, in a sentence
  height: number | ((width: number) => number);
  children: (width: number) => ComponentChildren;
}

export function Chart({ name, label, height, children }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setWidth(element.clientWidth);
    measure();
    return watchLook(element, measure);
  }, []);
  const tall = typeof height === "number" ? height : height(width);
  return (
    <div class={`chart ${name}`} ref={box}>
      {width > 0 && (
        <svg width={width} height={tall} viewBox={`0 0 ${width} ${tall}`} role="img" aria-label={label}>
          {children(width)}
        </svg>
      )}
    </div>
  );
}
