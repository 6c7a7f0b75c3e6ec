// The graphs of one compilation: operations, what changed since the previous one, inputs beside it.
import { useMemo } from "preact/hooks";
import { numberColumn, textColumn } from "../parts/columns";
import { bytes, count, counted, words } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Rows } from "../parts/listing";
import { largestFirst } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Row, Tables } from "../run/tables";
import { setParams, type Route } from "../shell/route";
import type { Graph, Of } from "./data";
import { emptyWords } from "./parts";

type GraphInput = Row<"compile_graph_input">;

export function graphName(graph: Graph): string {
  return [words(graph.kind ?? "graph"), graph.name].filter(Boolean).join(" ");
}

// Columns of a graph, of whatever stands for one.
export function sizeColumns<One>(graphOf: (row: One) => Graph, width: number): Column<One>[] {
  return [
    numberColumn("ops", "ops", width, (row) => graphOf(row).ops),
    numberColumn("nodes", "nodes", width, (row) => graphOf(row).nodes),
    numberColumn("inputs", "inputs", Math.max(75, width), (row) => graphOf(row).inputs),
    numberColumn("input_bytes", "in", 90, (row) => graphOf(row).input_bytes, bytes,
      "Bytes of all inputs; empty when a size is symbolic"),
    numberColumn("output_bytes", "out", 90, (row) => graphOf(row).output_bytes, bytes,
      "Bytes of all outputs; empty when a size is symbolic"),
  ];
}

export const hashColumn = <One,>(graphOf: (row: One) => Graph): Column<One> =>
  textColumn("hash", "hash", 130, (row) => graphOf(row).hash?.slice(0, 12),
    "The same for the same computation on every rank and in every run");

const graphColumns: Column<Graph>[] = [
  textColumn("name", "graph", 0, graphName, { opens: true }),
  ...sizeColumns<Graph>((row) => row, 80),
  textColumn("symbols", "symbols", 110, (row) => row.symbols),
  hashColumn((row) => row),
];

const opColumns: Column<Row<"compile_graph_op">>[] = [
  textColumn("op", "operation", 0, (row) => row.op),
  numberColumn("count", "times", 80, (row) => row.count),
];

const changeColumns: Column<Row<"compile_graph_change">>[] = [
  textColumn("what", "change", 130, (row) => words(row.what ?? "")),
  textColumn("name", "what", 0, (row) => row.name),
  textColumn("before", "before", 180, (row) => row.before),
  textColumn("now", "now", 180, (row) => row.now),
];

interface InputPair {
  name: string;
  now: GraphInput | undefined;
  before: GraphInput | undefined;
}

// "f32[4, 8] cuda:0"; strides where they are what differs.
function inputText(input: GraphInput | undefined, strides = false): string {
  if (!input) return "";
  const parts = [`${input.dtype ?? ""}[${input.sizes ?? "?"}]`];
  if (input.device) parts.push(input.device);
  if (strides && input.strides) parts.push(`strides ${input.strides}`);
  return parts.join(" ");
}

function differs({ now, before }: InputPair): boolean {
  return inputText(now, true) !== inputText(before, true);
}

function hasOnlyOtherStrides(pair: InputPair): boolean {
  return differs(pair) && inputText(pair.now) === inputText(pair.before);
}

// By name; what only one of them has stands alone.
function pairs(now: GraphInput[], before: GraphInput[]): InputPair[] {
  const old = new Map(before.map((input) => [input.name, input]));
  const names = new Set(now.map((input) => input.name));
  return [
    ...now.map((input) => ({ name: input.name ?? "", now: input, before: old.get(input.name) })),
    ...before
      .filter((input) => !names.has(input.name))
      .map((input) => ({ name: input.name ?? "", now: undefined, before: input })),
  ];
}

const beforeColumns: Column<InputPair>[] = [
  textColumn("before", "in the previous graph", 200, (row) =>
    inputText(row.before, hasOnlyOtherStrides(row)),
  ),
  textColumn("differs", "differs", 70, (row) => (differs(row) ? "yes" : "")),
];

function inputColumns(hasBefore: boolean): Column<InputPair>[] {
  const either = (row: InputPair) => row.now ?? row.before;
  return [
    textColumn("name", "input", 0, (row) => either(row)?.source ?? row.name),
    textColumn("now", hasBefore ? "now" : "type and sizes", hasBefore ? 200 : 260, (row) =>
      inputText(row.now, hasOnlyOtherStrides(row)),
    ),
    ...(hasBefore ? beforeColumns : []),
    numberColumn("bytes", "size", 90, (row) => either(row)?.bytes, bytes),
  ];
}

function useGraphParts(tables: Tables, graph: Graph) {
  return useMemo(() => {
    const isHere = (row: Of) =>
      row.input === graph.input && row.rank === graph.rank && row.entry === graph.entry;
    const inputsAt = (entry: number | undefined) =>
      entry === undefined
        ? []
        : tables
            .rows("compile_graph_input")
            .filter((row) => row.input === graph.input && row.entry === entry);
    return {
      ops: largestFirst(tables.rows("compile_graph_op").filter(isHere), (row) => row.count),
      changes: tables.rows("compile_graph_change").filter(isHere),
      inputs: pairs(inputsAt(graph.entry), inputsAt(graph.previous)),
    };
  }, [tables, graph]);
}

interface PartProps<One> {
  name: string;
  title?: string;
  label?: string;
  rows: One[];
  columns: Column<One>[];
  empty: string;
}

function Part<One extends object>({ name, title = name, label = name, rows, columns, empty }: PartProps<One>) {
  return (
    <section aria-label={name}>
      <h3 class="quiet">
        {title} {count(rows.length)}
      </h3>
      <Rows label={label} rows={rows} columns={columns} empty={empty} />
    </section>
  );
}

export function GraphDetail({ tables, graph }: { tables: Tables; graph: Graph }) {
  const { ops, changes, inputs } = useGraphParts(tables, graph);
  const hasBefore = graph.previous !== undefined;
  const unchanged = "Nothing changed: the same operations on the same inputs.";
  const none = (number: number | undefined, what: string) =>
    (number ?? 0) > 0 ? `Its ${what} are not on this page.` : `It has no ${what}.`;
  return (
    <div class="graph-detail">
      <h3>
        {graphName(graph)}{" "}
        <span class="quiet">
          {counted(graph.ops ?? 0, "operation")}
          {(graph.subgraphs ?? 0) > 0 && `, ${counted(graph.subgraphs ?? 0, "inner graph")}`}
        </span>
      </h3>
      {hasBefore && (
        <Part
          name="Changes"
          title="Changed since the previous graph of this frame"
          rows={changes}
          columns={changeColumns}
          empty={emptyWords(tables, "compile_graph_change", unchanged)}
        />
      )}
      <div class="side-by-side">
        <Part
          name="Inputs"
          label="Inputs of the graph"
          rows={inputs}
          columns={inputColumns(hasBefore)}
          empty={none(graph.inputs, "inputs")}
        />
        <Part
          name="Operations"
          label="Operations of the graph"
          rows={ops}
          columns={opColumns}
          empty={none(graph.ops, "operations")}
        />
      </div>
      <LeftOut
        tables={tables}
        names={["compile_graph_op", "compile_graph_input", "compile_graph_change"]}
      />
    </div>
  );
}

export function GraphsOf(props: { view: string; tables: Tables; graphs: Graph[]; route: Route }) {
  const { view, tables, graphs, route } = props;
  const at = route.params.get("graph");
  const selected = graphs.find((one) => String(one.entry) === at) ?? graphs[0];
  return (
    <>
      <Rows
        label="Graphs of this compilation"
        rows={graphs}
        columns={graphColumns}
        idOf={(row) => String(row.entry)}
        selected={selected ? String(selected.entry) : null}
        onSelect={(row) => setParams(view, { graph: row.entry })}
        empty={emptyWords(tables, "compile_graph", "The log has no graph of this compilation.")}
      />
      <LeftOut tables={tables} names={["compile_graph"]} />
      {selected && <GraphDetail key={selected.entry} tables={tables} graph={selected} />}
    </>
  );
}
