// "Fix this first": causes of lost time, those whose removal gains most first, each with where to look.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { capital, count, counted, duration, shareText } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Section } from "../parts/listing";
import { Bar, SourceLink } from "../parts/marks";
import { differ, largestFirst, most, smallestFirst, sum } from "../parts/rows";
import { hasRows, type Run } from "../run/data";
import type { Row, Tables } from "../run/tables";
import { param, setParams, to, type Params } from "../shell/route";

const shownAtFirst = 8;

type CostFix = Row<"cost_fix">;

function Links({ run, fix }: { run: Run; fix: CostFix }) {
  const links: ComponentChildren[] = [];
  const add = (words: string, view: string, params: Params = {}) =>
    links.push(
      <a key={words} href={to(view, params)}>
        {words}
      </a>,
    );
  if (fix.kind === "late_rank") {
    const rank = String(fix.culprit);
    const straggler = run.findings.find(
      (one) => one.role === "cause" && one.ranks.length === 1 && one.ranks[0] === fix.culprit,
    );
    if (straggler) add(`finding ${straggler.id}`, "verdict", { finding: straggler.id });
    add(`timeline of rank ${rank}`, "timeline", { rank });
    add("ranks compared", "ranks", { rank });
    if (hasRows(run, ["comm_arrival"])) add("arrivals", "flight_arrivals");
  }
  if (fix.kind === "idle" || fix.kind === "first_step") {
    add("idle time by cause", "profile_idle");
    const rank = fix.ranks?.[0];
    if (rank !== undefined) add(`timeline of rank ${rank}`, "timeline", { rank });
  }
  if (fix.kind === "compile" && fix.compile_id)
    add(`compilation ${fix.compile_id}`, "compile", { filter: `id:${fix.compile_id}` });
  return <p class="cost-links">{links}</p>;
}

const hasGain = (fix: CostFix) => duration(fix.step_ns ?? 0) !== duration(fix.step_before_ns ?? 0);

// It names something that a reader could change, and steps would be shorter for it.
const isWorthIt = (fix: CostFix) =>
  fix.reason !== "unknown" && fix.reason !== "pace" && (fix.gain_ns === undefined || hasGain(fix));

// What the sentence does not tell.
function where(fix: CostFix): string {
  const parts: string[] = [];
  if (fix.gain_ns !== undefined && hasGain(fix))
    parts.push(
      `without this, steps would take ${duration(fix.step_ns ?? 0)} instead of ${duration(fix.step_before_ns ?? 0)}`,
    );
  if (fix.kind === "late_rank" && fix.op)
    parts.push(`mostly at ${fix.op}${fix.group_name ? ` of group ${fix.group_name}` : ""}`);
  if (fix.times !== undefined)
    parts.push(counted(fix.times, fix.kind === "compile" ? "compilation" : "collective"));
  return parts.join(", ");
}

// What all fixes of a list share.
interface Shared {
  run: Run;
  most: number; // of the lost time
  several: boolean; // attempts
}

function Fix({ run, fix, most, several }: Shared & { fix: CostFix }) {
  return (
    <li>
      <div class="cost-words">
        <p>
          <strong>{capital(fix.text ?? "")}</strong>{" "}
          {several && <span class="quiet">attempt {fix.attempt}</span>}
        </p>
        <p class="quiet">
          {where(fix)} {fix.file && <SourceLink file={fix.file} line={fix.line} />}
        </p>
        <Links run={run} fix={fix} />
      </div>
      <Bar
        value={fix.lost_ns ?? 0}
        most={most}
        text={`${duration(fix.lost_ns ?? 0)} lost \u00b7 ${shareText(fix.share ?? 0)}`}
        isShort
      />
    </li>
  );
}


function List({ fixes, ...shared }: Shared & { fixes: CostFix[] }) {
  return (
    <ol class="cost-fixes">
      {fixes.map((fix) => (
        <Fix key={`${fix.job}.${fix.attempt}.${fix.position}`} fix={fix} {...shared} />
      ))}
    </ol>
  );
}

function Unnamed({ fixes, ...shared }: Shared & { fixes: CostFix[] }) {
  if (fixes.length === 0) return null;
  return (
    <details class="cost-unnamed">
      <summary>
        {counted(fixes.length, "smaller cause")} without a fix that would make steps shorter:{" "}
        {duration(sum(fixes, (one) => one.lost_ns))}
        {!shared.several && `, ${shareText(sum(fixes, (one) => one.share))} of the lost time`}
      </summary>
      <List fixes={fixes} {...shared} />
    </details>
  );
}

// By what steps would gain, where they were replayed; else by time lost.
function inOrder(fixes: CostFix[]): CostFix[] {
  const isReplayed = fixes.some((fix) => fix.gain_ns !== undefined);
  return isReplayed
    ? smallestFirst(fixes, (fix) => fix.position)
    : largestFirst(fixes, (fix) => fix.lost_ns);
}

export function Fixes({ run, tables }: { run: Run; tables: Tables }) {
  const rows = useMemo(() => inOrder(tables.rows("cost_fix")), [tables]);
  const isAll = param("all") === "1";
  const named = rows.filter(isWorthIt);
  const shown = isAll ? named : named.slice(0, shownAtFirst);
  const shared = { run, several: differ(rows, (row) => `${row.job}.${row.attempt}`) };
  return (
    <Section title="Fix this first" number={named.length}>
      {named.length > 0 ? (
        <List fixes={shown} most={most(named, (fix) => fix.lost_ns)} {...shared} />
      ) : (
        <p class="empty">
          {hasRows(run, ["cost_rank"])
            ? "No lost time has a cause that could be fixed."
            : "Where steps lose time is not known: no profile was recorded."}
        </p>
      )}
      {named.length > shownAtFirst && (
        <button class="plain link" onClick={() => setParams("cost", { all: isAll ? null : "1" })}>
          {isAll ? `Show the first ${shownAtFirst} only` : `Show all ${count(named.length)}`}
        </button>
      )}
      <Unnamed
        fixes={rows.filter((one) => !isWorthIt(one))}
        most={most(rows, (fix) => fix.lost_ns)}
        {...shared}
      />
      <LeftOutNote tables={tables} names={["cost_fix"]} />
    </Section>
  );
}
