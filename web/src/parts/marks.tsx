// Small pieces that several views show.
import type { ComponentChildren } from "preact";
import type { Finding, InputState, Job, Severity } from "../run/data";
import { ranksInWords } from "./format";

// Shape and word carry the meaning; colour only repeats it.
const shapes: Record<Severity, string> = {
  error: "M5 1h6l4 4v6l-4 4H5l-4-4V5z", // octagon
  warning: "M8 1.5 15.5 15H.5z", // triangle
  info: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z", // disc
};
const severityWords: Record<Severity, string> = {
  error: "Error",
  warning: "Warning",
  info: "Info",
};

export function SeverityMark({ severity, word = true }: { severity: Severity; word?: boolean }) {
  return (
    <span class={`severity ${severity}`}>
      <svg
        viewBox="0 0 16 16"
        width="12"
        height="12"
        role="img"
        aria-label={word ? undefined : severityWords[severity]}
        aria-hidden={word ? "true" : undefined}
      >
        <path d={shapes[severity]} />
      </svg>
      {word && severityWords[severity]}
    </span>
  );
}

export function StateMark({ state }: { state: InputState }) {
  return (
    <span class={`state ${state}`}>
      <span class="dot" aria-hidden="true" />
      {state}
    </span>
  );
}

const longestStrip = 64;

// Number of ranks that a strip of this job shows; 0 when there are too many, or too few to need one.
export function stripSize(job: Job | undefined): number {
  const size = (job?.ranks ?? []).reduce(
    (most, rank) => Math.max(most, rank + 1),
    job?.world_size ?? 0,
  );
  return size < 2 || size > longestStrip ? 0 : size;
}

// All ranks of the job as a strip: those to blame filled, other members of the groups outlined.
export function RankStrip({ finding, size }: { finding: Finding; size: number }) {
  const isVictim = finding.role === "consequence"; // only a cause's ranks are to blame
  const blamed = new Set(finding.ranks);
  const members = new Set(finding.groups.flatMap((group) => group.ranks));
  const kind = (rank: number) =>
    blamed.has(rank) ? (isVictim ? "affected" : "blamed") : members.has(rank) ? "member" : "";
  return (
    <span
      class={`rank-strip ${isVictim ? "victim" : finding.severity}`}
      role="img"
      aria-label={`${ranksInWords(finding.ranks)} of ${size} ranks`}
      title={`Filled: ${isVictim ? "affected" : "blamed"}. Outlined: other members of the group.`}
    >
      <span class="label">{finding.ranks.length === 1 ? "rank" : "ranks"}</span>
      {Array.from({ length: size }, (_, rank) => (
        <span key={rank} class={kind(rank)}>
          {rank}
        </span>
      ))}
    </span>
  );
}

// A path whose end stays in sight: the name of the file tells more than the folders.
export function Path({ path }: { path: string }) {
  const cut = path.lastIndexOf("/") + 1;
  return (
    <span class="path">
      <bdi class="folder">{path.slice(0, cut)}</bdi>
      <bdi class="name">{path.slice(cut)}</bdi>
    </span>
  );
}

// `to`: an address in this page that it leads to.
export function Chip({
  label,
  children,
  title,
  to,
}: {
  label?: string;
  children: ComponentChildren;
  title?: string;
  to?: string | undefined;
}) {
  const content = (
    <>
      {label && <span class="chip-label">{label}</span>}
      {children}
    </>
  );
  return to ? (
    <a class="chip" href={to} title={title}>
      {content}
    </a>
  ) : (
    <span class="chip" title={title}>
      {content}
    </span>
  );
}

interface FilterProps {
  value: string;
  onInput: (text: string) => void;
  hint: string;
  label: string;
}

export function Filter({ value, onInput, hint, label }: FilterProps) {
  return (
    <input
      type="search"
      class="filter"
      value={value}
      placeholder={hint}
      aria-label={label}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
