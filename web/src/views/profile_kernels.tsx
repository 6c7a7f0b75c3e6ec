// Kernels, copies and fills by name: which take the time, and which ops launched them.
import { useMemo } from "preact/hooks";
import { chosen, Tabs } from "../parts/choices";
import { barColumn, columnsOf, numberColumn, textColumn } from "../parts/columns";
import { count, counted, duration, shapesOf, shareText, showTime } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Listing, Rows, useFiltered } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, Numbers, type Fact } from "../parts/marks";
import { most, smallestFirst, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import {
  isOfTimeline,
  profileNeeds,
  recordProfile,
  useTimelines,
  withProfile,
  type Kernel,
  type PartProps,
} from "../profile/data";
import { sumKernelOps, sumKernels, type Durations, type KernelSum, type OpSum } from "../profile/kernels";
import { TimelineChoice, timelineColumns } from "../profile/parts";
import { meaning } from "../run/tables";
import { to } from "../shell/route";
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
  const told = (column: keyof Kernel & string) => meaning("profile_kernel", column);
  return [
    numberColumn("count", "count", 80, (row) => row.count, undefined, told("count")),
    numberColumn("mean", "mean", 84, (row) => row.mean_ns, showTime, told("mean_ns")),
    numberColumn("min", "min", 84, (row) => row.min_ns, showTime, told("min_ns")),
    numberColumn("max", "max", 84, (row) => row.max_ns, showTime, told("max_ns")),
    numberColumn("stddev", "std dev", 84, (row) => row.stddev_ns, showTime, told("stddev_ns")),
  ];
}

function kernelColumns(all: KernelSum[]): Column<KernelSum>[] {
  const total = sum(all, (row) => row.total_ns);
  return [
    textColumn("name", "kernel", 0, (row) => row.name, { opens: true }),
    textColumn("class", "class", 130, (row) => row.device_class, {
      cell: (row) => <ClassMark name={row.device_class} />,
      definition: meaning("profile_kernel", "device_class"),
    }),
    barColumn("total", "total", 190, (row) => row.total_ns, most(all, (row) => row.total_ns), showTime,
      meaning("profile_kernel", "total_ns"), true),
    numberColumn("share", "share", 70, (row) => row.total_ns / Math.max(1, total), shareText,
      "Of the sum of the durations of all work of the chosen ranks; work may run at the same time"),
    ...durationColumns<KernelSum>(),
  ];
}

const opColumns = (): Column<OpSum>[] => [
  textColumn("op", "op", 240, (row) => row.op || "not known", {
    definition: meaning("profile_kernel_op", "op"),
    cell: (row) => (row.op ? <a href={to("profile_ops", { filter: row.op })}>{row.op}</a> : "not known"),
  }),
  textColumn("shapes", "shapes of its inputs", 0, (row) => shapesOf(row.shapes), meaning("profile_kernel_op", "shapes")),
  numberColumn("total", "total", 90, (row) => row.total_ns, showTime, meaning("profile_kernel_op", "total_ns")),
  ...durationColumns<OpSum>(),
];

interface DetailProps extends PartProps {
  kernel: KernelSum;
}

function OpsOf({ tables, kernel, timelines, current }: DetailProps) {
  const rows = useMemo(() => {
    const inputs = new Set((current ? [current] : timelines).map((one) => one.input));
    const own = tables.rows("profile_kernel_op").filter((row) => row.kernel === kernel.name);
    return sumKernelOps(own.filter((row) => inputs.has(row.input)));
  }, [tables, kernel, timelines, current]);
  return (
    <>
      <h3>Launched by</h3>
      <Rows
        label="Ops that launched it"
        rows={rows}
        columns={opColumns()}
        empty="The profile does not show which op launched it (CUDA graphs, or no CPU activity recorded)."
      />
      <LeftOutNote tables={tables} names={["profile_kernel_op"]} inStore />
    </>
  );
}

function ByRank({ run, kernel, timelines }: DetailProps) {
  const rows = useMemo(() => smallestFirst(kernel.rows, (row) => row.rank), [kernel]);
  if (rows.length < 2) return null;
  const of = columnsOf("profile_kernel");
  const columns = [
    ...timelineColumns<Kernel>(run, timelines),
    of.bar("total_ns", "total", 0, most(rows, (row) => row.total_ns), showTime),
    of.count("count", "count", 80),
    of.time("mean_ns", "mean"),
    of.time("median_ns", "median"),
    of.time("min_ns", "min"),
    of.time("max_ns", "max"),
    of.time("stddev_ns", "std dev"),
  ];
  return (
    <details class="by-rank" open={rows.length <= 8}>
      <summary>By rank</summary>
      <Rows label="The kernel by rank" rows={rows} columns={columns} />
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
  const part = (label: string, some: KernelSum[]) => {
    const time = sum(some, (row) => row.total_ns);
    return fact(shareText(time / Math.max(1, total)), label, `${duration(time)}, ${counted(some.length, "name")}`,
      "Share of the sum of the durations of all work; work may run at the same time");
  };
  return [
    fact(duration(total), "of work", `${count(sum(rows, (row) => row.count))} kernels, copies and fills`,
      "Sum of the durations of all kernels, copies and fills"),
    part("compute", of("compute")),
    part("communication", of("communication")),
    part("copies and fills", of("memcpy", "memset")),
  ];
}

const fields = { class: (row: KernelSum) => row.device_class };
const wordsOf = (row: KernelSum) => `${row.name} ${row.device_class}`;

const tabs = [
  { id: "all", title: "all" },
  { id: "compute", title: "compute" },
  { id: "communication", title: "communication" },
  { id: "memory", title: "copies and fills" },
];

function isIn(tab: string, row: KernelSum): boolean {
  return tab === "all" || (classes[row.device_class]?.[1] ?? "other") === tab;
}

function Kernels(props: TableProps) {
  const part = useTimelines(props, ["profile_kernel"]);
  const { route, tables, timelines, current } = part;
  const all = useMemo(
    () => sumKernels(tables.rows("profile_kernel").filter(isOfTimeline(current))),
    [tables, current],
  );
  const tab = chosen(tabs, route.params.get("class"));
  const ofTab = useMemo(() => all.filter((row) => isIn(tab, row)), [all, tab]);
  const columns = useMemo(() => kernelColumns(all), [all]);
  return (
    <>
      <div class="profile-head">
        <h1>Kernels</h1>
        <TimelineChoice view={id} timelines={timelines} current={current} all />
      </div>
      <Numbers label="Work of the devices" facts={facts(all)} partial={tables.leftOut("profile_kernel") > 0} />
      <Listing
        view={id}
        title="Kernels, copies and fills by name"
        label="Kernels"
        all={all}
        rows={useFiltered(ofTab, fields, wordsOf)}
        columns={columns}
        idOf={(row) => row.key}
        noun="kernel"
        tools={<Tabs view={id} param="class" tabs={tabs} current={tab} label="Class" />}
        filter={{ label: "Filter kernels", hint: "name, class:compute" }}
        empty="No kernel matches."
        unmatched="No kernel matches."
        below={<LeftOutNote tables={tables} names={["profile_kernel"]} inStore />}
        detail={(kernel) => (
          <aside class="panel compile-detail" aria-label="Selected kernel">
            <h2>
              <bdi>{kernel.name}</bdi>
            </h2>
            <Launch kernel={kernel} />
            <OpsOf {...part} kernel={kernel} />
            <ByRank {...part} kernel={kernel} />
          </aside>
        )}
      />
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
