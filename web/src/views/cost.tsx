// Cost: how much time is lost, to what, and what to fix first.
import { costIsland } from "../cost/data";
import { Fixes } from "../cost/fixes";
import { RankHeat } from "../cost/rank_heat";
import { CollectiveCosts, RankCosts, RegionCosts } from "../cost/tables";
import { counted, duration, shareText } from "../parts/format";
import { withTables, type TableProps } from "../parts/loading";
import { fact, Numbers, type Fact } from "../parts/marks";
import { sum } from "../parts/rows";
import type { Tables } from "../run/tables";
import type { View } from "../view";

const id = "cost";

function stepFacts(tables: Tables): Fact[] {
  const ranks = tables.rows("cost_rank");
  const wall = sum(ranks, (row) => row.wall_ns);
  const lost = sum(ranks, (row) => row.lost_ns);
  const inRegions = sum(ranks, (row) => row.region_ns);
  if (wall === 0) return [];
  const windows = ranks.some((row) => row.window_source === "step") ? "steps" : "all, from first to last work";
  const compiled = fact(shareText(inRegions / wall), "compiled", "of the step time, by the host",
    "Time of the host inside of calls of compiled regions");
  return [
    fact(duration(lost), "lost", `${shareText(lost / wall)} of ${duration(wall)} in ${windows}`,
      "Wall time of the recorded steps of all ranks, less the time they are busy with work that is not waiting"),
    fact(duration(sum(ranks, (row) => row.wait_ns)), "waiting",
      `for other ranks, ${counted(ranks.length, "rank")} recorded`),
    ...(inRegions > 0 ? [compiled] : []),
  ];
}

function compileFacts(tables: Tables): Fact[] {
  const regions = tables.rows("cost_region").filter((row) => row.compile_ns !== undefined);
  if (regions.length === 0) return [];
  const again = regions.filter((row) => row.again);
  const time = (some: typeof regions) => duration(sum(some, (row) => row.compile_ns));
  const second = fact(time(again), "compiling again", counted(again.length, "compiled region"),
    "Compilations of frames that had been compiled before");
  return [
    fact(time(regions), "compiling", `${counted(regions.length, "compiled region")}, all ranks`),
    ...(again.length > 0 ? [second] : []),
  ];
}

function CostView({ run, tables }: TableProps) {
  const facts = [...stepFacts(tables), ...compileFacts(tables)];
  return (
    <>
      <h1>Cost</h1>
      {facts.length > 0 && (
        <>
          <Numbers facts={facts} label="Lost time" partial={tables.leftOut("cost_rank", "cost_region") > 0} />
          <Fixes run={run} tables={tables} />
        </>
      )}
      <RankHeat tables={tables} />
      <RankCosts run={run} tables={tables} />
      <CollectiveCosts run={run} tables={tables} />
      <RegionCosts run={run} tables={tables} />
    </>
  );
}

export const view: View = {
  id,
  title: "Cost",
  order: 15,
  needs: {
    tables: ["cost_rank", "cost_region", "what_if_job"],
    missing: "Neither profiles nor compile logs were found.",
    record:
      "Record torch.profiler traces of some steps on every rank (export_chrome_trace), or start the job with TORCH_TRACE=DIR.",
  },
  component: withTables(costIsland, CostView),
};
