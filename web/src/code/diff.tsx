// Two texts side by side: lines that only one of them has are marked, equal lines stand at the same height, and
// long runs of equal lines are folded into one line that a click opens.
import { diffLines } from "diff";
import type { EditorView } from "@codemirror/view";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, counted } from "../parts/format";
import type { Language } from "../run/texts";
import { makeEditor, showMarks, type Mark } from "./editor";

interface Props {
  left: string;
  right: string;
  leftTitle: string;
  rightTitle: string;
  language?: Language;
  height?: string;
}

const around = 3; // equal lines kept beside a change
const longest = 2000; // milliseconds for the comparison

// A run of lines: equal ones, or those of the left that stand where those of the right are now.
interface Run {
  isEqual: boolean;
  left: string[];
  right: string[];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

// null: they differ so much that comparing takes too long.
export function runsOf(left: string, right: string): Run[] | null {
  const end = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
  const parts = diffLines(end(left), end(right), { timeout: longest });
  if (!parts) return null;
  const runs: Run[] = [];
  for (const part of parts) {
    const lines = linesOf(part.value);
    if (!part.added && !part.removed) {
      runs.push({ isEqual: true, left: lines, right: lines });
      continue;
    }
    const last = runs[runs.length - 1];
    const run = last && !last.isEqual ? last : { isEqual: false, left: [], right: [] };
    if (run !== last) runs.push(run);
    (part.added ? run.right : run.left).push(...lines);
  }
  return runs;
}

interface Pane {
  lines: string[];
  numbers: (number | null)[];
  marks: Mark[];
  folds: Map<number, number>; // line of the pane -> run
}

const emptyPane = (): Pane => ({ lines: [], numbers: [], marks: [], folds: new Map() });

class PaneMaker {
  readonly left = emptyPane();
  readonly right = emptyPane();
  private at = { left: 0, right: 0 };

  private put(
    side: "left" | "right",
    text: string | undefined,
    mark: Mark["class"] | null,
    title = "",
  ): void {
    const pane = this[side];
    pane.lines.push(text ?? "");
    pane.numbers.push(text === undefined ? null : ++this.at[side]);
    if (text === undefined) pane.marks.push({ line: pane.lines.length, class: "filler" });
    else if (mark) pane.marks.push({ line: pane.lines.length, class: mark, title });
  }

  equal(lines: string[]): void {
    for (const line of lines) {
      this.put("left", line, null);
      this.put("right", line, null);
    }
  }

  fold(run: number, lines: number): void {
    for (const side of ["left", "right"] as const) {
      const pane = this[side];
      pane.lines.push(`\u22ef ${counted(lines, "equal line")}`);
      pane.numbers.push(null);
      pane.folds.set(pane.lines.length, run);
      pane.marks.push({ line: pane.lines.length, class: "fold", title: "Click to show them" });
      this.at[side] += lines;
    }
  }

  changed(run: Run): void {
    for (let i = 0; i < Math.max(run.left.length, run.right.length); ++i) {
      this.put("left", run.left[i], "removed", "Not in the right text");
      this.put("right", run.right[i], "added", "Not in the left text");
    }
  }
}

// The lines of both panes; equal runs of which `open` does not have the number are folded.
function panesOf(runs: Run[], open: Set<number> | null): PaneMaker {
  const maker = new PaneMaker();
  runs.forEach((run, i) => {
    if (!run.isEqual) return maker.changed(run);
    const head = i === 0 ? 0 : around;
    const tail = i === runs.length - 1 ? 0 : around;
    const folded = run.left.length - head - tail;
    if (open === null || open.has(i) || folded < 4) return maker.equal(run.left);
    maker.equal(run.left.slice(0, head));
    maker.fold(i, folded);
    maker.equal(run.left.slice(run.left.length - tail));
  });
  return maker;
}

function usePanes(panes: PaneMaker, props: Props, onFold: (run: number) => void) {
  const left = useRef<HTMLDivElement>(null);
  const right = useRef<HTMLDivElement>(null);
  const scrolled = useRef(0);
  useLayoutEffect(() => {
    const make = (parent: HTMLElement | null, pane: Pane, label: string): EditorView[] => {
      if (!parent) return [];
      const view = makeEditor({
        parent,
        text: pane.lines.join("\n"),
        language: props.language ?? "python",
        label,
        formatNumber: (line) => String(pane.numbers[line - 1] ?? ""),
        onClick: (line) => {
          const run = pane.folds.get(line);
          if (run !== undefined) onFold(run);
        },
      });
      showMarks(view, pane.marks);
      return [view];
    };
    const views = [
      ...make(left.current, panes.left, props.leftTitle),
      ...make(right.current, panes.right, props.rightTitle),
    ];
    for (const view of views) {
      view.scrollDOM.addEventListener("scroll", () => {
        scrolled.current = view.scrollDOM.scrollTop;
        for (const other of views) {
          if (other === view) continue;
          other.scrollDOM.scrollTop = view.scrollDOM.scrollTop;
          other.scrollDOM.scrollLeft = view.scrollDOM.scrollLeft;
        }
      });
      view.scrollDOM.scrollTop = scrolled.current;
    }
    return () => views.forEach((view) => view.destroy());
  }, [panes, props.language, props.leftTitle, props.rightTitle]);
  return { left, right };
}

export function CodeDiff(props: Props) {
  const [open, setOpen] = useState<Set<number> | null>(() => new Set());
  const compared = useMemo(() => runsOf(props.left, props.right), [props.left, props.right]);
  const runs = useMemo(
    () => compared ?? [{ isEqual: false, left: linesOf(props.left), right: linesOf(props.right) }],
    [compared],
  );
  const panes = useMemo(() => panesOf(runs, open), [runs, open]);
  const { left, right } = usePanes(panes, props, (run) =>
    setOpen((before) => new Set([...(before ?? []), run])),
  );
  const lines = (side: "left" | "right") =>
    runs.reduce((sum, run) => sum + (run.isEqual ? 0 : run[side].length), 0);
  const isSame = lines("left") + lines("right") === 0;
  const style = { height: props.height ?? "min(60vh, 640px)" };
  return (
    <section class="code-diff" aria-label={`${props.leftTitle} and ${props.rightTitle}`}>
      <p class="code-diff-head" role="status">
        {!compared && "They differ too much to be compared line by line. "}
        {isSame
          ? "The same text."
          : `${counted(lines("left"), "line")} only left, ${count(lines("right"))} only right.`}{" "}
        <button
          class="plain"
          aria-pressed={open !== null}
          onClick={() => setOpen(open === null ? new Set() : null)}
        >
          Only changes
        </button>
      </p>
      <div class="code-panes">
        <div>
          <h4>{props.leftTitle}</h4>
          <div class="code-host" ref={left} style={style} />
        </div>
        <div>
          <h4>{props.rightTitle}</h4>
          <div class="code-host" ref={right} style={style} />
        </div>
      </div>
    </section>
  );
}
