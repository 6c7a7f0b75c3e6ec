// What compiling cost: time by phase, the slowest compilations, kernels, autotuning, caches, and the size
// of the logs themselves.
import { useMemo } from "preact/hooks";
import {
  sum,
  withoutAttempt,
  type Autotune,
  type CacheTotal,
  type CacheUse,
  type Compile,
  type Kernel,
  type PhaseTotal,
  type Span,
  type TableName,
  type Weight,
  compileNeeds,
  withCompile,
  type CompileProps,
} from "../compile/data";
import { spanParts } from "../compile/cost";
import {
  AreaBar,
  AreaLegend,
  Bar,
  LeftOut,
  Numbers,
  Rows,
  Section,
  Tabs,
  areas,
  chosen,
  idColumn,
  numberColumn,
  percent,
  placeColumn,
  seconds,
  textColumn,
  whoColumns,
} from "../compile/parts";
import type { Run } from "../run/data";
import { bytes, count, duration, words } from "../parts/format";
import { goTo } from "../shell/route";
import type { Column } from "../parts/table";
import type { View } from "../view";

const id = "compile_cost";

interface Props {
  run: Run;
  compile: Compile;
}

// Phases of all ranks together.
interface Joined extends PhaseTotal {
  ranks: number;
}

function joinPhases(rows: PhaseTotal[]): Joined[] {
  const found = new Map<string, Joined>();
  for (const row of rows) {
    const one = found.get(row.name ?? "") ?? {
      ...row,
      ranks: 0,
      count: 0,
      open: 0,
      total_ns: 0,
      self_ns: 0,
    };
    one.ranks += 1;
    one.count = (one.count ?? 0) + (row.count ?? 0);
    one.open = (one.open ?? 0) + (row.open ?? 0);
    one.total_ns = (one.total_ns ?? 0) + (row.total_ns ?? 0);
    one.self_ns = (one.self_ns ?? 0) + (row.self_ns ?? 0);
    found.set(row.name ?? "", one);
  }
  return [...found.values()].sort((a, b) => (b.self_ns ?? 0) - (a.self_ns ?? 0));
}

function phaseColumns(all: number, ranks: number): Column<Joined>[] {
  return [
    textColumn("name", "phase", 0, (row) => row.name),
    {
      ...textColumn<Joined>("area", "area", 120, (row) => row.area),
      cell: (row) => (
        <span class="area-word">
          <i class={`area ${row.area ?? "other"}`} /> {row.area}
        </span>
      ),
    },
    ...(ranks > 1 ? [numberColumn<Joined>("ranks", "ranks", 70, (row) => row.ranks)] : []),
    numberColumn("count", "times", 80, (row) => row.count),
    numberColumn("open", "not ended", 90, (row) => row.open || undefined),
    numberColumn("total", "with inner", 100, (row) => row.total_ns, duration, {
      definition: "Time with the phases inside of it",
    }),
    {
      ...numberColumn<Joined>("self", "own time", 280, (row) => row.self_ns),
      definition: "Time without the phases inside of it, and its share of all",
      cell: (row) => {
        const share = all > 0 ? (row.self_ns ?? 0) / all : 0;
        return <Bar share={share} text={`${duration(row.self_ns ?? 0)}, ${percent(share)}`} />;
      },
    },
  ];
}

function Phases({ compile }: Props) {
  const totals = compile.rows("compile_phase_total");
  const rows = useMemo(() => joinPhases(totals), [totals]);
  const all = sum(rows, (row) => row.self_ns);
  const ranks = Math.max(0, ...rows.map((row) => row.ranks));
  const columns = useMemo(() => phaseColumns(all, ranks), [all, ranks]);
  const byArea = areas.map(([area, name]) => ({
    area,
    name,
    own: sum(rows, (row) => ((row.area ?? "other") === area ? row.self_ns : 0)),
  }));
  return (
    <Section title="Phases of the compiler, by own time" number={rows.length}>
      {rows.length > 0 && (
        <div class="whole-bar">
          <AreaBar
            parts={Object.fromEntries(byArea.map(({ area, own }) => [area, own / 1e9]))}
            whole={all / 1e9}
          />
          <div class="legend" aria-label="Time by area">
            {byArea
              .filter((one) => one.own > 0)
              .map(({ area, name, own }) => (
                <span key={area}>
                  <i class={`area ${area}`} /> {name} {duration(own)} ({percent(own / all)})
                </span>
              ))}
          </div>
        </div>
      )}
      <Rows
        label="Phases"
        rows={rows}
        columns={columns}
        empty="The logs have no events of phases (chromium_event): times of compilations come from their metrics."
      />
      <LeftOut compile={compile} names={["compile_phase_total"]} />
    </Section>
  );
}

function spanColumns(run: Run, rows: Span[], longest: number): Column<Span>[] {
  return [
    ...whoColumns(run, rows),
    idColumn(),
    textColumn("function", "function", 170, (row) => row.function ?? "not told", { opens: true }),
    placeColumn("file", 180, (row) => [row.file, row.line]),
    numberColumn("seconds", "time", 85, (row) => row.seconds, seconds),
    {
      ...textColumn<Span>("told", "by area", 0, (row) => row.told_by),
      cell: (row) =>
        row.seconds === undefined ? (
          <span class="quiet">time not told</span>
        ) : (
          <AreaBar parts={spanParts(row)} whole={longest} />
        ),
    },
  ];
}

function Slowest({ run, compile }: Props) {
  const spans = compile.rows("compile_span");
  const rows = useMemo(
    () => [...spans].sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1)),
    [spans],
  );
  const columns = useMemo(() => spanColumns(run, rows, rows[0]?.seconds ?? 0), [run, rows]);
  return (
    <Section title="Slowest compilations" number={rows.length}>
      <AreaLegend />
      <Rows
        label="Slowest compilations"
        rows={rows}
        columns={columns}
        empty="No compilation began in these logs."
        onSelect={(row) =>
          goTo("compile", {
            at: [
              row.input ?? "",
              row.rank ?? "",
              row.life ?? 0,
              withoutAttempt(row.compile_id),
            ].join(":"),
            show: "time",
          })
        }
      />
      <LeftOut compile={compile} names={["compile_span"]} />
    </Section>
  );
}

function Kernels({ run, compile }: Props) {
  const all = compile.rows("compile_kernel");
  const rows = useMemo(() => [...all].sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1)), [all]);
  const columns = useMemo(
    (): Column<Kernel>[] => [
      ...whoColumns(run, rows),
      idColumn(),
      textColumn("kernel", "kernel", 0, (row) => row.kernel),
      textColumn("what", "what was done", 220, (row) => row.what),
      numberColumn("configs", "configs", 80, (row) => row.configs, undefined, {
        definition: "Configurations that there are to try",
      }),
      textColumn("cache", "autotune cache", 120, (row) => row.cache),
      textColumn("config", "configuration", 240, (row) => row.config),
      numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
    ],
    [run, rows],
  );
  return (
    <Section title="Kernels" number={rows.length}>
      <Rows
        label="Kernels"
        rows={rows}
        columns={columns}
        empty="The logs tell nothing of single kernels."
      />
      <LeftOut compile={compile} names={["compile_kernel"]} />
    </Section>
  );
}

function Autotuning({ run, compile }: Props) {
  const all = compile.rows("compile_autotune");
  const rows = useMemo(() => [...all].sort((a, b) => (b.seconds ?? -1) - (a.seconds ?? -1)), [all]);
  const columns = useMemo(
    (): Column<Autotune>[] => [
      ...whoColumns(run, rows),
      idColumn(),
      textColumn("name", "operation", 170, (row) => row.name),
      textColumn("shapes", "shapes", 160, (row) => row.shapes),
      numberColumn("choices", "tried", 70, (row) => row.choices),
      textColumn("best", "fastest", 0, (row) =>
        [row.best, row.best_description].filter(Boolean).join(" "),
      ),
      numberColumn(
        "best_ms",
        "its time",
        90,
        (row) => row.best_ms,
        (ms) => duration(Math.round(ms * 1e6)),
      ),
      numberColumn("failed", "not compiled", 100, (row) => row.failed || undefined, undefined, {
        definition: "Choices that could not be compiled",
      }),
      numberColumn("seconds", "trying took", 100, (row) => row.seconds, seconds),
    ],
    [run, rows],
  );
  return (
    <Section title="Choices of autotuning" number={rows.length}>
      <Rows
        label="Choices of autotuning"
        rows={rows}
        columns={columns}
        empty="Nothing was tuned: max-autotune was not used, or the logs do not tell."
      />
      <LeftOut compile={compile} names={["compile_autotune"]} />
    </Section>
  );
}

function totalColumns(run: Run, rows: CacheTotal[]): Column<CacheTotal>[] {
  return [
    ...whoColumns(run, rows),
    textColumn("cache", "cache", 0, (row) => words(row.cache ?? "")),
    numberColumn("uses", "asked", 80, (row) => row.uses),
    {
      ...numberColumn<CacheTotal>("hits", "hits", 220, (row) => row.hits),
      cell: (row) => {
        const share = (row.hits ?? 0) / Math.max(1, row.uses ?? 0);
        return <Bar share={share} text={`${count(row.hits ?? 0)}, ${percent(share)}`} />;
      },
    },
    numberColumn("misses", "misses", 80, (row) => row.misses),
    numberColumn("bypasses", "passed by", 90, (row) => row.bypasses),
    numberColumn("again", "missed again", 110, (row) => row.again, undefined, {
      definition: "Misses of a key that this process had asked for before",
    }),
    numberColumn("saved", "saved", 90, (row) => row.saved_s, seconds),
    numberColumn("spent", "misses cost", 100, (row) => row.spent_s, seconds),
  ];
}

function useColumns(run: Run, rows: CacheUse[]): Column<CacheUse>[] {
  return useMemo(
    () => [
      ...whoColumns(run, rows),
      idColumn(),
      textColumn("cache", "cache", 160, (row) => words(row.cache ?? "")),
      textColumn("status", "answer", 130, (row) => row.detail ?? row.status),
      textColumn("reason", "why", 0, (row) =>
        [row.again ? "asked for before" : "", row.reason].filter(Boolean).join("; "),
      ),
      textColumn("key", "key", 180, (row) => row.key),
      numberColumn("saved", "saved", 90, (row) => row.saved_s, seconds),
      numberColumn("spent", "cost", 90, (row) => row.spent_s, seconds),
    ],
    [run, rows],
  );
}

function Caches({ run, compile }: Props) {
  const totals = compile.rows("compile_cache_total");
  const uses = compile.rows("compile_cache_use");
  const columns = useMemo(() => totalColumns(run, totals), [run, totals]);
  return (
    <>
      <Section title="Caches" number={totals.length}>
        <Rows
          label="Caches"
          rows={totals}
          columns={columns}
          empty="No compilation cache was asked."
        />
        {totals.length > 1 && (
          <p class="quiet">
            Do not add up what caches saved: a hit of aotautograd cache includes that of fx graph
            cache.
          </p>
        )}
      </Section>
      <Section title="Questions to caches" number={uses.length}>
        <Rows
          label="Questions to caches"
          rows={uses}
          columns={useColumns(run, uses)}
          empty="No single question is in the logs."
        />
        <LeftOut compile={compile} names={["compile_cache_use", "compile_cache_total"]} />
      </Section>
    </>
  );
}

const weightTitles: [by: string, title: string][] = [
  ["kind", "By kind of entry"],
  ["compile_id", "By compilation"],
  ["source", "By the line of PyTorch that logged it"],
];

// What all logs have of one name.
function joinWeights(rows: Weight[]): Weight[] {
  const found = new Map<string, Weight>();
  for (const row of rows) {
    const one = found.get(row.name ?? "") ?? { name: row.name ?? "", entries: 0, bytes: 0 };
    one.entries = (one.entries ?? 0) + (row.entries ?? 0);
    one.bytes = (one.bytes ?? 0) + (row.bytes ?? 0);
    found.set(row.name ?? "", one);
  }
  const all = sum(rows, (row) => row.bytes);
  return [...found.values()]
    .map((row) => ({ ...row, share: all > 0 ? (row.bytes ?? 0) / all : 0 }))
    .sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0));
}

const weightColumns: Column<Weight>[] = [
  textColumn("name", "what", 0, (row) => row.name),
  numberColumn("entries", "entries", 90, (row) => row.entries),
  {
    ...numberColumn<Weight>("bytes", "size", 280, (row) => row.bytes),
    cell: (row) => (
      <Bar share={row.share ?? 0} text={`${bytes(row.bytes ?? 0)}, ${percent(row.share)}`} />
    ),
  },
];

function LogWeight({ compile }: Props) {
  const all = compile.rows("compile_weight");
  const parts = useMemo(
    () =>
      weightTitles.map(([by, title]) => ({
        title,
        rows: joinWeights(all.filter((row) => row.divided_by === by)),
      })),
    [all],
  );
  return (
    <>
      <p class="quiet">The bytes of all compile logs, divided in three ways.</p>
      {parts.map(({ title, rows }) => (
        <Section key={title} title={title} number={rows.length}>
          <Rows
            label={title}
            rows={rows}
            columns={weightColumns}
            empty="The logs have no entries."
          />
        </Section>
      ))}
      <LeftOut compile={compile} names={["compile_weight"]} />
    </>
  );
}

const parts: { id: string; title: string; tables: TableName[]; show: typeof Phases }[] = [
  { id: "phases", title: "Phases", tables: ["compile_phase_total"], show: Phases },
  { id: "slowest", title: "Slowest", tables: ["compile_span"], show: Slowest },
  { id: "kernels", title: "Kernels", tables: ["compile_kernel"], show: Kernels },
  { id: "autotune", title: "Autotuning", tables: ["compile_autotune"], show: Autotuning },
  { id: "caches", title: "Caches", tables: ["compile_cache_total"], show: Caches },
  { id: "weight", title: "Log weight", tables: ["compile_weight"], show: LogWeight },
];

function CompileCost({ run, route, compile }: CompileProps) {
  const tab = chosen(parts, route.params.get("tab"));
  const Part = parts.find((one) => one.id === tab)?.show ?? Phases;
  const spans = compile.rows("compile_span");
  const totals = compile.rows("compile_cache_total");
  const told = sum(spans, (row) => row.seconds);
  return (
    <>
      <h1>Compile cost</h1>
      <Numbers
        label="Cost in numbers"
        partial={compile.leftOut("compile_span") + compile.leftOut("compile_cache_total") > 0}
        facts={[
          { value: seconds(told), label: "compiling", note: `${count(spans.length)} compilations` },
          {
            value: seconds(sum(spans, (row) => row.triton_s)),
            label: "in kernels",
            definition: "Compiling, tuning and loading kernels",
          },
          {
            value: count(sum(totals, (row) => row.hits)),
            label: "cache hits",
            note: `of ${count(sum(totals, (row) => row.uses))} questions`,
          },
        ]}
      />
      <Tabs view={id} param="tab" tabs={parts} current={tab} label="Parts of the cost" />
      <Part run={run} compile={compile} />
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
