// How a compilation ended, as one word for pictures and trees: its sign and its colour tell the same.
import type { Compilation } from "./data";

export type Status = "failed" | "unfinished" | "break" | "recompile" | "empty" | "ok";

export interface Look {
  status: Status;
  sign: string;
  words: string;
  colour: string; // name of a custom property
  ground: string;
}

// Worst first.
export const looks: Look[] = [
  {
    status: "failed",
    sign: "\u00d7",
    words: "failed",
    colour: "--error",
    ground: "--error-ground",
  },
  {
    status: "unfinished",
    sign: "\u2026",
    words: "did not end",
    colour: "--warning",
    ground: "--warning-ground",
  },
  {
    status: "break",
    sign: "\u00a6",
    words: "graph break or restart",
    colour: "--warning",
    ground: "--warning-ground",
  },
  {
    status: "recompile",
    sign: "\u21bb",
    words: "compiled again",
    colour: "--info",
    ground: "--info-ground",
  },
  {
    status: "empty",
    sign: "\u2205",
    words: "nothing to compile",
    colour: "--quiet",
    ground: "--raised",
  },
  { status: "ok", sign: "\u2713", words: "ok", colour: "--good", ground: "--good-ground" },
];

export const lookOf = (status: Status): Look => looks.find((one) => one.status === status) as Look;

export function statusOf(one: Compilation): Status {
  if (one.outcome === "failed") return "failed";
  if (one.outcome === "unfinished") return "unfinished";
  if (one.outcome === "restarted" || one.break_reason) return "break";
  if ((one.number ?? 0) > 0) return "recompile";
  return one.outcome === "empty" ? "empty" : "ok";
}

// As compile_trie_end tells it, for a compilation whose row is not on the page.
export function statusOfEnd(text: string): Status {
  if (text === "error") return "failed";
  if (text === "missing") return "unfinished";
  return text === "break" || text === "empty" ? text : "ok";
}

export function StatusSign({ status }: { status: Status }) {
  const look = lookOf(status);
  return (
    <span class={`status-sign is-${status}`} role="img" aria-label={look.words} title={look.words}>
      {look.sign}
    </span>
  );
}

export function StatusLegend() {
  return (
    <div class="legend" aria-label="How compilations ended">
      {looks.map(({ status, words }) => (
        <span key={status}>
          <StatusSign status={status} /> {words}
        </span>
      ))}
    </div>
  );
}
