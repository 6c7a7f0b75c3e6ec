// Ranks side by side: who is waited for and why, and how much communication hides behind computation.
import { useMemo } from "preact/hooks";
import { barColumn, columnsOf, numberColumn } from "../parts/columns";
import { count, shareText, showTime } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Sheet } from "../parts/listing";
import { smallestFirst } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import type { Row } from "../run/tables";
import { to } from "../shell/route";
import type { PartProps, Timeline } from "./data";
import { timelineColumns } from "./parts";

type Overlap = Row<"profile_overlap">;
type RankRow = Row<"profile_rank">;

function overlapColumns(run: Run, timelines: Timeline[]): Column<Overlap>[] {
  const of = columnsOf("profile_overlap");
  const share = (value: number) => shareText(value / 100);
  return [
    ...timelineColumns<Overlap>(run, timelines),
    barColumn("overlap_pct", "hidden", 0, (row) => row.overlap_pct ?? 0, 100, share,
      "Of the time in which something communicates, the part in which something computes too", true),
    of.time("communication_ns", "communication", 130),
    of.time("overlap_ns", "both at once", 120),
    of.time("computation_ns", "computation", 120),
  ];
}

export function OverlapTable({ run, tables, timelines }: PartProps) {
  const rows = useMemo(() => {
    const isTold = (row: Overlap) => row.scope === "all" && (row.communication_ns ?? 0) > 0;
    return smallestFirst(tables.rows("profile_overlap").filter(isTold), (row) => row.rank);
  }, [tables]);
  return (
    <Sheet
      title="Communication hidden behind computation"
      label="Overlap"
      rows={rows}
      columns={overlapColumns(run, timelines)}
      isCounted={false}
    >
      <LeftOutNote tables={tables} names={["profile_overlap"]} inStore />
    </Sheet>
  );
}

const reasons: Record<string, string> = {
  host: "its host",
  gpu: "its GPU",
  data: "its data loading",
  unknown: "not known",
};

function rankColumns(run: Run, timelines: Timeline[]): Column<RankRow>[] {
  const of = columnsOf("profile_rank");
  const lost = (row: RankRow) => (row.own_delay_ns ?? 0) / Math.max(1, row.windows ?? 1);
  const finding = (row: RankRow) =>
    run.findings.find(
      (one) =>
        one.rule === "profile.straggler" &&
        one.ranks.includes(row.rank ?? -1) &&
        (one.job === null || one.job === row.job),
    );
  return [
    ...timelineColumns<RankRow>(run, timelines),
    of.time("step_ns", "step", 84),
    of.time("compute_ns", "compute", 84),
    of.time("communication_ns", "communication", 120),
    of.time("idle_ns", "idle", 84),
    of.time("host_own_ns", "host", 84),
    of.time("data_loading_ns", "data", 76),
    of.count("times_last", "arrived last", 100, {
      cell: (row) => (
        <>
          {count(row.times_last ?? 0)}{" "}
          <span class="share-text">of {count(row.collectives ?? 0)}</span>
        </>
      ),
    }),
    numberColumn("lost", "lost per step", 100, lost, showTime,
      "How late it arrived where it was last, without what it inherited from the collective before, divided by its steps"),
    of.time("caused_wait_ns", "others wait", 96),
    {
      id: "reason",
      title: "because of",
      width: 0,
      definition: "Of a straggler: what takes longer on it",
      value: (row) => (row.straggler ? (row.reason ?? "unknown") : null),
      cell: (row) => {
        if (!row.straggler) return "";
        const one = finding(row);
        const words = <span class="reason-mark">{reasons[row.reason ?? ""] ?? row.reason}</span>;
        return one ? (
          <>
            {words} <a href={to("verdict", { finding: one.id })}>finding</a>
          </>
        ) : (
          words
        );
      },
    },
  ];
}

export function Waited({ run, tables, timelines }: PartProps) {
  const all = tables.rows("profile_rank");
  const rows = useMemo(() => smallestFirst(all, (row) => row.rank), [all]);
  if (rows.length < 2) return null;
  const isAnyLate = rows.some((row) => row.straggler);
  return (
    <Sheet
      title="Who is waited for"
      label="Ranks side by side"
      rows={rows}
      columns={rankColumns(run, timelines)}
      isCounted={false}
      above={
        <p class="quiet">
          {isAnyLate
            ? "Times are medians over steps."
            : "No rank is a straggler. Times are medians over steps."}
        </p>
      }
    >
      <LeftOutNote tables={tables} names={["profile_rank"]} inStore />
    </Sheet>
  );
}
