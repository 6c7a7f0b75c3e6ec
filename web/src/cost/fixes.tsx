// "Fix this first": causes of lost time, the costliest first, each with where to look.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Section, SourceLink } from "../compile/parts";
import { LeftOutOf } from "../flight/left_out";
import { count, counted, duration } from "../parts/format";
import { ShareBar, shareText } from "../profile/parts";
import { hasRows, type Run } from "../run/data";
import { href, setParams } from "../shell/route";
import { sumOf, type Cost, type CostFix } from "./data";

const shownAtFirst = 8;

interface Props {
  run: Run;
  cost: Cost;
  job: string | null;
  isAll: boolean;
}

function Links({ run, fix, job }: { run: Run; fix: CostFix; job: string | null }) {
  const links: ComponentChildren[] = [];
  const add = (words: string, view: string, params: Record<string, string | null> = {}) =>
    links.push(
      <a key={words} href={href(view, { job, ...params })}>
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
    add("ranks side by side", "ranks", { rank });
    if (hasRows(run, ["comm_arrival"])) add("arrivals", "flight_arrivals");
  }
  if (fix.kind === "idle" || fix.kind === "first_step") {
    add("idle time by cause", "profile_idle");
    const rank = fix.ranks?.[0];
    if (rank !== undefined) add(`timeline of rank ${rank}`, "timeline", { rank: String(rank) });
  }
  if (fix.kind === "compile" && fix.compile_id)
    add(`compilation ${fix.compile_id}`, "compile", { filter: `id:${fix.compile_id}` });
  return <p class="cost-links">{links}</p>;
}

// What the sentence does not tell.
function where(fix: CostFix): string {
  const parts: string[] = [];
  if (fix.kind === "late_rank" && fix.op)
    parts.push(`mostly at ${fix.op}${fix.group_name ? ` of group ${fix.group_name}` : ""}`);
  if (fix.times !== undefined)
    parts.push(
      counted(fix.times, fix.kind === "compile" ? "compilation" : "collective"),
    );
  return parts.join(", ");
}

function Fix({ run, fix, most, job, several }: { run: Run; fix: CostFix; most: number; job: string | null; several: boolean }) {
  const text = fix.text ?? "";
  return (
    <li>
      <div class="cost-words">
        <p>
          <strong>{text.slice(0, 1).toUpperCase() + text.slice(1)}</strong>{" "}
          {several && <span class="quiet">attempt {fix.attempt}</span>}
        </p>
        <p class="quiet">
          {where(fix)} {fix.file && <SourceLink file={fix.file} line={fix.line} job={job} />}
        </p>
        <Links run={run} fix={fix} job={job} />
      </div>
      <ShareBar
        value={fix.lost_ns ?? 0}
        most={most}
        text={`${duration(fix.lost_ns ?? 0)} · ${shareText(fix.share ?? 0)}`}
      />
    </li>
  );
}

// What names nothing that a reader could change.
const isNamed = (fix: CostFix) => fix.reason !== "unknown" && fix.reason !== "pace";

function List({ fixes, most, ...rest }: { fixes: CostFix[]; most: number; run: Run; job: string | null; several: boolean }) {
  return (
    <ol class="cost-fixes">
      {fixes.map((fix) => (
        <Fix key={`${fix.job}.${fix.attempt}.${fix.position}`} fix={fix} most={most} {...rest} />
      ))}
    </ol>
  );
}

function Unnamed({ fixes, ...rest }: { fixes: CostFix[]; most: number; run: Run; job: string | null; several: boolean }) {
  if (fixes.length === 0) return null;
  const [lost, share] = [sumOf(fixes, (one) => one.lost_ns), sumOf(fixes, (one) => one.share)];
  return (
    <details class="cost-unnamed">
      <summary>
        Nothing to fix is named by {counted(fixes.length, "more cause")}: {duration(lost)}
        {!rest.several && `, ${shareText(share)} of the lost time`}
      </summary>
      <List fixes={fixes} {...rest} />
    </details>
  );
}

export function Fixes({ run, cost, job, isAll }: Props) {
  const rows = useMemo(
    () => [...cost.rows("cost_fix")].sort((a, b) => (b.lost_ns ?? 0) - (a.lost_ns ?? 0)),
    [cost],
  );
  const named = rows.filter(isNamed);
  const shown = isAll ? named : named.slice(0, shownAtFirst);
  const shared = {
    run,
    job,
    several: new Set(rows.map((row) => `${row.job}.${row.attempt}`)).size > 1,
  };
  return (
    <Section title="Fix this first" number={named.length}>
      {named.length > 0 ? (
        <List fixes={shown} most={named[0]?.lost_ns ?? 0} {...shared} />
      ) : (
        <p class="empty">No lost time has a cause that could be fixed.</p>
      )}
      {named.length > shownAtFirst && (
        <button class="plain link" onClick={() => setParams("cost", { all: isAll ? null : "1" })}>
          {isAll ? `Show the first ${shownAtFirst} only` : `Show all ${count(named.length)}`}
        </button>
      )}
      <Unnamed fixes={rows.filter((one) => !isNamed(one))} most={rows[0]?.lost_ns ?? 0} {...shared} />
      <LeftOutOf tables={cost} names={["cost_fix"]} />
    </Section>
  );
}
