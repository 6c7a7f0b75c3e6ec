// The lines of a file with, in the margin, what is known about each: signs with numbers, and for the selected
// line the words and the ways to where it is shown.
import { keyOf, type Compilation } from "../compile/data";
import { statusOf, StatusSign } from "../compile/status";
import { baseName, count, counted, placeText, seconds } from "../parts/format";
import { Legend, SeverityMark, Term } from "../parts/marks";
import { VirtualList } from "../parts/virtual";
import type { Finding } from "../run/data";
import { to } from "../shell/route";
import type { LineList, Row, SourceLine } from "./data";

const rowHeight = 26;

// What a line can have: its sign in the margin, how many there are, what one is called, and what the legend says.
interface Kind {
  id: string;
  sign: string;
  number: (line: SourceLine) => number | undefined;
  one: string;
  many?: string;
  legend?: string; // left out: many of them
}

const kind = (id: string, sign: string, number: Kind["number"], one: string, more: Partial<Kind> = {}): Kind => ({
  id,
  sign,
  number,
  one,
  ...more,
});

const kinds: Kind[] = [
  kind("failed", "\u00d7", (line) => line.failed?.count, "failed compilation"),
  kind("break", "\u00a6", (line) => line.breaks, "graph break"),
  kind("export", "e", (line) => line.exports, "issue of export", {
    many: "issues of export",
    legend: "issues of torch.export",
  }),
  kind("recompile", "\u21bb", (line) => line.recompiled?.count, "recompilation", {
    legend: "recompilations that a guard of this line caused",
  }),
  kind("compiled", "c", (line) => line.compiled?.count, "compilation", {
    legend: "compilations of the function that begins here",
  }),
  kind("guards", "g", (line) => line.guards, "guard"),
  kind("nodes", "\u25cb", (line) => line.nodes, "graph node"),
  kind("kernels", "\u25a0", (line) => line.kernels?.count, "kernel"),
  kind("collectives", "\u21c4", (line) => line.collectives?.count, "collective", {
    legend: "collectives issued",
  }),
];

function marksOf(line: SourceLine) {
  return kinds.flatMap(({ id, sign, number, one, many }) => {
    const value = number(line);
    return value ? [{ id, sign, number: value, words: counted(value, one, many) }] : [];
  });
}

export function SourceLegend() {
  const items = kinds.map(({ id, sign, one, legend = `${one}s` }) => ({
    id,
    mark: <span class={`line-mark is-${id}`}>{sign}</span>,
    words: legend,
  }));
  return <Legend label="Signs in the margin" items={items} />;
}

function Margin({ line, findings }: { line: SourceLine; findings: Finding[] }) {
  const first = findings[0];
  return (
    <span class="line-margin">
      {first && (
        <span title={findings.map((one) => one.headline).join("\n")}>
          <SeverityMark severity={first.severity} word={false} />
        </span>
      )}
      {marksOf(line).map((mark) => (
        <span
          key={mark.id}
          class={`line-mark is-${mark.id}`}
          title={mark.words}
          aria-label={mark.words}
          role="img"
        >
          {mark.sign}
          {mark.number > 1 && (
            <span class="line-number-of">{mark.number > 999 ? "999+" : mark.number}</span>
          )}
        </span>
      ))}
    </span>
  );
}

interface Props {
  rows: Row[];
  findings: Map<number, Finding[]>;
  selected: number | null;
  onSelect: (line: number | null) => void;
}

interface LineProps {
  line: SourceLine;
  findings: Finding[];
  isSelected: boolean;
  onSelect: () => void;
}

function LineRow({ line, findings, isSelected, onSelect }: LineProps) {
  return (
    <li
      class={`source-row${isSelected ? " selected" : ""}`}
      style={{ height: `${rowHeight}px` }}
      onClick={onSelect}
    >
      <Margin line={line} findings={findings} />
      <span class="line-seconds">{line.seconds ? seconds(line.seconds) : ""}</span>
      <button class="plain line-number" aria-pressed={isSelected} aria-label={`Line ${line.line}`}>
        {line.line}
      </button>
      <code class={line.code === undefined ? "quiet" : ""}>
        {line.code ??
          (line.function
            ? `${line.function} begins here; its text is not in the logs`
            : "text not in the logs")}
      </code>
    </li>
  );
}

export function Lines({ rows, findings, selected, onSelect }: Props) {
  const at = rows.findIndex((row) => "line" in row && row.line.line === selected);
  return (
    <VirtualList rows={rows} height={rowHeight} label="Lines" shown={at}>
      {(row) =>
        "line" in row ? (
          <LineRow
            key={row.line.line}
            line={row.line}
            findings={findings.get(row.line.line) ?? []}
            isSelected={row.line.line === selected}
            onSelect={() => onSelect(row.line.line === selected ? null : row.line.line)}
          />
        ) : (
          <li key={`gap${row.after}`} class="source-gap" style={{ height: `${rowHeight}px` }}>
            {counted(row.gap, "line")}
          </li>
        )
      }
    </VirtualList>
  );
}

interface CompilationsProps {
  title: string;
  list: LineList | undefined;
  known: Map<string, Compilation>;
}

// Compilations by their addresses, each a way to it.
function Compilations({ title, list, known }: CompilationsProps) {
  if (!list) return null;
  return (
    <Term name={title}>
      {list.first.map((key) => {
        const one = known.get(key);
        const [, rank = "", , id = key] = key.split(":");
        return (
          <a key={key} class="id-link" href={to("compile", { at: key })}>
            {one && <StatusSign status={statusOf(one)} />} {rank && `rank ${rank} `}
            {id}
          </a>
        );
      })}
      {list.count > list.first.length && (
        <span class="quiet">and {count(list.count - list.first.length)} more</span>
      )}
    </Term>
  );
}

function Collectives({ line }: { line: SourceLine }) {
  if (!line.collectives) return null;
  const { group, seq, rank } = line.call ?? { group: "", seq: null, rank: null };
  return (
    <Term name="Collectives">
      {count(line.collectives.count)}: {line.collectives.first.join(", ")}{" "}
      <a href={to("flight", { group, seq, rank })}>Show the last one in its group</a>
    </Term>
  );
}

interface DetailProps {
  file: string;
  line: SourceLine;
  findings: Finding[];
  compilations: Compilation[];
}

export function LineDetail({ file, line, findings, compilations }: DetailProps) {
  const known = new Map(compilations.map((row) => [keyOf(row), row]));
  const place = placeText(baseName(file), line.line);
  const nothing = marksOf(line).length === 0 && findings.length === 0;
  return (
    <aside class="panel source-detail" aria-label="Selected line">
      <h2>
        {place} {line.function && <code>{line.function}</code>}
      </h2>
      {line.code !== undefined && <pre tabIndex={0}>{line.code}</pre>}
      {nothing && (
        <p class="quiet">It stands on the stack of a compilation; nothing else points at it.</p>
      )}
      <dl class="column-words">
        {findings.map((one) => (
          <div key={one.id}>
            <dt>
              <SeverityMark severity={one.severity} /> finding
            </dt>
            <dd>
              <a href={to("verdict", { finding: one.id })}>{one.headline}</a>
            </dd>
          </div>
        ))}
        {line.seconds !== undefined && (
          <Term name="Compile time">
            {seconds(line.seconds)} for the function that begins here, all ranks added up
          </Term>
        )}
        <Compilations title="Compiled" list={line.compiled} known={known} />
        <Compilations title="Failed" list={line.failed} known={known} />
        <Compilations title="Compiled again" list={line.recompiled} known={known} />
        {line.breaks !== undefined && (
          <Term name="Graph breaks">
            <a href={to("breaks", { filter: place })}>{counted(line.breaks, "graph break")}</a>
          </Term>
        )}
        {line.exports !== undefined && (
          <Term name="Export">
            <a href={to("export", { filter: place })}>{counted(line.exports, "issue")} of torch.export</a>
          </Term>
        )}
        {line.guards !== undefined && (
          <Term name="Guards">
            <a href={to("graphs", { tab: "guards", filter: place })}>{counted(line.guards, "guard")}</a>
            {line.failed_guards !== undefined &&
              `, which failed ${counted(line.failed_guards, "time")}`}
          </Term>
        )}
        {line.nodes !== undefined && (
          <Term name="Graph nodes">
            {counted(line.nodes, "node")} of the graphs that Dynamo made, each different graph once
          </Term>
        )}
        {line.kernels && (
          <Term name="Kernels">
            <code>{line.kernels.first.join(", ")}</code>
            {line.kernels.count > line.kernels.first.length &&
              ` (${count(line.kernels.count)} uses)`}
          </Term>
        )}
        <Collectives line={line} />
      </dl>
    </aside>
  );
}
