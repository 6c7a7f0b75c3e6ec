// Where the time of the devices went: by rank, by step, and who is waited for.
import { useMemo } from "preact/hooks";
import { useSteps } from "../parts/choices";
import { columnsOf, drawnColumn, numberColumn, textColumn } from "../parts/columns";
import { counted, duration, shareText, showTime } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Rows, Section, SortedTable } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, Numbers, type Fact } from "../parts/marks";
import { median, smallestFirst, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import {
  addressOf,
  breakdownsOf,
  isOfTimeline,
  profileNeeds,
  recordProfile,
  stepsOf,
  useTimelines,
  withProfile,
  type Breakdown,
  type PartProps,
  type Step,
  type Timeline,
} from "../profile/data";
import { deviceParts, PartBar, PartLegend, TimelineChoice, timelineColumns, type Values } from "../profile/parts";
import { OverlapTable, Waited } from "../profile/ranks";
import { nameOf, slowSteps, StepChart, StepDetail, stepValues } from "../profile/steps";
import type { Run } from "../run/data";
import { href, setParams } from "../shell/route";
import type { View } from "../view";

const id = "profile";

function valuesOf(row: Breakdown): Values {
  return {
    compute: row.compute_ns,
    communication: row.exposed_communication_ns,
    memory: row.exposed_memcpy_ns,
    other: row.other_ns,
    idle: row.idle_ns,
  };
}

function facts(rows: Breakdown[], steps: Step[]): Fact[] {
  const total = sum(rows, (row) => row.total_ns);
  const part = (label: string, definition: string, value: (row: Breakdown) => number | undefined) =>
    fact(
      shareText(total > 0 ? sum(rows, value) / total : 0),
      label,
      `${showTime(sum(rows, value))} of ${duration(total)}`,
      `${definition}; share of the time from the first to the last work, all ranks added up`,
    );
  const whole = steps.filter((step) => step.whole);
  const usual = median(whole.map((step) => step.duration_ns ?? 0));
  const step = fact(duration(Math.round(usual)), "a step", `median of ${counted(whole.length, "whole step")}`,
    "Host and device together, over all ranks");
  return [
    part("compute", "Something computes", (row) => row.compute_ns),
    part("exposed comm.", "Something communicates and nothing computes",
      (row) => row.exposed_communication_ns),
    part("exposed copies", "Only copies and fills run", (row) => row.exposed_memcpy_ns),
    part("idle", "Nothing runs", (row) => row.idle_ns),
    ...(whole.length > 0 ? [step] : []),
  ];
}

function timeShare(of: (row: Breakdown) => number | undefined) {
  return (row: Breakdown) => (
    <>
      {showTime(of(row) ?? 0)}{" "}
      <span class="share-text">{shareText((of(row) ?? 0) / Math.max(1, row.total_ns ?? 0))}</span>
    </>
  );
}

function breakdownColumns(run: Run, timelines: Timeline[]): Column<Breakdown>[] {
  const of = columnsOf("profile_breakdown");
  const part = (column: keyof Breakdown & string, title: string, width: number) =>
    of.time(column, title, width, { cell: timeShare((row) => row[column] as number | undefined) });
  return [
    ...timelineColumns<Breakdown>(run, timelines),
    drawnColumn("bar", "share of the span", 0, (row) => row.compute_ns,
      (row) => <PartBar parts={deviceParts} values={valuesOf(row)} whole={row.total_ns ?? 0} />,
      "compute, exposed communication, exposed copies and idle add up to the span"),
    of.time("total_ns", "span", 84),
    part("compute_ns", "compute", 130),
    part("exposed_communication_ns", "exposed comm.", 130),
    part("exposed_memcpy_ns", "exposed copies", 130),
    part("idle_ns", "idle", 130),
    of.count("kernels", "work", 80),
  ];
}

function Notes({ rows, timelines }: { rows: Breakdown[]; timelines: Timeline[] }) {
  const told = rows.filter((row) => row.note);
  if (told.length === 0) return null;
  const label = (row: Breakdown) => timelines.find((one) => one.input === row.input)?.label ?? "";
  return (
    <ul class="note-list quiet">
      {told.slice(0, 4).map((row) => (
        <li key={row.input}>
          Idle time of {label(row)} is an upper bound: {row.note}.
        </li>
      ))}
    </ul>
  );
}

function ByRank({ run, tables, timelines, current }: PartProps) {
  const rows = useMemo(() => {
    const order = new Map(timelines.map((one, i) => [one.input, i]));
    return smallestFirst(breakdownsOf(tables), (row) => order.get(row.input));
  }, [tables, timelines]);
  const columns = useMemo(() => breakdownColumns(run, timelines), [run, timelines]);
  const choose = (input: string) => {
    const one = timelines.find((timeline) => String(timeline.input) === input);
    if (one) setParams(id, { ...addressOf(one), step: null });
  };
  return (
    <Section
      title="Where the time of the devices went"
      side={<PartLegend parts={deviceParts} label="Parts of the time" />}
    >
      <SortedTable
        view={id}
        label="Time of the devices by rank"
        rows={rows}
        columns={columns}
        id={(row) => String(row.input)}
        selected={current ? String(current.input) : null}
        onSelect={choose}
        empty="No work of a device is in these profiles: record with ProfilerActivity.CUDA."
      />
      <Notes rows={rows} timelines={timelines} />
      <LeftOutNote tables={tables} names={["profile_breakdown"]} inStore />
    </Section>
  );
}

function stepColumns(most: number, slow: Map<number, string>): Column<Step>[] {
  const of = columnsOf<"profile_step", Step>("profile_step");
  return [
    numberColumn<Step>("step", "step", 70, (row) => row.label ?? row.step, undefined, {
      opens: true,
      definition: "Number in its name, or its place in the recording",
    }),
    drawnColumn("bar", "step time", 0, (row) => row.duration_ns,
      (row) => <PartBar parts={deviceParts} values={stepValues(row)} whole={most} />),
    of.time("duration_ns", "step time", 90),
    of.time("host_ns", "host", 90),
    of.time("compute_ns", "compute", 90),
    of.time("exposed_communication_ns", "exposed comm.", 120),
    of.time("exposed_memory_ns", "exposed copies", 120),
    of.time("idle_ns", "idle", 90),
    of.count("works", "work", 70),
    textColumn("odd", "", 70, (row) => (slow.has(row.row) ? "slow" : row.whole ? "" : "cut"),
      "slow: a finding calls it slow; cut: by the end of the recording, and not in the median"),
  ];
}

// The same step of all timelines of the job.
function peersOf({ tables, timelines }: PartProps, step: Step) {
  const same = stepsOf(tables).filter((row) => row.job === step.job && nameOf(row) === nameOf(step));
  return timelines.flatMap((timeline) => {
    const found = same.find(isOfTimeline(timeline));
    return found ? [{ timeline, step: found }] : [];
  });
}

function ByStep(props: PartProps) {
  const { run, route, current, timelines, tables } = props;
  const steps = useMemo(
    () => smallestFirst(stepsOf(tables).filter((row) => row.input === current?.input), (row) => row.step),
    [tables, current],
  );
  const slow = useMemo(() => slowSteps(run), [run]);
  const chosen = steps.find((step) => nameOf(step) === route.params.get("step"));
  const most = Math.max(1, ...steps.map((step) => step.duration_ns ?? 0));
  const columns = useMemo(() => stepColumns(most, slow), [most, slow]);
  const show = (step: Step | undefined) =>
    step && setParams(id, { step: step === chosen ? null : nameOf(step), ...addressOf(current) });
  useSteps("step", (by) => {
    const at = chosen ? steps.indexOf(chosen) : by > 0 ? -1 : steps.length;
    const next = steps[at + by];
    if (next && next !== chosen) show(next);
  });
  const finding = chosen && slow.get(chosen.row);
  return (
    <Section
      title={`Steps of ${current?.label ?? "the timeline"}`}
      number={steps.length}
      side={
        <TimelineChoice view={id} timelines={timelines} current={current} forget={{ step: null }} />
      }
    >
      {steps.length === 0 ? (
        <p class="empty">
          This profile has no steps: call profiler.step() at the end of each iteration.
        </p>
      ) : (
        <>
          <StepChart steps={steps} slow={slow} chosen={chosen} onChoose={show} />
          <p class="quiet left-out">
            Dashed: median of whole steps. Triangle: a step that a finding calls slow. Pale: cut by the
            recording.
          </p>
          {chosen && (
            <StepDetail step={chosen} steps={steps} peers={peersOf(props, chosen)} />
          )}
          {finding && (
            <p>
              <a href={href("verdict", { finding })}>Why it is called slow</a>
            </p>
          )}
          <details class="by-rank" open={steps.length <= 12}>
            <summary>Steps as a table</summary>
            <Rows
              label="Steps"
              rows={steps}
              columns={columns}
              idOf={(row) => String(row.row)}
              selected={chosen ? String(chosen.row) : null}
              onSelect={show}
            />
          </details>
        </>
      )}
      <LeftOutNote tables={tables} names={["profile_step"]} inStore />
    </Section>
  );
}

function ProfileView(props: TableProps) {
  const { tables } = props;
  const chosen = useTimelines(props, ["profile_breakdown", "profile_step"]);
  const part = { ...chosen, current: chosen.current ?? chosen.timelines[0] ?? null };
  const rows = breakdownsOf(tables);
  return (
    <>
      <h1>Profile</h1>
      {rows.length > 0 && (
        <Numbers
          label="Where the time went"
          facts={facts(rows, stepsOf(tables))}
          partial={tables.leftOut("profile_step") > 0}
        />
      )}
      <ByRank {...part} />
      <ByStep {...part} />
      <Waited {...part} />
      <OverlapTable {...part} />
    </>
  );
}

export const view: View = {
  id,
  title: "Breakdown",
  section: "Profile",
  order: 70,
  needs: profileNeeds(
    ["profile_breakdown", "profile_step"],
    "No profiles were found.",
    recordProfile,
  ),
  component: withProfile(ProfileView),
};
