// One compilation: why it was needed, where its time went, what it compiled and what it relies on.
import { useMemo } from "preact/hooks";
import {
  breakKey,
  isOf,
  keyOf,
  sum,
  type Break,
  type Compilation,
  type Compile,
  type Failure,
  type Guard,
  type Module,
  type Phase,
  type Recompile,
} from "./data";
import { GraphsOf } from "./graph";
import {
  AreaLegend,
  Bar,
  LeftOut,
  Outcome,
  Place,
  Rows,
  Tabs,
  chosen,
  emptyWords,
  numberColumn,
  placeColumn,
  placeText,
  seconds,
  textColumn,
  type Tab,
} from "./parts";
import { bytes, count, counted, duration, words } from "../parts/format";
import { href, type Route } from "../shell/route";
import type { Column } from "../parts/table";

// "L['x'], dimension 1: 8 -> 16".
function changeText(row: Recompile): string {
  const what = [row.source, row.dimension !== undefined && `dimension ${row.dimension}`]
    .filter(Boolean)
    .join(", ");
  const from = row.old_value ?? "not told";
  const to = row.new_value ?? "not told";
  return `${what || words(row.kind ?? "guard")}: ${from} \u2192 ${to}`;
}

function RecompileItem({ row }: { row: Recompile }) {
  return (
    <li>
      <p>
        <strong>{row.change ?? changeText(row)}</strong>{" "}
        <span class="quiet">
          guard of {row.previous_id ?? "an earlier compilation"}
          {row.is_main ? ", the main reason" : ""}
        </span>
      </p>
      <dl class="column-words">
        {(row.old_value ?? row.new_value) !== undefined && (
          <div>
            <dt>changed</dt>
            <dd>
              <code>{changeText(row)}</code>
              {row.symbol && (
                <>
                  {" "}
                  and is now symbol <code>{row.symbol}</code>
                </>
              )}
            </dd>
          </div>
        )}
        {row.guard && (
          <div>
            <dt>guard</dt>
            <dd>
              <code>{row.guard}</code>
            </dd>
          </div>
        )}
        {row.user_file && (
          <div>
            <dt>needed by</dt>
            <dd>
              <code>{placeText(row.user_file, row.user_line)}</code> <code>{row.user_code}</code>
            </dd>
          </div>
        )}
        {row.next_step && (
          <div>
            <dt>next step</dt>
            <dd>{row.next_step}</dd>
          </div>
        )}
      </dl>
    </li>
  );
}

function BreakItem({ row }: { row: Break }) {
  return (
    <li>
      <p>
        <strong>{row.reason ?? "Graph break"}</strong>{" "}
        <span class="quiet">{placeText(row.user_file, row.user_line)}</span>
      </p>
      {row.explanation && <p>{row.explanation}</p>}
      <p>
        <a href={href("breaks", { at: breakKey(row) })}>Hints, stack and cost of this break</a>
      </p>
    </li>
  );
}

function FailureItem({ row }: { row: Failure }) {
  return (
    <li>
      <p>
        <strong>{row.fail_type ?? "Failure"}</strong>{" "}
        <span class="quiet">
          {row.user_file ? `at ${placeText(row.user_file, row.user_line)}` : "place not told"}
          {row.falls_back ? "; the function ran uncompiled" : ""}
        </span>
      </p>
      <pre tabIndex={0}>{row.text ?? row.reason ?? "The log has no text."}</pre>
    </li>
  );
}

interface Parts {
  recompiles: Recompile[];
  breaks: Break[];
  failures: Failure[];
  phases: Phase[];
  modules: Module[];
  guards: Guard[];
}

function breaksOf(compile: Compile, one: Compilation): Break[] {
  return compile
    .rows("compile_break")
    .filter(
      (row) =>
        row.input === one.input &&
        row.rank === one.rank &&
        (row.compile_ids ?? "").split(/,\s*/).includes(one.compile_id ?? ""),
    );
}

function partsOf(compile: Compile, one: Compilation): Parts {
  return {
    recompiles: compile.rows("compile_recompile").filter((row) => isOf(one, row)),
    breaks: breaksOf(compile, one),
    failures: compile.rows("compile_failure").filter((row) => isOf(one, row)),
    phases: compile
      .rows("compile_phase")
      .filter((row) => isOf(one, row))
      .sort((a, b) => (b.self_ns ?? 0) - (a.self_ns ?? 0)),
    modules: compile.rows("compile_module").filter((row) => isOf(one, row)),
    guards: compile
      .rows("compile_guard")
      .filter((row) => isOf(one, row))
      .sort((a, b) => (b.failed ?? 0) - (a.failed ?? 0)),
  };
}

function Why({ compile, one, parts }: { compile: Compile; one: Compilation; parts: Parts }) {
  const isCut = compile.leftOut("compile_recompile") > 0;
  const nothing =
    parts.recompiles.length + parts.breaks.length + parts.failures.length === 0 && !one.why;
  return (
    <div class="why">
      {nothing && (
        <p class="quiet">
          {(one.number ?? 0) === 0
            ? "The first compilation of this frame; it did not fail and no graph break was logged."
            : isCut
              ? "Why this frame was compiled again is not on this page."
              : "The log does not tell why this frame was compiled again."}
        </p>
      )}
      {parts.recompiles.length > 0 && (
        <>
          <h3>Compiled again: what changed</h3>
          <ul class="reasons">
            {parts.recompiles.slice(0, 16).map((row, i) => (
              <RecompileItem key={i} row={row} />
            ))}
          </ul>
          {parts.recompiles.length > 16 && (
            <p class="quiet">and {count(parts.recompiles.length - 16)} more</p>
          )}
        </>
      )}
      {parts.recompiles.length === 0 && one.why && <p>{one.why}</p>}
      {parts.breaks.length > 0 && (
        <>
          <h3>Graph breaks</h3>
          <ul class="reasons">
            {parts.breaks.map((row, i) => (
              <BreakItem key={i} row={row} />
            ))}
          </ul>
        </>
      )}
      {parts.failures.length > 0 && (
        <>
          <h3>Failure</h3>
          <ul class="reasons">
            {parts.failures.map((row, i) => (
              <FailureItem key={i} row={row} />
            ))}
          </ul>
        </>
      )}
      <LeftOut
        compile={compile}
        names={["compile_recompile", "compile_break", "compile_failure"]}
      />
    </div>
  );
}

interface PhaseSum {
  name: string;
  area: string;
  calls: number;
  open: number;
  own: number; // ns
}

function phaseSums(phases: Phase[]): PhaseSum[] {
  const sums = new Map<string, PhaseSum>();
  for (const phase of phases) {
    const name = phase.name ?? "";
    const one = sums.get(name) ?? { name, area: phase.area ?? "other", calls: 0, open: 0, own: 0 };
    one.calls += 1;
    one.open += phase.open ? 1 : 0;
    one.own += phase.self_ns ?? 0;
    sums.set(name, one);
  }
  return [...sums.values()].sort((a, b) => b.own - a.own);
}

function phaseColumns(all: number): Column<PhaseSum>[] {
  return [
    textColumn("name", "phase", 0, (row) => row.name),
    {
      ...textColumn<PhaseSum>("area", "area", 120, (row) => row.area),
      cell: (row) => (
        <span class="area-word">
          <i class={`area ${row.area}`} /> {row.area}
        </span>
      ),
    },
    numberColumn("calls", "times", 80, (row) => row.calls),
    numberColumn("open", "not ended", 90, (row) => row.open || undefined),
    {
      ...numberColumn<PhaseSum>("own", "own time", 260, (row) => row.own),
      cell: (row) => <Bar share={all > 0 ? row.own / all : 0} text={duration(row.own)} />,
      definition: "Time of the phase less that of the phases in it",
    },
  ];
}

function Time({ compile, phases }: { compile: Compile; phases: Phase[] }) {
  const sums = useMemo(() => phaseSums(phases), [phases]);
  const columns = useMemo(() => phaseColumns(sum(sums, (row) => row.own)), [sums]);
  return (
    <>
      <Rows
        label="Phases of this compilation"
        rows={sums}
        columns={columns}
        empty={emptyWords(
          compile,
          "compile_phase",
          "The log has no events of the phases of this compilation.",
        )}
      />
      {sums.length > 0 && <AreaLegend />}
      <LeftOut compile={compile} names={["compile_phase"]} />
    </>
  );
}

const moduleColumns: Column<Module>[] = [
  {
    ...textColumn<Module>("path", "module", 0, (row) => row.path),
    cell: (row) => (
      <span style={{ paddingLeft: `${Math.min(row.depth ?? 0, 20) * 16}px` }}>
        {(row.depth ?? 0) > 0 ? row.path?.split(".").pop() : row.path}
      </span>
    ),
  },
  textColumn("shapes", "parameters and buffers", 420, (row) => row.shapes),
  numberColumn("bytes", "own", 90, (row) => row.bytes, bytes),
  numberColumn("total", "with inner", 100, (row) => row.total_bytes, bytes, {
    definition: "Bytes with the modules inside of it",
  }),
  numberColumn("nodes", "nodes", 80, (row) => row.nodes, undefined, {
    definition: "Nodes of the graph that use them or call it",
  }),
];

export const guardColumns: Column<Guard>[] = [
  numberColumn(
    "failed",
    "failed",
    80,
    (row) => row.failed || undefined,
    (n) => `${count(n)} \u00d7`,
    {
      definition: "Times that it failed and a new compilation followed",
    },
  ),
  textColumn("kind", "kind", 150, (row) => row.kind),
  textColumn("source", "checks", 200, (row) => row.source ?? "global state"),
  {
    ...textColumn<Guard>("guard", "guard", 0, (row) => row.guard),
    cell: (row) => <code>{row.guard}</code>,
  },
  placeColumn("needed by", 200, (row) => [row.file, row.line]),
];

function Guards({ compile, guards, one }: { compile: Compile; guards: Guard[]; one: Compilation }) {
  const check = guards.find((row) => row.check_us !== undefined)?.check_us;
  return (
    <>
      {check !== undefined && (
        <p>Checking all guards once takes {duration(Math.round(check * 1000))}.</p>
      )}
      <Rows
        label="Guards of this compilation"
        rows={guards}
        columns={guardColumns}
        empty={
          (one.guards ?? 0) > 0
            ? `It has ${counted(one.guards ?? 0, "guard")}, which are not on this page.`
            : emptyWords(compile, "compile_guard", "The log lists no guards of this compilation.")
        }
      />
      <LeftOut compile={compile} names={["compile_guard"]} />
    </>
  );
}

function Head({ one, compile }: { one: Compilation; compile: Compile }) {
  const before = compile
    .rows("compilation")
    .find(
      (row) =>
        row.compile_id === one.previous_id &&
        row.input === one.input &&
        row.rank === one.rank &&
        row.life === one.life,
    );
  return (
    <>
      <h2>
        {one.compile_id} <bdi>{one.function ?? "function not told"}</bdi>
      </h2>
      <ul class="detail-facts">
        <li>
          <Outcome outcome={one.outcome} />
        </li>
        {one.rank !== undefined && <li>rank {one.rank}</li>}
        <li>{one.seconds === undefined ? "time not told" : seconds(one.seconds)}</li>
        {(one.wasted_s ?? 0) > 0 && (
          <li>
            {seconds(one.wasted_s)} in {counted(one.restarts ?? 0, "attempt")} given up
          </li>
        )}
        {one.ops !== undefined && <li>{counted(one.ops, "operation")}</li>}
        {one.guards !== undefined && <li>{counted(one.guards, "guard")}</li>}
        <li>
          <Place file={one.file} line={one.line} />
        </li>
        {one.caller_file && <li>called from {placeText(one.caller_file, one.caller_line)}</li>}
        {before && (
          <li>
            <a href={href("compile", { at: keyOf(before) })}>before it: {before.compile_id}</a>
          </li>
        )}
      </ul>
      {one.is_last && <p class="holes">The log of its process ends inside of this compilation.</p>}
    </>
  );
}

export function CompilationDetail(props: {
  view: string;
  compile: Compile;
  one: Compilation;
  route: Route;
}) {
  const { view, compile, one, route } = props;
  const parts = useMemo(() => partsOf(compile, one), [compile, one]);
  const graphs = useMemo(
    () => compile.rows("compile_graph").filter((row) => isOf(one, row)),
    [compile, one],
  );
  const tabs: Tab[] = [
    { id: "why", title: "Why" },
    { id: "time", title: "Time" },
    { id: "graphs", title: "Graphs", rows: graphs.length },
    { id: "modules", title: "Modules", rows: parts.modules.length },
    { id: "guards", title: "Guards", rows: parts.guards.length },
  ];
  const show = chosen(tabs, route.params.get("show"));
  return (
    <aside class="panel compile-detail" aria-label="Selected compilation">
      <Head one={one} compile={compile} />
      <Tabs view={view} param="show" tabs={tabs} current={show} label="Details" />
      {show === "why" && <Why compile={compile} one={one} parts={parts} />}
      {show === "time" && <Time compile={compile} phases={parts.phases} />}
      {show === "graphs" && (
        <GraphsOf view={view} compile={compile} graphs={graphs} route={route} />
      )}
      {show === "modules" && (
        <>
          <Rows
            label="Modules of this compilation"
            rows={parts.modules}
            columns={moduleColumns}
            empty={emptyWords(
              compile,
              "compile_module",
              "Its graph takes no parameters or buffers of modules.",
            )}
          />
          <LeftOut compile={compile} names={["compile_module"]} />
        </>
      )}
      {show === "guards" && <Guards compile={compile} guards={parts.guards} one={one} />}
    </aside>
  );
}
