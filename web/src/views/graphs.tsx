// What was compiled and what it relies on: graphs with the ranks that have the same, guards, symbols.
import { useMemo } from "preact/hooks";
import { compileNeeds, isOf, keyOf, withCompile, type Graph, type Guard, type Module } from "../compile/data";
import { GraphDetail, graphName, hashColumn, sizeColumns } from "../compile/graph";
import { guardColumns } from "../compile/one_parts";
import { idColumn } from "../compile/parts";
import { chosen, Tabs, type Tab } from "../parts/choices";
import { barColumn, numberColumn, textColumn, whoColumns } from "../parts/columns";
import { bytes, count, counted, placeText, rankList, words } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { AddressFilter, Listing, Sheet, useFiltered } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { grouped, largestFirst, most } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import type { Row, Tables } from "../run/tables";
import { to } from "../shell/route";
import type { View } from "../view";

const id = "graphs";

interface Props {
  run: Run;
  tables: Tables;
}

// Graphs of one computation.
interface Same {
  key: string;
  first: Graph;
  all: Graph[];
  ranks: number[];
}

function group(graphs: Graph[]): Same[] {
  const key = (graph: Graph) =>
    `${graphName(graph)} ${graph.hash ?? `${graph.input}:${graph.entry}`}`;
  return [...grouped(graphs, key)].map(([key, all]) => ({
    key,
    first: all[0] as Graph,
    all,
    ranks: [...new Set(all.flatMap((graph) => graph.rank ?? []))],
  }));
}

function graphColumns(ranks: number): Column<Same>[] {
  const ranksText = (row: Same) =>
    row.ranks.length === ranks ? `all ${ranks}` : rankList(row.ranks, 6);
  return [
    textColumn("name", "graph", 0, (row) => graphName(row.first), { opens: true }),
    hashColumn((row) => row.first),
    textColumn("ids", "compilations", 130, (row) =>
      [...new Set(row.all.map((one) => one.compile_id ?? "none"))].slice(0, 8).join(", "),
    ),
    ...(ranks > 1 ? [textColumn<Same>("ranks", "ranks", 110, ranksText)] : []),
    numberColumn("times", "times", 70, (row) => row.all.length),
    ...sizeColumns<Same>((row) => row.first, 70),
    textColumn("symbols", "symbols", 90, (row) => row.first.symbols),
  ];
}

function Uses({ same, tables }: { same: Same; tables: Tables }) {
  const compilations = tables.rows("compilation");
  return (
    <p>
      <strong>In compilations</strong>{" "}
      {same.all.slice(0, 32).map((graph, i) => {
        const one = compilations.find((row) => isOf(row, graph));
        const text = `${graph.rank === undefined ? "" : `rank ${graph.rank} `}${graph.compile_id ?? "none"}`;
        if (!one) return <span key={i}>{text} </span>;
        const params = { at: keyOf(one), show: "graphs", graph: graph.entry };
        return (
          <a key={i} class="id-link" href={to("compile", params)}>
            {text}
          </a>
        );
      })}
      {same.all.length > 32 && `and ${count(same.all.length - 32)} more`}
    </p>
  );
}

const sameFields = {
  id: (row: Same) => row.first.compile_id,
  kind: (row: Same) => row.first.kind,
  hash: (row: Same) => row.first.hash,
};

const sameWords = (row: Same) =>
  [row.key, ...row.all.slice(0, 50).map((one) => one.compile_id)].join(" ");

function GraphIndex({ tables }: Props) {
  const graphs = tables.rows("compile_graph");
  const all = useMemo(() => group(graphs), [graphs]);
  const rows = useFiltered(all, sameFields, sameWords);
  const columns = useMemo(() => graphColumns(new Set(graphs.map((one) => one.rank)).size), [graphs]);
  return (
    <Listing
      view={id}
      title="Different graphs"
      label="Graphs"
      all={all}
      rows={rows}
      columns={columns}
      idOf={(row) => row.key}
      noun="graph"
      filter={{ label: "Filter graphs", hint: "kind:dynamo_output_graph, id:0/0, hash" }}
      empty="The logs have no graphs."
      unmatched="No graph matches the filter."
      below={<LeftOut tables={tables} names={["compile_graph"]} />}
      detail={(row) => (
        <aside class="panel compile-detail" aria-label="Selected graph">
          <Uses same={row} tables={tables} />
          <GraphDetail key={row.key} tables={tables} graph={row.first} />
        </aside>
      )}
    />
  );
}

type OfCompilation = { rank?: number; compile_id?: string; kind?: string };
const ownFields = {
  rank: (row: OfCompilation) => row.rank,
  id: (row: OfCompilation) => row.compile_id,
  kind: (row: OfCompilation) => row.kind,
};

const guardWords = (row: Guard) =>
  [row.guard, row.source, row.kind, placeText(row.file, row.line)].join(" ");

function GuardIndex({ run, tables }: Props) {
  const guards = tables.rows("compile_guard");
  const all = useMemo(() => largestFirst(guards, (row) => row.failed), [guards]);
  const failed = all.filter((row) => (row.failed ?? 0) > 0).length;
  return (
    <Sheet
      title="Guards, those that failed first"
      label="Guards"
      rows={useFiltered(all, ownFields, guardWords)}
      columns={[...whoColumns(run, all), idColumn<Guard>(), ...guardColumns]}
      empty={all.length === 0 ? "The logs list no guards." : "No guard matches the filter."}
      side={<AddressFilter view={id} label="Filter guards" hint="text, kind:TENSOR_MATCH, id:0/0" />}
      above={
        all.length > 0 && (
          <p class="quiet">{counted(failed, "guard")} failed and led to a new compilation.</p>
        )
      }
    >
      <LeftOut tables={tables} names={["compile_guard"]} />
    </Sheet>
  );
}

type Shape = Row<"compile_shape">;
const shapeFields = { ...ownFields, symbol: (row: Shape) => row.symbol };
const shapeWords = (row: Shape) =>
  [row.kind, row.symbol, row.sources, row.expression, row.reason].join(" ");

const shapeColumns: Column<Shape>[] = [
  idColumn(),
  textColumn("kind", "step", 220, (row) => words(row.kind ?? "")),
  textColumn("symbol", "symbol", 80, (row) => row.symbol),
  textColumn("value", "value", 90, (row) => row.value),
  textColumn("range", "range", 120, (row) => row.range),
  textColumn("sources", "comes from", 220, (row) => row.sources),
  textColumn("expression", "expression", 0, (row) =>
    [row.expression, row.result && `= ${row.result}`].filter(Boolean).join(" "),
  ),
  textColumn("reason", "why", 160, (row) => row.reason),
];

function Shapes({ run, tables }: Props) {
  const all = tables.rows("compile_shape");
  const none = "No size was made symbolic: every shape is constant.";
  return (
    <Sheet
      title="Symbolic shapes"
      rows={useFiltered(all, shapeFields, shapeWords)}
      columns={[...whoColumns(run, all), ...shapeColumns]}
      empty={all.length === 0 ? none : "No step matches the filter."}
      side={<AddressFilter view={id} label="Filter symbolic shapes" hint="symbol:s0, kind:create_symbol" />}
    >
      <LeftOut tables={tables} names={["compile_shape"]} />
    </Sheet>
  );
}

const moduleFields = { ...ownFields, depth: (row: Module) => row.depth };
const moduleWords = (row: Module) => [row.path, row.shapes].join(" ");

const moduleColumns = (largest: number): Column<Module>[] => [
  idColumn(),
  textColumn("path", "module", 0, (row) => row.path, {
    cell: (row) => (
      <span style={{ paddingLeft: `${Math.min(row.depth ?? 0, 12) * 12}px` }}>
        <code>{row.path}</code>
      </span>
    ),
  }),
  numberColumn("parameters", "parameters", 100, (row) => row.parameters, undefined,
    "Parameters and buffers of its own"),
  textColumn("shapes", "shapes", 260, (row) => row.shapes),
  numberColumn("nodes", "nodes", 80, (row) => row.nodes, undefined,
    "Nodes of the graph that use them or call it"),
  barColumn("total", "with modules inside", 220, (row) => row.total_bytes, largest, bytes),
];

function Modules({ run, tables }: Props) {
  const all = tables.rows("compile_module");
  const none = "No graph takes parameters of a module.";
  return (
    <Sheet
      title="Modules of compiled frames"
      label="Modules"
      rows={useFiltered(all, moduleFields, moduleWords)}
      columns={[...whoColumns(run, all), ...moduleColumns(most(all, (row) => row.total_bytes))]}
      empty={all.length === 0 ? none : "No module matches the filter."}
      side={<AddressFilter view={id} label="Filter modules" hint="path, shape, id:0/0, depth:1" />}
    >
      <LeftOut tables={tables} names={["compile_module"]} />
    </Sheet>
  );
}

const tabs: (Tab & { show: typeof GraphIndex })[] = [
  { id: "graphs", title: "Graphs", show: GraphIndex },
  { id: "guards", title: "Guards", show: GuardIndex },
  { id: "shapes", title: "Symbolic shapes", show: Shapes },
  { id: "modules", title: "Modules", show: Modules },
];

function Graphs({ run, route, tables }: TableProps) {
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
        forget={{ filter: null, at: null, sort: null }}
      />
      <Part run={run} tables={tables} />
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
