// Ranks: the one place where they are compared. Choosing a rank leaves what concerns it.
import { useMemo } from "preact/hooks";
import { LeftOutOf } from "../flight/left_out";
import { withTables } from "../parts/loading";
import { Checks } from "../ranks/checks";
import { Deltas, Only, Orders, Overlaps } from "../ranks/compiled";
import { rankRows, ranksIsland, type RankRow, type Ranks } from "../ranks/data";
import { Differences } from "../ranks/difference";
import { Matrix } from "../ranks/matrix";
import { useKeys } from "../shell/keys";
import { setParams } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "ranks";

// The rank after or before the chosen one.
function useSteps(rows: RankRow[], rank: number | null): void {
  const all = [...new Set(rows.map((row) => row.rank))].sort((a, b) => a - b);
  const move = (by: number) => {
    const next = all[rank === null ? (by > 0 ? 0 : all.length - 1) : all.indexOf(rank) + by];
    if (next !== undefined) setParams(id, { rank: String(next), diff: null });
  };
  useKeys([
    { key: "j", does: "Next rank", act: () => move(1) },
    { key: "k", does: "Previous rank", act: () => move(-1) },
  ]);
}

function RanksView({ run, route, ranks }: ViewProps & { ranks: Ranks }) {
  const rows = useMemo(() => rankRows(ranks, run), [ranks, run]);
  const wanted = route.params.get("rank");
  const rank = rows.find((row) => String(row.rank) === wanted)?.rank ?? null;
  useSteps(rows, rank);
  return (
    <>
      <h1>Ranks side by side</h1>
      <Matrix rows={rows} run={run} route={route} />
      <LeftOutOf tables={ranks} names={["compile_rank_time", "profile_rank", "comm_arrival"]} />
      <Checks ranks={ranks} rank={rank} />
      <Differences ranks={ranks} run={run} route={route} rank={rank} />
      <Only ranks={ranks} run={run} rank={rank} />
      <Overlaps ranks={ranks} run={run} rank={rank} />
      <Deltas ranks={ranks} run={run} rank={rank} />
      <Orders ranks={ranks} run={run} rank={rank} />
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
  component: withTables(ranksIsland, "ranks", RanksView),
};
