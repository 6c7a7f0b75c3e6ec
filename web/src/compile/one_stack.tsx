// Stacks with what the reader wrote open, and runs of frames of installed packages folded: "12 frames of torch".
import type { StackFrame } from "../run/texts";
import { counted, placeText } from "../parts/format";
import { ToSource } from "./parts";

// "torch" of /usr/lib/python3/site-packages/torch/_dynamo/x.py; null: the reader's own.
function packageOf(file: string): string | null {
  const installed = /(?:site|dist)-packages\/([^/]+)/.exec(file);
  if (installed) return (installed[1] ?? "").replace(/\.py$/, "");
  if (/^(torch|triton|functorch)\//.test(file)) return file.split("/")[0] ?? null;
  if (/\/lib\/python\d[\d.]*\//.test(file) || file.startsWith("<frozen")) return "Python";
  return null;
}

interface Run<Item> {
  owner: string | null;
  items: Item[];
}

function runsOf<Item>(items: Item[], owner: (item: Item) => string | null): Run<Item>[] {
  const runs: Run<Item>[] = [];
  for (const item of items) {
    const name = owner(item);
    const last = runs[runs.length - 1];
    if (last && last.owner === name) last.items.push(item);
    else runs.push({ owner: name, items: [item] });
  }
  return runs;
}

function Frame({ frame }: { frame: StackFrame }) {
  return (
    <li>
      <ToSource file={frame.file} line={frame.line}>
        {placeText(frame.file, frame.line)}
      </ToSource>{" "}
      <span class="quiet">in</span> {frame.function}
      {frame.code && <code class="frame-code">{frame.code}</code>}
    </li>
  );
}

// `frames` innermost first.
export function Stack({ frames }: { frames: StackFrame[] }) {
  return (
    <ol class="stack">
      {runsOf(frames, (frame) => packageOf(frame.file)).map(({ owner, items }, i) =>
        owner === null ? (
          items.map((frame, k) => <Frame key={`${i}.${k}`} frame={frame} />)
        ) : (
          <li key={i}>
            <details>
              <summary>
                {counted(items.length, "frame")} of {owner}
              </summary>
              <ol class="stack">
                {items.map((frame, k) => (
                  <Frame key={k} frame={frame} />
                ))}
              </ol>
            </details>
          </li>
        ),
      )}
    </ol>
  );
}

interface Piece {
  owner: string | null; // of a frame in an installed package
  text: string;
}

// A traceback of Python in pieces: each frame with the lines that belong to it, and what is no frame.
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (const line of text.split("\n")) {
    const file = /^\s*File "([^"]*)", line \d+/.exec(line);
    const last = pieces[pieces.length - 1];
    if (file) pieces.push({ owner: packageOf(file[1] ?? ""), text: line });
    else if (last && /^\s{4}/.test(line)) last.text += `\n${line}`;
    else pieces.push({ owner: null, text: line });
  }
  return pieces;
}

// An exception's text, with the frames of packages folded.
export function Traceback({ text }: { text: string }) {
  const runs = runsOf(piecesOf(text), (piece) => piece.owner);
  return (
    <div class="traceback">
      {runs.map(({ owner, items }, i) => {
        const content = items.map((piece) => piece.text).join("\n");
        if (!content.trim()) return null;
        return owner === null ? (
          <pre key={i} tabIndex={0}>
            {content}
          </pre>
        ) : (
          <details key={i}>
            <summary>
              {counted(items.length, "frame")} of {owner}
            </summary>
            <pre tabIndex={0}>{content}</pre>
          </details>
        );
      })}
    </div>
  );
}
