// What compiling cost: time by phase, the slowest compilations, kernels, autotuning, caches, and the size
// of the logs themselves.
import { useMemo } from "preact/hooks";
import { compileNeeds, keyOf, withCompile, withoutAttempt, type Span } from "../compile/data";
import { AreaBar, AreaLegend, areas, AreaWord, idColumn, spanParts } from "../compile/parts";
import { chosen, Tabs } from "../parts/choices";
import { barColumn, numberColumn, placeColumn, textColumn, whoColumns } from "../parts/columns";
import { bytes, count, counted, duration, percent, seconds, words } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Sheet } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { Bar, fact, Legend, Numbers } from "../parts/marks";
import { addUp, largestFirst, most, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Row, TableName, Tables } from "../run/tables";
import type { Run } from "../run/data";
import { goTo } from "../shell/route";
import type { View } from "../view";

const id = "compile_cost";

interface Props {
  run: Run;
  tables: Tables;
}

// Phases of all ranks together.
interface Joined extends Row<"compile_phase_total"> {
  ranks: number;
}

function joinPhases(rows: Row<"compile_phase_total">[]): Joined[] {
  const sums = addUp(rows, (row) => row.name ?? "", ["count", "open", "total_ns", "self_ns"]);
  return largestFirst(sums.map(({ of, ...row }) => ({ ...row, ranks: of.length })), (row) => row.self_ns);
}

// A number and its share of `all`.
const withShare = (all: number, show: (value: number) => string) => (value: number) =>
  `${show(value)}, ${percent(all > 0 ? value / all : 0)}`;

function phaseColumns(all: number, ranks: number): Column<Joined>[] {
  return [
    textColumn("name", "phase", 0, (row) => row.name),
    textColumn("area", "area", 120, (row) => row.area, { cell: (row) => <AreaWord area={row.area} /> }),
    ...(ranks > 1 ? [numberColumn<Joined>("ranks", "ranks", 70, (row) => row.ranks)] : []),
    numberColumn("count", "times", 80, (row) => row.count),
    numberColumn("open", "not ended", 90, (row) => row.open || undefined),
    numberColumn("total", "with inner", 100, (row) => row.total_ns, duration,
      "Time with the phases inside of it"),
    barColumn("self", "own time", 280, (row) => row.self_ns, all, withShare(all, duration),
      "Time without the phases inside of it, and its share of all"),
  ];
}

function WholeBar({ rows, all }: { rows: Joined[]; all: number }) {
  const own = (area: string) =>
    sum(rows, (row) => ((row.area ?? "other") === area ? row.self_ns : 0));
  const items = areas
    .filter(([id]) => own(id) > 0)
    .map(([id, name]) => ({
      id,
      mark: <i class={`area ${id}`} />,
      words: `${name} ${duration(own(id))} (${percent(own(id) / all)})`,
    }));
  return (
    <div class="whole-bar">
      <AreaBar parts={Object.fromEntries(areas.map(([id]) => [id, own(id) / 1e9]))} whole={all / 1e9} />
      <Legend label="Time by area" items={items} />
    </div>
  );
}

function Phases({ tables }: Props) {
  const totals = tables.rows("compile_phase_total");
  const rows = useMemo(() => joinPhases(totals), [totals]);
  const all = sum(rows, (row) => row.self_ns);
  return (
    <Sheet
      title="Phases of the compiler, by own time"
      label="Phases"
      rows={rows}
      columns={phaseColumns(all, most(rows, (row) => row.ranks))}
      empty="The logs have no events of phases (chromium_event): times of compilations come from their metrics."
      above={rows.length > 0 && <WholeBar rows={rows} all={all} />}
    >
      <LeftOut tables={tables} names={["compile_phase_total"]} />
    </Sheet>
  );
}

const spanColumns = (longest: number): Column<Span>[] => [
  idColumn(),
  textColumn("function", "function", 170, (row) => row.function ?? "unknown", { opens: true }),
  placeColumn("file", 180, (row) => [row.file, row.line]),
  numberColumn("seconds", "time", 85, (row) => row.seconds, seconds),
  textColumn("told", "by area", 0, (row) => row.told_by, {
    cell: (row) =>
      row.seconds === undefined ? (
        <span class="quiet">time unknown</span>
      ) : (
        <AreaBar parts={spanParts(row)} whole={longest} />
      ),
  }),
];

function Slowest({ run, tables }: Props) {
  const spans = tables.rows("compile_span");
  const rows = useMemo(() => largestFirst(spans, (row) => row.seconds, -1), [spans]);
  const at = (row: Span) => keyOf({ ...row, compile_id: withoutAttempt(row.compile_id) });
  return (
    <Sheet
      title="Slowest compilations"
      rows={rows}
      columns={[...whoColumns(run, rows), ...spanColumns(rows[0]?.seconds ?? 0)]}
      empty="No compilation began in these logs."
      onSelect={(row) => goTo("compile", { at: at(row), show: "time" })}
      above={<AreaLegend />}
    >
      <LeftOut tables={tables} names={["compile_span"]} />
    </Sheet>
  );
}

const kernelColumns: Column<Row<"compile_kernel">>[] = [
  idColumn(),
  textColumn("kernel", "kernel", 0, (row) => row.kernel),
  textColumn("what", "what was done", 220, (row) => row.what),
  numberColumn("configs", "configs", 80, (row) => row.configs, undefined,
    "Configurations that there are to try"),
  textColumn("cache", "autotune cache", 120, (row) => row.cache),
  textColumn("config", "configuration", 240, (row) => row.config),
  numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
];

const tritonColumns: Column<Row<"triton_use">>[] = [
  idColumn(),
  textColumn("kernel", "kernel", 0, (row) => row.kernel),
  textColumn("place", "source", 180, (row) => row.place),
  textColumn("target", "target", 90, (row) => row.target),
  numberColumn("num_warps", "warps", 70, (row) => row.num_warps),
  numberColumn("shared", "shared memory", 120, (row) => row.shared),
  numberColumn("cache_hits", "from cache", 90, (row) => row.cache_hits, undefined,
    "How many of its compilations came out of Triton's cache"),
  numberColumn("launches", "launches", 90, (row) => row.launches),
  numberColumn("profiled_ns", "in profiles", 100, (row) => row.profiled_ns, duration),
  numberColumn("seconds", "compiling took", 110, (row) => row.seconds, seconds),
];

const pieceColumns: Column<Row<"compile_piece">>[] = [
  idColumn(),
  textColumn("label", "piece", 0, (row) => row.label),
  textColumn("graph_cache", "graph cache", 110, (row) => row.graph_cache),
  numberColumn("entries", "entries", 90, (row) => row.entries),
  numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
];

const tuneColumns: Column<Row<"compile_autotune">>[] = [
  idColumn(),
  textColumn("name", "operation", 170, (row) => row.name),
  textColumn("shapes", "shapes", 160, (row) => row.shapes),
  numberColumn("choices", "tried", 70, (row) => row.choices),
  textColumn("best", "fastest", 0, (row) => [row.best, row.best_description].filter(Boolean).join(" ")),
  numberColumn("best_ms", "its time", 90, (row) => row.best_ms, (ms) => duration(Math.round(ms * 1e6))),
  numberColumn("failed", "not compiled", 100, (row) => row.failed || undefined, undefined,
    "Choices that could not be compiled"),
  numberColumn("seconds", "trying took", 100, (row) => row.seconds, seconds),
];

interface TimedProps<Name extends TableName> extends Props {
  name: Name;
  title: string;
  columns: Column<Row<Name>>[];
  empty: string;
}

// Rows of a table, those that took longest first.
function Timed<Name extends "compile_kernel" | "compile_autotune" | "triton_use" | "compile_piece">(props: TimedProps<Name>) {
  const { run, tables, name, title, columns, empty } = props;
  const all = tables.rows(name);
  const rows = useMemo(() => largestFirst(all, (row) => row.seconds, -1), [all]);
  return (
    <Sheet title={title} rows={rows} columns={[...whoColumns(run, rows), ...columns]} empty={empty}>
      <LeftOut tables={tables} names={[name]} />
    </Sheet>
  );
}

const Kernels = (props: Props) => (
  <Timed
    {...props}
    name="compile_kernel"
    title="Kernels"
    columns={kernelColumns}
    empty="The logs have nothing about single kernels."
  />
);

const Triton = (props: Props) => (
  <Timed
    {...props}
    name="triton_use"
    title="Triton kernels"
    columns={tritonColumns}
    empty="No file of tritonparse among the inputs."
  />
);

const Pieces = (props: Props) => (
  <Timed
    {...props}
    name="compile_piece"
    title="Runs of the backend for pieces of vLLM's graph"
    columns={pieceColumns}
    empty="No log of vLLM among the inputs."
  />
);

const Autotuning = (props: Props) => (
  <Timed
    {...props}
    name="compile_autotune"
    title="Choices of autotuning"
    columns={tuneColumns}
    empty="Nothing was tuned: max-autotune was not used, or the logs do not show it."
  />
);

const totalColumns: Column<Row<"compile_cache_total">>[] = [
  textColumn("cache", "cache", 0, (row) => words(row.cache ?? "")),
  numberColumn("uses", "asked", 80, (row) => row.uses),
  numberColumn("hits", "hits", 220, (row) => row.hits, undefined, {
    cell: ({ hits = 0, uses = 0 }) => {
      const all = Math.max(1, uses);
      return <Bar value={hits} most={all} text={withShare(all, count)(hits)} />;
    },
  }),
  numberColumn("misses", "misses", 80, (row) => row.misses),
  numberColumn("bypasses", "passed by", 90, (row) => row.bypasses),
  numberColumn("again", "missed again", 110, (row) => row.again, undefined,
    "Misses of a key that this process had asked for before"),
  numberColumn("saved", "saved", 90, (row) => row.saved_s, seconds),
  numberColumn("spent", "misses cost", 100, (row) => row.spent_s, seconds),
];

const useColumns: Column<Row<"compile_cache_use">>[] = [
  idColumn(),
  textColumn("cache", "cache", 160, (row) => words(row.cache ?? "")),
  textColumn("status", "answer", 130, (row) => row.detail ?? row.status),
  textColumn("reason", "why", 0, (row) =>
    [row.again ? "asked for before" : "", row.reason].filter(Boolean).join("; "),
  ),
  textColumn("key", "key", 180, (row) => row.key),
  numberColumn("saved", "saved", 90, (row) => row.saved_s, seconds),
  numberColumn("spent", "cost", 90, (row) => row.spent_s, seconds),
];

function Caches({ run, tables }: Props) {
  const totals = tables.rows("compile_cache_total");
  const uses = tables.rows("compile_cache_use");
  return (
    <>
      <Sheet
        title="Caches"
        rows={totals}
        columns={[...whoColumns(run, totals), ...totalColumns]}
        empty="No compilation cache was asked."
      >
        {totals.length > 1 && (
          <p class="quiet">
            Do not add up what caches saved: a hit of aotautograd cache includes that of fx graph
            cache.
          </p>
        )}
      </Sheet>
      <Sheet
        title="Questions to caches"
        rows={uses}
        columns={[...whoColumns(run, uses), ...useColumns]}
        empty="No single question is in the logs."
      >
        <LeftOut tables={tables} names={["compile_cache_use", "compile_cache_total"]} />
      </Sheet>
    </>
  );
}

const weightTitles: [by: string, title: string][] = [
  ["kind", "By kind of entry"],
  ["compile_id", "By compilation"],
  ["source", "By the line of PyTorch that logged it"],
];

type Weight = Row<"compile_weight">;

const weightColumns = (all: number): Column<Weight>[] => [
  textColumn("name", "what", 0, (row) => row.name),
  numberColumn("entries", "entries", 90, (row) => row.entries),
  barColumn("bytes", "size", 280, (row) => row.bytes, all, withShare(all, bytes)),
];

// What all logs have of one name, divided in one way.
function Weights({ title, rows: all }: { title: string; rows: Weight[] }) {
  const rows = largestFirst(addUp(all, (row) => row.name ?? "", ["entries", "bytes"]), (row) => row.bytes);
  const columns = weightColumns(sum(all, (row) => row.bytes));
  return <Sheet title={title} rows={rows} columns={columns} empty="The logs have no entries." />;
}

function LogWeight({ tables }: Props) {
  const all = tables.rows("compile_weight");
  return (
    <>
      <p class="quiet">The bytes of all compile logs, divided in three ways.</p>
      {weightTitles.map(([by, title]) => (
        <Weights key={by} title={title} rows={all.filter((row) => row.divided_by === by)} />
      ))}
      <LeftOut tables={tables} names={["compile_weight"]} />
    </>
  );
}

const parts: { id: string; title: string; tables: TableName[]; show: typeof Phases }[] = [
  { id: "phases", title: "Phases", tables: ["compile_phase_total"], show: Phases },
  { id: "slowest", title: "Slowest", tables: ["compile_span"], show: Slowest },
  { id: "kernels", title: "Kernels", tables: ["compile_kernel"], show: Kernels },
  { id: "triton", title: "Triton", tables: ["triton_use"], show: Triton },
  { id: "pieces", title: "Pieces", tables: ["compile_piece"], show: Pieces },
  { id: "autotune", title: "Autotuning", tables: ["compile_autotune"], show: Autotuning },
  { id: "caches", title: "Caches", tables: ["compile_cache_total"], show: Caches },
  { id: "weight", title: "Log weight", tables: ["compile_weight"], show: LogWeight },
];

function CompileCost({ run, route, tables }: TableProps) {
  const tab = chosen(parts, route.params.get("tab"));
  const Part = parts.find((one) => one.id === tab)?.show ?? Phases;
  const spans = tables.rows("compile_span");
  const totals = tables.rows("compile_cache_total");
  const told = seconds(sum(spans, (row) => row.seconds));
  return (
    <>
      <h1>Compile cost</h1>
      <Numbers
        label="Cost in numbers"
        partial={tables.leftOut("compile_span", "compile_cache_total") > 0}
        facts={[
          fact(told, "in phases", `of ${counted(spans.length, "compilation")}`,
            "Own times of all phases of each compilation, added up"),
          fact(seconds(sum(spans, (row) => row.triton_s)), "in kernels", "",
            "Compiling, tuning and loading kernels"),
          fact(count(sum(totals, (row) => row.hits)), "cache hits",
            `in ${counted(sum(totals, (row) => row.uses), "lookup")}`),
        ]}
      />
      <Tabs view={id} param="tab" tabs={parts} current={tab} label="Parts of the cost" />
      <Part run={run} tables={tables} />
    </>
  );
}

export const view: View = {
  id,
  title: "Compile cost",
  section: "Compile",
  order: 34,
  needs: compileNeeds(parts.flatMap((one) => one.tables)),
  component: withCompile(CompileCost),
};
