// Small pieces that several views show.
import type { ComponentChildren } from "preact";
import type { Finding, InputState, Job, Severity } from "../run/data";
import { to } from "../shell/route";
import { baseName, placeText, ranksInWords } from "./format";

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

// A line of source: its path with the name in sight.
function PlaceWords({ text }: { text: string }) {
  return text.includes("/") ? <Path path={text} /> : <bdi>{text}</bdi>;
}

interface PlaceProps {
  file?: string | undefined;
  line?: number | undefined;
}

export function Place({ file, line }: PlaceProps) {
  if (!file) return <span class="quiet">place unknown</span>;
  return <PlaceWords text={placeText(file, line)} />;
}

// A line of source that leads to all that is known about it. `short`: without its folders.
export function SourceLink({ file, line, short }: PlaceProps & { short?: boolean }) {
  if (!file) return <span class="quiet">place unknown</span>;
  return (
    <a
      class="source-link"
      href={to("source", { file, line })}
      title={placeText(file, line)}
      onClick={(event) => event.stopPropagation()}
    >
      <PlaceWords text={placeText(short ? baseName(file) : file, line)} />
    </a>
  );
}

export interface Fact {
  value: string;
  label: string;
  note: string | undefined;
  definition: string | undefined;
}

export const fact = (value: string, label: string, note?: string, definition?: string): Fact => ({
  value,
  label,
  note,
  definition,
});

// `partial`: rows that they count are not all on this page.
export function Numbers(props: { facts: Fact[]; label: string; partial: boolean }) {
  return (
    <div>
      <ul class="facts numbers" aria-label={props.label}>
        {props.facts.map((one) => (
          <li key={one.label} title={one.definition}>
            <b>
              {one.value} <small>{one.label}</small>
            </b>
            {one.note && <span class="quiet">{one.note}</span>}
          </li>
        ))}
      </ul>
      {props.partial && <p class="quiet left-out">These numbers count only what is on this page.</p>}
    </div>
  );
}

// A value as a bar, as long as its share of the largest, with its text.
export function Bar(props: { value: number; most: number; text: string; isShort?: boolean }) {
  const share = props.most > 0 ? Math.max(0, Math.min(1, props.value / props.most)) : 0;
  return (
    <span class={`bar-cell${props.isShort ? " share-bar" : ""}`}>
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${100 * share}%` }} />
      </span>
      <span class="bar-text">{props.text}</span>
    </span>
  );
}

interface LegendProps {
  items: { id: string; mark: ComponentChildren; words: ComponentChildren; title?: string | undefined }[];
  label?: string;
  isQuiet?: boolean;
  before?: ComponentChildren;
}

// What colours and signs mean.
export function Legend(props: LegendProps) {
  return (
    <div class={`legend${props.isQuiet ? " quiet" : ""}`} role="list" aria-label={props.label}>
      {props.before}
      {props.items.map(({ id, mark, words, title }) => (
        <span key={id} role="listitem" title={title}>
          {mark} {words}
        </span>
      ))}
    </div>
  );
}

interface TermProps {
  name: string;
  title?: string;
  class?: string;
  children: ComponentChildren;
}

// A name and what belongs to it, inside of a <dl>; nothing when that is nothing.
export function Term(props: TermProps) {
  const { children } = props;
  if (children === undefined || children === null || children === false || children === "") return null;
  return (
    <div class={props.class} title={props.title}>
      <dt>{props.name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

// Frames of a stack as the input has them.
export function FrameList({ frames }: { frames: string[] }) {
  return (
    <ol>
      {frames.map((frame, i) => (
        <li key={i}>
          <code>{frame}</code>
        </li>
      ))}
    </ol>
  );
}

// Findings as links, each with its severity.
export function FindingLinks({ findings }: { findings: Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="trouble">
      {findings.slice(0, 3).map((one) => (
        <li key={one.id}>
          <SeverityMark severity={one.severity} word={false} />
          <a href={to("verdict", { finding: one.id })}>{one.headline}</a>
        </li>
      ))}
    </ul>
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
