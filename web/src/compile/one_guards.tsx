// What one compilation relies on: guards, those that failed first, and the modules whose parameters it takes.
import type { Compilation, Compile, Guard, Module } from "./data";
import { LeftOut, Rows, emptyWords, numberColumn, placeColumn, textColumn } from "./parts";
import { bytes, count, counted, duration } from "../parts/format";
import type { Column } from "../parts/table";

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

export function Modules({ compile, modules }: { compile: Compile; modules: Module[] }) {
  return (
    <>
      <Rows
        label="Modules of this compilation"
        rows={modules}
        columns={moduleColumns}
        empty={emptyWords(
          compile,
          "compile_module",
          "Its graph takes no parameters or buffers of modules.",
        )}
      />
      <LeftOut compile={compile} names={["compile_module"]} />
    </>
  );
}

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

export function Guards({
  compile,
  guards,
  one,
}: {
  compile: Compile;
  guards: Guard[];
  one: Compilation;
}) {
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
