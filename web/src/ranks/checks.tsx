// Which ranks agree with each other, for each way of asking.
import { counted, steppedList } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Section } from "../parts/listing";
import { differ, largestFirst } from "../parts/rows";
import type { Tables } from "../run/tables";
import { divergenceOf, minorities, type Divergence, type RankCheck } from "./data";

// Short words and what is asked.
export const checkWords: Record<string, [name: string, asks: string]> = {
  compile_ids: ["compilations", "Do all ranks have the same compile ids?"],
  cache: ["caches", "Did the caches of Inductor answer all ranks alike?"],
  collectives: ["collectives", "Do the graphs have the same schedule of collectives, one after the other?"],
  collectives_by_graph: ["collectives of a graph", "Do graphs of the same compilation have the same collectives?"],
  tensor_meta: ["tensors", "Do graphs return tensors of the same shape, type and stride?"],
  tensor_shapes: ["shapes", "Do graphs return tensors of the same shapes?"],
  runtime: ["expected time", "Is the expected time of the k-th graph the same on all ranks?"],
  runtime_by_graph: ["expected time of a graph", "Is the expected time of graphs of the same compilation the same?"],
  order: ["order", "Do all ranks run their graphs in the same order?"],
  order_schedule: ["collectives in order", "Do graphs at the same place of the order have the same collectives?"],
  order_cache: ["caches in order", "Did the caches answer alike for graphs at the same place of the order?"],
};

function Groups({ groups, rank }: { groups: Divergence[]; rank: number | null }) {
  const few = new Set(minorities(groups));
  const sorted = largestFirst(groups, (group) => group.ranks?.length);
  return (
    <ul class="rank-groups">
      {sorted.slice(0, 8).map((group) => (
        <li
          key={group.group_number}
          class={[few.has(group) ? "apart" : "", group.ranks?.includes(rank ?? -1) ? "mine" : ""].join(" ")}
        >
          <strong>
            {(group.ranks?.length ?? 0) === 1 ? "rank" : "ranks"} {steppedList(group.ranks ?? [], 8)}
          </strong>
          {few.has(group) && <span class="apart-word">differs from most</span>}
          {group.detail && <span class="quiet">{group.detail}</span>}
        </li>
      ))}
      {sorted.length > 8 && <li class="quiet">and {counted(sorted.length - 8, "more group")}</li>}
    </ul>
  );
}

function Check({ check, groups, rank }: { check: RankCheck; groups: Divergence[]; rank: number | null }) {
  const [name, asks] = checkWords[check.what ?? ""] ?? [check.what ?? "", ""];
  const differs = check.state === "differs";
  return (
    <li class={differs ? "differs" : ""}>
      <span class={`check-state ${check.state}`}>{differs ? "differ" : "agree"}</span>
      <div>
        <p title={asks}>
          <strong>{name}</strong> <span class="quiet">{asks}</span>
        </p>
        {groups.length > 0 ? (
          <Groups groups={groups} rank={rank} />
        ) : (
          differs && <p class="quiet">{check.detail}</p>
        )}
      </div>
    </li>
  );
}

function attemptOf(check: RankCheck): string {
  return `${check.job}.${check.attempt}`;
}

export function Checks({ tables, rank }: { tables: Tables; rank: number | null }) {
  const all = tables.rows("compile_rank_check");
  const told = all.filter((one) => one.state !== "unavailable");
  const groups = new Map(told.map((one) => [one, divergenceOf(tables, one)]));
  const isShown = (one: RankCheck) =>
    rank === null || (groups.get(one) ?? []).some((group) => group.ranks?.includes(rank));
  const shown = told
    .filter(isShown)
    .sort((a, b) => Number(b.state === "differs") - Number(a.state === "differs"));
  const several = differ(all, attemptOf);
  const untold = [...new Set(all.filter((one) => one.state === "unavailable").map((one) => one.detail))];
  if (all.length === 0) return null;
  return (
    <Section title="Did all ranks compile the same?" number={shown.length}>
      {shown.length > 0 ? (
        <ul class="checks">
          {shown.map((one) => (
            <Check
              key={`${attemptOf(one)} ${one.what}`}
              check={several ? { ...one, detail: `attempt ${one.attempt}: ${one.detail}` } : one}
              groups={groups.get(one) ?? []}
              rank={rank}
            />
          ))}
        </ul>
      ) : (
        <p class="empty">
          {told.length > 0
            ? "This rank answers like the others."
            : "The logs do not have what it takes to compare ranks."}
        </p>
      )}
      {untold.length > 0 && (
        <p class="quiet left-out">Not asked: {untold.slice(0, 6).join("; ")}</p>
      )}
      <LeftOutNote tables={tables} names={["compile_divergence", "compile_rank_check"]} />
    </Section>
  );
}
