// Every compilation: how it ended, what it cost and why it was needed; the details of the selected one.
import { useMemo } from "preact/hooks";
import { cacheDetail, cacheWords, costsOf, type Costs } from "../compile/cost";
import { compileNeeds, keyOf, ranksOf, withCompile, type Compilation, type Span } from "../compile/data";
import { CompilationDetail } from "../compile/detail";
import { AreaBar, AreaLegend, areas, spanParts } from "../compile/parts";
import { lookOf, statusOf, StatusLegend, StatusSign } from "../compile/status";
import { drawnColumn, numberColumn, placeColumn, textColumn, whoColumns } from "../parts/columns";
import { count, counted, seconds } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Listing, Rows, useFiltered } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, Numbers, type Fact } from "../parts/marks";
import { grouped, most, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import type { View } from "../view";

const id = "compile";

const wasRecompiled = (row: Compilation) => (row.number ?? 0) > 0;

interface Total {
  rank?: number | undefined;
  compilations: number;
  failed: number;
  unfinished: number;
  recompiled: number;
  restarted: number;
  seconds: number;
  wasted: number;
  parts: Record<string, number>; // seconds by area
}

function partsOf(spans: Span[]): Record<string, number> {
  const parts = spans.map(spanParts);
  return Object.fromEntries(areas.map(([area]) => [area, sum(parts, (one) => one[area])]));
}

function totalOf(rows: Compilation[], costs: Costs): Total {
  const ended = (outcome: string) => rows.filter((row) => row.outcome === outcome).length;
  return {
    compilations: rows.length,
    failed: ended("failed"),
    unfinished: ended("unfinished"),
    recompiled: rows.filter(wasRecompiled).length,
    restarted: rows.filter((row) => (row.restarts ?? 0) > 0).length,
    seconds: sum(rows, (row) => row.seconds),
    wasted: sum(rows, (row) => row.wasted_s),
    parts: partsOf(rows.flatMap((row) => costs.spanOf(row) ?? [])),
  };
}

function facts(rows: Compilation[], spans: Span[], costs: Costs): Fact[] {
  const total = totalOf(rows, costs);
  const later = sum(spans, (span) => span.seconds);
  const functions = new Set(rows.map((row) => `${row.function} ${row.file} ${row.line}`)).size;
  const notes = [
    later > total.seconds * 1.01 ? `${seconds(later)} with what belongs to no frame` : "",
    ranksOf(rows.map((row) => row.rank)).length > 1 ? "all ranks added up" : "",
  ];
  return [
    fact(count(total.compilations), total.compilations === 1 ? "compilation" : "compilations",
      `of ${counted(functions, "function")}`),
    fact(count(total.failed), "failed",
      total.unfinished > 0 ? `and ${count(total.unfinished)} did not end` : "", "Ended with an exception"),
    fact(count(total.recompiled), "recompiled", "", "Compilations of a frame that had been compiled before"),
    fact(count(total.restarted), "restarted", total.wasted > 0 ? `${seconds(total.wasted)} given up` : "",
      "Compilations of which at least one attempt was given up"),
    fact(seconds(total.seconds), "in all", notes.filter(Boolean).join("; "),
      "Time of all compilations, all attempts, with backward graphs that are compiled later"),
  ];
}

const wholeOf = (total: Total) => sum(Object.values(total.parts), (one) => one);

const rankColumns = (slowest: number): Column<Total>[] => [
  numberColumn("rank", "rank", 80, (row) => row.rank),
  numberColumn("compilations", "compilations", 120, (row) => row.compilations),
  numberColumn("failed", "failed", 90, (row) => row.failed),
  numberColumn("unfinished", "not ended", 100, (row) => row.unfinished),
  numberColumn("recompiled", "recompiled", 110, (row) => row.recompiled),
  numberColumn("restarted", "restarted", 100, (row) => row.restarted),
  numberColumn("wasted", "given up", 90, (row) => row.wasted, seconds, "Time of attempts that were given up"),
  numberColumn("seconds", "time", 100, (row) => row.seconds, seconds),
  drawnColumn("areas", "where it went", 0, wholeOf, (row) => <AreaBar parts={row.parts} whole={slowest} />),
];

function ByRank({ rows, costs }: { rows: Compilation[]; costs: Costs }) {
  const totals = useMemo(
    () =>
      [...grouped(rows, (row) => row.rank)]
        .sort(([a], [b]) => (a ?? -1) - (b ?? -1))
        .map(([rank, some]): Total => ({ ...totalOf(some, costs), rank })),
    [rows, costs],
  );
  if (totals.length < 2) return null;
  return (
    <details class="by-rank">
      <summary>By rank ({counted(totals.length, "rank")})</summary>
      <Rows label="Compilations by rank" rows={totals} columns={rankColumns(most(totals, wholeOf))} />
      <AreaLegend />
    </details>
  );
}

function reason(row: Compilation): string {
  if (row.outcome === "failed")
    return [row.fail_type, row.fail_reason].filter(Boolean).join(": ") || "unknown";
  const parts = [row.why, row.break_reason && `broke: ${row.break_reason}`];
  return parts.filter(Boolean).join("; ");
}

const outcomeColumn = textColumn<Compilation>("outcome", "outcome", 115, (row) => row.outcome ?? "unknown", {
  definition: "restarted: well after an attempt was given up; empty: nothing to compile",
  cell: (row) => (
    <span class="state" title={lookOf(statusOf(row)).words}>
      <StatusSign status={statusOf(row)} />
      {row.outcome ?? "unknown"}
    </span>
  ),
});

function costColumns(costs: Costs): Column<Compilation>[] {
  const areaBar = (row: Compilation) => {
    const span = costs.spanOf(row);
    return span?.seconds ? <AreaBar parts={spanParts(span)} whole={span.seconds} /> : "";
  };
  return [
    numberColumn("seconds", "time", 75, (row) => row.seconds, seconds),
    drawnColumn("areas", "where it went", 120, (row) => costs.spanOf(row)?.seconds, areaBar,
      "Shares of its time by area of the compiler, backward graphs included"),
    textColumn("cache", "cache", 85, (row) => cacheWords(costs.cacheOf(row)), {
      definition: "What the compilation caches answered",
      cell: (row) => {
        const uses = costs.cacheOf(row);
        return <span title={cacheDetail(uses)}>{cacheWords(uses)}</span>;
      },
    }),
  ];
}

function columnsOf(run: Run, rows: Compilation[], costs: Costs): Column<Compilation>[] {
  const columns: Column<Compilation>[] = [
    ...whoColumns(run, rows),
    textColumn("id", "id", 60, (row) => row.compile_id,
      "Compile id: frame / how often it was compiled before"),
    textColumn("function", "function", 150, (row) => row.function ?? "unknown", { opens: true }),
    placeColumn("file", 170, (row) => [row.file, row.line]),
    outcomeColumn,
    numberColumn("ops", "ops", 55, (row) => row.ops, undefined, "Operations in its graph"),
    numberColumn("guards", "guards", 65, (row) => row.guards),
    numberColumn("restarts", "restarts", 70, (row) => row.restarts || undefined, undefined,
      "Attempts that were given up"),
    ...costColumns(costs),
    textColumn("why", "why", 0, reason,
      "What changed since the compilation before, where it broke, why it failed"),
  ];
  const anyRestart = rows.some((row) => (row.restarts ?? 0) > 0);
  return anyRestart ? columns : columns.filter((column) => column.id !== "restarts");
}

const fields = {
  rank: (row: Compilation) => row.rank,
  id: (row: Compilation) => row.compile_id,
  outcome: (row: Compilation) => row.outcome,
  function: (row: Compilation) => row.function,
  status: statusOf,
};

const wordsOf = (row: Compilation) =>
  [row.compile_id, row.function, `${row.file}:${row.line}`, row.outcome, reason(row)].join(" ");

// What belongs to the compilation that was open before.
const forgotten = { graph: null, show: null, text: null, line: null, diff: null };

function Compilations({ run, route, tables }: TableProps) {
  const all = tables.rows("compilation");
  const rows = useFiltered(all, fields, wordsOf);
  const costs = useMemo(() => costsOf(tables), [tables]);
  const columns = useMemo(() => columnsOf(run, all, costs), [run, all, costs]);
  const at = route.params.get("at");
  const selected = all.find((row) => keyOf(row) === at);
  const spans = tables.leftOut("compile_span") > 0 ? [] : tables.rows("compile_span");
  return (
    <>
      <h1>Compilations</h1>
      <Numbers
        label="Compilations in numbers"
        facts={facts(all, spans, costs)}
        partial={tables.leftOut("compilation") > 0}
      />
      <ByRank rows={all} costs={costs} />
      <Listing
        view={id}
        title="Compilations"
        all={all}
        rows={rows}
        columns={columns}
        idOf={keyOf}
        noun="compilation"
        forget={forgotten}
        filter={{ label: "Filter compilations", hint: "function, status:recompile, rank:1, id:0/1" }}
        empty="No compilation matches the filter."
        unmatched="No compilation matches the filter."
        below={
          <>
            <LeftOut tables={tables} names={["compilation"]} />
            <div class="compile-legends">
              <StatusLegend />
              <AreaLegend />
            </div>
          </>
        }
      />
      {selected ? (
        <CompilationDetail key={at} view={id} tables={tables} one={selected} route={route} run={run} />
      ) : (
        rows.length > 0 && (
          <p class="quiet">Select a compilation to see why and what it compiled.</p>
        )
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Compilations",
  section: "Compile",
  order: 30,
  needs: compileNeeds(["compilation"]),
  component: withCompile(Compilations),
};
