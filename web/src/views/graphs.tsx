// What was compiled and what it relies on: graphs with the ranks that have the same, guards, symbols.
import { useMemo } from "preact/hooks";
import {
  keyOf,
  isOf,
  type Compilation,
  type Compile,
  type Graph,
  type Guard,
  type Module,
  type Shape,
  compileNeeds,
  withCompile,
  type CompileProps,
} from "../compile/data";
import { guardColumns } from "../compile/detail";
import { GraphDetail, graphName } from "../compile/graph";
import {
  Bar,
  LeftOut,
  Rows,
  Section,
  Tabs,
  chosen,
  idColumn,
  numberColumn,
  placeText,
  textColumn,
  whoColumns,
  type Tab,
} from "../compile/parts";
import { useWalk } from "../compile/walk";
import type { Run } from "../run/data";
import { matcher } from "../parts/filter";
import { bytes, count, counted, rankList, words } from "../parts/format";
import { Filter } from "../parts/marks";
import { href, setParams, type Route } from "../shell/route";
import type { Column } from "../parts/table";
import type { View } from "../view";

const id = "graphs";

interface Props {
  run: Run;
  compile: Compile;
  route: Route;
}

// Graphs of one computation.
interface Same {
  key: string;
  first: Graph;
  all: Graph[];
  ranks: number[];
}

function group(graphs: Graph[]): Same[] {
  const found = new Map<string, Same>();
  for (const graph of graphs) {
    const key = `${graphName(graph)} ${graph.hash ?? `${graph.input}:${graph.entry}`}`;
    const same = found.get(key) ?? { key, first: graph, all: [], ranks: [] };
    same.all.push(graph);
    if (graph.rank !== undefined && !same.ranks.includes(graph.rank)) same.ranks.push(graph.rank);
    found.set(key, same);
  }
  return [...found.values()];
}

function graphColumns(ranks: number): Column<Same>[] {
  return [
    textColumn("name", "graph", 0, (row) => graphName(row.first), { opens: true }),
    textColumn("hash", "hash", 130, (row) => row.first.hash?.slice(0, 12), {
      definition: "The same for the same computation on every rank and in every run",
    }),
    textColumn("ids", "compilations", 130, (row) =>
      [...new Set(row.all.map((one) => one.compile_id ?? "none"))].slice(0, 8).join(", "),
    ),
    ...(ranks > 1
      ? [
          textColumn<Same>("ranks", "ranks", 110, (row) =>
            row.ranks.length === ranks ? `all ${ranks}` : rankList(row.ranks, 6),
          ),
        ]
      : []),
    numberColumn("times", "times", 70, (row) => row.all.length),
    numberColumn("ops", "ops", 70, (row) => row.first.ops),
    numberColumn("nodes", "nodes", 70, (row) => row.first.nodes),
    numberColumn("inputs", "inputs", 75, (row) => row.first.inputs),
    numberColumn("in", "in", 90, (row) => row.first.input_bytes, bytes, {
      definition: "Bytes of all inputs; empty when a size is symbolic",
    }),
    numberColumn("out", "out", 90, (row) => row.first.output_bytes, bytes, {
      definition: "Bytes of all outputs; empty when a size is symbolic",
    }),
    textColumn("symbols", "symbols", 90, (row) => row.first.symbols),
  ];
}

function Uses({ same, compile, job }: { same: Same; compile: Compile; job: string | null }) {
  const compilations = compile.rows("compilation");
  const owner = (graph: Graph): Compilation | undefined =>
    compilations.find((one) => isOf(one, graph));
  return (
    <p>
      <strong>In compilations</strong>{" "}
      {same.all.slice(0, 32).map((graph, i) => {
        const one = owner(graph);
        const text = `${graph.rank === undefined ? "" : `rank ${graph.rank} `}${graph.compile_id ?? "none"}`;
        if (!one) return <span key={i}>{text} </span>;
        const params = { job, at: keyOf(one), show: "graphs", graph: String(graph.entry) };
        return (
          <a key={i} class="id-link" href={href("compile", params)}>
            {text}
          </a>
        );
      })}
      {same.all.length > 32 && `and ${count(same.all.length - 32)} more`}
    </p>
  );
}

function useFilter(route: Route, label: string, hint: string) {
  const filter = route.params.get("filter") ?? "";
  const box = (
    <Filter
      value={filter}
      label={label}
      hint={hint}
      onInput={(text) => setParams(id, { filter: text || null }, true)}
    />
  );
  return { filter, box };
}

const sameFields = {
  id: (row: Same) => row.first.compile_id ?? null,
  kind: (row: Same) => row.first.kind ?? null,
  hash: (row: Same) => row.first.hash ?? null,
};

function GraphIndex({ compile, route }: Props) {
  const graphs = compile.rows("compile_graph");
  const { filter, box } = useFilter(
    route,
    "Filter graphs",
    "kind:dynamo_output_graph, id:0/0, hash",
  );
  const all = useMemo(() => group(graphs), [graphs]);
  const ranks = useMemo(() => new Set(graphs.map((one) => one.rank)).size, [graphs]);
  const columns = useMemo(() => graphColumns(ranks), [ranks]);
  const rows = useMemo(
    () =>
      all.filter(
        matcher(filter, sameFields, (row) =>
          [row.key, ...row.all.slice(0, 50).map((one) => one.compile_id)].join(" "),
        ),
      ),
    [all, filter],
  );
  const at = route.params.get("at");
  const selected = all.find((row) => row.key === at);
  useWalk({
    view: id,
    rows,
    columns,
    sort: null,
    idOf: (row) => row.key,
    noun: "graph",
  });
  return (
    <div class={selected ? "with-detail" : ""}>
      <Section title="Different graphs" number={rows.length} side={box}>
        <Rows
          label="Graphs"
          rows={rows}
          columns={columns}
          idOf={(row) => row.key}
          selected={at}
          onSelect={(row) => setParams(id, { at: row.key === at ? null : row.key })}
          empty={all.length === 0 ? "The logs have no graphs." : "No graph matches the filter."}
        />
        <LeftOut compile={compile} names={["compile_graph"]} />
      </Section>
      {selected && (
        <aside class="panel compile-detail" aria-label="Selected graph">
          <Uses same={selected} compile={compile} job={route.params.get("job")} />
          <GraphDetail key={selected.key} compile={compile} graph={selected.first} />
        </aside>
      )}
    </div>
  );
}

const guardFields = {
  rank: (row: Guard) => row.rank ?? null,
  id: (row: Guard) => row.compile_id ?? null,
  kind: (row: Guard) => row.kind ?? null,
};

function GuardIndex({ run, compile, route }: Props) {
  const guards = compile.rows("compile_guard");
  const { filter, box } = useFilter(route, "Filter guards", "text, kind:TENSOR_MATCH, id:0/0");
  const all = useMemo(
    () => [...guards].sort((a, b) => (b.failed ?? 0) - (a.failed ?? 0)),
    [guards],
  );
  const rows = useMemo(
    () =>
      all.filter(
        matcher(filter, guardFields, (row) =>
          [row.guard, row.source, row.kind, placeText(row.file, row.line)].join(" "),
        ),
      ),
    [all, filter],
  );
  const columns = useMemo(
    () => [...whoColumns(run, all), idColumn<Guard>(), ...guardColumns],
    [run, all],
  );
  const failed = all.filter((row) => (row.failed ?? 0) > 0).length;
  return (
    <Section title="Guards, those that failed first" number={rows.length} side={box}>
      {all.length > 0 && (
        <p class="quiet">{counted(failed, "guard")} failed and led to a new compilation.</p>
      )}
      <Rows
        label="Guards"
        rows={rows}
        columns={columns}
        empty={all.length === 0 ? "The logs list no guards." : "No guard matches the filter."}
      />
      <LeftOut compile={compile} names={["compile_guard"]} />
    </Section>
  );
}

const shapeFields = {
  rank: (row: Shape) => row.rank ?? null,
  id: (row: Shape) => row.compile_id ?? null,
  kind: (row: Shape) => row.kind ?? null,
  symbol: (row: Shape) => row.symbol ?? null,
};

function shapeColumns(run: Run, rows: Shape[]): Column<Shape>[] {
  return [
    ...whoColumns(run, rows),
    idColumn(),
    textColumn("kind", "step", 220, (row) => words(row.kind ?? "")),
    textColumn("symbol", "symbol", 80, (row) => row.symbol),
    textColumn("value", "value", 90, (row) => row.value),
    textColumn("range", "range", 120, (row) => row.range),
    textColumn("sources", "comes from", 220, (row) => row.sources),
    {
      ...textColumn<Shape>("expression", "expression", 0, (row) =>
        [row.expression, row.result && `= ${row.result}`].filter(Boolean).join(" "),
      ),
    },
    textColumn("reason", "why", 160, (row) => row.reason),
  ];
}

function Shapes({ run, compile, route }: Props) {
  const all = compile.rows("compile_shape");
  const { filter, box } = useFilter(
    route,
    "Filter symbolic shapes",
    "symbol:s0, kind:create_symbol",
  );
  const columns = useMemo(() => shapeColumns(run, all), [run, all]);
  const rows = useMemo(
    () =>
      all.filter(
        matcher(filter, shapeFields, (row) =>
          [row.kind, row.symbol, row.sources, row.expression, row.reason].join(" "),
        ),
      ),
    [all, filter],
  );
  return (
    <Section title="Symbolic shapes" number={rows.length} side={box}>
      <Rows
        label="Symbolic shapes"
        rows={rows}
        columns={columns}
        empty={
          all.length === 0
            ? "No size was made symbolic: every shape is constant."
            : "No step matches the filter."
        }
      />
      <LeftOut compile={compile} names={["compile_shape"]} />
    </Section>
  );
}

const moduleFields = {
  rank: (row: Module) => row.rank ?? null,
  id: (row: Module) => row.compile_id ?? null,
  depth: (row: Module) => row.depth ?? null,
};

function moduleColumns(run: Run, rows: Module[], largest: number): Column<Module>[] {
  return [
    ...whoColumns(run, rows),
    idColumn(),
    {
      ...textColumn<Module>("path", "module", 0, (row) => row.path),
      cell: (row) => (
        <span style={{ paddingLeft: `${Math.min(row.depth ?? 0, 12) * 12}px` }}>
          <code>{row.path}</code>
        </span>
      ),
    },
    numberColumn("parameters", "parameters", 100, (row) => row.parameters, undefined, {
      definition: "Parameters and buffers of its own",
    }),
    textColumn("shapes", "shapes", 260, (row) => row.shapes),
    numberColumn("nodes", "nodes", 80, (row) => row.nodes, undefined, {
      definition: "Nodes of the graph that use them or call it",
    }),
    {
      ...numberColumn<Module>("total", "with modules inside", 220, (row) => row.total_bytes),
      cell: (row) =>
        row.total_bytes === undefined ? (
          ""
        ) : (
          <Bar share={largest > 0 ? row.total_bytes / largest : 0} text={bytes(row.total_bytes)} />
        ),
    },
  ];
}

function Modules({ run, compile, route }: Props) {
  const all = compile.rows("compile_module");
  const { filter, box } = useFilter(route, "Filter modules", "path, shape, id:0/0, depth:1");
  const largest = useMemo(
    () => all.reduce((most, row) => Math.max(most, row.total_bytes ?? 0), 0),
    [all],
  );
  const columns = useMemo(() => moduleColumns(run, all, largest), [run, all, largest]);
  const rows = useMemo(
    () => all.filter(matcher(filter, moduleFields, (row) => [row.path, row.shapes].join(" "))),
    [all, filter],
  );
  return (
    <Section title="Modules of compiled frames" number={rows.length} side={box}>
      <Rows
        label="Modules"
        rows={rows}
        columns={columns}
        empty={
          all.length === 0
            ? "No graph takes parameters of a module."
            : "No module matches the filter."
        }
      />
      <LeftOut compile={compile} names={["compile_module"]} />
    </Section>
  );
}

const tabs: (Tab & { show: typeof GraphIndex })[] = [
  { id: "graphs", title: "Graphs", show: GraphIndex },
  { id: "guards", title: "Guards", show: GuardIndex },
  { id: "shapes", title: "Symbolic shapes", show: Shapes },
  { id: "modules", title: "Modules", show: Modules },
];

function Graphs({ run, route, compile }: CompileProps) {
  const tab = chosen(tabs, route.params.get("tab"));
  const Part = tabs.find((one) => one.id === tab)?.show ?? GraphIndex;
  return (
    <>
      <h1>Graphs and guards</h1>
      <Tabs
        view={id}
        param="tab"
        tabs={tabs}
        current={tab}
        label="What to show"
        forget={{ filter: null, at: null }}
      />
      <Part run={run} compile={compile} route={route} />
    </>
  );
}

export const view: View = {
  id,
  title: "Graphs",
  section: "Compile",
  order: 35,
  needs: compileNeeds(["compile_graph", "compile_guard", "compile_shape", "compile_module"]),
  component: withCompile(Graphs),
};
