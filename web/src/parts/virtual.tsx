// Lists and tables for any number of rows of one height: only those in sight are elements, so that the place of each is
// known without laying it out.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

type Box = { current: HTMLElement | null };

const spare = 8; // rows drawn above and below, so that scrolling never shows a gap

// The rows [first, last) that are in sight of a scrolling box.
export function useWindow(box: Box, rows: number, rowHeight: number): [first: number, last: number] {
  const [sight, setSight] = useState({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const update = () => setSight({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, []);
  const first = Math.max(0, Math.min(Math.floor(sight.top / rowHeight) - spare, rows - 1));
  return [first, Math.min(rows, first + Math.ceil(sight.height / rowHeight) + 2 * spare)];
}

// Scrolls until a row, and the one below it, is in sight.
export function revealRow({ current: element }: Box, at: number, rowHeight: number): void {
  if (!element || at < 0) return;
  const [above, below] = [at * rowHeight, (at + 2) * rowHeight];
  if (above < element.scrollTop) element.scrollTop = above;
  else if (below > element.scrollTop + element.clientHeight)
    element.scrollTop = below - element.clientHeight;
}

interface Props<Row> {
  rows: Row[];
  height: number; // of a row, in px
  label: string;
  shown: number; // row to bring into sight; -1: none
  children: (row: Row) => ComponentChildren; // an <li>
}

export function VirtualList<Row>({ rows, height, label, shown, children }: Props<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const [first, last] = useWindow(box, rows.length, height);
  useLayoutEffect(() => revealRow(box, shown, height), [shown]);
  const padding = {
    paddingTop: `${first * height}px`,
    paddingBottom: `${(rows.length - last) * height}px`,
  };
  return (
    <div class="virtual-list" ref={box} tabIndex={0} role="region" aria-label={label}>
      <ol style={padding}>{rows.slice(first, last).map(children)}</ol>
    </div>
  );
}
