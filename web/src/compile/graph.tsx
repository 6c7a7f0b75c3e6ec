// The graphs of one compilation: operations, what changed since the previous one, inputs beside it.
import { useMemo } from "preact/hooks";
import type { Compile, Graph, GraphChange, GraphInput, GraphOp } from "./data";
import { LeftOut, Rows, emptyWords, numberColumn, textColumn } from "./parts";
import { bytes, count, counted, words } from "../parts/format";
import { setParams, type Route } from "../shell/route";
import type { Column } from "../parts/table";

export function graphName(graph: Graph): string {
  return [words(graph.kind ?? "graph"), graph.name].filter(Boolean).join(" ");
}

const graphColumns: Column<Graph>[] = [
  textColumn("name", "graph", 0, graphName, { opens: true }),
  numberColumn("ops", "ops", 80, (row) => row.ops),
  numberColumn("nodes", "nodes", 80, (row) => row.nodes),
  numberColumn("inputs", "inputs", 80, (row) => row.inputs),
  numberColumn("input_bytes", "in", 90, (row) => row.input_bytes, bytes, {
    definition: "Bytes of all inputs; empty when a size is symbolic",
  }),
  numberColumn("output_bytes", "out", 90, (row) => row.output_bytes, bytes, {
    definition: "Bytes of all outputs; empty when a size is symbolic",
  }),
  textColumn("symbols", "symbols", 110, (row) => row.symbols),
  textColumn("hash", "hash", 130, (row) => row.hash?.slice(0, 12), {
    definition: "The same for the same computation on every rank and in every run",
  }),
];

const opColumns: Column<GraphOp>[] = [
  textColumn("op", "operation", 0, (row) => row.op),
  numberColumn("count", "times", 80, (row) => row.count),
];

const changeColumns: Column<GraphChange>[] = [
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

function inputColumns(hasBefore: boolean): Column<InputPair>[] {
  const either = (row: InputPair) => row.now ?? row.before;
  return [
    textColumn("name", "input", 0, (row) => either(row)?.source ?? row.name),
    textColumn("now", hasBefore ? "now" : "type and sizes", hasBefore ? 200 : 260, (row) =>
      inputText(row.now, hasOnlyOtherStrides(row)),
    ),
    ...(hasBefore
      ? [
          textColumn<InputPair>("before", "in the previous graph", 200, (row) =>
            inputText(row.before, hasOnlyOtherStrides(row)),
          ),
          textColumn<InputPair>("differs", "differs", 70, (row) => (differs(row) ? "yes" : "")),
        ]
      : []),
    numberColumn<InputPair>("bytes", "size", 90, (row) => either(row)?.bytes, bytes),
  ];
}

function useGraphParts(compile: Compile, graph: Graph) {
  return useMemo(() => {
    const isHere = (row: { input?: number; rank?: number; entry?: number }) =>
      row.input === graph.input && row.rank === graph.rank && row.entry === graph.entry;
    const inputsAt = (entry: number | undefined) =>
      entry === undefined
        ? []
        : compile
            .rows("compile_graph_input")
            .filter((row) => row.input === graph.input && row.entry === entry);
    return {
      ops: compile
        .rows("compile_graph_op")
        .filter(isHere)
        .sort((a, b) => (b.count ?? 0) - (a.count ?? 0)),
      changes: compile.rows("compile_graph_change").filter(isHere),
      inputs: pairs(inputsAt(graph.entry), inputsAt(graph.previous)),
    };
  }, [compile, graph]);
}

export function GraphDetail({ compile, graph }: { compile: Compile; graph: Graph }) {
  const { ops, changes, inputs } = useGraphParts(compile, graph);
  const hasBefore = graph.previous !== undefined;
  const columns = useMemo(() => inputColumns(hasBefore), [hasBefore]);
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
        <section aria-label="Changes">
          <h3 class="quiet">
            Changed since the previous graph of this frame {count(changes.length)}
          </h3>
          <Rows
            label="Changes"
            rows={changes}
            columns={changeColumns}
            empty={emptyWords(
              compile,
              "compile_graph_change",
              "Nothing changed: the same operations on the same inputs.",
            )}
          />
        </section>
      )}
      <div class="side-by-side">
        <section aria-label="Inputs">
          <h3 class="quiet">Inputs {count(inputs.length)}</h3>
          <Rows
            label="Inputs of the graph"
            rows={inputs}
            columns={columns}
            empty={
              (graph.inputs ?? 0) > 0 ? "Its inputs are not on this page." : "It has no inputs."
            }
          />
        </section>
        <section aria-label="Operations">
          <h3 class="quiet">Operations {count(ops.length)}</h3>
          <Rows
            label="Operations of the graph"
            rows={ops}
            columns={opColumns}
            empty={
              (graph.ops ?? 0) > 0
                ? "Its operations are not on this page."
                : "It has no operations."
            }
          />
        </section>
      </div>
      <LeftOut
        compile={compile}
        names={["compile_graph_op", "compile_graph_input", "compile_graph_change"]}
      />
    </div>
  );
}

export function GraphsOf(props: { view: string; compile: Compile; graphs: Graph[]; route: Route }) {
  const { view, compile, graphs, route } = props;
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
        onSelect={(row) => setParams(view, { graph: String(row.entry) })}
        empty={emptyWords(compile, "compile_graph", "The log has no graph of this compilation.")}
      />
      <LeftOut compile={compile} names={["compile_graph"]} />
      {selected && <GraphDetail key={selected.entry} compile={compile} graph={selected} />}
    </>
  );
}
