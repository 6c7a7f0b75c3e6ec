// Every compilation: how it ended, what it cost and why it was needed; the details of the selected one.
import { useMemo } from "preact/hooks";
import {keyOf, ranksOf, sum, type Compilation, type Span, compileNeeds, withCompile, type CompileProps } from "../compile/data";
import { CompilationDetail } from "../compile/detail";
import {
  LeftOut,
  Numbers,
  Outcome,
  Rows,
  Section,
  numberColumn,
  placeColumn,
  seconds,
  textColumn,
  whoColumns,
  type Fact,
} from "../compile/parts";
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
}

function totalOf(rows: Compilation[]): Total {
  const ended = (outcome: string) => rows.filter((row) => row.outcome === outcome).length;
  return {
    compilations: rows.length,
    failed: ended("failed"),
    unfinished: ended("unfinished"),
    recompiled: rows.filter(wasRecompiled).length,
    restarted: rows.filter((row) => (row.restarts ?? 0) > 0).length,
    seconds: sum(rows, (row) => row.seconds),
    wasted: sum(rows, (row) => row.wasted_s),
  };
}

function facts(rows: Compilation[], spans: Span[]): Fact[] {
  const total = totalOf(rows);
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

const rankColumns: Column<Total>[] = [
  numberColumn("rank", "rank", 80, (row) => row.rank),
  numberColumn("compilations", "compilations", 120, (row) => row.compilations),
  numberColumn("failed", "failed", 90, (row) => row.failed),
  numberColumn("unfinished", "not ended", 100, (row) => row.unfinished),
  numberColumn("recompiled", "recompiled", 110, (row) => row.recompiled),
  numberColumn("restarted", "restarted", 100, (row) => row.restarted),
  numberColumn("seconds", "time", 100, (row) => row.seconds, seconds),
];

function ByRank({ rows }: { rows: Compilation[] }) {
  const totals = useMemo(() => {
    const byRank = new Map<number | undefined, Compilation[]>();
    for (const row of rows) {
      const some = byRank.get(row.rank) ?? [];
      some.push(row);
      byRank.set(row.rank, some);
    }
    return [...byRank]
      .sort(([a], [b]) => (a ?? -1) - (b ?? -1))
      .map(([rank, some]): Total => ({ ...totalOf(some), ...(rank !== undefined && { rank }) }));
  }, [rows]);
  if (totals.length < 2) return null;
  return (
    <details class="by-rank">
      <summary>By rank ({counted(totals.length, "rank")})</summary>
      <Rows label="Compilations by rank" rows={totals} columns={rankColumns} empty="" />
    </details>
  );
}

function reason(row: Compilation): string {
  if (row.outcome === "failed")
    return [row.fail_type, row.fail_reason].filter(Boolean).join(": ") || "not told";
  const parts = [row.why, row.break_reason && `broke: ${row.break_reason}`];
  return parts.filter(Boolean).join("; ");
}

function columnsOf(run: Run, rows: Compilation[]): Column<Compilation>[] {
  return [
    ...whoColumns(run, rows),
    textColumn("id", "id", 70, (row) => row.compile_id, {
      definition: "Compile id: frame / how often it was compiled before",
    }),
    textColumn("function", "function", 170, (row) => row.function ?? "not told", { opens: true }),
    placeColumn("file", 230, (row) => [row.file, row.line]),
    {
      ...textColumn<Compilation>("outcome", "outcome", 110, (row) => row.outcome),
      cell: (row) => <Outcome outcome={row.outcome} />,
      definition: "restarted: well after an attempt was given up; empty: nothing to compile",
    },
    numberColumn("ops", "ops", 70, (row) => row.ops, undefined, {
      definition: "Operations in its graph",
    }),
    numberColumn("seconds", "time", 85, (row) => row.seconds, seconds),
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
};

function Compilations({ run, route, compile }: CompileProps) {
  const filter = route.params.get("filter") ?? "";
  const at = route.params.get("at");
  const all = useMemo(() => compile.rows("compilation") ?? [], [compile]);
  const rows = useMemo(
    () =>
      all.filter(
        matcher(filter, fields, (row) =>
          [row.compile_id, row.function, row.file, row.outcome, reason(row)].join(" "),
        ),
      ),
    [all, filter],
  );
  const columns = useMemo(() => columnsOf(run, all), [run, all]);
  const selected = all.find((row) => keyOf(row) === at);
  if (!compile) return null;
  return (
    <>
      <h1>Compilations</h1>
      <Numbers
        label="Compilations in numbers"
        facts={facts(all, compile.leftOut("compile_span") > 0 ? [] : compile.rows("compile_span"))}
        partial={compile.leftOut("compilation") > 0}
      />
      <ByRank rows={all} />
      <div class={selected ? "with-detail" : ""}>
        <Section
          title="Compilations"
          number={rows.length}
          side={
            <Filter
              value={filter}
              label="Filter compilations"
              hint="function, rank:1, outcome:failed, id:0/1"
              onInput={(text) => setParams(id, { filter: text || null }, true)}
            />
          }
        >
          <Table
            label="Compilations"
            rows={rows}
            columns={columns}
            id={keyOf}
            sort={route.params.get("sort")}
            onSort={(sort) => setParams(id, { sort }, true)}
            selected={at}
            onSelect={(one) =>
              setParams(id, { at: one === at ? null : one, graph: null, show: null, text: null, line: null, diff: null })
            }
            empty="No compilation matches the filter."
          />
          <LeftOut compile={compile} names={["compilation"]} />
        </Section>
      </div>
      {selected ? (
        <CompilationDetail key={at} view={id} compile={compile} one={selected} route={route} run={run} />
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
