// A picture in memory that boxes are filled into. A frame has some ten thousand boxes, most of them one pixel
// wide: written as words into an array and shown at once they cost less than as many calls of the canvas.
import { coloursOf } from "../parts/canvas";
import { families } from "./kinds";

export class Pixels {
  readonly image: ImageData;
  private words: Uint32Array;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.image = new ImageData(Math.max(1, width), Math.max(1, height));
    this.words = new Uint32Array(this.image.data.buffer);
  }

  clear(colour: number): void {
    this.words.fill(colour);
  }

  // [x0, x1) by [y0, y1), cut at the edges.
  fill(x0: number, x1: number, y0: number, y1: number, colour: number): void {
    const left = Math.max(0, x0);
    const right = Math.min(this.width, x1);
    if (left >= right) return;
    const bottom = Math.min(this.height, y1);
    for (let y = Math.max(0, y0); y < bottom; ++y) {
      const line = y * this.width;
      if (right - left === 1) this.words[line + left] = colour;
      else this.words.fill(colour, line + left, line + right);
    }
  }
}

// Stripes from the lower left to the upper right: what is not completed is told without its colour too.
export function fillStripes(pixels: Pixels, x0: number, x1: number, y0: number, y1: number, colour: number): void {
  const [left, right] = [Math.max(0, x0), Math.min(pixels.width, x1)];
  for (let y = Math.max(0, y0); y < Math.min(y1, pixels.height); ++y)
    for (let x = left - ((left + y) % stripeWidth); x < right; x += stripeWidth)
      pixels.fill(Math.max(left, x), Math.min(right, x + stripeWidth / 2), y, y + 1, colour);
}

const stripeWidth = 10; // px, with the gap

// "#1d4fb8" -> the bytes r g b a in memory, as one word.
function wordOf(colour: string): number {
  const digits = /^#([0-9a-f]{6})$/i.exec(colour)?.[1] ?? "808080";
  const [r, g, b] = [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

// `share` of one colour over the other.
export function mix(over: number, under: number, share: number): number {
  let word = 0xff000000;
  for (const at of [0, 8, 16]) {
    const value = ((over >>> at) & 255) * share + ((under >>> at) & 255) * (1 - share);
    word |= Math.round(value) << at;
  }
  return word >>> 0;
}

export const shades = 4; // of a category's colour, by name
export const levels = 4; // steps of how busy a pixel is
export const faded = levels; // the step of what a search did not find

export interface Palette {
  boxes: Uint32Array[]; // by family, then shade and level (boxAt)
  stripe: number; // on what is not completed
  ink: string[]; // of the text in a box, by family
  surface: number;
  band: number; // ground of a folded process
  line: number;
  found: number;
  counter: number;
  counterLine: number;
  text: string;
  quiet: string;
  accent: string;
  font: string;
}

export const boxAt = (shade: number, level: number): number => shade * (levels + 1) + level;

// Towards the opposite of the ink, so that names stay readable.
const shadeShares = [0, 0.13, 0.25, 0.36];

function shadesOf(full: number, ink: number, surface: number): Uint32Array {
  const isLightInk = ((ink >>> 8) & 255) > 127;
  const away = isLightInk ? 0xff000000 : 0xffffffff;
  const words = shadeShares.flatMap((share) => {
    const colour = mix(away >>> 0, full, share);
    return [0.45, 0.65, 0.82, 1, 0.2].map((level) => mix(colour, surface, level));
  });
  return Uint32Array.from(words);
}

export function readPalette(element: HTMLElement): Palette {
  const text = coloursOf(element);
  const word = (name: string) => wordOf(text(name));
  const surface = word("--surface");
  const boxes = families.map(([id]) =>
    shadesOf(word(`--tl-${id}`), word(`--tl-on-${id}`), surface),
  );
  return {
    boxes,
    ink: families.map(([id]) => text(`--tl-on-${id}`)),
    stripe: mix(word("--tl-open"), surface, 0.72),
    surface,
    band: mix(word("--raised"), surface, 0.5),
    line: mix(word("--line"), surface, 0.7),
    found: word("--tl-found"),
    counter: word("--tl-counter"),
    counterLine: word("--quiet"),
    text: text("--text"),
    quiet: text("--quiet"),
    accent: text("--accent"),
    font: getComputedStyle(element).fontFamily,
  };
}
