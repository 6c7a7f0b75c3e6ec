// Why the devices were idle: by cause, the longest gaps, and what bounds the step (critical path).
import { useMemo } from "preact/hooks";
import { Numbers, Rows, Section, numberColumn, textColumn, type Fact } from "../compile/parts";
import { count, counted, duration, words } from "../parts/format";
import { Table, type Column } from "../parts/table";
import {
  meaning,
  profileNeeds,
  recordProfile,
  sum,
  timelineInAddress,
  timelinesOf,
  withProfile,
  type Critical,
  type Gap,
  type Idle,
  type Profile,
  type ProfileProps,
  type Step,
  type Timeline,
} from "../profile/data";
import {
  columnsOf,
  LeftOut,
  PartBar,
  PartLegend,
  pathParts,
  ShareBar,
  shareText,
  showTime,
  TimelineChoice,
  timelineColumns,
  TimelineLink,
  type Values,
} from "../profile/parts";
import { nameOf } from "../profile/steps";
import type { Run } from "../run/data";
import { href, setParams, type Route } from "../shell/route";
import type { View } from "../view";

const id = "profile_idle";

const causes: Record<string, string> = {
  data_loading: "The host waits for the data loader",
  sync: "The host waits for the device, and launches only then",
  compile: "The host compiles",
  memory_allocation: "The host allocates or frees memory of the device",
  host: "The host does something else and launches too late",
  kernel_wait: "Work was launched in time and waits for other work",
  graph: "Between kernels of a CUDA or HIP graph",
  other: "None of these can be told",
};

interface Cause {
  category: string;
  detail: string;
  idle_ns: number;
  gaps: number;
  longest_ns: number;
  busiest_host: string;
}

// Devices and ranks added up; what the host mostly did is that of the largest row.
function sumCauses(rows: Idle[]): Cause[] {
  const found = new Map<string, Cause & { most: number }>();
  for (const row of rows) {
    const [category, detail] = [row.category ?? "", row.detail ?? ""];
    const one = found.get(`${category} ${detail}`) ?? {
      category,
      detail,
      idle_ns: 0,
      gaps: 0,
      longest_ns: 0,
      busiest_host: "",
      most: -1,
    };
    one.idle_ns += row.idle_ns ?? 0;
    one.gaps += row.gaps ?? 0;
    one.longest_ns = Math.max(one.longest_ns, row.longest_ns ?? 0);
    if ((row.idle_ns ?? 0) > one.most) {
      one.most = row.idle_ns ?? 0;
      one.busiest_host = row.busiest_host ?? "";
    }
    found.set(`${category} ${detail}`, one);
  }
  return [...found.values()].filter((one) => one.idle_ns > 0).sort((a, b) => b.idle_ns - a.idle_ns);
}

interface PartProps {
  run: Run;
  profile: Profile;
  route: Route;
  timelines: Timeline[];
  current: Timeline | null;
}

const isOf = (current: Timeline | null) => (row: { input?: number }) =>
  current === null || row.input === current.input;

function Causes({ profile, current }: PartProps) {
  const rows = useMemo(
    () => sumCauses(profile.rows("profile_idle").filter(isOf(current))),
    [profile, current],
  );
  const columns = useMemo((): Column<Cause>[] => {
    const total = sum(rows, (row) => row.idle_ns);
    const told = (column: keyof Idle & string) => ({ definition: meaning("profile_idle", column) });
    return [
      textColumn("cause", "cause", 170, (row) => words(row.category), {
        ...told("category"),
        cell: (row) => <span title={causes[row.category]}>{words(row.category)}</span>,
      }),
      textColumn("detail", "host is in", 110, (row) => row.detail, told("detail")),
      {
        id: "idle",
        title: "idle",
        width: 280,
        number: true,
        ...told("idle_ns"),
        value: (row) => row.idle_ns,
        cell: (row) => (
          <ShareBar value={row.idle_ns} most={rows[0]?.idle_ns ?? 0} text={showTime(row.idle_ns)} />
        ),
      },
      numberColumn("share", "share", 76, (row) => row.idle_ns / Math.max(1, total), shareText, {
        definition: "Of all idle time of the chosen ranks",
      }),
      numberColumn("gaps", "gaps", 76, (row) => row.gaps, undefined, told("gaps")),
      numberColumn("longest", "longest", 90, (row) => row.longest_ns, showTime, told("longest_ns")),
      textColumn("mostly", "mostly", 0, (row) => row.busiest_host, told("busiest_host")),
    ];
  }, [rows]);
  return (
    <Section title="Idle time by cause">
      <Rows
        label="Idle time by cause"
        rows={rows}
        columns={columns}
        idOf={(row) => `${row.category} ${row.detail}`}
        empty="The devices were never idle between their first and last work."
      />
      <LeftOut profile={profile} names={["profile_idle"]} />
    </Section>
  );
}

// The step in which each gap begins.
function useStepOf(profile: Profile): (gap: Gap) => Step | undefined {
  return useMemo(() => {
    const byInput = new Map<number | undefined, Step[]>();
    for (const step of profile.rows("profile_step"))
      byInput.set(step.input, [...(byInput.get(step.input) ?? []), step]);
    return (gap) =>
      byInput.get(gap.input)?.find((step) => {
        const begin = step.start_ns ?? 0;
        return (gap.start_ns ?? -1) >= begin && (gap.start_ns ?? 0) < begin + (step.duration_ns ?? 0);
      });
  }, [profile]);
}

function Gaps({ run, profile, route, timelines, current }: PartProps) {
  const rows = useMemo(
    () =>
      profile
        .rows("profile_gap")
        .filter(isOf(current))
        .sort((a, b) => (b.duration_ns ?? 0) - (a.duration_ns ?? 0)),
    [profile, current],
  );
  const job = route.params.get("job");
  const stepOf = useStepOf(profile);
  const columns = useMemo((): Column<Gap>[] => {
    const of = columnsOf("profile_gap");
    return [
      ...(current ? [] : timelineColumns<Gap>(run, timelines)),
      numberColumn("step", "step", 60, (row) => stepOf(row)?.label ?? stepOf(row)?.step, undefined, {
        definition: "The step in which the gap begins; leads to the timeline",
        cell: (row) => {
          const step = stepOf(row);
          return step ? (
            <TimelineLink row={step} job={job}>
              {nameOf(step)}
            </TimelineLink>
          ) : (
            ""
          );
        },
      }),
      of.bar("duration_ns", "gap", 190, rows[0]?.duration_ns ?? 0, showTime),
      of.text("cause", "cause", 140, { cell: (row) => words(row.cause ?? "") }),
      of.text("host", "the host is in", 0),
      of.text("op", "then op", 200, {
        cell: (row) =>
          row.op ? <a href={href("profile_ops", { job, filter: row.op })}>{row.op}</a> : "",
      }),
      of.text("work", "then work", 250),
    ];
  }, [run, rows, timelines, current, job, stepOf]);
  if (rows.length === 0) return null;
  return (
    <Section title="The longest gaps, and what the host did in them" number={rows.length}>
      <Table
        label="Longest gaps"
        rows={rows}
        columns={columns}
        id={(row) => `${row.input} ${row.place}`}
        sort={route.params.get("sort")}
        onSort={(sort) => setParams(id, { sort }, true)}
        empty=""
      />
      <LeftOut profile={profile} names={["profile_gap"]} />
    </Section>
  );
}

function pathValues(row: Critical): Values {
  return {
    host: row.cpu_ns,
    data: row.data_loading_ns,
    compute: row.gpu_compute_ns,
    communication: row.gpu_communication_ns,
    memory: row.gpu_memcpy_ns,
    launch: row.kernel_launch_delay_ns,
    between: row.kernel_kernel_delay_ns,
  };
}

function criticalColumns(run: Run, timelines: Timeline[], rows: Critical[], job: string | null) {
  const of = columnsOf("profile_critical_summary");
  const part = (column: keyof Critical & string, title: string, width: number) =>
    of.time(column, title, width, {
      cell: (row) =>
        shareText(((row[column] as number | undefined) ?? 0) / Math.max(1, row.total_ns ?? 0)),
    });
  const columns: Column<Critical>[] = [
    ...timelineColumns<Critical>(run, timelines),
    of.count("step", "step", 64, {
      cell: (row) =>
        row.step === undefined ? (
          ""
        ) : (
          <TimelineLink row={row} job={job}>
            {count(row.step)}
          </TimelineLink>
        ),
    }),
    {
      id: "bar",
      title: "on the path",
      width: 0,
      value: (row) => row.total_ns ?? null,
      cell: (row) => (
        <PartBar parts={pathParts} values={pathValues(row)} whole={row.total_ns ?? 0} />
      ),
    },
    of.time("total_ns", "path", 84),
    part("cpu_ns", "host", 70),
    part("data_loading_ns", "data", 70),
    part("gpu_compute_ns", "compute", 84),
    part("gpu_communication_ns", "comm.", 76),
    part("gpu_memcpy_ns", "copies", 76),
    part("kernel_launch_delay_ns", "launch", 76),
    part("kernel_kernel_delay_ns", "between", 84),
  ];
  return rows.some((row) => row.step !== undefined)
    ? columns
    : columns.filter((column) => column.id !== "step");
}

// Reasons for which there is no path, each with the ranks that it holds for.
function NotComputable({ rows, timelines }: { rows: Critical[]; timelines: Timeline[] }) {
  const reasons = new Map<string, Set<string>>();
  for (const row of rows) {
    if (row.state === "computed") continue;
    const label = timelines.find((one) => one.input === row.input)?.label ?? "a timeline";
    const reason = row.reason ?? "no reason is told";
    reasons.set(reason, (reasons.get(reason) ?? new Set()).add(label));
  }
  if (reasons.size === 0) return null;
  return (
    <ul class="note-list">
      {[...reasons].map(([reason, labels]) => (
        <li key={reason}>
          Not computable for {inWords([...labels])}: {reason}.
        </li>
      ))}
    </ul>
  );
}

// "rank 0, rank 1, rank 2 and 5 more".
function inWords(labels: string[]): string {
  const first = labels.slice(0, 8).join(", ");
  return labels.length > 8 ? `${first} and ${count(labels.length - 8)} more` : first;
}

function CriticalPath({ run, profile, route, timelines, current }: PartProps) {
  const rows = useMemo(
    () =>
      profile
        .rows("profile_critical_summary")
        .filter(isOf(current))
        .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || (a.step ?? 0) - (b.step ?? 0)),
    [profile, current],
  );
  const job = route.params.get("job");
  const computed = useMemo(() => rows.filter((row) => row.state === "computed"), [rows]);
  const columns = useMemo(
    () => criticalColumns(run, current ? [current] : timelines, computed, job),
    [run, timelines, current, computed, job],
  );
  if (rows.length === 0) return null;
  return (
    <Section
      title="What bounds the step: the critical path"
      side={computed.length > 0 && <PartLegend parts={pathParts} label="Parts of the path" />}
    >
      {computed.length > 0 && (
        <Rows label="Critical path" rows={computed} columns={columns} empty="" />
      )}
      <NotComputable rows={rows} timelines={timelines} />
      <LeftOut profile={profile} names={["profile_critical_summary"]} />
    </Section>
  );
}

function facts(profile: Profile, current: Timeline | null): Fact[] {
  const rows = profile.rows("profile_idle").filter(isOf(current));
  const spans = profile
    .rows("profile_breakdown")
    .filter((row) => row.scope === "all")
    .filter(isOf(current));
  const idle = sum(spans, (row) => row.idle_ns);
  const span = sum(spans, (row) => row.total_ns);
  const [largest] = sumCauses(rows);
  return [
    {
      value: shareText(idle / Math.max(1, span)),
      label: "idle",
      note: `${duration(idle)} of ${duration(span)}`,
      definition: "Nothing runs on any device of the timeline, between its first and last work",
    },
    {
      value: count(sum(rows, (row) => row.gaps)),
      label: "gaps",
      note: `longest ${duration(Math.max(0, ...rows.map((row) => row.longest_ns ?? 0)))}`,
      definition: "Times in which a device has nothing to do",
    },
    ...(largest
      ? [
          {
            value: words(largest.category),
            label: "",
            note: `the largest cause, ${duration(largest.idle_ns)} in ${counted(largest.gaps, "gap")}`,
            ...(causes[largest.category] && { definition: causes[largest.category] as string }),
          },
        ]
      : []),
  ];
}

function IdleView({ run, route, profile }: ProfileProps) {
  const timelines = useMemo(
    () => timelinesOf(run, profile, ["profile_idle", "profile_critical_summary"]),
    [run, profile],
  );
  const current = timelineInAddress(timelines, route);
  const part = { run, profile, route, timelines, current };
  return (
    <>
      <div class="profile-head">
        <h1>Idle time</h1>
        <TimelineChoice view={id} timelines={timelines} current={current} all />
      </div>
      <Numbers
        label="Idle time"
        facts={facts(profile, current)}
        partial={profile.leftOut("profile_idle") > 0}
      />
      <Causes {...part} />
      <Gaps {...part} />
      <CriticalPath {...part} />
    </>
  );
}

export const view: View = {
  id,
  title: "Idle",
  section: "Profile",
  order: 73,
  needs: profileNeeds(
    ["profile_idle", "profile_gap", "profile_critical_summary"],
    "These profiles do not tell why devices are idle.",
    `Record both ProfilerActivity.CPU and ProfilerActivity.CUDA. ${recordProfile}`,
  ),
  component: withProfile(IdleView),
};
