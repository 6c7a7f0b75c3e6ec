// The page around every view: header, navigation, choice of job, keys, help.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { views as allViews } from "views";
import { ofJob, type Run } from "./data";
import { count } from "./format";
import { activeKeys, useKeys, type Key } from "./keys";
import { goTo, href, setParams, useRoute, type Route } from "./route";
import type { View } from "./view";

interface NavigationProps {
  views: View[];
  current: string;
  run: Run;
  job: string | null;
}

function Navigation({ views, current, run, job }: NavigationProps) {
  return (
    <nav aria-label="Views">
      <ul>
        {views.map((view) => {
          const badge = view.badge?.(run) ?? 0;
          return (
            <li key={view.id}>
              <a
                href={href(view.id, { job })}
                aria-current={view.id === current ? "page" : undefined}
              >
                {view.title}
                {badge > 0 && <span class="badge">{count(badge)}</span>}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function JobChoice({ run, job, view }: { run: Run; job: number | null; view: string }) {
  if (run.jobs.length < 2) return null;
  const choose = (value: string) =>
    setParams(view, { job: value || null, finding: null, attempt: null });
  return (
    <label class="job-choice">
      <span aria-hidden="true">Job</span>
      <select
        aria-label="Job"
        value={job ?? ""}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">all {run.jobs.length}</option>
        {run.jobs.map((one) => (
          <option key={one.job} value={one.job}>
            {one.name || `job ${one.job}`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {activeKeys().map((key) => (
          <div key={key.key}>
            <dt>
              <kbd>{key.key}</kbd>
            </dt>
            <dd>{key.does}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        Every state of this page is in its address: copy it to share what you see.
      </p>
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}

function focusFilter(): void {
  const filter = document.querySelector<HTMLInputElement>("input[type=search]");
  filter?.focus();
  filter?.select();
}

// The job in the address, when there is such a job.
function chosenJob(run: Run, route: Route): number | null {
  const text = route.params.get("job");
  const job = run.jobs.find((one) => String(one.job) === text);
  return job ? job.job : null;
}

export function Frame({ run: whole }: { run: Run }) {
  const route = useRoute();
  const [help, setHelp] = useState(false);
  const job = chosenJob(whole, route);
  const run = useMemo(() => ofJob(whole, job), [whole, job]);
  const views = allViews.filter((one) => one.shown?.(run) ?? true);
  const view = views.find((one) => one.id === route.view) ?? views[0];
  const keys: Key[] = [
    ...views
      .slice(0, 9)
      .map((one, i) => ({ key: `${i + 1}`, does: one.title, act: () => goTo(one.id) })),
    { key: "/", does: "Filter", act: focusFilter },
    { key: "?", does: "Show these keys", act: () => setHelp(true) },
  ];
  useKeys(keys);
  if (!view) return <Broken reason="This build has no views." />;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to content
      </a>
      <header>
        <a class="brand" href={href("")}>
          debrief
        </a>
        <Navigation
          views={views}
          current={view.id}
          run={run}
          job={job === null ? null : String(job)}
        />
        <JobChoice run={whole} job={job} view={view.id} />
        <button
          class="plain help-button"
          aria-label="Show keys"
          title="Keys (?)"
          onClick={() => setHelp(true)}
        >
          ?
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <view.component key={view.id} run={run} whole={whole} route={route} />
      </main>
      <footer>
        {whole.tool.name} {whole.tool.version}. This page holds its data and loads nothing.
      </footer>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

// In place of the page when its data cannot be read.
export function Broken({ reason }: { reason: string }) {
  return (
    <main class="broken">
      <h1>The report cannot be shown</h1>
      <p>{reason}</p>
      <p>Run debrief again on the same inputs, or read findings.json beside this page.</p>
    </main>
  );
}
