// How a compilation ended, as one word for pictures and trees: its sign and its colour tell the same.
import { Legend } from "../parts/marks";
import type { Compilation } from "./data";

export type Status = "failed" | "unfinished" | "break" | "recompile" | "empty" | "ok";

export interface Look {
  status: Status;
  sign: string;
  words: string;
  colour: string; // name of a custom property
  ground: string;
}

const look = (status: Status, sign: string, words: string, colour: string, ground = `${colour}-ground`) => ({
  status,
  sign,
  words,
  colour,
  ground,
});

// Worst first.
export const looks: Look[] = [
  look("failed", "\u00d7", "failed", "--error"),
  look("unfinished", "\u2026", "did not end", "--warning"),
  look("break", "\u00a6", "graph break or restart", "--warning"),
  look("recompile", "\u21bb", "compiled again", "--info"),
  look("empty", "\u2205", "nothing to compile", "--quiet", "--raised"),
  look("ok", "\u2713", "ok", "--good"),
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
  const items = looks.map(({ status, words }) => ({ id: status, mark: <StatusSign status={status} />, words }));
  return <Legend label="How compilations ended" items={items} />;
}
