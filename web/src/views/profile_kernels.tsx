// Kernels, copies and fills by name: which take the time, and which ops launched them.
import { useMemo } from "preact/hooks";
import { chosen, Numbers, numberColumn, Rows, Section, Tabs, textColumn, type Fact } from "../compile/parts";
import { matcher } from "../parts/filter";
import { count, counted, duration } from "../parts/format";
import { Filter } from "../parts/marks";
import { Table, type Column } from "../parts/table";
import {
  meaning,
  profileNeeds,
  recordProfile,
  sum,
  timelineInAddress,
  timelinesOf,
  withProfile,
  type Kernel,
  type Profile,
  type ProfileProps,
  type Timeline,
} from "../profile/data";
import { sumKernelOps, sumKernels, type Durations, type KernelSum, type OpSum } from "../profile/kernels";
import { columnsOf, LeftOut, ShareBar, shareText, showTime, TimelineChoice, timelineColumns } from "../profile/parts";
import type { Run } from "../run/data";
import { useKeys } from "../shell/keys";
import { href, setParams, type Route } from "../shell/route";
import type { View } from "../view";

const id = "profile_kernels";

// Class in words and the part whose colour it has.
const classes: Record<string, [words: string, part: string]> = {
  compute: ["compute", "compute"],
  communication: ["communication", "communication"],
  memcpy: ["copy", "memory"],
  memset: ["fill", "memory"],
};

function ClassMark({ name }: { name: string }) {
  const [words, part] = classes[name] ?? [name, "other"];
  return (
    <span class="area-word">
      <i class={`part ${part}`} /> {words}
    </span>
  );
}

function durationColumns<Row extends Durations>(): Column<Row>[] {
  const told = (column: keyof Kernel & string) => ({ definition: meaning("profile_kernel", column) });
  return [
    numberColumn("count", "count", 80, (row) => row.count, undefined, told("count")),
    numberColumn("mean", "mean", 84, (row) => row.mean_ns, showTime, told("mean_ns")),
    numberColumn("min", "min", 84, (row) => row.min_ns, showTime, told("min_ns")),
    numberColumn("max", "max", 84, (row) => row.max_ns, showTime, told("max_ns")),
    numberColumn("stddev", "std dev", 84, (row) => row.stddev_ns, showTime, told("stddev_ns")),
  ];
}

function kernelColumns(most: number, total: number): Column<KernelSum>[] {
  return [
    textColumn("name", "kernel", 0, (row) => row.name, { opens: true }),
    textColumn("class", "class", 130, (row) => row.device_class, {
      cell: (row) => <ClassMark name={row.device_class} />,
      definition: meaning("profile_kernel", "device_class"),
    }),
    {
      id: "total",
      title: "total",
      width: 190,
      number: true,
      definition: meaning("profile_kernel", "total_ns"),
      value: (row) => row.total_ns,
      cell: (row) => <ShareBar value={row.total_ns} most={most} text={showTime(row.total_ns)} />,
    },
    numberColumn("share", "share", 70, (row) => row.total_ns / Math.max(1, total), shareText, {
      definition: "Of the sum of the durations of all work of the chosen ranks; work may run at the same time",
    }),
    ...durationColumns<KernelSum>(),
  ];
}

function OpsOf({ profile, kernel, inputs, job }: { profile: Profile; kernel: KernelSum; inputs: Set<number | undefined>; job: string | null }) {
  const rows = useMemo(
    () =>
      sumKernelOps(
        profile
          .rows("profile_kernel_op")
          .filter((row) => row.kernel === kernel.name && inputs.has(row.input)),
      ),
    [profile, kernel, inputs],
  );
  const columns = useMemo(
    (): Column<OpSum>[] => [
      textColumn("op", "op", 240, (row) => row.op || "not known", {
        definition: meaning("profile_kernel_op", "op"),
        cell: (row) =>
          row.op ? <a href={href("profile_ops", { job, filter: row.op })}>{row.op}</a> : "not known",
      }),
      textColumn("shapes", "shapes of its inputs", 0, (row) => row.shapes, {
        definition: meaning("profile_kernel_op", "shapes"),
      }),
      numberColumn("total", "total", 90, (row) => row.total_ns, showTime, {
        definition: meaning("profile_kernel_op", "total_ns"),
      }),
      ...durationColumns<OpSum>(),
    ],
    [job],
  );
  return (
    <>
      <h3>Launched by</h3>
      <Rows
        label="Ops that launched it"
        rows={rows}
        columns={columns}
        empty="The profile does not tell which op launched it (CUDA graphs, or no CPU activity recorded)."
      />
      <LeftOut profile={profile} names={["profile_kernel_op"]} />
    </>
  );
}

function ByRank({ run, kernel, timelines }: { run: Run; kernel: KernelSum; timelines: Timeline[] }) {
  const rows = useMemo(
    () => [...kernel.rows].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)),
    [kernel],
  );
  const columns = useMemo((): Column<Kernel>[] => {
    const of = columnsOf("profile_kernel");
    const most = Math.max(...rows.map((row) => row.total_ns ?? 0));
    return [
      ...timelineColumns<Kernel>(run, timelines),
      of.bar("total_ns", "total", 0, most, showTime),
      of.count("count", "count", 80),
      of.time("mean_ns", "mean"),
      of.time("median_ns", "median"),
      of.time("min_ns", "min"),
      of.time("max_ns", "max"),
      of.time("stddev_ns", "std dev"),
    ];
  }, [run, rows, timelines]);
  if (rows.length < 2) return null;
  return (
    <details class="by-rank" open={rows.length <= 8}>
      <summary>By rank</summary>
      <Rows label="The kernel by rank" rows={rows} columns={columns} empty="" />
    </details>
  );
}

// What is the same for all launches of the chosen ranks.
function Launch({ kernel }: { kernel: KernelSum }) {
  const same = (column: "blocks" | "threads" | "registers") => {
    const [first, ...others] = new Set(kernel.rows.map((row) => row[column]));
    return others.length === 0 ? first : undefined;
  };
  const facts: [words: string, column: "blocks" | "threads" | "registers"][] = [
    ["thread blocks", "blocks"],
    ["threads a block", "threads"],
    ["registers a thread", "registers"],
  ];
  const busy = kernel.rows.filter((row) => row.occupancy_pct !== undefined);
  const weight = sum(busy, (row) => row.total_ns);
  const occupancy = sum(busy, (row) => (row.occupancy_pct ?? 0) * (row.total_ns ?? 0)) / weight;
  return (
    <ul class="detail-facts">
      <li>
        {counted(kernel.count, "time")}, {duration(kernel.total_ns)} in all
      </li>
      {kernel.median_ns !== undefined && <li>median {showTime(kernel.median_ns)}</li>}
      {facts.map(([words, column]) =>
        same(column) === undefined ? null : (
          <li key={column} title={meaning("profile_kernel", column)}>
            {count(same(column) ?? null)} {words}
          </li>
        ),
      )}
      {weight > 0 && (
        <li title={meaning("profile_kernel", "occupancy_pct")}>
          occupancy about {occupancy.toFixed(0)} %
        </li>
      )}
    </ul>
  );
}

function facts(rows: KernelSum[]): Fact[] {
  const total = sum(rows, (row) => row.total_ns);
  const of = (...names: string[]) => rows.filter((row) => names.includes(row.device_class));
  const fact = (label: string, some: KernelSum[]) => ({
    value: shareText(sum(some, (row) => row.total_ns) / Math.max(1, total)),
    label,
    note: `${duration(sum(some, (row) => row.total_ns))}, ${counted(some.length, "name")}`,
    definition: "Share of the sum of the durations of all work; work may run at the same time",
  });
  return [
    {
      value: duration(total),
      label: "of work",
      note: `${count(sum(rows, (row) => row.count))} kernels, copies and fills`,
      definition: "Sum of the durations of all kernels, copies and fills",
    },
    fact("compute", of("compute")),
    fact("communication", of("communication")),
    fact("copies and fills", of("memcpy", "memset")),
  ];
}

const fields = {
  class: (row: KernelSum) => row.device_class,
};

const tabs = [
  { id: "all", title: "all" },
  { id: "compute", title: "compute" },
  { id: "communication", title: "communication" },
  { id: "memory", title: "copies and fills" },
];

function isIn(tab: string, row: KernelSum): boolean {
  return tab === "all" || (classes[row.device_class]?.[1] ?? "other") === tab;
}

function useKernels(profile: Profile, current: Timeline | null, route: Route) {
  const all = useMemo(
    () =>
      sumKernels(
        profile
          .rows("profile_kernel")
          .filter((row) => current === null || row.input === current.input),
      ),
    [profile, current],
  );
  const tab = chosen(tabs, route.params.get("class"));
  const filter = route.params.get("filter") ?? "";
  const rows = useMemo(
    () =>
      all
        .filter((row) => isIn(tab, row))
        .filter(matcher(filter, fields, (row) => `${row.name} ${row.device_class}`)),
    [all, tab, filter],
  );
  return { all, rows, tab, filter };
}

function Kernels({ run, route, profile }: ProfileProps) {
  const timelines = useMemo(() => timelinesOf(run, profile, ["profile_kernel"]), [run, profile]);
  const current = timelineInAddress(timelines, route);
  const { all, rows, tab, filter } = useKernels(profile, current, route);
  const at = route.params.get("at");
  const selected = all.find((row) => row.key === at);
  const inputs = useMemo(
    () => new Set((current ? [current] : timelines).map((one) => one.input)),
    [timelines, current],
  );
  const columns = useMemo(() => {
    const most = Math.max(0, ...all.map((row) => row.total_ns));
    return kernelColumns(most, sum(all, (row) => row.total_ns));
  }, [all]);
  const move = (by: number) => {
    const next = rows[rows.findIndex((row) => row.key === at) + by];
    if (next) setParams(id, { at: next.key });
  };
  useKeys([
    { key: "j", does: "Next kernel", act: () => move(1) },
    { key: "k", does: "Previous kernel", act: () => move(-1) },
  ]);
  return (
    <>
      <div class="profile-head">
        <h1>Kernels</h1>
        <TimelineChoice view={id} timelines={timelines} current={current} all />
      </div>
      <Numbers label="Work of the devices" facts={facts(all)} partial={profile.leftOut("profile_kernel") > 0} />
      <div class={selected ? "with-detail" : ""}>
        <Section
          title="Kernels, copies and fills by name"
          number={rows.length}
          side={
            <div class="profile-tools">
              <Tabs view={id} param="class" tabs={tabs} current={tab} label="Class" />
              <Filter
                value={filter}
                label="Filter kernels"
                hint="name, class:compute"
                onInput={(text) => setParams(id, { filter: text || null }, true)}
              />
            </div>
          }
        >
          <Table
            label="Kernels"
            rows={rows}
            columns={columns}
            id={(row) => row.key}
            sort={route.params.get("sort")}
            onSort={(sort) => setParams(id, { sort }, true)}
            selected={at}
            onSelect={(one) => setParams(id, { at: one === at ? null : one })}
            empty="No kernel matches."
          />
          <LeftOut profile={profile} names={["profile_kernel"]} />
        </Section>
        {selected && (
          <aside class="panel compile-detail" aria-label="Selected kernel">
            <h2>
              <bdi>{selected.name}</bdi>
            </h2>
            <Launch kernel={selected} />
            <OpsOf profile={profile} kernel={selected} inputs={inputs} job={route.params.get("job")} />
            <ByRank run={run} kernel={selected} timelines={timelines} />
          </aside>
        )}
      </div>
    </>
  );
}

export const view: View = {
  id,
  title: "Kernels",
  section: "Profile",
  order: 71,
  needs: profileNeeds(
    ["profile_kernel"],
    "No work of a device is in these profiles.",
    `Record with ProfilerActivity.CUDA. ${recordProfile}`,
  ),
  component: withProfile(Kernels),
};
