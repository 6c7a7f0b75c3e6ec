// Ops by name, with their time on host and device; by shapes when one is selected; and the modules as a tree.
import { useMemo } from "preact/hooks";
import { chosen, Tabs } from "../parts/choices";
import { barColumn, numberColumn, textColumn } from "../parts/columns";
import { count, duration, shapesOf, showTime } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Listing, Rows, Section, useFiltered } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, Numbers, type Fact } from "../parts/marks";
import { addUp, largestFirst, most, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import {
  isOfTimeline,
  keyOfText,
  profileNeeds,
  recordProfile,
  timelinesOf,
  useTimelines,
  withProfile,
  type PartProps,
} from "../profile/data";
import { ModuleTree } from "../profile/modules";
import { TimelineChoice } from "../profile/parts";
import { meaning, type Row } from "../run/tables";
import { to } from "../shell/route";
import type { View } from "../view";

const id = "profile_ops";

type Op = Row<"profile_op">;
type OpShape = Row<"profile_op_shape">;

const figures = [
  "count",
  "host_total_ns",
  "host_self_ns",
  "device_total_ns",
  "device_self_ns",
  "works",
] as const;
type Figure = (typeof figures)[number];
type Figures = Record<Figure, number>;
type OpSum = Op & Figures & { key: string };
type ShapeSum = OpShape & Figures & { key: string };

// Rows of one key become one; figures are added up.
function sumRows<One extends Op>(rows: One[], keyOf: (row: One) => string) {
  const sums = (addUp<Op, Figure>(rows, keyOf as (row: Op) => string, [...figures]) as (One & Figures)[]).map(
    (one) => ({ ...one, key: keyOfText(keyOf(one)) }),
  );
  return sums.sort(
    (a, b) => b.device_total_ns - a.device_total_ns || b.host_total_ns - a.host_total_ns,
  );
}

function figureColumns<One extends Figures>(
  table: "profile_op" | "profile_op_shape",
  rows: One[],
): Column<One>[] {
  const bar = (figure: Figure, title: string) =>
    barColumn<One>(figure, title, 180, (row) => row[figure], most(rows, (row) => row[figure]), showTime,
      meaning(table, figure), true);
  const time = (figure: Figure, title: string) =>
    numberColumn<One>(figure, title, 96, (row) => row[figure], showTime, meaning(table, figure));
  const number = (figure: Figure, title: string) =>
    numberColumn<One>(figure, title, 76, (row) => row[figure], undefined, meaning(table, figure));
  return [
    bar("device_total_ns", "device"),
    time("device_self_ns", "device self"),
    bar("host_total_ns", "host"),
    time("host_self_ns", "host self"),
    number("count", "count"),
    number("works", "work"),
  ];
}

interface DetailProps extends PartProps {
  op: OpSum;
}

const inputsOf = ({ timelines, current }: PartProps) =>
  new Set((current ? [current] : timelines).map((one) => one.input));

function Shapes(props: DetailProps) {
  const { tables, op, timelines, current } = props;
  const rows = useMemo((): ShapeSum[] => {
    const inputs = inputsOf(props);
    const own = tables.rows("profile_op_shape").filter((row) => row.name === op.name);
    return sumRows(own.filter((row) => inputs.has(row.input)), (row) => `${row.shapes ?? ""}\n${row.dtypes ?? ""}`);
  }, [tables, op, timelines, current]);
  const columns: Column<ShapeSum>[] = [
    textColumn("shapes", "shapes", 0, (row) => shapesOf(row.shapes), meaning("profile_op_shape", "shapes")),
    textColumn("dtypes", "types", 150, (row) => row.dtypes ?? "", meaning("profile_op_shape", "dtypes")),
    ...figureColumns("profile_op_shape", rows),
  ];
  return (
    <>
      <h3>By shapes of its inputs</h3>
      <Rows
        label="The op by shapes"
        rows={rows}
        columns={columns}
        idOf={(row) => row.key}
        empty={
          tables.has("profile_op_shape")
            ? "No shapes of its inputs were recorded."
            : "Shapes were not recorded: profile with record_shapes=True."
        }
      />
      <LeftOutNote tables={tables} names={["profile_op_shape"]} inStore />
    </>
  );
}

type Launched = Row<"profile_kernel_op">;

const kernelColumns = (longest: number): Column<Launched>[] => [
  textColumn("kernel", "kernel", 0, (row) => row.kernel ?? "", {
    cell: ({ kernel = "" }) => (
      <a href={to("profile_kernels", { filter: kernel.split(/\s+/)[0] ?? null })}>{kernel}</a>
    ),
  }),
  barColumn("total", "total", 200, (row) => row.total_ns, longest, showTime,
    meaning("profile_kernel_op", "total_ns"), true),
  numberColumn("count", "count", 90, (row) => row.count),
];

function Kernels(props: DetailProps) {
  const { tables, op, timelines, current } = props;
  const rows = useMemo(() => {
    const inputs = inputsOf(props);
    const own = tables.rows("profile_kernel_op").filter((row) => row.op === op.name && inputs.has(row.input));
    return largestFirst(addUp(own, (row) => row.kernel ?? "", ["count", "total_ns"]), (row) => row.total_ns);
  }, [tables, op, timelines, current]);
  if (rows.length === 0) return null;
  return (
    <>
      <h3>Work that it launched itself</h3>
      <Rows label="Kernels of the op" rows={rows} columns={kernelColumns(rows[0]?.total_ns ?? 0)} />
    </>
  );
}

function facts(rows: OpSum[]): Fact[] {
  const total = (figure: Figure) => sum(rows, (row) => row[figure]);
  return [
    fact(count(rows.length), rows.length === 1 ? "op" : "ops", `called ${count(total("count"))} times`),
    fact(duration(total("host_self_ns")), "on the host", "own time of all ops",
      meaning("profile_op", "host_self_ns")),
    fact(duration(total("device_self_ns")), "on devices", "of what ops launched themselves",
      meaning("profile_op", "device_self_ns")),
    fact(count(rows.filter((row) => row.works > 0).length), "launch work", "kernels, copies or fills"),
  ];
}

const nameOf = (row: OpSum) => row.name ?? "";
const fields = { op: nameOf };

function OpTable(props: PartProps) {
  const { tables, current } = props;
  const all = useMemo(
    (): OpSum[] => sumRows(tables.rows("profile_op").filter(isOfTimeline(current)), (row) => row.name ?? ""),
    [tables, current],
  );
  const columns = useMemo(
    () => [
      textColumn<OpSum>("name", "op", 0, nameOf, { opens: true }),
      ...figureColumns("profile_op", all),
    ],
    [all],
  );
  return (
    <>
      <Numbers label="Ops" facts={facts(all)} partial={tables.leftOut("profile_op") > 0} />
      <Listing
        view={id}
        title="Ops by name"
        label="Ops"
        all={all}
        rows={useFiltered(all, fields, nameOf)}
        columns={columns}
        idOf={(row) => row.key}
        noun="op"
        filter={{ label: "Filter ops", hint: "name" }}
        empty="No ops were recorded."
        unmatched="No op matches the filter."
        below={<LeftOutNote tables={tables} names={["profile_op"]} inStore />}
        detail={(op) => (
          <aside class="panel compile-detail" aria-label="Selected op">
            <h2>
              <bdi>{op.name}</bdi>
            </h2>
            <Shapes {...props} op={op} />
            <Kernels {...props} op={op} />
          </aside>
        )}
      />
    </>
  );
}

function Modules({ tables, current }: Pick<PartProps, "tables" | "current">) {
  const rows = useMemo(
    () => tables.rows("profile_module").filter((row) => row.input === current?.input),
    [tables, current],
  );
  return (
    <Section title={`Modules of ${current?.label ?? "the timeline"}`} number={rows.length}>
      {rows.length === 0 ? (
        <p class="empty">
          No module calls were recorded: profile with with_stack=True, or with with_modules=True.
        </p>
      ) : (
        <ModuleTree rows={rows} />
      )}
      <LeftOutNote tables={tables} names={["profile_module"]} inStore />
    </Section>
  );
}

function Ops(props: TableProps) {
  const part = useTimelines(props, ["profile_op", "profile_module"]);
  const { run, route, tables, timelines, current } = part;
  const withModules = useMemo(() => timelinesOf(run, tables, ["profile_module"]), [run, tables]);
  const tabs = [
    { id: "ops", title: "Ops" },
    { id: "modules", title: "Modules" },
  ];
  const tab = chosen(tabs, route.params.get("by"));
  const first = current ?? withModules[0] ?? timelines[0] ?? null;
  return (
    <>
      <div class="profile-head">
        <h1>Ops and modules</h1>
        <div class="profile-tools">
          <Tabs
            view={id}
            param="by"
            tabs={tabs}
            current={tab}
            label="Ops or modules"
            forget={{ at: null, sort: null, filter: null }}
          />
          <TimelineChoice
            view={id}
            timelines={timelines}
            current={tab === "modules" ? first : current}
            all={tab === "ops"}
          />
        </div>
      </div>
      {tab === "ops" ? (
        <OpTable {...part} />
      ) : (
        <Modules tables={tables} current={first} />
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Ops",
  section: "Profile",
  order: 72,
  needs: profileNeeds(
    ["profile_op", "profile_module"],
    "No ops are in these profiles.",
    `Record with ProfilerActivity.CPU. ${recordProfile}`,
  ),
  component: withProfile(Ops),
};
