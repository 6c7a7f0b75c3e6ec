// What one compilation relies on and where its time went: guards, those that failed first, the modules whose
// parameters it takes, phases of the compiler.
import { useMemo } from "preact/hooks";
import { barColumn, numberColumn, placeColumn, textColumn } from "../parts/columns";
import { bytes, count, counted, duration } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Rows } from "../parts/listing";
import { addUp, largestFirst, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Tables } from "../run/tables";
import type { Compilation, Guard, Module, Phase } from "./data";
import { AreaLegend, AreaWord, emptyWords } from "./parts";

const moduleColumns: Column<Module>[] = [
  textColumn("path", "module", 0, (row) => row.path, {
    cell: (row) => (
      <span style={{ paddingLeft: `${Math.min(row.depth ?? 0, 20) * 16}px` }}>
        {(row.depth ?? 0) > 0 ? row.path?.split(".").pop() : row.path}
      </span>
    ),
  }),
  textColumn("class", "class", 160, (row) => row.module_class?.split(".").pop()),
  textColumn("shapes", "parameters and buffers", 420, (row) => row.shapes),
  numberColumn("bytes", "own", 90, (row) => row.bytes, bytes),
  numberColumn("total", "with inner", 100, (row) => row.total_bytes, bytes,
    "Bytes with the modules inside of it"),
  numberColumn("nodes", "nodes", 80, (row) => row.nodes, undefined,
    "Nodes of the graph that use them or call it"),
];

export function Modules({ tables, modules }: { tables: Tables; modules: Module[] }) {
  const none = "Its graph takes no parameters or buffers of modules.";
  return (
    <>
      <Rows
        label="Modules of this compilation"
        rows={modules}
        columns={moduleColumns}
        empty={emptyWords(tables, "compile_module", none)}
      />
      <LeftOut tables={tables} names={["compile_module"]} />
    </>
  );
}

export const guardColumns: Column<Guard>[] = [
  numberColumn("failed", "failed", 80, (row) => row.failed || undefined, (n) => `${count(n)} \u00d7`,
    "Times that it failed and a new compilation followed"),
  textColumn("kind", "kind", 150, (row) => row.kind),
  textColumn("source", "checks", 200, (row) => row.source ?? "global state"),
  textColumn("guard", "guard", 0, (row) => row.guard, { cell: (row) => <code>{row.guard}</code> }),
  placeColumn("needed by", 200, (row) => [row.file, row.line]),
];

export function Guards(props: { tables: Tables; guards: Guard[]; one: Compilation }) {
  const { tables, guards, one } = props;
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
            : emptyWords(tables, "compile_guard", "The log lists no guards of this compilation.")
        }
      />
      <LeftOut tables={tables} names={["compile_guard"]} />
    </>
  );
}

interface PhaseSum extends Phase {
  calls: number;
  unended: number;
}

function phaseSums(phases: Phase[]): PhaseSum[] {
  const sums = addUp(phases, (phase) => phase.name ?? "", ["self_ns"]).map(({ of, ...row }) => ({
    ...row,
    calls: of.length,
    unended: of.filter((phase) => phase.open).length,
  }));
  return largestFirst(sums, (row) => row.self_ns);
}

const phaseColumns = (all: number): Column<PhaseSum>[] => [
  textColumn("name", "phase", 0, (row) => row.name),
  textColumn("area", "area", 120, (row) => row.area, { cell: (row) => <AreaWord area={row.area} /> }),
  numberColumn("calls", "times", 80, (row) => row.calls),
  numberColumn("open", "not ended", 90, (row) => row.unended || undefined),
  barColumn("own", "own time", 260, (row) => row.self_ns, all, duration,
    "Time of the phase less that of the phases in it"),
];

export function Time({ tables, phases }: { tables: Tables; phases: Phase[] }) {
  const sums = useMemo(() => phaseSums(phases), [phases]);
  const none = "The log has no events of the phases of this compilation.";
  return (
    <>
      <Rows
        label="Phases of this compilation"
        rows={sums}
        columns={phaseColumns(sum(sums, (row) => row.self_ns))}
        empty={emptyWords(tables, "compile_phase", none)}
      />
      {sums.length > 0 && <AreaLegend />}
      <LeftOut tables={tables} names={["compile_phase"]} />
    </>
  );
}
