// The choice of a group, the same in every view that shows one: a list, and j and k for the next and the
// previous.
import { count, counted, rankList } from "../parts/format";
import type { Run } from "../run/data";
import { Select, useSteps } from "../parts/choices";
import { useKeys } from "../shell/keys";
import { setParams } from "../shell/route";
import { groupTitle, type NamedGroup } from "./data";
import { focusGrid } from "./grid";

interface Props {
  view: string;
  run: Run;
  groups: (NamedGroup & { trouble?: number })[];
  group: NamedGroup;
  leftOut: number;
  table: string; // where those are that the page left out
}

function optionText(group: NamedGroup & { trouble?: number }, run: Run): string {
  const ranks = `${counted(group.members.length, "rank")}: ${rankList(group.members, 4)}`;
  const trouble = group.trouble ? `, ${count(group.trouble)} open or mismatched` : "";
  const job = run.jobs.length > 1 ? `, job ${group.job}` : "";
  const attempt = run.jobs.some((one) => one.attempts > 1) ? `, attempt ${group.attempt}` : "";
  return `${groupTitle(group)} - ${ranks}${trouble}${job}${attempt}`;
}

export function Picker({ view, run, groups, group, leftOut, table }: Props) {
  const choose = (wanted: string) =>
    setParams(view, { group: wanted, seq: null, rank: null, at: null });
  useSteps("group", (by) => {
    const next = groups[groups.indexOf(group) + by];
    if (next) choose(next.id);
  });
  useKeys([
    { key: "g", does: "To the grid, where arrow keys choose a cell", act: focusGrid },
  ]);
  return (
    <div class="section-head">
      <Select
        name="Group"
        value={group.id}
        options={groups.map((one) => [one.id, optionText(one, run)])}
        onChoose={choose}
      />
      {leftOut > 0 && (
        <span class="quiet">
          and {counted(leftOut, "group")} in table <code>{table}</code> of run.duckdb
        </span>
      )}
    </div>
  );
}
