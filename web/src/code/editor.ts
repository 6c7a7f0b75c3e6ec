// A read-only editor in a shadow root. There its styles are adopted sheets: the page's policy refuses style elements
// that are put into the page, and the page's styles do not reach in. Only lines in sight are elements.
import { search, searchKeymap, openSearchPanel } from "@codemirror/search";
import {
  EditorState,
  StateEffect,
  StateField,
  type Extension,
  type Range,
} from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  gutter,
  keymap,
  lineNumbers,
  type DecorationSet,
} from "@codemirror/view";
import type { Language } from "../run/texts";
import { languageExtension } from "./languages";
import { theme } from "./theme";

// A line to point out. Classes are those of theme.ts.
export interface Mark {
  line: number; // from 1
  class:
    | "selected" | "linked" | "hint" | "added" | "removed" | "error" | "warning" | "info" | "filler"
    | "fold" | "jumped"; // prettier-ignore
  title?: string; // on hover
  note?: string; // a few characters beside the line's number
}

export const longestLine = 100_000; // characters: one element of megabytes would stall the page

const countText = (value: number) => value.toLocaleString("en-US");

// How many lines are too long to be shown whole.
export function longLines(text: string): number {
  if (text.length <= longestLine) return 0;
  return text.split("\n").reduce((sum, line) => sum + (line.length > longestLine ? 1 : 0), 0);
}

function cutLine(line: string): string {
  if (line.length <= longestLine) return line;
  return `${line.slice(0, longestLine)} ... (${countText(line.length - longestLine)} more characters)`;
}

function cutLongLines(text: string): string {
  return longLines(text) === 0 ? text : text.split("\n").map(cutLine).join("\n");
}

const setMarks = StateEffect.define<Mark[]>();

class Note extends GutterMarker {
  constructor(
    private text: string,
    private title: string,
  ) {
    super();
  }
  override eq(other: Note): boolean {
    return other.text === this.text && other.title === this.title;
  }
  override toDOM(): Node {
    const element = document.createElement("span");
    element.className = "cm-note";
    element.textContent = this.text;
    element.title = this.title;
    return element;
  }
}

function decorate(state: EditorState, marks: Mark[]): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  for (const mark of marks) {
    if (mark.line < 1 || mark.line > state.doc.lines) continue;
    const attributes: Record<string, string> = { class: `mark-${mark.class}` };
    if (mark.title) attributes.title = mark.title;
    ranges.push(Decoration.line({ attributes }).range(state.doc.line(mark.line).from));
  }
  return Decoration.set(ranges, true);
}

interface Marked {
  lines: DecorationSet;
  notes: Map<number, Mark>;
}

const markField = StateField.define<Marked>({
  create: () => ({ lines: Decoration.none, notes: new Map() }),
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const notes = new Map(
        effect.value.filter((mark) => mark.note).map((mark) => [mark.line, mark]),
      );
      return { lines: decorate(transaction.state, effect.value), notes };
    }
    return value;
  },
  provide: (field) => EditorView.decorations.from(field, (value) => value.lines),
});

const notes = gutter({
  class: "cm-notes",
  lineMarker(view, block) {
    const mark = view.state.field(markField).notes.get(view.state.doc.lineAt(block.from).number);
    return mark ? new Note(mark.note ?? "", mark.title ?? "") : null;
  },
  lineMarkerChange: (update) =>
    update.startState.field(markField) !== update.state.field(markField),
});

interface EditorOptions {
  parent: HTMLElement;
  text: string;
  language: Language;
  label: string;
  hasNotes?: boolean;
  formatNumber?: (line: number) => string;
  onClick?: (line: number) => void;
  onName?: (name: string, line: number) => void; // ctrl+click or double click on a name
  keys?: { key: string; run: () => boolean }[];
}

function nameAt(view: EditorView, at: number): string {
  const range = view.state.wordAt(at);
  const name = range ? view.state.sliceDoc(range.from, range.to) : "";
  return /^[A-Za-z_]\w*$/.test(name) ? name : "";
}

function pointer(options: EditorOptions): Extension {
  const lineOf = (view: EditorView, at: number) => view.state.doc.lineAt(at).number;
  const jump = (event: MouseEvent, view: EditorView): boolean => {
    const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
    const name = at === null ? "" : nameAt(view, at);
    if (at === null || !name) return false;
    options.onName?.(name, lineOf(view, at));
    return true;
  };
  return EditorView.domEventHandlers({
    dblclick: jump,
    click(event, view) {
      if (event.ctrlKey || event.metaKey) return jump(event, view);
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
      const selection = (view.root as Document).getSelection?.() ?? document.getSelection();
      if (event.detail === 1 && (selection?.isCollapsed ?? true))
        options.onClick?.(lineOf(view, at));
      return false;
    },
  });
}

// Keys that the editor understands are not the page's as well, nor is anything that is typed into its search.
function keepKeys(view: EditorView): void {
  view.dom.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement || event.defaultPrevented) event.stopPropagation();
  });
}

export function makeEditor(options: EditorOptions): EditorView {
  const root = options.parent.shadowRoot ?? options.parent.attachShadow({ mode: "open" });
  const find = (view: EditorView) => openSearchPanel(view);
  const numbers = lineNumbers({
    ...(options.formatNumber && { formatNumber: options.formatNumber }),
    domEventHandlers: {
      click(view, block) {
        options.onClick?.(view.state.doc.lineAt(block.from).number);
        return true;
      },
    },
  });
  const state = EditorState.create({
    doc: cutLongLines(options.text),
    extensions: [
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({
        tabindex: "0",
        "aria-label": options.label,
        "aria-readonly": "true",
      }),
      keymap.of([{ key: "/", run: find }, ...(options.keys ?? []), ...searchKeymap]),
      search({ top: true }),
      options.hasNotes ? notes : [],
      numbers,
      markField,
      languageExtension(options.language, options.text.length),
      pointer(options),
      theme,
    ],
  });
  const view = new EditorView({ state, parent: root, root });
  keepKeys(view);
  return view;
}

export function showMarks(view: EditorView, marks: Mark[]): void {
  view.dispatch({ effects: setMarks.of(marks) });
}

const waiting = new WeakMap<EditorView, IntersectionObserver>();

// Into the middle of the editor, and not of the page: scrolling that is the reader's business. Heights are only
// known once the editor was in sight, and then only near what is drawn: it is repeated until it holds.
export function scrollToLine(view: EditorView, line: number): void {
  const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines))).from;
  let left = 20;
  const step = () => {
    if (!view.dom.isConnected || at > view.state.doc.length) return;
    const { top, bottom } = view.lineBlockAt(at);
    const wanted = Math.max(0, (top + bottom - view.scrollDOM.clientHeight) / 2);
    const was = view.scrollDOM.scrollTop;
    view.scrollDOM.scrollTop = wanted;
    const isDrawn = at >= view.viewport.from && at <= view.viewport.to;
    const moved = Math.abs(view.scrollDOM.scrollTop - was) > 1;
    if ((moved || !isDrawn) && --left > 0) requestAnimationFrame(step);
  };
  waiting.get(view)?.disconnect();
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    view.requestMeasure();
    requestAnimationFrame(step);
  });
  seen.observe(view.dom);
  waiting.set(view, seen);
}
