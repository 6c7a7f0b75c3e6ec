// A rank x sequence grid that scrolls, is pointed at and walked through by arrow keys.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { CanvasBox } from "../parts/canvas";
import { columnAt, draw, makeLayout, margin, rowAt, type Layout, type Picture } from "./cells";

export interface Place {
  row: number;
  column: number;
}

interface Props {
  picture: Picture;
  label: string;
  describe: (place: Place) => string; // a cell in one line
  onSelect: (place: Place) => void;
  least?: number; // width of a cell in px below which it scrolls
}

// Brings a cell into the sight of `box`.
function reveal(box: HTMLElement, layout: Layout, { row, column }: Place): void {
  const x = layout.x[column];
  if (x !== undefined) {
    if (x - margin.left < box.scrollLeft) box.scrollLeft = x - margin.left - 3 * layout.cellWidth;
    else if (x + layout.cellWidth > box.scrollLeft + box.clientWidth)
      box.scrollLeft = x + 4 * layout.cellWidth - box.clientWidth;
  }
  if (row < 0) return;
  const y = margin.top + row * layout.cellHeight;
  const isAbove = y - margin.top < box.scrollTop;
  if (isAbove || y + layout.cellHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = y - box.clientHeight / 2;
}

const steps: Record<string, [row: number, column: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-16, 0],
  PageDown: [16, 0],
  Home: [0, -1e6],
  End: [0, 1e6],
};

function moved(place: Place, key: string, picture: Picture): Place | null {
  const step = steps[key];
  if (!step) return null;
  const within = (value: number, size: number) => Math.max(0, Math.min(size - 1, value));
  return {
    row: within(Math.max(0, place.row) + step[0], picture.ranks.length),
    column: within(Math.max(0, place.column) + step[1], picture.seq.length),
  };
}

// The cell that the mouse points at. The canvas fills the box.
function cellUnder(event: MouseEvent, box: HTMLElement, layout: Layout): Place | null {
  const at = box.getBoundingClientRect();
  const [x, y] = [event.clientX - at.left - box.clientLeft, event.clientY - at.top - box.clientTop];
  if (x < margin.left || y < margin.top) return null;
  const column = columnAt(layout, x + box.scrollLeft);
  const row = rowAt(layout, y + box.scrollTop);
  return column < 0 || row < 0 ? null : { row, column };
}

// The grid on this page gets the keys.
export function focusGrid(): void {
  document.querySelector<HTMLElement>(".grid-box")?.focus();
}

export function Grid({ picture, label, describe, onSelect, least }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(1100);
  const layout = useMemo(
    () => makeLayout(picture.seq, picture.ranks.length, room, least),
    [picture.seq, picture.ranks.length, room, least],
  );
  useEffect(() => {
    if (box.current) reveal(box.current, layout, picture.selected);
  }, [layout, picture.selected.row, picture.selected.column]);
  const placeAt = (event: MouseEvent) =>
    box.current ? cellUnder(event, box.current, layout) : null;
  const words = (place: Place | null) => place && describe(place);
  const press = (event: KeyboardEvent) => {
    const place = moved(picture.selected, event.key, picture);
    if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onSelect(place);
  };
  const pick = (event: MouseEvent) => {
    const place = placeAt(event);
    if (place) onSelect(place);
  };
  const { row, column } = picture.selected;
  return (
    <div class="grid-frame">
      <CanvasBox
        box={box}
        width={layout.width}
        height={layout.height}
        onRoom={setRoom}
        draw={(canvas, sight) => draw(canvas, layout, picture, sight)}
        tip={(event) => words(placeAt(event))}
        tipWidth={300}
        subject={[picture.seq]}
        attributes={{
          class: "grid-box",
          role: "application",
          "aria-roledescription": "grid of ranks and sequences",
          "aria-label": `${label}. Arrow keys choose a cell.`,
          onKeyDown: press,
          onClick: pick,
        }}
      />
      <p class="unseen" aria-live="polite">
        {row >= 0 && column >= 0 ? describe(picture.selected) : ""}
      </p>
    </div>
  );
}
