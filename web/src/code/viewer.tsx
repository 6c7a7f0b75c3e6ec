// Code to read: line numbers, search (/ or Ctrl-F inside), and a jump from the use of a name to its definition.
import type { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Language } from "../run/texts";
import { count, counted } from "../parts/format";
import { definitionFor, findDefinitions, type Definitions } from "./definitions";
import { longLines, longestLine, makeEditor, scrollToLine, showMarks, type Mark } from "./editor";

export { CodeDiff } from "./diff";
export type { Mark } from "./editor";

interface Props {
  text: string;
  language: Language;
  label: string; // for those who do not see it
  line?: number | null; // brought into sight and marked
  scrollTo?: number | null; // brought into sight and not marked
  marks?: Mark[];
  isPlain?: boolean; // without the line of hints below
  onLine?: (line: number) => void; // clicked
  height?: string; // CSS; left out: as high as the text, up to 70 % of the window
}

const noMarks: Mark[] = [];

// Jumps to definitions and back: lines that the reader left.
class Jumps {
  private known: Definitions | null = null;
  private left: number[] = [];
  constructor(private text: string) {}

  find(name: string, line: number): number | null {
    this.known ??= findDefinitions(this.text);
    return definitionFor(this.known, name, line);
  }
  leave(line: number): void {
    this.left.push(line);
  }
  back(): number | undefined {
    return this.left.pop();
  }
  get depth(): number {
    return this.left.length;
  }
}

// What the last jump did, in words.
interface Jump {
  line: number;
  words: string;
  depth: number;
}

function useEditor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const onLine = useRef(props.onLine);
  onLine.current = props.onLine;
  const clicked = useRef<number | null>(null); // it is in sight already
  const goBack = useRef<() => boolean>(() => false);
  const [jump, setJump] = useState<Jump | null>(null);
  const hasNotes = (props.marks ?? noMarks).some((mark) => mark.note);

  useLayoutEffect(() => {
    const parent = host.current;
    if (!parent) return;
    const jumps = new Jumps(props.text);
    const go = (line: number, words: string) => {
      if (view.current) scrollToLine(view.current, line);
      setJump({ line, words, depth: jumps.depth });
    };
    goBack.current = () => {
      const line = jumps.back();
      if (line !== undefined) go(line, `Back at line ${count(line)}.`);
      return line !== undefined;
    };
    const editor = makeEditor({
      parent,
      text: props.text,
      language: props.language,
      label: props.label,
      hasNotes,
      onClick(line) {
        clicked.current = line;
        onLine.current?.(line);
      },
      onName(name, line) {
        const found = jumps.find(name, line);
        if (found === null)
          return setJump({
            line,
            words: `${name} is not defined in this text.`,
            depth: jumps.depth,
          });
        jumps.leave(line);
        go(found, `${name} is defined in line ${count(found)}.`);
      },
      keys: [
        { key: "Backspace", run: () => goBack.current() },
        { key: "b", run: () => goBack.current() },
      ],
    });
    view.current = editor;
    setJump(null);
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [props.text, props.language, props.label, hasNotes]);

  return { host, view, jump, clicked, goBack: () => goBack.current() };
}

export function CodeViewer(props: Props) {
  const { host, view, jump, clicked, goBack } = useEditor(props);
  const { line = null, marks = noMarks } = props;

  useEffect(() => {
    if (!view.current) return;
    const all = [...marks];
    if (line !== null) all.push({ line, class: "selected" });
    if (jump) all.push({ line: jump.line, class: "jumped" });
    showMarks(view.current, all);
  }, [marks, line, jump, props.text, props.language]);

  useEffect(() => {
    if (view.current && line !== null && line !== clicked.current) scrollToLine(view.current, line);
    clicked.current = null;
  }, [line, props.text]);

  const { scrollTo = null } = props;
  const cut = useMemo(() => longLines(props.text), [props.text]);
  useEffect(() => {
    if (view.current && scrollTo !== null) scrollToLine(view.current, scrollTo);
  }, [scrollTo, props.text]);

  return (
    <div class="code-viewer">
      <div
        class={`code-host${props.height ? "" : " code-fits"}`}
        ref={host}
        style={props.height ? { height: props.height } : {}}
      />
      {cut > 0 && (
        <p class="code-foot">
          {counted(cut, "line")} {cut === 1 ? "is" : "are"} cut after {count(longestLine)}{" "}
          characters.
        </p>
      )}
      <p class="code-foot quiet" role="status">
        {jump ? (
          <>
            {jump.words}{" "}
            {jump.depth > 0 && (
              <button
                class="plain"
                onClick={goBack}
                title="Key: b or Backspace, inside of the code"
              >
                Go back
              </button>
            )}
          </>
        ) : (
          !props.isPlain && (
            <>
              <kbd>/</kbd> finds; a double click on a name goes to its definition, <kbd>b</kbd>{" "}
              back.
            </>
          )
        )}
      </p>
    </div>
  );
}
