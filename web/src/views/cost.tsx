// Cost: how much time is lost, to what, and what to fix first.
import { Numbers, type Fact } from "../compile/parts";
import { costIsland, sumOf, type Cost } from "../cost/data";
import { Fixes } from "../cost/fixes";
import { CollectiveCosts, RankCosts, RegionCosts } from "../cost/tables";
import { counted, duration } from "../parts/format";
import { withTables } from "../parts/loading";
import { shareText } from "../profile/parts";
import type { View, ViewProps } from "../view";

const id = "cost";

function stepFacts(cost: Cost): Fact[] {
  const ranks = cost.rows("cost_rank");
  const wall = sumOf(ranks, (row) => row.wall_ns);
  const lost = sumOf(ranks, (row) => row.lost_ns);
  const inRegions = sumOf(ranks, (row) => row.region_ns);
  if (wall === 0) return [];
  const hasSteps = ranks.some((row) => row.window_source === "step");
  return [
    {
      value: duration(lost),
      label: "lost",
      note: `${shareText(lost / wall)} of ${duration(wall)} in ${hasSteps ? "steps" : "recordings"}`,
      definition:
        "Wall time of the recorded steps of all ranks, less the time they are busy with work that is not waiting",
    },
    {
      value: duration(sumOf(ranks, (row) => row.wait_ns)),
      label: "waiting",
      note: `for other ranks, ${counted(ranks.length, "rank")} recorded`,
    },
    ...(inRegions > 0
      ? [
          {
            value: shareText(inRegions / wall),
            label: "compiled",
            note: "of the step time, by the host",
            definition: "Time of the host inside of calls of compiled regions",
          },
        ]
      : []),
  ];
}

function compileFacts(cost: Cost): Fact[] {
  const regions = cost.rows("cost_region").filter((row) => row.compile_ns !== undefined);
  if (regions.length === 0) return [];
  const again = regions.filter((row) => row.again);
  return [
    {
      value: duration(sumOf(regions, (row) => row.compile_ns)),
      label: "compiling",
      note: `${counted(regions.length, "compilation")}, all ranks`,
    },
    ...(again.length > 0 ? [{
      value: duration(sumOf(again, (row) => row.compile_ns)),
      label: "compiling again",
      note: counted(again.length, "compilation"),
      definition: "Compilations of frames that had been compiled before",
    }] : []),
  ];
}

function CostView({ run, route, cost }: ViewProps & { cost: Cost }) {
  const job = route.params.get("job");
  const partial = cost.leftOut("cost_rank") + cost.leftOut("cost_region") > 0;
  return (
    <>
      <h1>Cost</h1>
      <Numbers
        facts={[...stepFacts(cost), ...compileFacts(cost)]}
        label="Lost time"
        partial={partial}
      />
      <Fixes run={run} cost={cost} job={job} isAll={route.params.get("all") === "1"} />
      <RankCosts run={run} cost={cost} job={job} />
      <CollectiveCosts run={run} cost={cost} job={job} />
      <RegionCosts run={run} cost={cost} job={job} />
    </>
  );
}

export const view: View = {
  id,
  title: "Cost",
  order: 15,
  needs: {
    tables: ["cost_rank", "cost_region"],
    missing: "Neither profiles nor compile logs were found.",
    record:
      "Record torch.profiler traces of some steps on every rank (export_chrome_trace), or start the job with TORCH_TRACE=DIR.",
  },
  component: withTables(costIsland, "cost", CostView),
};
