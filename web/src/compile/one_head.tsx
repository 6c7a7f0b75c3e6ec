// What is to know of a compilation at first sight: how it ended, its time, its graph, its caches, and where to go on.
import { bytes, counted, placeText, seconds, words } from "../parts/format";
import { Place, SeverityMark } from "../parts/marks";
import type { Run } from "../run/data";
import type { Tables } from "../run/tables";
import { href, to } from "../shell/route";
import { breakKey, isOf, keyOf, type Break, type Compilation, type Recompile } from "./data";
import { changeText } from "./one_why";
import { AreaBar, AreaLegend, Outcome, spanParts, timelineAt, ToSource } from "./parts";

function TimeBar({ tables, one }: { tables: Tables; one: Compilation }) {
  const span = tables.rows("compile_span").find((row) => isOf(one, row));
  if (!span?.seconds) return null;
  return (
    <div class="whole-bar">
      <AreaBar parts={spanParts(span)} whole={span.seconds} />
      <AreaLegend />
    </div>
  );
}

// "fx_graph miss, aotautograd hit".
function cacheText(tables: Tables, one: Compilation): string {
  const uses = tables.rows("compile_cache_use").filter((row) => isOf(one, row));
  return [...new Set(uses.map((row) => `${words(row.cache ?? "cache")} ${row.status ?? ""}`))].join(
    ", ",
  );
}

function graphText(tables: Tables, one: Compilation): string {
  const graph = tables
    .rows("compile_graph")
    .find((row) => isOf(one, row) && row.kind === "dynamo_output_graph");
  if (!graph) return one.ops === undefined ? "" : counted(one.ops, "operation");
  const parts = [counted(graph.ops ?? 0, "operation"), counted(graph.inputs ?? 0, "input")];
  if (graph.input_bytes !== undefined) parts.push(`${bytes(graph.input_bytes)} in`);
  return parts.join(", ");
}

function before(tables: Tables, one: Compilation): Compilation | undefined {
  return tables
    .rows("compilation")
    .find(
      (row) =>
        row.compile_id === one.previous_id &&
        row.input === one.input &&
        row.rank === one.rank &&
        row.life === one.life,
    );
}

function Facts({ tables, one }: { tables: Tables; one: Compilation }) {
  const caches = cacheText(tables, one);
  const graph = graphText(tables, one);
  const previous = before(tables, one);
  return (
    <ul class="detail-facts">
      <li>
        <Outcome outcome={one.outcome} />
      </li>
      {one.rank !== undefined && <li>rank {one.rank}</li>}
      <li>{one.seconds === undefined ? "time unknown" : seconds(one.seconds)}</li>
      {(one.wasted_s ?? 0) > 0 && (
        <li>
          {seconds(one.wasted_s)}{" "}
          {(one.restarts ?? 0) > 0
            ? `in ${counted(one.restarts ?? 0, "attempt")} given up`
            : "wasted"}
        </li>
      )}
      {graph && <li title="Of the graph that Dynamo traced">{graph}</li>}
      {one.guards !== undefined && <li>{counted(one.guards, "guard")}</li>}
      {caches && <li title="What the compiler's caches had">{caches}</li>}
      <li>
        <ToSource file={one.file} line={one.line}>
          <Place file={one.file} line={one.line} />
        </ToSource>
      </li>
      {one.caller_file && (
        <li>
          called from{" "}
          <ToSource file={one.caller_file} line={one.caller_line}>
            {placeText(one.caller_file, one.caller_line)}
          </ToSource>
        </li>
      )}
      {previous && (
        <li>
          <a href={href("compile", { at: keyOf(previous) })}>before it: {previous.compile_id}</a>
        </li>
      )}
    </ul>
  );
}

// Findings that name this compilation.
function findingsOf(run: Run, one: Compilation) {
  return run.findings.filter(
    (finding) =>
      finding.compile_ids.includes(one.compile_id ?? "") &&
      (finding.job === null || finding.job === one.job) &&
      (finding.ranks.length === 0 || one.rank === undefined || finding.ranks.includes(one.rank)),
  );
}

function Ways(props: { run: Run; one: Compilation; breaks: Break[] }) {
  const { run, one, breaks } = props;
  const findings = findingsOf(run, one);
  const hasTimeline = one.start_ns !== undefined;
  if (findings.length === 0 && breaks.length === 0 && !hasTimeline) return null;
  return (
    <ul class="detail-facts" aria-label="More about this compilation">
      {findings.slice(0, 4).map((finding) => (
        <li key={finding.id}>
          <SeverityMark severity={finding.severity} word={false} />{" "}
          <a href={to("verdict", { finding: finding.id })}>{finding.headline}</a>
        </li>
      ))}
      {breaks[0] && (
        <li>
          <a href={to("breaks", { at: breakKey(breaks[0]) })}>
            {breaks.length === 1
              ? "its graph break"
              : `its ${counted(breaks.length, "graph break")}`}
          </a>
        </li>
      )}
      {hasTimeline && (
        <li>
          <a href={timelineAt(one)}>on the timeline</a>
        </li>
      )}
    </ul>
  );
}

export function Head(props: {
  run: Run;
  tables: Tables;
  one: Compilation;
  breaks: Break[];
  recompiles: Recompile[];
}) {
  const { run, tables, one, breaks, recompiles } = props;
  const main = recompiles.find((row) => row.is_main) ?? recompiles[0];
  return (
    <>
      <h2>
        {one.compile_id} <bdi>{one.function ?? "function unknown"}</bdi>
      </h2>
      <Facts tables={tables} one={one} />
      {main && (
        <p>
          Compiled again for <code>{changeText(main)}</code>
        </p>
      )}
      <TimeBar tables={tables} one={one} />
      <Ways run={run} one={one} breaks={breaks} />
      {one.is_last && <p class="holes">The log of its process ends inside of this compilation.</p>}
    </>
  );
}
