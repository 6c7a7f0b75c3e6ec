// A list for any number of rows of one height: only those in sight are elements.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useSight } from "../parts/sight";

interface Props<Row> {
  rows: Row[];
  height: number; // of a row, in px
  label: string;
  shown?: number | undefined; // row to bring into sight
  children: (row: Row, index: number) => ComponentChildren; // an <li>
}

const spare = 10;

export function VirtualList<Row>({ rows, height, label, shown, children }: Props<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const sight = useSight(box);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || shown === undefined || shown < 0) return;
    const [above, below] = [shown * height, (shown + 1) * height];
    if (above < element.scrollTop) element.scrollTop = above;
    else if (below > element.scrollTop + element.clientHeight)
      element.scrollTop = below - element.clientHeight + height;
  }, [shown]);
  const first = Math.max(0, Math.min(Math.floor(sight.top / height) - spare, rows.length - 1));
  const last = Math.min(rows.length, first + Math.ceil(sight.height / height) + 2 * spare);
  return (
    <div class="virtual-list" ref={box} tabIndex={0} role="region" aria-label={label}>
      <ol
        style={{
          paddingTop: `${first * height}px`,
          paddingBottom: `${(rows.length - last) * height}px`,
        }}
      >
        {rows.slice(first, last).map((row, i) => children(row, first + i))}
      </ol>
    </div>
  );
}
