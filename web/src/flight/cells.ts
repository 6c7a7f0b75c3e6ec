// Drawing a rank x sequence grid on a canvas: geometry, colours, shapes.
//
// Only what is in sight is drawn, so that the cost does not grow with the number of ranks. What a cell means
// is its look: how full it is, its colour, and, where there is room, a sign. Low cells are filled from the
// left, high ones from below.
import { coloursOf, fitCanvas, type Colour, type Sight } from "../parts/canvas";

export interface Layout {
  rows: number;
  x: number[]; // left edge of each column, and the right edge of the last
  gaps: Set<number>; // columns that do not follow the one before
  cellWidth: number;
  cellHeight: number;
  width: number; // of the whole drawing, with margins
  height: number;
}

export const margin = { left: 64, top: 26 };
const gapWidth = 14;

// `least`: the width of a cell in px below which the drawing becomes wider than its room.
export function makeLayout(seq: number[], rows: number, room: number, least = 9): Layout {
  const gaps = new Set<number>();
  seq.forEach((one, i) => {
    if (i > 0 && one - (seq[i - 1] as number) > 1) gaps.add(i);
  });
  const free = room - margin.left - gaps.size * gapWidth - 2;
  const cellWidth = Math.max(least, Math.min(30, Math.floor(free / Math.max(1, seq.length))));
  const cellHeight = Math.max(3, Math.min(24, Math.floor(440 / Math.max(1, rows))));
  const x = [margin.left];
  seq.forEach((_, i) => {
    if (gaps.has(i)) x[i] = (x[i] as number) + gapWidth;
    x.push((x[i] as number) + cellWidth);
  });
  const width = (x[seq.length] as number) + 2;
  return {
    rows,
    x,
    gaps,
    cellWidth,
    cellHeight,
    width,
    height: margin.top + rows * cellHeight + 2,
  };
}

export function columnAt(layout: Layout, x: number): number {
  const last = layout.x.length - 1; // the right edge
  return layout.x.findIndex((left, i) => i < last && x >= left && x < left + layout.cellWidth);
}

export function rowAt(layout: Layout, y: number): number {
  const row = Math.floor((y - margin.top) / layout.cellHeight);
  return y >= margin.top && row < layout.rows ? row : -1;
}

export interface Look {
  colour: string; // name of a custom property
  full: number; // share of the height that is filled
  sign: string;
  ink: string; // colour of the sign
}

// State of an op on a rank (data.ts): completed full, started two thirds, scheduled one third.
export const stateLooks: Record<string, Look> = {
  c: { colour: "--good-ground", full: 1, sign: "", ink: "--good" },
  t: { colour: "--cell-started", full: 0.67, sign: "\u25b8", ink: "--surface" },
  s: { colour: "--cell-started", full: 0.34, sign: "", ink: "--text" },
  m: { colour: "--error", full: 1, sign: "\u2013", ink: "--on-error" },
  x: { colour: "--cell-mismatch", full: 1, sign: "\u00d7", ink: "--on-mismatch" },
  u: { colour: "--line", full: 1, sign: "?", ink: "--quiet" },
};

export interface Picture {
  look: (row: number, column: number) => Look | undefined; // undefined: nothing is drawn
  seq: number[];
  ranks: number[];
  blamed: Set<number>; // ranks
  accused: Set<number>; // columns that findings are about
  selected: { row: number; column: number };
}

interface Pen {
  context: CanvasRenderingContext2D;
  colour: Colour;
  layout: Layout;
  sight: Sight;
  rows: [first: number, end: number];
  columns: [first: number, end: number];
  fonts: { plain: string; bold: string; sign: string };
}

function drawCells(pen: Pen, picture: Picture): void {
  const { context, layout } = pen;
  const signs = layout.cellHeight >= 13 && layout.cellWidth >= 12;
  context.font = pen.fonts.sign;
  for (let row = pen.rows[0]; row < pen.rows[1]; ++row) {
    for (let column = pen.columns[0]; column < pen.columns[1]; ++column) {
      const look = picture.look(row, column);
      if (look) drawCell(pen, row, layout.x[column] as number, look, signs);
    }
  }
}

function drawCell(pen: Pen, row: number, left: number, look: Look, signs: boolean): void {
  const { context, colour, layout } = pen;
  const isLow = layout.cellHeight < 8;
  const height = layout.cellHeight - (isLow ? 0 : 1);
  const width = layout.cellWidth - (layout.cellWidth < 5 ? 0 : 1);
  const top = margin.top + row * layout.cellHeight;
  const filled = Math.max(1, Math.round((isLow ? width : height) * look.full));
  if (look.full < 1) {
    context.fillStyle = colour("--cell-open");
    context.fillRect(left, top, width, height);
  }
  context.fillStyle = colour(look.colour);
  if (isLow) context.fillRect(left, top, filled, height);
  else context.fillRect(left, top + height - filled, width, filled);
  if (!signs || !look.sign) return;
  context.fillStyle = colour(look.ink);
  context.fillText(look.sign, left + width / 2, top + height - filled / 2 + 0.5);
}

// Labels stay in sight: they are drawn last, over the cells, at the edges of the box.
function drawRanks(pen: Pen, picture: Picture): void {
  const { context, colour, layout, sight } = pen;
  const right = sight.left + margin.left;
  context.fillStyle = colour("--surface");
  context.fillRect(sight.left, sight.top, margin.left - 4, sight.height);
  context.textAlign = "right";
  const isBlamed = (row: number) => picture.blamed.has(picture.ranks[row] as number);
  const isMarked = (row: number) => isBlamed(row) || row === picture.selected.row;
  const reach = Math.ceil(14 / layout.cellHeight); // rows that a label covers
  let next = 0; // the row where the next plain label may stand
  for (let row = pen.rows[0]; row < pen.rows[1]; ++row) {
    const y = margin.top + (row + 0.5) * layout.cellHeight;
    const size = Math.max(5, layout.cellHeight - 1);
    context.fillStyle = colour("--error");
    if (isBlamed(row)) context.fillRect(right - 8, y - size / 2, 4, size);
    let free = isMarked(row) || row >= next;
    for (let i = 1; i < reach && free && !isMarked(row); ++i)
      free = !isMarked(row - i) && !isMarked(row + i);
    if (!free) continue;
    context.font = isMarked(row) ? pen.fonts.bold : pen.fonts.plain;
    context.fillStyle = colour(isBlamed(row) ? "--error" : isMarked(row) ? "--text" : "--quiet");
    context.fillText(`${picture.ranks[row]}`, right - 12, y);
    next = row + reach;
  }
}

function drawSequences(pen: Pen, picture: Picture): void {
  const { context, colour, layout, sight } = pen;
  context.fillStyle = colour("--surface");
  context.fillRect(sight.left, sight.top, sight.width, margin.top - 3);
  context.textAlign = "center";
  const wide = `${picture.seq[picture.seq.length - 1]}`.length * 7.5 + 8;
  const middle = (column: number) => (layout.x[column] ?? -1000) + layout.cellWidth / 2;
  const important = new Set([...picture.accused, picture.selected.column]);
  const taken = [...important].map(middle);
  let free = sight.left + margin.left - 4;
  for (let column = pen.columns[0]; column < pen.columns[1]; ++column) {
    const x = middle(column);
    const marked = important.has(column);
    if (!marked && (x - wide / 2 < free || taken.some((one) => Math.abs(one - x) < wide))) continue;
    context.font = marked ? pen.fonts.bold : pen.fonts.plain;
    context.fillStyle = colour(
      picture.accused.has(column) ? "--error" : marked ? "--text" : "--quiet",
    );
    context.fillText(`${picture.seq[column]}`, x, sight.top + 12);
    if (!marked) free = x + wide / 2;
  }
}

function drawCorner({ context, colour, fonts, sight }: Pen): void {
  context.fillStyle = colour("--surface");
  context.fillRect(sight.left, sight.top, margin.left - 4, margin.top - 3);
  context.font = fonts.plain;
  context.fillStyle = colour("--quiet");
  context.textAlign = "right";
  context.fillText("rank", sight.left + margin.left - 12, sight.top + 12);
}

function drawMarks(pen: Pen, picture: Picture): void {
  const { context, colour, layout, sight } = pen;
  const { cellWidth, cellHeight } = layout;
  const bottom = margin.top + layout.rows * cellHeight;
  context.lineWidth = 1.5;
  for (const column of picture.accused) {
    const x = layout.x[column] as number;
    context.strokeStyle = colour("--error");
    context.strokeRect(x - 1, margin.top - 2, cellWidth + 1, bottom - margin.top + 3);
  }
  for (const column of layout.gaps) {
    const x = (layout.x[column] as number) - gapWidth / 2 - 0.5;
    context.strokeStyle = colour("--line-strong");
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(x, Math.max(margin.top, sight.top));
    context.lineTo(x, bottom);
    context.stroke();
    context.setLineDash([]);
  }
  const { row, column } = picture.selected;
  if (row < 0 || column < 0) return;
  const height = Math.max(cellHeight, 5);
  context.strokeStyle = colour("--text");
  context.lineWidth = 2;
  context.strokeRect(
    (layout.x[column] as number) - 1,
    margin.top + row * cellHeight - 1,
    cellWidth + 1,
    height + 1,
  );
}

// Draws what is in sight; the canvas is as large as that.
export function draw(
  canvas: HTMLCanvasElement,
  layout: Layout,
  picture: Picture,
  sight: Sight,
): void {
  const context = fitCanvas(canvas, sight.width, sight.height);
  if (!context) return;
  context.translate(-sight.left, -sight.top);
  context.textBaseline = "middle";
  context.textAlign = "center";
  const family = getComputedStyle(canvas).fontFamily;
  const first = Math.max(0, Math.floor((sight.top - margin.top) / layout.cellHeight));
  const end = Math.ceil((sight.top + sight.height - margin.top) / layout.cellHeight);
  const count = picture.seq.length;
  const from = layout.x.findIndex((x) => x + layout.cellWidth > sight.left);
  const to = layout.x.findIndex((x) => x > sight.left + sight.width);
  const pen: Pen = {
    context,
    colour: coloursOf(canvas),
    layout,
    sight,
    rows: [first, Math.min(layout.rows, end)],
    columns: [Math.max(0, from), to < 0 ? count : Math.min(count, to)],
    fonts: { plain: `12px ${family}`, bold: `bold 12px ${family}`, sign: `bold 15px ${family}` },
  };
  drawCells(pen, picture);
  drawMarks(pen, picture);
  drawSequences(pen, picture);
  drawRanks(pen, picture);
  drawCorner(pen);
}
