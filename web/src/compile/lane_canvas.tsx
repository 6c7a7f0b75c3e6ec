// Draws lanes on a canvas: a row a rank, a box for each stretch of compiling, time to the right. Only what is
// in sight is drawn; a picture of 512 rows scrolls. A status has a colour and, where there is room, a sign; a
// wide box is divided by the areas of the compiler (their shares, not their order).
import { useRef, useState } from "preact/hooks";
import { CanvasBox, coloursOf, fitCanvas, type Colour, type Sight } from "../parts/canvas";
import { duration, durationInWords, roundStep } from "../parts/format";
import { sum } from "../parts/rows";
import type { Box, Extent, Lane } from "./lanes";
import { areas, spanParts } from "./parts";
import { lookOf } from "./status";

const margin = { left: 84, top: 26, right: 12 };

interface Geometry {
  rowHeight: number;
  width: number;
  height: number; // of all rows
  extent: Extent;
}

const xOf = (geometry: Geometry, us: number) =>
  margin.left +
  ((us - geometry.extent.from) / (geometry.extent.to - geometry.extent.from)) *
    (geometry.width - margin.left - margin.right);

interface Pen {
  context: CanvasRenderingContext2D;
  colour: Colour;
  geometry: Geometry;
}

function areaParts({ span }: Box): [area: string, share: number][] {
  const values = Object.entries(span ? spanParts(span) : {});
  const all = sum(values, ([, value]) => value);
  return values
    .filter(([area, value]) => area !== "other" && value > 0)
    .map(([area, value]) => [area, value / all]);
}

function drawAreas(pen: Pen, box: Box, x: number, y: number, width: number, height: number): void {
  let left = x;
  for (const [area, share] of areaParts(box)) {
    pen.context.fillStyle = pen.colour(`--area-${area}`);
    pen.context.fillRect(left, y, share * width, height);
    left += share * width;
  }
}

function drawBox(pen: Pen, box: Box, y: number): void {
  const { context, geometry, colour } = pen;
  const x = xOf(geometry, box.start);
  const end = xOf(geometry, box.end);
  if (end < margin.left || x > geometry.width) return;
  const left = Math.max(margin.left, x);
  const width = Math.max(2, Math.min(end, geometry.width - margin.right) - left);
  const height = geometry.rowHeight - (geometry.rowHeight > 8 ? 4 : 1);
  const look = lookOf(box.status);
  const isPlain = box.status === "ok" || box.status === "empty";
  context.fillStyle = colour(isPlain ? look.ground : look.colour);
  context.fillRect(left, y, width, height);
  if (isPlain && width > 4) {
    context.strokeStyle = colour(look.colour);
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
  }
  if (height >= 14 && end - x > 24) drawAreas(pen, box, x, y + height - 5, end - x, 5);
  if (height >= 14 && width >= 12) {
    const name = `${box.id} ${box.compilation?.function ?? ""}`;
    context.fillStyle = colour(isPlain ? "--text" : "--surface");
    context.fillText(look.sign, left + 3, y + (height - 5) / 2 + 1);
    const text = context.measureText(name).width < width - 20 ? name : box.id;
    if (width > 60) context.fillText(text, left + 16, y + (height - 5) / 2 + 1, width - 18);
  }
}

function drawAxis(pen: Pen, height: number): void {
  const { context, colour, geometry } = pen;
  const { from, to } = geometry.extent;
  const step = roundStep((to - from) / Math.max(1, (geometry.width - margin.left) / 90));
  context.fillStyle = colour("--surface");
  context.fillRect(0, 0, geometry.width, margin.top);
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = Math.round(xOf(geometry, at)) + 0.5;
    context.fillStyle = colour("--line");
    context.fillRect(x, margin.top, 1, height);
    context.fillStyle = colour("--quiet");
    const text = at === 0 ? "0" : durationInWords(at * 1000);
    if (x + 4 + context.measureText(text).width < geometry.width)
      context.fillText(text, x + 4, margin.top / 2);
  }
}

function drawNames(pen: Pen, lanes: Lane[], first: number, top: number, chosen: number): void {
  const { context, colour, geometry } = pen;
  const every = Math.max(1, Math.ceil(14 / geometry.rowHeight));
  lanes.forEach((lane, i) => {
    if ((first + i) % every !== 0 && first + i !== chosen) return;
    const y = margin.top + (first + i) * geometry.rowHeight - top;
    context.fillStyle = colour(first + i === chosen ? "--accent" : "--quiet");
    context.fillText(lane.name, 8, y + geometry.rowHeight / 2, margin.left - 12);
  });
}

interface Picture {
  lanes: Lane[];
  geometry: Geometry;
  selected: string | null;
}

function drawSelected(pen: Pen, box: Box, y: number): void {
  const { context, geometry } = pen;
  const x = xOf(geometry, box.start);
  context.strokeStyle = pen.colour("--text");
  context.lineWidth = 2;
  context.strokeRect(
    x - 1,
    y - 1,
    Math.max(3, xOf(geometry, box.end) - x) + 2,
    geometry.rowHeight - 2,
  );
}

function draw(canvas: HTMLCanvasElement, picture: Picture, { top, height }: Sight): void {
  const { geometry, lanes } = picture;
  const context = fitCanvas(canvas, geometry.width, height);
  if (!context) return;
  const colour = coloursOf(canvas);
  context.font = `12px ${colour("--sans")}`;
  context.textBaseline = "middle";
  const pen = { context, colour, geometry };
  drawAxis(pen, height);
  const first = Math.max(0, Math.floor(top / geometry.rowHeight));
  const last = Math.min(lanes.length, Math.ceil((top + height) / geometry.rowHeight));
  context.save();
  context.beginPath();
  context.rect(0, margin.top, geometry.width, height - margin.top);
  context.clip();
  let chosen = -1;
  for (let row = first; row < last; ++row) {
    const y = margin.top + row * geometry.rowHeight - top + (geometry.rowHeight > 8 ? 2 : 0);
    for (const box of lanes[row]?.boxes ?? []) drawBox(pen, box, y);
    const box = lanes[row]?.boxes.find((one) => one.key === picture.selected);
    if (!box) continue;
    drawSelected(pen, box, y);
    chosen = row;
  }
  drawNames(pen, lanes.slice(first, last), first, top, chosen);
  context.restore();
}

export function boxWords(lane: Lane, box: Box): string {
  const name = box.compilation?.function ?? box.phase;
  const parts = areaParts(box).map(
    ([area, share]) =>
      `${areas.find(([id]) => id === area)?.[1] ?? area} ${Math.round(share * 100)} %`,
  );
  const restarts = box.compilation?.restarts ?? 0;
  return [
    `${lane.name}: ${box.id} ${name}`,
    `${duration((box.end - box.start) * 1000)}${box.open ? ", never ended" : ""}, ${lookOf(box.status).words}`,
    restarts > 0 ? `${restarts} given up` : "",
    parts.join(", "),
  ]
    .filter(Boolean)
    .join("; ");
}

interface Props {
  lanes: Lane[];
  extent: Extent;
  selected: string | null;
  onSelect: (lane: Lane, box: Box) => void;
  onZoom: (extent: Extent | null) => void;
}

// The box under the mouse; the shortest where several lie on each other, two pixels wide at least.
function boxAt(lanes: Lane[], geometry: Geometry, x: number, y: number): [Lane, Box] | null {
  const lane =
    y < margin.top ? undefined : lanes[Math.floor((y - margin.top) / geometry.rowHeight)];
  if (!lane) return null;
  const hit = lane.boxes.filter(
    (box) =>
      xOf(geometry, box.start) - 2 <= x &&
      Math.max(xOf(geometry, box.end), xOf(geometry, box.start) + 2) + 2 >= x,
  );
  hit.sort((a, b) => a.end - a.start - (b.end - b.start));
  return hit[0] ? [lane, hit[0]] : null;
}

export function LaneCanvas({ lanes, extent, selected, onSelect, onZoom }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(1200);
  const rowHeight = Math.max(6, Math.min(26, Math.floor(440 / Math.max(1, lanes.length))));
  const height = margin.top + lanes.length * rowHeight + 4;
  const geometry = { rowHeight, width: room, height, extent };
  const under = (event: MouseEvent) => {
    const at = box.current?.getBoundingClientRect();
    if (!at || !box.current || event.clientY - at.top < margin.top) return null;
    return boxAt(lanes, geometry, event.clientX - at.left, event.clientY - at.top + box.current.scrollTop);
  };
  const zoomBy = (event: MouseEvent, factor: number) => {
    if (!box.current) return;
    const x = event.clientX - box.current.getBoundingClientRect().left;
    const share = (x - margin.left) / (room - margin.left - margin.right);
    const size = extent.to - extent.from;
    const middle = extent.from + share * size;
    onZoom({ from: middle - share * size * factor, to: middle + (1 - share) * size * factor });
  };
  const words = (found: [Lane, Box] | null) => found && boxWords(...found);
  return (
    <div class="grid-frame">
      <CanvasBox
        box={box}
        height={height}
        onRoom={setRoom}
        draw={(canvas, sight) => draw(canvas, { lanes, geometry, selected }, sight)}
        tip={(event) => words(under(event))}
        tipWidth={430}
        subject={[lanes, extent]}
        attributes={{
          class: "grid-box lane-box",
          role: "img",
          "aria-label": `When ${lanes.length} ranks compiled; the list below has the same`,
          onClick: (event) => {
            const found = under(event);
            if (found) onSelect(...found);
          },
          onDblClick: (event) => zoomBy(event, event.shiftKey ? 3 : 1 / 3),
        }}
      />
    </div>
  );
}
