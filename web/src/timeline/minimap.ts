// The strip above the timeline: all of the time at once, the part in sight framed, and the ruler of that part.
import { fitCanvas } from "../parts/canvas";
import { fillSummary, type Picture } from "./draw";
import { Pixels, type Palette } from "./pixels";
import { ticksOf, timeText, toOwn, xOf, type Span, type Viewport } from "./viewport";

export const minimapHeight = 44;
export const rulerHeight = 24;
const mostBands = 20;

export class Minimap {
  private pixels: Pixels | null = null;
  private drawnFor = "";

  // `version` changes when there is something new to show: the bands are only then made anew.
  draw(
    canvas: HTMLCanvasElement,
    palette: Palette,
    picture: Picture,
    whole: Span,
    version: string,
  ): void {
    const { width } = picture.view;
    const context = fitCanvas(canvas, width, minimapHeight);
    if (!context) return;
    const key = `${version} ${canvas.width}`;
    if (!this.pixels || this.drawnFor !== key) {
      this.pixels = new Pixels(canvas.width, canvas.height);
      this.fillBands(this.pixels, palette, picture, whole);
      this.drawnFor = key;
    }
    context.putImageData(this.pixels.image, 0, 0);
    this.drawWindow(context, palette, picture.view, whole);
  }

  private fillBands(pixels: Pixels, palette: Palette, picture: Picture, whole: Span): void {
    pixels.clear(palette.band);
    const { store, clockOf, layout } = picture;
    const blocks = layout.blocks.filter((block) => store.ready(block.process)).slice(0, mostBands);
    const height = (pixels.height - 2) / Math.max(1, blocks.length);
    blocks.forEach(({ process }, i) => {
      const view = store.ready(process);
      if (!view) return;
      const clock = clockOf(process);
      const pen = {
        pixels,
        palette,
        from: toOwn(clock, whole.from),
        to: toOwn(clock, whole.to),
        top: Math.round(1 + i * height),
        bottom: Math.round(1 + (i + 1) * height) - (height > 4 ? 1 : 0),
        labels: null,
        leastLabel: 0,
        isSearching: picture.matches !== null,
        matches: undefined,
      };
      fillSummary(pen, process, view, picture.matches);
    });
  }

  private drawWindow(
    context: CanvasRenderingContext2D,
    palette: Palette,
    view: Viewport,
    whole: Span,
  ): void {
    const all: Viewport = { ...whole, width: view.width };
    const [x0, x1] = [xOf(all, view.from), xOf(all, view.to)];
    context.fillStyle = palette.quiet;
    context.globalAlpha = 0.18;
    context.fillRect(0, 0, x0, minimapHeight);
    context.fillRect(x1, 0, view.width - x1, minimapHeight);
    context.globalAlpha = 1;
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.strokeRect(
      Math.max(1, x0),
      1,
      Math.max(3, Math.min(view.width - 1, x1) - Math.max(1, x0)),
      minimapHeight - 2,
    );
  }
}

export function drawRuler(canvas: HTMLCanvasElement, palette: Palette, picture: Picture): void {
  const { view, zero, area } = picture;
  const context = fitCanvas(canvas, view.width, rulerHeight);
  if (!context) return;
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  const { step, times } = ticksOf(view, zero);
  for (const time of times) {
    const x = Math.round(xOf(view, time));
    context.fillStyle = palette.quiet;
    context.fillRect(x, rulerHeight - 7, 1, 7);
    context.fillStyle = palette.text;
    const text = timeText(time - zero, step);
    if (x + 4 + context.measureText(text).width <= view.width)
      context.fillText(text, x + 4, rulerHeight / 2);
  }
  if (!area) return;
  const [x0, x1] = [xOf(view, area.from), xOf(view, area.to)];
  context.fillStyle = palette.accent;
  context.fillRect(x0, rulerHeight - 4, Math.max(1, x1 - x0), 4);
}
