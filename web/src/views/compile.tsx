// Every compilation: how it ended, what it cost and why it was needed; the details of the selected one.
import { useMemo } from "preact/hooks";
import {
  keyOf,
  ranksOf,
  sum,
  type Compilation,
  type Compile,
  type Span,
  compileNeeds,
  withCompile,
  type CompileProps,
} from "../compile/data";
import { cacheDetail, cacheWords, costsOf, spanParts, type Costs } from "../compile/cost";
import { CompilationDetail } from "../compile/detail";
import {
  AreaBar,
  AreaLegend,
  LeftOut,
  Numbers,
  Rows,
  Section,
  numberColumn,
  placeColumn,
  seconds,
  textColumn,
  whoColumns,
  type Fact,
} from "../compile/parts";
import { lookOf, statusOf, StatusLegend, StatusSign } from "../compile/status";
import { useWalk } from "../compile/walk";
import type { Run } from "../run/data";
import { matcher } from "../parts/filter";
import { count, counted } from "../parts/format";
import { Filter } from "../parts/marks";
import { setParams } from "../shell/route";
import { Table, type Column } from "../parts/table";
import type { View } from "../view";

const id = "compile";

const wasRecompiled = (row: Compilation) => (row.number ?? 0) > 0;

interface Total {
  rank?: number;
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
  const all: Record<string, number> = {};
  for (const span of spans)
    for (const [area, value] of Object.entries(spanParts(span)))
      all[area] = (all[area] ?? 0) + value;
  return all;
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
  return [
    {
      value: count(total.compilations),
      label: total.compilations === 1 ? "compilation" : "compilations",
      note: `of ${counted(functions, "function")}`,
    },
    {
      value: count(total.failed),
      label: "failed",
      note: total.unfinished > 0 ? `and ${count(total.unfinished)} did not end` : "",
      definition: "Ended with an exception",
    },
    {
      value: count(total.recompiled),
      label: "recompiled",
      definition: "Compilations of a frame that had been compiled before",
    },
    {
      value: count(total.restarted),
      label: "restarted",
      note: total.wasted > 0 ? `${seconds(total.wasted)} given up` : "",
      definition: "Compilations of which at least one attempt was given up",
    },
    {
      value: seconds(total.seconds),
      label: "in all",
      note: [
        later > total.seconds * 1.05 ? `${seconds(later)} with backward graphs` : "",
        ranksOf(rows).length > 1 ? "all ranks added up" : "",
      ]
        .filter(Boolean)
        .join("; "),
      definition:
        "Time of all compilations, all attempts; backward graphs are often compiled later and count apart",
    },
  ];
}

const rankColumns = (slowest: number): Column<Total>[] => [
  numberColumn("rank", "rank", 80, (row) => row.rank),
  numberColumn("compilations", "compilations", 120, (row) => row.compilations),
  numberColumn("failed", "failed", 90, (row) => row.failed),
  numberColumn("unfinished", "not ended", 100, (row) => row.unfinished),
  numberColumn("recompiled", "recompiled", 110, (row) => row.recompiled),
  numberColumn("restarted", "restarted", 100, (row) => row.restarted),
  numberColumn("wasted", "given up", 90, (row) => row.wasted, seconds, {
    definition: "Time of attempts that were given up",
  }),
  numberColumn("seconds", "time", 100, (row) => row.seconds, seconds),
  {
    ...numberColumn<Total>("areas", "where it went", 0, (row) =>
      sum(Object.values(row.parts), (one) => one),
    ),
    number: false,
    cell: (row) => <AreaBar parts={row.parts} whole={slowest} />,
  },
];

function ByRank({ rows, costs }: { rows: Compilation[]; costs: Costs }) {
  const totals = useMemo(() => {
    const byRank = new Map<number | undefined, Compilation[]>();
    for (const row of rows) {
      const some = byRank.get(row.rank) ?? [];
      some.push(row);
      byRank.set(row.rank, some);
    }
    return [...byRank]
      .sort(([a], [b]) => (a ?? -1) - (b ?? -1))
      .map(
        ([rank, some]): Total => ({ ...totalOf(some, costs), ...(rank !== undefined && { rank }) }),
      );
  }, [rows, costs]);
  const columns = useMemo(
    () =>
      rankColumns(
        totals.reduce(
          (most, one) =>
            Math.max(
              most,
              sum(Object.values(one.parts), (part) => part),
            ),
          0,
        ),
      ),
    [totals],
  );
  if (totals.length < 2) return null;
  return (
    <details class="by-rank">
      <summary>By rank ({counted(totals.length, "rank")})</summary>
      <Rows label="Compilations by rank" rows={totals} columns={columns} empty="" />
      <AreaLegend />
    </details>
  );
}

function reason(row: Compilation): string {
  if (row.outcome === "failed")
    return [row.fail_type, row.fail_reason].filter(Boolean).join(": ") || "not told";
  const parts = [row.why, row.break_reason && `broke: ${row.break_reason}`];
  return parts.filter(Boolean).join("; ");
}

function outcomeColumn(): Column<Compilation> {
  return {
    ...textColumn<Compilation>("outcome", "outcome", 115, (row) => row.outcome ?? "not told"),
    cell: (row) => (
      <span class="state" title={lookOf(statusOf(row)).words}>
        <StatusSign status={statusOf(row)} />
        {row.outcome ?? "not told"}
      </span>
    ),
    definition: "restarted: well after an attempt was given up; empty: nothing to compile",
  };
}

function costColumns(costs: Costs): Column<Compilation>[] {
  return [
    numberColumn("seconds", "time", 75, (row) => row.seconds, seconds),
    {
      ...numberColumn<Compilation>(
        "areas",
        "where it went",
        120,
        (row) => costs.spanOf(row)?.seconds,
      ),
      number: false,
      definition: "Shares of its time by area of the compiler, backward graphs included",
      cell: (row) => {
        const span = costs.spanOf(row);
        return span?.seconds ? <AreaBar parts={spanParts(span)} whole={span.seconds} /> : "";
      },
    },
    {
      ...textColumn<Compilation>("cache", "cache", 85, (row) => cacheWords(costs.cacheOf(row))),
      definition: "What the compilation caches answered",
      cell: (row) => {
        const uses = costs.cacheOf(row);
        return <span title={cacheDetail(uses)}>{cacheWords(uses)}</span>;
      },
    },
  ];
}

function columnsOf(run: Run, rows: Compilation[], costs: Costs): Column<Compilation>[] {
  const anyRestart = rows.some((row) => (row.restarts ?? 0) > 0);
  return [
    ...whoColumns(run, rows),
    textColumn("id", "id", 60, (row) => row.compile_id, {
      definition: "Compile id: frame / how often it was compiled before",
    }),
    textColumn("function", "function", 150, (row) => row.function ?? "not told", { opens: true }),
    placeColumn("file", 170, (row) => [row.file, row.line]),
    outcomeColumn(),
    numberColumn("ops", "ops", 55, (row) => row.ops, undefined, {
      definition: "Operations in its graph",
    }),
    numberColumn("guards", "guards", 65, (row) => row.guards),
    ...(anyRestart
      ? [
          numberColumn<Compilation>(
            "restarts",
            "restarts",
            70,
            (row) => row.restarts || undefined,
            undefined,
            {
              definition: "Attempts that were given up",
            },
          ),
        ]
      : []),
    ...costColumns(costs),
    textColumn("why", "why", 0, reason, {
      definition: "What changed since the compilation before, where it broke, why it failed",
    }),
  ];
}

const fields = {
  rank: (row: Compilation) => row.rank ?? null,
  id: (row: Compilation) => row.compile_id ?? null,
  outcome: (row: Compilation) => row.outcome ?? null,
  function: (row: Compilation) => row.function ?? null,
  status: (row: Compilation) => statusOf(row),
};

// What belongs to the compilation that was open before.
const forgotten = { graph: null, show: null, text: null, line: null, diff: null };

function useRows(compile: Compile, filter: string): Compilation[] {
  const all = compile.rows("compilation");
  return useMemo(
    () =>
      all.filter(
        matcher(filter, fields, (row) =>
          [row.compile_id, row.function, `${row.file}:${row.line}`, row.outcome, reason(row)].join(
            " ",
          ),
        ),
      ),
    [all, filter],
  );
}

function Compilations({ run, route, compile }: CompileProps) {
  const filter = route.params.get("filter") ?? "";
  const at = route.params.get("at");
  const sort = route.params.get("sort");
  const all = compile.rows("compilation");
  const rows = useRows(compile, filter);
  const costs = useMemo(() => costsOf(compile), [compile]);
  const columns = useMemo(() => columnsOf(run, all, costs), [run, all, costs]);
  const selected = all.find((row) => keyOf(row) === at);
  useWalk({
    view: id,
    rows,
    columns,
    sort,
    idOf: keyOf,
    noun: "compilation",
    forget: forgotten,
  });
  return (
    <>
      <h1>Compilations</h1>
      <Numbers
        label="Compilations in numbers"
        facts={facts(
          all,
          compile.leftOut("compile_span") > 0 ? [] : compile.rows("compile_span"),
          costs,
        )}
        partial={compile.leftOut("compilation") > 0}
      />
      <ByRank rows={all} costs={costs} />
      <div class={selected ? "with-detail" : ""}>
        <Section
          title="Compilations"
          number={rows.length}
          side={
            <Filter
              value={filter}
              label="Filter compilations"
              hint="function, status:recompile, rank:1, id:0/1"
              onInput={(text) => setParams(id, { filter: text || null }, true)}
            />
          }
        >
          <Table
            label="Compilations"
            rows={rows}
            columns={columns}
            id={keyOf}
            sort={sort}
            onSort={(to) => setParams(id, { sort: to }, true)}
            selected={at}
            onSelect={(one) => setParams(id, { ...forgotten, at: one === at ? null : one })}
            empty="No compilation matches the filter."
          />
          <LeftOut compile={compile} names={["compilation"]} />
          <div class="compile-legends">
            <StatusLegend />
            <AreaLegend />
          </div>
        </Section>
      </div>
      {selected ? (
        <CompilationDetail
          key={at}
          view={id}
          compile={compile}
          one={selected}
          route={route}
          run={run}
        />
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
