// Ranks: the one place where they are compared. Choosing a rank leaves what concerns it.
import { useMemo } from "preact/hooks";
import { useSteps } from "../parts/choices";
import { LeftOutNote } from "../parts/left_out";
import { withTables, type TableProps } from "../parts/loading";
import { Checks } from "../ranks/checks";
import { Deltas, Only, Orders, Overlaps } from "../ranks/compiled";
import { rankRows, ranksIsland } from "../ranks/data";
import { Differences } from "../ranks/difference";
import { Matrix } from "../ranks/matrix";
import { setParams } from "../shell/route";
import type { View } from "../view";

const id = "ranks";

function RanksView({ run, route, tables }: TableProps) {
  const rows = useMemo(() => rankRows(tables, run), [tables, run]);
  const wanted = route.params.get("rank");
  const rank = rows.find((row) => String(row.rank) === wanted)?.rank ?? null;
  const all = [...new Set(rows.map((row) => row.rank))].sort((a, b) => a - b);
  useSteps("rank", (by) => {
    const next = all[rank === null ? (by > 0 ? 0 : all.length - 1) : all.indexOf(rank) + by];
    if (next !== undefined) setParams(id, { rank: next, diff: null });
  });
  return (
    <>
      <h1>Ranks compared</h1>
      <Matrix rows={rows} run={run} route={route} />
      <LeftOutNote tables={tables} names={["compile_rank_time", "profile_rank", "comm_arrival"]} />
      <Checks tables={tables} rank={rank} />
      <Differences tables={tables} run={run} route={route} rank={rank} />
      <Only tables={tables} run={run} rank={rank} />
      <Overlaps tables={tables} run={run} rank={rank} />
      <Deltas tables={tables} run={run} rank={rank} />
      <Orders tables={tables} run={run} rank={rank} />
    </>
  );
}

export const view: View = {
  id,
  title: "Ranks",
  order: 50,
  needs: {
    tables: ["compile_rank_time", "profile_rank", "comm_arrival"],
    missing: "Nothing that compares ranks was found.",
    record:
      "Give the compile logs (TORCH_TRACE=DIR), the profiles or the Flight Recorder dumps of two ranks or more.",
  },
  component: withTables(ranksIsland, RanksView),
};
