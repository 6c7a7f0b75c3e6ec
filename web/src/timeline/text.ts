// Names in boxes: as much of a text as fits. The widths of characters are measured once for each font; a text's
// width is their sum, which is a little too much where the font kerns, never too little.

const widths = new Map<string, Float32Array>();
const other = 128; // the place of all characters beyond ASCII: as wide as a wide letter

function widthsOf(context: CanvasRenderingContext2D): Float32Array {
  let known = widths.get(context.font);
  if (!known) {
    known = new Float32Array(other + 1);
    for (let code = 32; code < 127; ++code)
      known[code] = context.measureText(String.fromCharCode(code)).width;
    known[other] = context.measureText("W").width;
    widths.set(context.font, known);
  }
  return known;
}

const dots = "\u2026";

// The text, its beginning with an ellipsis, or nothing when not even two letters fit.
export function fitText(context: CanvasRenderingContext2D, text: string, room: number): string {
  const known = widthsOf(context);
  const end = room - (known[other] as number); // where a cut text must end
  let used = 0;
  let fits = 0;
  for (let i = 0; i < text.length; ++i) {
    used += known[Math.min(text.charCodeAt(i), other)] as number;
    if (used <= end) fits = i + 1;
    if (used > room) return fits < 2 ? "" : text.slice(0, fits) + dots;
  }
  return text;
}
