// Texts from inputs may be hostile. They are only ever rendered as text, and what could deceive a reader is
// made visible: control characters, and the bidi controls that reorder a line.

// Longer texts are cut: no sentence or path needs more, and a line of 10 MB must not stall the page.
const longestText = 4000;

// C0 and C1 controls, and everything that changes the direction or visibility of text around it.
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

// For texts that are shown whole, as in the code viewer.
export function visible(text: string): string {
  return text.replace(unseen, (c) => {
    if (c === "\n" || c === "\t") return c;
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

export function cleanText(text: string): string {
  const cut =
    text.length > longestText
      ? `${text.slice(0, longestText)}... (${text.length} characters)`
      : text;
  return visible(cut);
}

// Cleans every text below `value`, in place.
export function clean(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (value === null || typeof value !== "object") return value;
  const box = value as Record<string, unknown>;
  for (const key of Object.keys(box)) box[key] = clean(box[key]);
  return value;
}
