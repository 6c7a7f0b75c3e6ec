// Drawing a rank x sequence grid on a canvas: geometry, colours, shapes.
//
// Only what is in sight is drawn, neighbours of the same state in one stroke, so that 512 x 120 cells take
// a few milliseconds. A state is told by how full the cell is (completed full, started two thirds,
// scheduled one third), by colour, and, where there is room, by a sign.

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

export function makeLayout(seq: number[], rows: number, room: number): Layout {
  const gaps = new Set<number>();
  seq.forEach((one, i) => {
    if (i > 0 && one - (seq[i - 1] as number) > 1) gaps.add(i);
  });
  const free = room - margin.left - gaps.size * gapWidth - 2;
  const cellWidth = Math.max(9, Math.min(30, Math.floor(free / Math.max(1, seq.length))));
  const cellHeight = Math.max(3, Math.min(24, Math.floor(440 / Math.max(1, rows))));
  const x = [margin.left];
  seq.forEach((_, i) => {
    if (gaps.has(i)) x[i] = (x[i] as number) + gapWidth;
    x.push((x[i] as number) + cellWidth);
  });
  const width = (x[seq.length] as number) + 2;
  return { rows, x, gaps, cellWidth, cellHeight, width, height: margin.top + rows * cellHeight + 2 };
}

export function columnAt(layout: Layout, x: number): number {
  const at = layout.x.findIndex((left, i) => x >= left && x < left + layout.cellWidth && i < layout.x.length - 1);
  return at;
}

export function rowAt(layout: Layout, y: number): number {
  const row = Math.floor((y - margin.top) / layout.cellHeight);
  return y >= margin.top && row < layout.rows ? row : -1;
}

interface Look {
  colour: string; // name of a custom property
  full: number; // share of the height that is filled
  sign: string;
  ink: string; // colour of the sign
}

const looks: Record<string, Look> = {
  c: { colour: "--good-ground", full: 1, sign: "", ink: "--good" },
  t: { colour: "--cell-started", full: 0.67, sign: "\u25b8", ink: "--surface" },
  s: { colour: "--cell-started", full: 0.34, sign: "", ink: "--text" },
  m: { colour: "--error", full: 1, sign: "\u2013", ink: "--on-error" },
  x: { colour: "--cell-mismatch", full: 1, sign: "\u00d7", ink: "--on-mismatch" },
  u: { colour: "--line", full: 1, sign: "?", ink: "--quiet" },
};

export interface Picture {
  cells: string[]; // by row
  seq: number[];
  ranks: number[];
  blamed: Set<number>; // ranks
  accused: Set<number>; // columns that findings are about
  selected: { row: number; column: number };
}

export interface Sight {
  left: number; // how much is scrolled away
  top: number;
  width: number;
  height: number;
}

type Colour = (name: string) => string;

function colours(canvas: HTMLCanvasElement): Colour {
  const style = getComputedStyle(canvas);
  const known = new Map<string, string>();
  return (name) => {
    let value = known.get(name);
    if (value === undefined) known.set(name, (value = style.getPropertyValue(name).trim()));
    return value;
  };
}

interface Pen {
  context: CanvasRenderingContext2D;
  colour: Colour;
  layout: Layout;
  sight: Sight;
  rows: [first: number, end: number];
  columns: [first: number, end: number];
}

function drawCells(pen: Pen, picture: Picture): void {
  const { context, colour, layout } = pen;
  const { cellHeight: height, cellWidth: width } = layout;
  const space = height >= 8 ? 1 : 0; // between rows
  const signs = height >= 13 && width >= 12;
  for (let row = pen.rows[0]; row < pen.rows[1]; ++row) {
    const cells = picture.cells[row] ?? "";
    const top = margin.top + row * height;
    for (let column = pen.columns[0]; column < pen.columns[1]; ++column) {
      const look = looks[cells[column] ?? ""];
      if (!look) continue;
      const filled = Math.max(1, Math.round((height - space) * look.full));
      context.fillStyle = colour(look.colour);
      const left = layout.x[column] as number;
      context.fillRect(left, top + height - space - filled, width - 1, filled);
      if (look.full < 1) {
        context.fillStyle = colour("--cell-open");
        context.fillRect(left, top, width - 1, height - space - filled);
      }
      if (signs && look.sign) {
        context.fillStyle = colour(look.ink);
        context.fillText(look.sign, left + (width - 1) / 2, top + height - space - filled / 2 + 0.5);
      }
    }
  }
}

// Labels stay in sight: they are drawn last, over the cells, at the edges of the box.
function drawRanks(pen: Pen, picture: Picture): void {
  const { context, colour, layout, sight } = pen;
  context.fillStyle = colour("--surface");
  context.fillRect(sight.left, sight.top, margin.left - 4, sight.height);
  context.textAlign = "right";
  const step = Math.max(1, Math.ceil(14 / layout.cellHeight));
  let free = -Infinity; // where the next label may stand
  for (let row = pen.rows[0]; row < pen.rows[1]; ++row) {
    const rank = picture.ranks[row] as number;
    const marked = picture.blamed.has(rank) || row === picture.selected.row;
    const y = margin.top + (row + 0.5) * layout.cellHeight;
    if (picture.blamed.has(rank)) {
      context.fillStyle = colour("--error");
      context.fillRect(sight.left + margin.left - 8, y - layout.cellHeight / 2, 4, Math.max(2, layout.cellHeight - 1));
    }
    const near = [...picture.blamed].some(
      (one) => one !== rank && Math.abs(picture.ranks.indexOf(one) - row) * layout.cellHeight < 12,
    );
    if (!marked && (row % step !== 0 || y < free || near)) continue;
    context.font = marked ? pen.context.font.replace("normal", "bold") : context.font;
    context.fillStyle = colour(picture.blamed.has(rank) ? "--error" : marked ? "--text" : "--quiet");
    context.fillText(`${rank}`, sight.left + margin.left - 12, y);
    free = y + 12;
  }
}

function drawSequences(pen: Pen, picture: Picture): void {
  const { context, colour, layout, sight } = pen;
  context.fillStyle = colour("--surface");
  context.fillRect(sight.left, sight.top, sight.width, margin.top - 3);
  context.textAlign = "center";
  const wide = Math.max(...picture.seq.slice(-1).map((one) => `${one}`.length), 1) * 7 + 8;
  const important = new Set([...picture.accused, picture.selected.column]);
  const taken = [...important].map((one) => layout.x[one] ?? -1000);
  let free = -Infinity;
  for (let column = pen.columns[0]; column < pen.columns[1]; ++column) {
    const x = (layout.x[column] as number) + layout.cellWidth / 2;
    const marked = important.has(column);
    const near = taken.some((one) => Math.abs(one + layout.cellWidth / 2 - x) < wide);
    if (!marked && (x - wide / 2 < free || near)) continue;
    context.fillStyle = colour(picture.accused.has(column) ? "--error" : marked ? "--text" : "--quiet");
    context.fillText(`${picture.seq[column]}`, x, sight.top + 12);
    if (!marked) free = x + wide / 2;
  }
  context.fillStyle = colour("--surface");
  context.fillRect(sight.left, sight.top, margin.left - 4, margin.top - 3);
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
  context.strokeRect((layout.x[column] as number) - 1, margin.top + row * cellHeight - 1, cellWidth + 1, height + 1);
}

// Draws what is in sight; the canvas is as large as that.
export function draw(canvas: HTMLCanvasElement, layout: Layout, picture: Picture, sight: Sight): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(sight.width * ratio), Math.round(sight.height * ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context.setTransform(ratio, 0, 0, ratio, -sight.left * ratio, -sight.top * ratio);
  context.clearRect(sight.left, sight.top, sight.width, sight.height);
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.font = `normal 12px ${getComputedStyle(canvas).fontFamily}`;
  const first = Math.max(0, Math.floor((sight.top - margin.top) / layout.cellHeight));
  const end = Math.ceil((sight.top + sight.height - margin.top) / layout.cellHeight);
  const count = picture.seq.length;
  const from = layout.x.findIndex((x) => x + layout.cellWidth > sight.left);
  const to = layout.x.findIndex((x) => x > sight.left + sight.width);
  const pen: Pen = {
    context,
    colour: colours(canvas),
    layout,
    sight,
    rows: [first, Math.min(layout.rows, end)],
    columns: [Math.max(0, from), to < 0 ? count : Math.min(count, to)],
  };
  drawCells(pen, picture);
  drawMarks(pen, picture);
  drawSequences(pen, picture);
  drawRanks(pen, { ...picture });
}
