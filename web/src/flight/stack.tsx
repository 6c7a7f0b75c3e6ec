// A stack as a list of frames, innermost first, and two of them beside each other. A reader looks for the line
// of their own program, so frames of libraries are folded.
import type { ComponentChildren } from "preact";
import { counted, ranksInWords } from "../parts/format";
import { href } from "../shell/route";
import { foldsOf, sharedFrames, type CellStacks, type Fold, type StackFrame } from "./stacks";

// "train.py:52" with the whole path on hover; leads to the source where the page has it.
function FrameLine({ frame, marked }: { frame: StackFrame; marked: boolean }) {
  const name = frame.file.slice(frame.file.lastIndexOf("/") + 1) || "unknown file";
  const place = `${name}:${frame.line}`;
  return (
    <span class={`frame${marked ? " differs" : ""}`} title={`${frame.file}:${frame.line}`}>
      {frame.kind === "own" ? (
        <a href={href("source", { file: frame.file, line: frame.line })}>{place}</a>
      ) : (
        <span>{place}</span>
      )}{" "}
      <code>{frame.name}</code>
      {marked && <strong class="differs-word">first that differs</strong>}
    </span>
  );
}

function FoldedFrames({ fold, marked }: { fold: Fold; marked: number }) {
  const has = marked >= fold.first && marked < fold.first + fold.frames.length;
  return (
    <details open={has}>
      <summary>
        {counted(fold.frames.length, "frame")} of {fold.library}
      </summary>
      <ol>
        {fold.frames.map((frame, i) => (
          <li key={i}>
            <FrameLine frame={frame} marked={fold.first + i === marked} />
          </li>
        ))}
      </ol>
    </details>
  );
}

interface StackProps {
  title: ComponentChildren;
  stack: StackFrame[];
  marked?: number; // the frame that differs from the other stack; -1: none
}

function Stack({ title, stack, marked = -1 }: StackProps) {
  return (
    <div class="stack">
      <h3>{title}</h3>
      <ol>
        {foldsOf(stack).map((fold) => (
          <li key={fold.first}>
            {fold.library ? (
              <FoldedFrames fold={fold} marked={marked} />
            ) : (
              <FrameLine frame={fold.frames[0] as StackFrame} marked={fold.first === marked} />
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

interface CellStackProps {
  stacks: CellStacks;
  rank: number | null; // null: of the whole column
  members: number[]; // by row
}

// The whole stack of a cell; beside it that of members that came another way.
export function CellStack({ stacks: { own, other, rows }, rank, members }: CellStackProps) {
  const whose =
    rows.length > 0
      ? ranksInWords(rows.flatMap((row) => members[row] ?? [])).toLowerCase()
      : "most others";
  if (own.length === 0 && other.length === 0)
    return <p class="quiet">The dumps have no stack of it.</p>;
  if (own.length === 0)
    return <Stack title="Where the others issued it, innermost first" stack={other} />;
  if (other.length === 0) return <Stack title="Stack, innermost first" stack={own} />;
  const shared = sharedFrames(own, other);
  return (
    <div class="stacks">
      <Stack
        title={rank === null ? "Stack of most, innermost first" : `Stack of rank ${rank}, innermost first`}
        stack={own}
        marked={own.length - 1 - shared}
      />
      <Stack title={`Stack of ${whose}`} stack={other} marked={other.length - 1 - shared} />
    </div>
  );
}
