// The page around every view: header, navigation, choice of job, keys, help.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { views as allViews } from "views";
import { hasRows, ofJob, type Run } from "../run/data";
import { Missing } from "../parts/loading";
import { Select } from "../parts/choices";
import { count } from "../parts/format";
import { activeKeys, useKeys, type Key } from "./keys";
import { goTo, href, setParams, useRoute, type Route } from "./route";
import type { View } from "../view";

// Views under one title of the navigation's first row.
interface Section {
  title: string;
  views: View[];
}

function sectionsOf(views: View[]): Section[] {
  const sections: Section[] = [];
  for (const view of views) {
    const title = view.section ?? view.title;
    const section = sections.find((one) => one.title === title);
    if (section) section.views.push(view);
    else sections.push({ title, views: [view] });
  }
  return sections;
}

function isEmpty(run: Run, view: View): boolean {
  return view.needs !== undefined && !hasRows(run, view.needs.tables);
}

interface LinkProps {
  to: View;
  title: string;
  isCurrent: boolean;
  isQuiet: boolean; // leads to nothing but what is missing
  badge: number;
  job: number | null;
}

function NavigationLink({ to, title, isCurrent, isQuiet, badge, job }: LinkProps) {
  return (
    <li>
      <a
        href={href(to.id, { job })}
        aria-current={isCurrent ? "page" : undefined}
        class={isQuiet ? "absent" : undefined}
      >
        {title}
        {badge > 0 && <span class="badge">{count(badge)}</span>}
      </a>
    </li>
  );
}

interface NavigationProps {
  sections: Section[];
  current: View;
  run: Run;
  job: number | null;
}

// First the sections; a section leads to its first view that has something to show.
function Navigation({ sections, current, run, job }: NavigationProps) {
  return (
    <nav aria-label="Sections">
      <ul>
        {sections.map(({ title, views }) => (
          <NavigationLink
            key={title}
            to={views.find((one) => !isEmpty(run, one)) ?? (views[0] as View)}
            title={title}
            isCurrent={views.includes(current)}
            isQuiet={views.every((one) => isEmpty(run, one))}
            badge={views.reduce((sum, one) => sum + (one.badge?.(run) ?? 0), 0)}
            job={job}
          />
        ))}
      </ul>
    </nav>
  );
}

function SectionNavigation({ sections, current, run, job }: NavigationProps) {
  const views = sections.find((one) => one.views.includes(current))?.views ?? [];
  if (views.length < 2) return null;
  return (
    <nav class="within" aria-label="Views">
      <ul>
        {views.map((one) => (
          <NavigationLink
            key={one.id}
            to={one}
            title={one.title}
            isCurrent={one === current}
            isQuiet={isEmpty(run, one)}
            badge={one.badge?.(run) ?? 0}
            job={job}
          />
        ))}
      </ul>
    </nav>
  );
}

function JobChoice({ run, job, view }: { run: Run; job: number | null; view: string }) {
  if (run.jobs.length < 2) return null;
  const choose = (value: string) =>
    setParams(view, { job: value || null, finding: null, attempt: null });
  const jobs = run.jobs.map((one): [number, string] => [one.job, one.name || `job ${one.job}`]);
  return (
    <Select
      class="job-choice"
      name="Job"
      value={job ?? ""}
      options={[["", `all ${run.jobs.length}`], ...jobs]}
      onChoose={choose}
    />
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

// Where the navigation is wider than the screen it scrolls: the present view's link comes into sight.
function showCurrentTabs(): void {
  for (const nav of document.querySelectorAll<HTMLElement>("nav")) {
    const link = nav.querySelector<HTMLElement>("a[aria-current]");
    if (link) nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
  }
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
  const sections = useMemo(() => sectionsOf(allViews), []);
  const view = allViews.find((one) => one.id === route.view) ?? allViews[0];
  const keys: Key[] = [
    ...sections.slice(0, 9).map(({ title, views }, i) => ({
      key: `${i + 1}`,
      does: title,
      act: () => goTo((views.find((one) => !isEmpty(run, one)) ?? (views[0] as View)).id),
    })),
    { key: "/", does: "Filter", act: focusFilter },
    { key: "?", does: "Show these keys", act: () => setHelp(true) },
  ];
  useKeys(keys);
  useEffect(showCurrentTabs, [view?.id]);
  if (!view) return <Broken reason="This build has no views." />;
  const navigation = { sections, current: view, run, job };
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
        <Navigation {...navigation} />
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
      <SectionNavigation {...navigation} />
      <main id="main" tabIndex={-1}>
        {view.needs && isEmpty(run, view) ? (
          <Missing title={view.section ?? view.title} needs={view.needs} />
        ) : (
          <view.component key={view.id} run={run} whole={whole} route={route} />
        )}
      </main>
      <footer>
        {whole.tool.name} {whole.tool.version}. This page needs no network.
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
