// What is to know of a compilation at first sight: how it ended, its time, its graph, its caches, and where to go on.
import {
  breakKey,
  isOf,
  keyOf,
  type Break,
  type Compilation,
  type Compile,
  type Recompile,
  type Span,
} from "./data";
import { AreaBar, AreaLegend, Outcome, Place, placeText, seconds } from "./parts";
import { changeText } from "./one_why";
import { SourceLink, ViewLink, hasView, timelineParams } from "./one_links";
import { bytes, counted, words } from "../parts/format";
import { SeverityMark } from "../parts/marks";
import type { Run } from "../run/data";
import { href } from "../shell/route";

function timeParts(span: Span): Record<string, number> {
  const parts: Record<string, number> = {
    dynamo: span.dynamo_s ?? 0,
    aot: span.aot_s ?? 0,
    inductor: span.inductor_s ?? 0,
    codegen: span.codegen_s ?? 0,
    triton: span.triton_s ?? 0,
  };
  const told = Object.values(parts).reduce((a, b) => a + b, 0);
  return { ...parts, other: Math.max(0, (span.seconds ?? 0) - told) };
}

function TimeBar({ compile, one }: { compile: Compile; one: Compilation }) {
  const span = compile.rows("compile_span").find((row) => isOf(one, row));
  if (!span?.seconds) return null;
  return (
    <div class="whole-bar">
      <AreaBar parts={timeParts(span)} whole={span.seconds} />
      <AreaLegend />
    </div>
  );
}

// "fx_graph miss, aotautograd hit".
function cacheText(compile: Compile, one: Compilation): string {
  const uses = compile.rows("compile_cache_use").filter((row) => isOf(one, row));
  return [...new Set(uses.map((row) => `${words(row.cache ?? "cache")} ${row.status ?? ""}`))].join(
    ", ",
  );
}

function graphText(compile: Compile, one: Compilation): string {
  const graph = compile
    .rows("compile_graph")
    .find((row) => isOf(one, row) && row.kind === "dynamo_output_graph");
  if (!graph) return one.ops === undefined ? "" : counted(one.ops, "operation");
  const parts = [counted(graph.ops ?? 0, "operation"), counted(graph.inputs ?? 0, "input")];
  if (graph.input_bytes !== undefined) parts.push(`${bytes(graph.input_bytes)} in`);
  return parts.join(", ");
}

function before(compile: Compile, one: Compilation): Compilation | undefined {
  return compile
    .rows("compilation")
    .find(
      (row) =>
        row.compile_id === one.previous_id &&
        row.input === one.input &&
        row.rank === one.rank &&
        row.life === one.life,
    );
}

function Facts({ compile, one }: { compile: Compile; one: Compilation }) {
  const caches = cacheText(compile, one);
  const graph = graphText(compile, one);
  const previous = before(compile, one);
  return (
    <ul class="detail-facts">
      <li>
        <Outcome outcome={one.outcome} />
      </li>
      {one.rank !== undefined && <li>rank {one.rank}</li>}
      <li>{one.seconds === undefined ? "time not told" : seconds(one.seconds)}</li>
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
        <SourceLink file={one.file} line={one.line}>
          <Place file={one.file} line={one.line} />
        </SourceLink>
      </li>
      {one.caller_file && (
        <li>
          called from{" "}
          <SourceLink file={one.caller_file} line={one.caller_line}>
            {placeText(one.caller_file, one.caller_line)}
          </SourceLink>
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
function findingsOf(run: Run | undefined, one: Compilation) {
  return (run?.findings ?? []).filter(
    (finding) =>
      finding.compile_ids.includes(one.compile_id ?? "") &&
      (finding.job === null || finding.job === one.job) &&
      (finding.ranks.length === 0 || one.rank === undefined || finding.ranks.includes(one.rank)),
  );
}

function Ways(props: { run: Run | undefined; one: Compilation; breaks: Break[] }) {
  const { run, one, breaks } = props;
  const findings = findingsOf(run, one);
  const hasTimeline = hasView("timeline") && one.start_ns !== undefined;
  if (findings.length === 0 && breaks.length === 0 && !hasTimeline) return null;
  return (
    <ul class="detail-facts" aria-label="More about this compilation">
      {findings.slice(0, 4).map((finding) => (
        <li key={finding.id}>
          <SeverityMark severity={finding.severity} word={false} />{" "}
          <ViewLink view="verdict" params={{ finding: finding.id }}>
            {finding.headline}
          </ViewLink>
        </li>
      ))}
      {breaks[0] && (
        <li>
          <ViewLink view="breaks" params={{ at: breakKey(breaks[0]) }}>
            {breaks.length === 1
              ? "its graph break"
              : `its ${counted(breaks.length, "graph break")}`}
          </ViewLink>
        </li>
      )}
      {hasTimeline && (
        <li>
          <ViewLink view="timeline" params={timelineParams(one)}>
            on the timeline
          </ViewLink>
        </li>
      )}
    </ul>
  );
}

export function Head(props: {
  run: Run | undefined;
  compile: Compile;
  one: Compilation;
  breaks: Break[];
  recompiles: Recompile[];
}) {
  const { run, compile, one, breaks, recompiles } = props;
  const main = recompiles.find((row) => row.is_main) ?? recompiles[0];
  return (
    <>
      <h2>
        {one.compile_id} <bdi>{one.function ?? "function not told"}</bdi>
      </h2>
      <Facts compile={compile} one={one} />
      {main && (
        <p>
          Compiled again for <code>{changeText(main)}</code>
        </p>
      )}
      <TimeBar compile={compile} one={one} />
      <Ways run={run} one={one} breaks={breaks} />
      {one.is_last && <p class="holes">The log of its process ends inside of this compilation.</p>}
    </>
  );
}
