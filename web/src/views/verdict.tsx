// The answer as a story: the most important finding in the largest letters, a picture of what every rank was doing,
// what the finding rests on, what follows from it, and, folded, what was and was not looked at.
import { useMemo } from "preact/hooks";
import { findingForest, type Analysis, type Diagnostic, type Finding, type Job, type Run } from "../run/data";
import { Blame, confidenceText, Findings } from "../run/findings";
import { restOfHeadline, wholeHeadline } from "../run/evidence";
import { Incident } from "../run/incident";
import { useOnce } from "../run/islands";
import { storyIsland, storyOf } from "../run/story";
import { CopyButton } from "../parts/copy";
import { bytes, capital, count, counted, inputKind, unbroken, words } from "../parts/format";
import { SeverityMark } from "../parts/marks";
import { grouped, sum } from "../parts/rows";
import { href, to } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "verdict";

function Hero({ finding, run }: { finding: Finding; run: Run }) {
  const loaded = useOnce(storyIsland);
  const story = loaded.state === "ready" ? storyOf(loaded.value, run, finding) : undefined;
  return (
    <section class={`hero ${finding.severity}`} aria-label="Verdict">
      <p class="kicker">
        <SeverityMark severity={finding.severity} />
        <span>{finding.role}</span>
        {finding.confidence !== null && (
          <span title="How sure the analysis is">
            confidence {confidenceText(finding.confidence)}
          </span>
        )}
        {story?.markdown && <CopyButton text={story.markdown} words="Copy as Markdown" />}
      </p>
      <h1>{unbroken(finding.headline)}</h1>
      {wholeHeadline(finding) && <p class="whole-headline">{restOfHeadline(finding)}</p>}
      <Blame finding={finding} run={run} />
      {finding.why && (
        <p class="next-step">
          <strong>Reason</strong> {capital(finding.why)}
        </p>
      )}
      {finding.next_step && (
        <p class="next-step">
          <strong>Next step</strong> {finding.next_step}
        </p>
      )}
      {story?.svg && <Incident svg={story.svg} />}
    </section>
  );
}

// "8 Flight Recorder dumps, 16 outputs", the most frequent first.
function inputsInWords(run: Run): string {
  const kinds = [...grouped(run.inputs, (input) => input.kind)];
  kinds.sort(([, a], [, b]) => b.length - a.length);
  return kinds.map(([kind, inputs]) => counted(inputs.length, inputKind(kind))).join(", ");
}

// Without a finding the headline says what that means: looked and found nothing, or could not look.
function NoFindings({ run }: { run: Run }) {
  const ran = run.analyses.filter((one) => one.state === "ran");
  const others = run.analyses.filter((one) => one.state !== "ran");
  const headline =
    run.inputs.length === 0
      ? "No inputs were found"
      : ran.length === 0
        ? "Nothing was analysed"
        : "No problem found";
  return (
    <section class="hero none" aria-label="Verdict">
      <h1>{headline}</h1>
      {run.inputs.length === 0 ? (
        <p>
          Nothing under the given paths could be taken as an input, so nothing can be said about the
          job.
        </p>
      ) : ran.length === 0 ? (
        <p>{counted(run.inputs.length, "input")} found, but no analysis has the data it needs.</p>
      ) : (
        <p>
          {counted(ran.length, "analysis", "analyses")} looked at {inputsInWords(run)}.
          {!run.inputs.some((input) => input.kind === "job_text") &&
            " Without outputs of the ranks it is not known how the job ended."}
        </p>
      )}
      {others.length > 0 && ran.length > 0 && (
        <p>
          {counted(others.length, "analysis needs", "analyses need")} other kinds of data: see What was
          analysed.
        </p>
      )}
    </section>
  );
}

interface Fact {
  label: string;
  value: number;
  note: string;
  definition: string;
  view?: string; // that has more; left out: the inventory
}

function facts(run: Run): Fact[] {
  const ranks = sum(run.jobs, (job) => job.ranks.length);
  const started = sum(run.jobs, (job) => job.world_size ?? job.ranks.length);
  const attempts = sum(run.jobs, (job) => job.attempts);
  const size = sum(run.inputs, (input) => input.bytes ?? 0);
  const imported = run.inputs.filter((input) => input.state === "imported").length;
  const lost = run.diagnostics.filter((one) => one.severity === "error").length;
  const silent = `of ${count(started)}, ${count(started - ranks)} left nothing`;
  const whole = run.inputs.length > 0 ? "no damaged input" : "";
  return [
    {
      label: "job",
      value: run.jobs.length,
      note: run.jobs.length === 1 ? (run.jobs[0]?.name ?? "") : "",
      definition: "Jobs found under the given paths",
    },
    {
      label: "attempt",
      value: attempts,
      note: attempts > run.jobs.length ? "restarted" : "",
      definition: "Attempts of all jobs; a restart makes a new one",
    },
    {
      label: "rank",
      value: ranks,
      note: ranks === 0 ? "" : started > ranks ? silent : "all left data",
      definition: "Ranks that left at least one input, of those the jobs were started with",
    },
    {
      label: "input",
      value: run.inputs.length,
      note: `${count(imported)} imported, ${bytes(size)}`,
      definition: "Files, archive members and streams found; size as it lies on disk",
    },
    {
      label: "diagnostic",
      value: run.diagnostics.length,
      view: "diagnostics",
      note: lost > 0 ? `${count(lost)} lost data` : run.diagnostics.length > 0 ? "no data lost" : whole,
      definition: "Kinds of trouble in inputs, counted once per input",
    },
  ];
}

function Facts({ run }: { run: Run }) {
  return (
    <ul class="facts" aria-label="Facts">
      {facts(run).filter((fact) => fact.label !== "rank" || fact.value > 0).map((fact) => (
        <li key={fact.label} title={fact.definition}>
          <a href={to(fact.view ?? "inventory")}>
            {count(fact.value)}{" "}
            <small>
              {fact.label}
              {fact.value === 1 ? "" : "s"}
            </small>
          </a>
          {fact.note && <span class="quiet">{fact.note}</span>}
        </li>
      ))}
    </ul>
  );
}

const analysisStates: [Analysis["state"], string][] = [
  ["failed", "Failed"],
  ["not run", "Lacked input"],
  ["ran", "Ran"],
];

// "34 analyses ran, 41 lacked input, 1 failed".
function analysedWords(analyses: Analysis[]): string {
  const number = (state: Analysis["state"]) => analyses.filter((one) => one.state === state).length;
  const parts = [
    `${counted(number("ran"), "analysis", "analyses")} ran`,
    number("not run") > 0 && `${count(number("not run"))} lacked input`,
    number("failed") > 0 && `${count(number("failed"))} failed`,
  ];
  return parts.filter(Boolean).join(", ");
}

function AnalysisList({ state, title, all }: { state: Analysis["state"]; title: string; all: Analysis[] }) {
  const some = all.filter((one) => one.state === state);
  if (some.length === 0) return null;
  return (
    <div class={`analyses ${state.replace(" ", "-")}`}>
      <h3>
        {title} <span class="quiet">{some.length}</span>
      </h3>
      <ul>
        {some.map((one) => (
          <li key={one.name}>
            <span class="name">{words(one.name)}</span>
            {state === "ran" && (
              <span class="quiet">
                {" "}
                {one.findings === 0 ? "nothing to report" : counted(one.findings, "finding")}
              </span>
            )}
            {one.reason && <span class="reason">{one.reason}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

// One line until somebody opens it, unless one failed.
function Analyses({ analyses }: { analyses: Analysis[] }) {
  if (analyses.length === 0) return <p class="empty">No analysis took part in this run.</p>;
  return (
    <details class="analysed" open={analyses.some((one) => one.state === "failed")}>
      <summary>
        <h2>What was analysed</h2> <span class="quiet">{analysedWords(analyses)}</span>
      </summary>
      <div class="analysed-lists">
        {analysisStates.map(([state, title]) => (
          <AnalysisList key={state} state={state} title={title} all={analyses} />
        ))}
      </div>
    </details>
  );
}

// What the reader should know of the inputs before trusting the verdict.
function Trouble({ diagnostics }: { diagnostics: Diagnostic[] }) {
  const serious = diagnostics.filter((one) => one.severity !== "info");
  if (serious.length === 0) return null;
  const kinds = [...grouped(serious, (one) => one.name)];
  return (
    <section aria-labelledby="trouble-title">
      <h2 id="trouble-title">Trouble in the inputs</h2>
      <ul class="trouble">
        {kinds.slice(0, 5).map(([name, some]) => {
          const one = some[0] as Diagnostic;
          return (
            <li key={name}>
              <SeverityMark severity={one.severity} word={false} />
              <a href={to("diagnostics", { filter: `name:${name}` })}>{one.meaning}</a>
              <span class="quiet"> in {counted(some.length, "input")}</span>
            </li>
          );
        })}
      </ul>
      {kinds.length > 5 && (
        <p>
          <a href={to("diagnostics")}>and {count(kinds.length - 5)} more kinds</a>
        </p>
      )}
    </section>
  );
}

// Smaller is worse: jobs without a finding come last.
const badness: Record<Finding["severity"], number> = { error: 0, warning: 1, info: 2 };

// One line a job with its first finding, the worst job first: several jobs are several answers.
function Jobs({ run }: { run: Run }) {
  const lines = useMemo(() => {
    const first = new Map<number, { finding: Finding; place: number }>();
    findingForest(run.findings).forEach(({ finding }, place) => {
      if (finding.job !== null && !first.has(finding.job)) first.set(finding.job, { finding, place });
    });
    const order = ({ job }: Job) => {
      const found = first.get(job);
      return found ? [badness[found.finding.severity], found.place] : [3, job];
    };
    return run.jobs
      .map((job) => ({ job, finding: first.get(job.job)?.finding, order: order(job) }))
      .sort((a, b) => a.order[0]! - b.order[0]! || a.order[1]! - b.order[1]!);
  }, [run]);
  if (run.job !== null || run.jobs.length < 2) return null;
  return (
    <section class="job-verdicts" aria-labelledby="job-verdicts-title">
      <h2 id="job-verdicts-title">
        {count(run.jobs.length)} jobs,{" "}
        {counted(lines.filter((one) => one.finding).length, "has findings", "have findings")}
      </h2>
      <ol>
        {lines.map(({ job, finding }) => (
          <li key={job.job}>
            {finding ? <SeverityMark severity={finding.severity} word={false} /> : <span />}
            <a href={href(id, { job: job.job })} title={job.name}>
              {job.name || `job ${job.job}`}
            </a>
            <span class={finding ? "headline" : "headline quiet"} title={finding?.headline}>
              {finding ? finding.headline : "no findings"}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Verdict({ run, route }: ViewProps) {
  const forest = useMemo(() => findingForest(run.findings), [run]);
  const first = forest[0]?.finding;
  return (
    <>
      {first ? <Hero finding={first} run={run} /> : <NoFindings run={run} />}
      <Jobs run={run} />
      {first && <Findings view={id} run={run} forest={forest} route={route} />}
      <Facts run={run} />
      <Trouble diagnostics={run.diagnostics} />
      <Analyses analyses={run.analyses} />
    </>
  );
}

export const view: View = { id, title: "Verdict", order: 10, component: Verdict };
