// The lines of a file with, in the margin, what is known about each: signs with numbers, and for the selected
// line the words and the ways to where it is shown.
import { placeText, seconds } from "../compile/parts";
import { keyOf, type Compilation } from "../compile/data";
import { statusOf, StatusSign } from "../compile/status";
import { VirtualList } from "../compile/virtual";
import type { Finding } from "../run/data";
import { count, counted } from "../parts/format";
import { SeverityMark } from "../parts/marks";
import { href } from "../shell/route";
import type { LineList, Row, SourceLine } from "./data";

const rowHeight = 26;

interface Mark {
  id: string;
  sign: string;
  number: number;
  words: string;
}

function marksOf(line: SourceLine): Mark[] {
  const mark = (
    id: string,
    sign: string,
    number: number | undefined,
    one: string,
    many = `${one}s`,
  ): Mark[] => (number ? [{ id, sign, number, words: counted(number, one, many) }] : []);
  return [
    ...mark("failed", "\u00d7", line.failed?.count, "failed compilation"),
    ...mark("break", "\u00a6", line.breaks, "graph break"),
    ...mark("export", "\u21aa", line.exports, "issue of export", "issues of export"),
    ...mark("recompile", "\u21bb", line.recompiled?.count, "recompilation"),
    ...mark("compiled", "\u2699", line.compiled?.count, "compilation"),
    ...mark("guards", "\u2696", line.guards, "guard"),
    ...mark("nodes", "\u25cb", line.nodes, "graph node"),
    ...mark("kernels", "\u25a0", line.kernels?.count, "kernel"),
    ...mark("collectives", "\u21c4", line.collectives?.count, "collective"),
  ];
}

export const legend: [id: string, sign: string, words: string][] = [
  ["failed", "\u00d7", "failed compilations"],
  ["break", "\u00a6", "graph breaks"],
  ["export", "\u21aa", "issues of torch.export"],
  ["recompile", "\u21bb", "recompilations that a guard of this line caused"],
  ["compiled", "\u2699", "compilations of the function that begins here"],
  ["guards", "\u2696", "guards"],
  ["nodes", "\u25cb", "graph nodes"],
  ["kernels", "\u25a0", "kernels"],
  ["collectives", "\u21c4", "collectives issued"],
];

export function SourceLegend() {
  return (
    <div class="legend" aria-label="Signs in the margin">
      {legend.map(([id, sign, words]) => (
        <span key={id}>
          <span class={`line-mark is-${id}`}>{sign}</span> {words}
        </span>
      ))}
    </div>
  );
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

function LineRow({
  line,
  findings,
  isSelected,
  onSelect,
}: {
  line: SourceLine;
  findings: Finding[];
  isSelected: boolean;
  onSelect: () => void;
}) {
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
    <VirtualList rows={rows} height={rowHeight} label="Lines" shown={at < 0 ? undefined : at}>
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

// Compilations by their addresses, each a way to it.
function Compilations({
  title,
  list,
  known,
  job,
}: {
  title: string;
  list: LineList | undefined;
  known: Map<string, Compilation>;
  job: string | null;
}) {
  if (!list) return null;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {list.first.map((key) => {
          const one = known.get(key);
          const [, rank = "", , id = key] = key.split(":");
          return (
            <a key={key} class="id-link" href={href("compile", { job, at: key })}>
              {one && <StatusSign status={statusOf(one)} />} {rank && `rank ${rank} `}
              {id}
            </a>
          );
        })}
        {list.count > list.first.length && (
          <span class="quiet">and {count(list.count - list.first.length)} more</span>
        )}
      </dd>
    </div>
  );
}

interface DetailProps {
  file: string;
  line: SourceLine;
  findings: Finding[];
  compilations: Compilation[];
  job: string | null;
}

function Collectives({ line, job }: { line: SourceLine; job: string | null }) {
  if (!line.collectives) return null;
  const { group, seq, rank } = line.call ?? { group: "", seq: null, rank: null };
  return (
    <div>
      <dt>Collectives</dt>
      <dd>
        {count(line.collectives.count)}: {line.collectives.first.join(", ")}{" "}
        <a
          href={href("flight", {
            job,
            group,
            seq: seq === null ? null : String(seq),
            rank: rank === null ? null : String(rank),
          })}
        >
          Show the last one in its group
        </a>
      </dd>
    </div>
  );
}

export function LineDetail({ file, line, findings, compilations, job }: DetailProps) {
  const known = new Map(compilations.map((row) => [keyOf(row), row]));
  const place = placeText(file.slice(file.lastIndexOf("/") + 1), line.line);
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
              <a href={href("verdict", { job, finding: one.id })}>{one.headline}</a>
            </dd>
          </div>
        ))}
        {line.seconds !== undefined && (
          <div>
            <dt>Compile time</dt>
            <dd>{seconds(line.seconds)} for the function that begins here, all ranks added up</dd>
          </div>
        )}
        <Compilations title="Compiled" list={line.compiled} known={known} job={job} />
        <Compilations title="Failed" list={line.failed} known={known} job={job} />
        <Compilations title="Compiled again" list={line.recompiled} known={known} job={job} />
        {line.breaks !== undefined && (
          <div>
            <dt>Graph breaks</dt>
            <dd>
              <a href={href("breaks", { job, filter: place })}>
                {counted(line.breaks, "graph break")}
              </a>
            </dd>
          </div>
        )}
        {line.exports !== undefined && (
          <div>
            <dt>Export</dt>
            <dd>
              <a href={href("export", { job, filter: place })}>
                {counted(line.exports, "issue")} of torch.export
              </a>
            </dd>
          </div>
        )}
        {line.guards !== undefined && (
          <div>
            <dt>Guards</dt>
            <dd>
              <a href={href("graphs", { job, tab: "guards", filter: place })}>
                {counted(line.guards, "guard")}
              </a>
              {line.failed_guards !== undefined &&
                `, which failed ${counted(line.failed_guards, "time")}`}
            </dd>
          </div>
        )}
        {line.nodes !== undefined && (
          <div>
            <dt>Graph nodes</dt>
            <dd>
              {counted(line.nodes, "node")} of the graphs that Dynamo made, each different graph
              once
            </dd>
          </div>
        )}
        {line.kernels && (
          <div>
            <dt>Kernels</dt>
            <dd>
              <code>{line.kernels.first.join(", ")}</code>
              {line.kernels.count > line.kernels.first.length &&
                ` (${count(line.kernels.count)} uses)`}
            </dd>
          </div>
        )}
        <Collectives line={line} job={job} />
      </dl>
    </aside>
  );
}
