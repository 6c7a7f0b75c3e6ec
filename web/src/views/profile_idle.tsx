// Why the devices were idle: by cause, the longest gaps, and what bounds the step (critical path).
import { useMemo } from "preact/hooks";
import { barColumn, columnsOf, drawnColumn, numberColumn, textColumn } from "../parts/columns";
import { count, counted, duration, rankList, shareText, showTime, words } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Rows, Section, Sheet, SortedTable } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, Numbers, type Fact } from "../parts/marks";
import { addUp, grouped, largestFirst, most, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import {
  breakdownsOf,
  isOfTimeline,
  profileNeeds,
  recordProfile,
  stepsOf,
  useTimelines,
  withProfile,
  type PartProps,
  type Step,
  type Timeline,
} from "../profile/data";
import {
  PartBar,
  PartLegend,
  pathParts,
  TimelineChoice,
  timelineColumns,
  TimelineLink,
  type Values,
} from "../profile/parts";
import { nameOf } from "../profile/steps";
import type { Run } from "../run/data";
import { meaning, type Row, type Tables } from "../run/tables";
import { to } from "../shell/route";
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
  other: "None of these is known",
};

type Idle = Row<"profile_idle">;
type Gap = Row<"profile_gap">;
type Critical = Row<"profile_critical_summary">;

// Devices and ranks added up; what the host mostly did is that of the largest row.
function sumCauses(rows: Idle[]) {
  const sums = addUp(rows, (row) => `${row.category ?? ""} ${row.detail ?? ""}`, ["idle_ns", "gaps"])
    .filter((one) => one.idle_ns > 0)
    .map((one) => ({
      ...one,
      category: one.category ?? "",
      longest_ns: most(one.of, (row) => row.longest_ns),
      busiest_host: largestFirst(one.of, (row) => row.idle_ns)[0]?.busiest_host,
    }));
  return largestFirst(sums, (one) => one.idle_ns);
}

type Cause = ReturnType<typeof sumCauses>[number];

function causeColumns(rows: Cause[]): Column<Cause>[] {
  const total = sum(rows, (row) => row.idle_ns);
  const told = (column: keyof Idle & string) => meaning("profile_idle", column);
  return [
    textColumn("cause", "cause", 170, (row) => words(row.category), {
      definition: told("category"),
      cell: (row) => <span title={causes[row.category]}>{words(row.category)}</span>,
    }),
    textColumn("detail", "host is in", 110, (row) => row.detail ?? "", told("detail")),
    barColumn("idle", "idle", 280, (row) => row.idle_ns, rows[0]?.idle_ns ?? 0, showTime, told("idle_ns"), true),
    numberColumn("share", "share", 76, (row) => row.idle_ns / Math.max(1, total), shareText,
      "Of all idle time of the chosen ranks"),
    numberColumn("gaps", "gaps", 76, (row) => row.gaps, undefined, told("gaps")),
    numberColumn("longest", "longest", 90, (row) => row.longest_ns, showTime, told("longest_ns")),
    textColumn("mostly", "mostly", 0, (row) => row.busiest_host ?? "", told("busiest_host")),
  ];
}

function Causes({ tables, current }: PartProps) {
  const rows = useMemo(
    () => sumCauses(tables.rows("profile_idle").filter(isOfTimeline(current))),
    [tables, current],
  );
  return (
    <Sheet
      title="Idle time by cause"
      rows={rows}
      columns={causeColumns(rows)}
      idOf={(row) => `${row.category} ${row.detail}`}
      empty="The devices were never idle between their first and last work."
      isCounted={false}
    >
      <LeftOutNote tables={tables} names={["profile_idle"]} inStore />
    </Sheet>
  );
}

// The step in which each gap begins.
function useStepOf(tables: Tables): (gap: Gap) => Step | undefined {
  return useMemo(() => {
    const byInput = grouped(stepsOf(tables), (step) => step.input);
    return (gap) =>
      byInput.get(gap.input)?.find((step) => {
        const begin = step.start_ns ?? 0;
        return (gap.start_ns ?? -1) >= begin && (gap.start_ns ?? 0) < begin + (step.duration_ns ?? 0);
      });
  }, [tables]);
}

function gapColumns(stepOf: (gap: Gap) => Step | undefined, longest: number): Column<Gap>[] {
  const of = columnsOf("profile_gap");
  const link = (step: Step | undefined) =>
    step ? <TimelineLink row={step}>{nameOf(step)}</TimelineLink> : "";
  return [
    numberColumn("step", "step", 60, (row) => stepOf(row)?.label ?? stepOf(row)?.step, undefined, {
      definition: "The step in which the gap begins; leads to the timeline",
      cell: (row) => link(stepOf(row)),
    }),
    of.bar("duration_ns", "gap", 190, longest, showTime),
    of.text("cause", "cause", 140, { cell: (row) => words(row.cause ?? "") }),
    of.text("host", "the host is in", 0),
    of.text("op", "then op", 200, {
      cell: (row) => (row.op ? <a href={to("profile_ops", { filter: row.op })}>{row.op}</a> : ""),
    }),
    of.text("work", "then work", 250),
  ];
}

function Gaps({ run, tables, timelines, current }: PartProps) {
  const rows = useMemo(
    () => largestFirst(tables.rows("profile_gap").filter(isOfTimeline(current)), (row) => row.duration_ns),
    [tables, current],
  );
  const stepOf = useStepOf(tables);
  const columns = useMemo(() => {
    const who = current ? [] : timelineColumns<Gap>(run, timelines);
    return [...who, ...gapColumns(stepOf, rows[0]?.duration_ns ?? 0)];
  }, [run, rows, timelines, current, stepOf]);
  if (rows.length === 0) return null;
  return (
    <Section title="The longest gaps, and what the host did in them" number={rows.length}>
      <SortedTable
        view={id}
        label="Longest gaps"
        rows={rows}
        columns={columns}
        id={(row) => `${row.input} ${row.place}`}
        empty=""
      />
      <LeftOutNote tables={tables} names={["profile_gap"]} inStore />
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

function criticalColumns(run: Run, timelines: Timeline[], rows: Critical[]): Column<Critical>[] {
  const of = columnsOf("profile_critical_summary");
  const part = (column: keyof Critical & string, title: string, width: number) =>
    of.time(column, title, width, {
      cell: (row) =>
        shareText(((row[column] as number | undefined) ?? 0) / Math.max(1, row.total_ns ?? 0)),
    });
  const step = of.count("step", "step", 64, {
    cell: (row) => (row.step === undefined ? "" : <TimelineLink row={row}>{count(row.step)}</TimelineLink>),
  });
  return [
    ...timelineColumns<Critical>(run, timelines),
    ...(rows.some((row) => row.step !== undefined) ? [step] : []),
    drawnColumn("bar", "on the path", 0, (row) => row.total_ns,
      (row) => <PartBar parts={pathParts} values={pathValues(row)} whole={row.total_ns ?? 0} />),
    of.time("total_ns", "path", 84),
    part("cpu_ns", "host", 70),
    part("data_loading_ns", "data", 70),
    part("gpu_compute_ns", "compute", 84),
    part("gpu_communication_ns", "comm.", 76),
    part("gpu_memcpy_ns", "copies", 76),
    part("kernel_launch_delay_ns", "launch", 76),
    part("kernel_kernel_delay_ns", "between", 84),
  ];
}

// Reasons for which there is no path, each with the ranks that it holds for.
function NotComputable({ rows, timelines }: { rows: Critical[]; timelines: Timeline[] }) {
  const reasons = new Map<string, Set<string>>();
  for (const row of rows) {
    if (row.state === "computed") continue;
    const label = timelines.find((one) => one.input === row.input)?.label ?? "a timeline";
    const reason = row.reason ?? "no reason is given";
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

// "ranks 0-7"; of timelines that are not one rank each "rank 0 (a.json), rank 0 (b.json) and 5 more".
function inWords(labels: string[]): string {
  const ranks = labels.map((label) => Number(/^rank (\d+)$/.exec(label)?.[1] ?? NaN));
  if (labels.length > 1 && !ranks.some(Number.isNaN)) return `ranks ${rankList(ranks)}`;
  const first = labels.slice(0, 8).join(", ");
  return labels.length > 8 ? `${first} and ${count(labels.length - 8)} more` : first;
}

function CriticalPath({ run, tables, timelines, current }: PartProps) {
  const rows = useMemo(
    () =>
      tables
        .rows("profile_critical_summary")
        .filter(isOfTimeline(current))
        .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || (a.step ?? 0) - (b.step ?? 0)),
    [tables, current],
  );
  const computed = useMemo(() => rows.filter((row) => row.state === "computed"), [rows]);
  if (rows.length === 0) return null;
  const columns = criticalColumns(run, current ? [current] : timelines, computed);
  return (
    <Section
      title="What bounds the step: the critical path"
      side={computed.length > 0 && <PartLegend parts={pathParts} label="Parts of the path" />}
    >
      {computed.length > 0 && <Rows label="Critical path" rows={computed} columns={columns} />}
      <NotComputable rows={rows} timelines={timelines} />
      <LeftOutNote tables={tables} names={["profile_critical_summary"]} inStore />
    </Section>
  );
}

function facts(tables: Tables, current: Timeline | null): Fact[] {
  const rows = tables.rows("profile_idle").filter(isOfTimeline(current));
  const spans = breakdownsOf(tables).filter(isOfTimeline(current));
  const idle = sum(spans, (row) => row.idle_ns);
  const span = sum(spans, (row) => row.total_ns);
  const largest = sumCauses(rows).slice(0, 1);
  return [
    fact(shareText(idle / Math.max(1, span)), "idle", `${duration(idle)} of ${duration(span)}`,
      "Nothing runs on any device of the timeline, between its first and last work"),
    fact(count(sum(rows, (row) => row.gaps)), "gaps", `longest ${duration(most(rows, (row) => row.longest_ns))}`,
      "Times in which a device has nothing to do"),
    ...largest.map(({ category, idle_ns, gaps }) =>
      fact(words(category), "", `the largest cause, ${duration(idle_ns)} in ${counted(gaps, "gap")}`,
        causes[category]),
    ),
  ];
}

function IdleView(props: TableProps) {
  const part = useTimelines(props, ["profile_idle", "profile_critical_summary"]);
  const { tables, timelines, current } = part;
  return (
    <>
      <div class="profile-head">
        <h1>Idle time</h1>
        <TimelineChoice view={id} timelines={timelines} current={current} all />
      </div>
      <Numbers
        label="Idle time"
        facts={facts(tables, current)}
        partial={tables.leftOut("profile_idle") > 0}
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
    "These profiles do not show why devices are idle.",
    `Record both ProfilerActivity.CPU and ProfilerActivity.CUDA. ${recordProfile}`,
  ),
  component: withProfile(IdleView),
};
