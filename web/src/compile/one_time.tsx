// Where the time of one compilation went.
import { useMemo } from "preact/hooks";
import { sum, type Compile, type Phase } from "./data";
import { AreaLegend, Bar, LeftOut, Rows, emptyWords, numberColumn, textColumn } from "./parts";
import { duration } from "../parts/format";
import type { Column } from "../parts/table";

interface PhaseSum {
  name: string;
  area: string;
  calls: number;
  open: number;
  own: number; // ns
}

function phaseSums(phases: Phase[]): PhaseSum[] {
  const sums = new Map<string, PhaseSum>();
  for (const phase of phases) {
    const name = phase.name ?? "";
    const one = sums.get(name) ?? { name, area: phase.area ?? "other", calls: 0, open: 0, own: 0 };
    one.calls += 1;
    one.open += phase.open ? 1 : 0;
    one.own += phase.self_ns ?? 0;
    sums.set(name, one);
  }
  return [...sums.values()].sort((a, b) => b.own - a.own);
}

function phaseColumns(all: number): Column<PhaseSum>[] {
  return [
    textColumn("name", "phase", 0, (row) => row.name),
    {
      ...textColumn<PhaseSum>("area", "area", 120, (row) => row.area),
      cell: (row) => (
        <span class="area-word">
          <i class={`area ${row.area}`} /> {row.area}
        </span>
      ),
    },
    numberColumn("calls", "times", 80, (row) => row.calls),
    numberColumn("open", "not ended", 90, (row) => row.open || undefined),
    {
      ...numberColumn<PhaseSum>("own", "own time", 260, (row) => row.own),
      cell: (row) => <Bar share={all > 0 ? row.own / all : 0} text={duration(row.own)} />,
      definition: "Time of the phase less that of the phases in it",
    },
  ];
}

export function Time({ compile, phases }: { compile: Compile; phases: Phase[] }) {
  const sums = useMemo(() => phaseSums(phases), [phases]);
  const columns = useMemo(() => phaseColumns(sum(sums, (row) => row.own)), [sums]);
  return (
    <>
      <Rows
        label="Phases of this compilation"
        rows={sums}
        columns={columns}
        empty={emptyWords(
          compile,
          "compile_phase",
          "The log has no events of the phases of this compilation.",
        )}
      />
      {sums.length > 0 && <AreaLegend />}
      <LeftOut compile={compile} names={["compile_phase"]} />
    </>
  );
}
