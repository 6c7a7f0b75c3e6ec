// The answer: the most important finding in the largest letters, what it rests on, what follows from it,
// and what was and was not looked at.
import { useEffect, useMemo } from "preact/hooks";
import {
  countAll, findingForest, pathTo, type Analysis, type Diagnostic, type Finding, type FindingNode, type Job, type Run,
} from "../data";
import { bytes, count, counted, rankList, ranksInWords, words } from "../format";
import { useKeys } from "../keys";
import { Chip, RankStrip, SeverityMark, stripSize } from "../parts";
import { href, setParams, type Route } from "../route";
import type { View, ViewProps } from "../view";

const id = "verdict";
const mostShown = 200; // findings shown before "show all"

function percent(confidence: number | null): string {
  return confidence === null ? "" : `${Math.round(confidence * 100)} %`;
}

// Who, which group, which operation, which line: everything the finding points at.
function Blame({ finding, job }: { finding: Finding; job: Job | undefined }) {
  const { ranks, groups, op, seq, compile_ids: compileIds, source } = finding;
  return (
    <div class="blame">
      {ranks.length > 0 && (stripSize(job) > 0 ? <RankStrip finding={finding} size={stripSize(job)} /> : <Chip>{ranksInWords(ranks)}</Chip>)}
      {groups.slice(0, 6).map((group) => (
        <Chip key={group.name} label="group" title={`Process group ${group.name}: ranks ${rankList(group.ranks, 100)}`}>
          {group.desc || group.name} <span class="quiet">ranks {rankList(group.ranks, 6)}</span>
        </Chip>
      ))}
      {groups.length > 6 && <Chip>and {count(groups.length - 6)} more groups</Chip>}
      {op && <Chip label="op"><code>{op}</code></Chip>}
      {seq !== null && <Chip label="seq" title="Sequence number in its group">{count(seq)}</Chip>}
      {compileIds.slice(0, 6).map((one) => <Chip key={one} label="compile id"><code>{one}</code></Chip>)}
      {source.slice(0, 6).map((line, i) => (
        <Chip key={i} label={line.rank === null ? "line" : `rank ${line.rank} at`}>
          <code>{line.file}{line.line === null ? "" : `:${line.line}`}</code>
        </Chip>
      ))}
      {source.length > 6 && <Chip>and {count(source.length - 6)} more lines</Chip>}
    </div>
  );
}

function Hero({ finding, job }: { finding: Finding; job: Job | undefined }) {
  return (
    <section class={`hero ${finding.severity}`} aria-label="Verdict">
      <p class="kicker">
        <SeverityMark severity={finding.severity} />
        <span>{finding.role}</span>
        {finding.confidence !== null && (
          <span title={finding.why || "How sure the analysis is"}>confidence {percent(finding.confidence)}</span>
        )}
      </p>
      <h1>{finding.headline}</h1>
      <Blame finding={finding} job={job} />
      {finding.next_step && <p class="next-step"><strong>Next step</strong> {finding.next_step}</p>}
    </section>
  );
}

// Without a finding the headline says what that means: looked and found nothing, or could not look.
function NoFindings({ run }: { run: Run }) {
  const ran = run.analyses.filter((one) => one.state === "ran");
  const others = run.analyses.filter((one) => one.state !== "ran");
  const headline = run.inputs.length === 0 ? "No inputs were found"
    : ran.length === 0 ? "Nothing was analysed" : "No findings";
  return (
    <section class="hero none" aria-label="Verdict">
      <h1>{headline}</h1>
      {run.inputs.length === 0
        ? <p>Nothing under the given paths could be taken as an input, so nothing can be said about the job.</p>
        : ran.length === 0
          ? <p>{counted(run.inputs.length, "input")} found, but no analysis has the data it needs.</p>
          : <p>{counted(ran.length, "analysis", "analyses")} looked at {counted(run.inputs.length, "input")} and
            found nothing to report: {ran.map((one) => words(one.name)).join(", ")}.</p>}
      {others.length > 0 && ran.length > 0 && (
        <p>Not looked at: {others.map((one) => words(one.name)).join(", ")}. The reasons are below.</p>
      )}
    </section>
  );
}

interface Fact {
  label: string;
  value: number;
  note: string;
  definition: string;
  to: string;
}

function facts(run: Run): Fact[] {
  const ranks = run.jobs.reduce((sum, job) => sum + job.ranks.length, 0);
  const started = run.jobs.reduce((sum, job) => sum + (job.world_size ?? job.ranks.length), 0);
  const attempts = run.jobs.reduce((sum, job) => sum + job.attempts, 0);
  const size = run.inputs.reduce((sum, input) => sum + (input.bytes ?? 0), 0);
  const imported = run.inputs.filter((input) => input.state === "imported").length;
  const lost = run.diagnostics.filter((one) => one.severity === "error").length;
  const first = run.jobs.length === 1 ? run.jobs[0]?.name ?? "" : "";
  return [
    { label: "job", value: run.jobs.length, note: first, to: "inventory",
      definition: "Jobs told apart under the given paths" },
    { label: "attempt", value: attempts, note: attempts > run.jobs.length ? "restarted" : "", to: "inventory",
      definition: "Attempts of all jobs; a restart makes a new one" },
    { label: "rank", value: ranks, to: "inventory",
      note: ranks === 0 ? "" : started > ranks ? `of ${count(started)}, ${count(started - ranks)} left nothing` : "all left data",
      definition: "Ranks that left at least one input, of those the jobs were started with" },
    { label: "input", value: run.inputs.length, to: "inventory", note: `${count(imported)} imported, ${bytes(size)}`,
      definition: "Files, archive members and streams found; size as it lies on disk" },
    { label: "diagnostic", value: run.diagnostics.length, to: "diagnostics",
      note: lost > 0 ? `${count(lost)} lost data` : run.diagnostics.length > 0 ? "no data lost" : run.inputs.length > 0 ? "inputs were whole" : "",
      definition: "Kinds of trouble in inputs, counted once per input" },
  ];
}

function Facts({ run, job }: { run: Run; job: string | null }) {
  return (
    <ul class="facts" aria-label="Facts">
      {facts(run).map((fact) => (
        <li key={fact.label} title={fact.definition}>
          <a href={href(fact.to, { job })}>{count(fact.value)} <small>{fact.label}{fact.value === 1 ? "" : "s"}</small></a>
          {fact.note && <span class="quiet">{fact.note}</span>}
        </li>
      ))}
    </ul>
  );
}

function EvidenceList({ finding }: { finding: Finding }) {
  if (finding.evidence.length === 0) return null;
  return (
    <>
      <h3>Evidence</h3>
      <ul class="evidence">
        {finding.evidence.slice(0, 50).map((one, i) => (
          <li key={i}>
            {one.text}
            {one.table && (
              <span class="quiet"> in <code>{one.table}</code>{one.rows.length > 0 && ` ${one.rows.length === 1 ? "row" : "rows"} ${rankList(one.rows, 6)}`}</span>
            )}
          </li>
        ))}
        {finding.evidence.length > 50 && <li>and {count(finding.evidence.length - 50)} more in findings.json</li>}
      </ul>
    </>
  );
}

// `isHero`: its blame and next step stand at the top of the page already.
function Details({ finding, job, isHero }: { finding: Finding; job: Job | undefined; isHero: boolean }) {
  return (
    <div class="details">
      {!isHero && <Blame finding={finding} job={job} />}
      <EvidenceList finding={finding} />
      {finding.why && (
        <>
          <h3>Why we believe it {finding.confidence !== null && <span class="quiet">{percent(finding.confidence)}</span>}</h3>
          <p>{finding.why}</p>
        </>
      )}
      {finding.next_step && !isHero && <><h3>Next step</h3><p>{finding.next_step}</p></>}
      <p class="quiet">
        Rule <code>{finding.rule}</code>, {finding.role}
        {job && <>, job {job.name || job.job}</>}
        {finding.attempt !== null && <>, attempt {finding.attempt}</>}
      </p>
    </div>
  );
}

interface ItemProps {
  node: FindingNode;
  open: string[]; // ids from a root to the open finding
  unfolded: string[]; // ids whose consequences are shown
  hero: string; // id of the finding at the top of the page
  jobs: Job[];
}

function toggled(list: string[], one: string): string {
  return (list.includes(one) ? list.filter((other) => other !== one) : [...list, one]).join(",");
}

function Consequences({ node, open, unfolded, hero, jobs }: ItemProps) {
  const { finding, children } = node;
  if (children.length === 0) return null;
  const inside = open.length > 1 && open[0] === finding.id;
  const shown = inside || unfolded.includes(finding.id);
  const toggle = () => setParams(id, { more: toggled(unfolded, finding.id), finding: inside ? finding.id : open[0] ?? null });
  return (
    <div class="consequences">
      <button class="plain fold" aria-expanded={shown} onClick={toggle}>
        <span class="arrow" aria-hidden="true" />Explains {counted(countAll(children), "other finding")}
      </button>
      {shown && (
        <ol>
          {children.map((child) => (
            <Item key={child.finding.id} node={child} open={inside ? open.slice(1) : []} unfolded={unfolded} hero={hero} jobs={jobs} />
          ))}
        </ol>
      )}
    </div>
  );
}

function Item({ node, open, unfolded, hero, jobs }: ItemProps) {
  const { finding } = node;
  const isOpen = open.length === 1 && open[0] === finding.id;
  const job = jobs.find((one) => one.job === finding.job);
  return (
    <li id={`finding-${finding.id}`} class={`finding ${finding.severity}${isOpen ? " open" : ""}`}>
      <h3>
        <button class="plain fold" aria-expanded={isOpen} onClick={() => setParams(id, { finding: isOpen ? "none" : finding.id })}>
          <SeverityMark severity={finding.severity} word={false} />
          <span class="headline">{finding.headline}</span>
          {jobs.length > 1 && job && <span class="quiet">{job.name}</span>}
          {finding.ranks.length > 0 && <span class="quiet ranks">{ranksInWords(finding.ranks)}</span>}
        </button>
      </h3>
      {isOpen && <Details finding={finding} job={job} isHero={finding.id === hero} />}
      <Consequences node={node} open={open} unfolded={unfolded} hero={hero} jobs={jobs} />
    </li>
  );
}

function Findings({ run, forest, route }: { run: Run; forest: FindingNode[]; route: Route }) {
  const first = forest[0]?.finding.id ?? "";
  const selected = route.params.get("finding") ?? first;
  const open = useMemo(() => pathTo(forest, selected), [forest, selected]);
  const unfolded = (route.params.get("more") ?? "").split(",").filter(Boolean);
  const at = forest.findIndex((node) => node.finding.id === open[0]);
  const all = route.params.get("all") === "1" || at >= mostShown;
  const shown = all ? forest : forest.slice(0, mostShown);

  const move = (by: number) => {
    const next = forest[Math.max(0, Math.min(forest.length - 1, at + by))];
    if (next) setParams(id, { finding: next.finding.id }, true);
  };
  useKeys([
    { key: "j", does: "Next finding", act: () => move(1) },
    { key: "k", does: "Previous finding", act: () => move(-1) },
  ]);
  useEffect(() => {
    const wanted = route.params.get("finding");
    if (wanted) document.getElementById(`finding-${wanted}`)?.scrollIntoView({ block: "nearest" });
  }, [selected]);

  const consequences = run.findings.length - forest.length;
  return (
    <section aria-labelledby="findings-title">
      <h2 id="findings-title">
        Findings <span class="quiet">{count(forest.length)}{consequences > 0 && ` and ${counted(consequences, "consequence")}`}</span>
      </h2>
      <ol class="findings">
        {shown.map((node) => <Item key={node.finding.id} node={node} open={open[0] === node.finding.id ? open : []}
                                   unfolded={unfolded} hero={first} jobs={run.jobs} />)}
      </ol>
      {shown.length < forest.length && (
        <button onClick={() => setParams(id, { all: "1" })}>Show all {count(forest.length)}</button>
      )}
    </section>
  );
}

const analysisStates: [Analysis["state"], string][] = [
  ["failed", "Failed"], ["not run", "Could not run"], ["ran", "Ran"],
];

function Analyses({ analyses }: { analyses: Analysis[] }) {
  return (
    <section aria-labelledby="analyses-title">
      <h2 id="analyses-title">What was analysed</h2>
      {analyses.length === 0 && <p class="empty">No analysis took part in this run.</p>}
      {analysisStates.map(([state, title]) => {
        const some = analyses.filter((one) => one.state === state);
        if (some.length === 0) return null;
        return (
          <div key={state} class={`analyses ${state.replace(" ", "-")}`}>
            <h3>{title} <span class="quiet">{some.length}</span></h3>
            <ul>
              {some.map((one) => (
                <li key={one.name}>
                  <span class="name">{words(one.name)}</span>
                  {state === "ran" && <span class="quiet"> {one.findings === 0 ? "nothing to report" : counted(one.findings, "finding")}</span>}
                  {one.reason && <span class="reason">{one.reason}</span>}
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </section>
  );
}

// What the reader should know of the inputs before trusting the verdict.
function Trouble({ diagnostics, job }: { diagnostics: Diagnostic[]; job: string | null }) {
  const serious = diagnostics.filter((one) => one.severity !== "info");
  if (serious.length === 0) return null;
  const names = [...new Set(serious.map((one) => one.name))];
  return (
    <section aria-labelledby="trouble-title">
      <h2 id="trouble-title">Trouble in the inputs</h2>
      <ul class="trouble">
        {names.slice(0, 5).map((name) => {
          const some = serious.filter((one) => one.name === name);
          const one = some[0] as Diagnostic;
          return (
            <li key={name}>
              <SeverityMark severity={one.severity} word={false} />
              <a href={href("diagnostics", { job, filter: `name:${name}` })}>{one.meaning}</a>
              <span class="quiet"> in {counted(some.length, "input")}</span>
            </li>
          );
        })}
      </ul>
      {names.length > 5 && <p><a href={href("diagnostics", { job })}>and {count(names.length - 5)} more kinds</a></p>}
    </section>
  );
}

function Verdict({ run, route }: ViewProps) {
  const forest = useMemo(() => findingForest(run.findings), [run]);
  const first = forest[0]?.finding;
  const job = route.params.get("job");
  return (
    <>
      {first ? <Hero finding={first} job={run.jobs.find((one) => one.job === first.job)} /> : <NoFindings run={run} />}
      <Facts run={run} job={job} />
      <div class={first ? "columns" : "columns even"}>
        {first && <Findings run={run} forest={forest} route={route} />}
        <div class="side">
          <Analyses analyses={run.analyses} />
          <Trouble diagnostics={run.diagnostics} job={job} />
        </div>
      </div>
    </>
  );
}

export const view: View = { id, title: "Verdict", order: 10, component: Verdict };
