// Ops by name, with their time on host and device; by shapes when one is selected; and the modules as a tree.
import { useMemo } from "preact/hooks";
import { chosen, Numbers, numberColumn, Rows, Section, Tabs, textColumn, type Fact } from "../compile/parts";
import { matcher } from "../parts/filter";
import { count, duration } from "../parts/format";
import { Filter } from "../parts/marks";
import { Table, type Column } from "../parts/table";
import {
  keyOfText,
  meaning,
  profileNeeds,
  recordProfile,
  sum,
  timelineInAddress,
  timelinesOf,
  withProfile,
  type Op,
  type OpShape,
  type Profile,
  type ProfileProps,
  type Timeline,
} from "../profile/data";
import { ModuleTree } from "../profile/modules";
import { LeftOut, ShareBar, showTime, TimelineChoice } from "../profile/parts";
import { useKeys } from "../shell/keys";
import { href, setParams, type Route } from "../shell/route";
import type { View } from "../view";

const id = "profile_ops";

interface OpSum {
  key: string;
  name: string;
  count: number;
  host_total_ns: number;
  host_self_ns: number;
  device_total_ns: number;
  device_self_ns: number;
  works: number;
}

type Figure = Exclude<keyof OpSum, "key" | "name">;
const figures: Figure[] = [
  "count",
  "host_total_ns",
  "host_self_ns",
  "device_total_ns",
  "device_self_ns",
  "works",
];

interface ShapeSum extends OpSum {
  shapes: string;
  dtypes: string;
}

// Rows of one key become one; figures are added up.
function addUp<Row extends Op>(rows: Row[], keyOf: (row: Row) => string): Map<string, [Row, OpSum]> {
  const found = new Map<string, [Row, OpSum]>();
  for (const row of rows) {
    const key = keyOf(row);
    let one = found.get(key)?.[1];
    if (!one) {
      const none = Object.fromEntries(figures.map((figure) => [figure, 0]));
      one = { key: keyOfText(key), name: row.name ?? "", ...none } as OpSum;
      found.set(key, [row, one]);
    }
    for (const figure of figures) one[figure] += row[figure] ?? 0;
  }
  return found;
}

const byTime = (a: OpSum, b: OpSum) =>
  b.device_total_ns - a.device_total_ns || b.host_total_ns - a.host_total_ns;

function sumOps(rows: Op[]): OpSum[] {
  return [...addUp(rows, (row) => row.name ?? "").values()].map(([, one]) => one).sort(byTime);
}

function sumShapes(rows: OpShape[]): ShapeSum[] {
  return [...addUp(rows, (row) => `${row.shapes ?? ""}\n${row.dtypes ?? ""}`).values()]
    .map(([row, one]) => ({ ...one, shapes: row.shapes ?? "", dtypes: row.dtypes ?? "" }))
    .sort(byTime);
}

function figureColumns<Row extends OpSum>(
  table: "profile_op" | "profile_op_shape",
  most: { host: number; device: number },
): Column<Row>[] {
  const bar = (figure: Figure, title: string, largest: number): Column<Row> => ({
    id: figure,
    title,
    width: 180,
    number: true,
    definition: meaning(table, figure),
    value: (row) => row[figure],
    cell: (row) => <ShareBar value={row[figure]} most={largest} text={showTime(row[figure])} />,
  });
  const time = (figure: Figure, title: string) =>
    numberColumn<Row>(figure, title, 96, (row) => row[figure], showTime, {
      definition: meaning(table, figure),
    });
  const number = (figure: Figure, title: string) =>
    numberColumn<Row>(figure, title, 76, (row) => row[figure], undefined, {
      definition: meaning(table, figure),
    });
  return [
    bar("device_total_ns", "device", most.device),
    time("device_self_ns", "device self"),
    bar("host_total_ns", "host", most.host),
    time("host_self_ns", "host self"),
    number("count", "count"),
    number("works", "work"),
  ];
}

function largest(rows: OpSum[]): { host: number; device: number } {
  return {
    host: Math.max(0, ...rows.map((row) => row.host_total_ns)),
    device: Math.max(0, ...rows.map((row) => row.device_total_ns)),
  };
}

interface DetailProps {
  profile: Profile;
  op: OpSum;
  inputs: Set<number | undefined>;
  job: string | null;
}

function Shapes({ profile, op, inputs }: DetailProps) {
  const rows = useMemo(
    () =>
      sumShapes(
        profile
          .rows("profile_op_shape")
          .filter((row) => row.name === op.name && inputs.has(row.input)),
      ),
    [profile, op, inputs],
  );
  const columns = useMemo(
    (): Column<ShapeSum>[] => [
      textColumn("shapes", "shapes", 0, (row) => row.shapes, {
        definition: meaning("profile_op_shape", "shapes"),
      }),
      textColumn("dtypes", "types", 150, (row) => row.dtypes, {
        definition: meaning("profile_op_shape", "dtypes"),
      }),
      ...figureColumns<ShapeSum>("profile_op_shape", largest(rows)),
    ],
    [rows],
  );
  return (
    <>
      <h3>By shapes of its inputs</h3>
      <Rows
        label="The op by shapes"
        rows={rows}
        columns={columns}
        idOf={(row) => row.key}
        empty={
          profile.has("profile_op_shape")
            ? "No shapes of its inputs were recorded."
            : "Shapes were not recorded: profile with record_shapes=True."
        }
      />
      <LeftOut profile={profile} names={["profile_op_shape"]} />
    </>
  );
}

interface Launched {
  kernel: string;
  count: number;
  total_ns: number;
}

function Kernels({ profile, op, inputs, job }: DetailProps) {
  const rows = useMemo(() => {
    const found = new Map<string, Launched>();
    for (const row of profile.rows("profile_kernel_op")) {
      if (row.op !== op.name || !inputs.has(row.input)) continue;
      const kernel = row.kernel ?? "";
      const one = found.get(kernel) ?? { kernel, count: 0, total_ns: 0 };
      one.count += row.count ?? 0;
      one.total_ns += row.total_ns ?? 0;
      found.set(kernel, one);
    }
    return [...found.values()].sort((a, b) => b.total_ns - a.total_ns);
  }, [profile, op, inputs]);
  const columns = useMemo((): Column<Launched>[] => {
    const most = rows[0]?.total_ns ?? 0;
    return [
      textColumn("kernel", "kernel", 0, (row) => row.kernel, {
        cell: (row) => (
          <a href={href("profile_kernels", { job, filter: row.kernel.split(/\s+/)[0] ?? null })}>
            {row.kernel}
          </a>
        ),
      }),
      {
        id: "total",
        title: "total",
        width: 200,
        number: true,
        definition: meaning("profile_kernel_op", "total_ns"),
        value: (row) => row.total_ns,
        cell: (row) => <ShareBar value={row.total_ns} most={most} text={showTime(row.total_ns)} />,
      },
      numberColumn("count", "count", 90, (row) => row.count),
    ];
  }, [rows, job]);
  if (rows.length === 0) return null;
  return (
    <>
      <h3>Work that it launched itself</h3>
      <Rows label="Kernels of the op" rows={rows} columns={columns} empty="" />
    </>
  );
}

function facts(rows: OpSum[]): Fact[] {
  return [
    {
      value: count(rows.length),
      label: rows.length === 1 ? "op" : "ops",
      note: `called ${count(sum(rows, (row) => row.count))} times`,
    },
    {
      value: duration(sum(rows, (row) => row.host_self_ns)),
      label: "on the host",
      note: "own time of all ops",
      definition: meaning("profile_op", "host_self_ns"),
    },
    {
      value: duration(sum(rows, (row) => row.device_self_ns)),
      label: "on devices",
      note: "of what ops launched themselves",
      definition: meaning("profile_op", "device_self_ns"),
    },
    {
      value: count(sum(rows, (row) => (row.works > 0 ? 1 : 0))),
      label: "launch work",
      note: "kernels, copies or fills",
    },
  ];
}

const fields = { op: (row: OpSum) => row.name };

interface TableProps {
  profile: Profile;
  route: Route;
  timelines: Timeline[];
  current: Timeline | null;
}

function OpTable({ profile, route, timelines, current }: TableProps) {
  const all = useMemo(
    () =>
      sumOps(
        profile
          .rows("profile_op")
          .filter((row) => current === null || row.input === current.input),
      ),
    [profile, current],
  );
  const filter = route.params.get("filter") ?? "";
  const rows = useMemo(
    () => all.filter(matcher(filter, fields, (row) => row.name)),
    [all, filter],
  );
  const columns = useMemo(
    () => [
      textColumn<OpSum>("name", "op", 0, (row) => row.name, { opens: true }),
      ...figureColumns<OpSum>("profile_op", largest(all)),
    ],
    [all],
  );
  const at = route.params.get("at");
  const op = all.find((row) => row.key === at);
  const inputs = useMemo(
    () => new Set((current ? [current] : timelines).map((one) => one.input)),
    [timelines, current],
  );
  const move = (by: number) => {
    const next = rows[rows.findIndex((row) => row.key === at) + by];
    if (next) setParams(id, { at: next.key });
  };
  useKeys([
    { key: "j", does: "Next op", act: () => move(1) },
    { key: "k", does: "Previous op", act: () => move(-1) },
  ]);
  const detail = op && { profile, op, inputs, job: route.params.get("job") };
  return (
    <>
      <Numbers label="Ops" facts={facts(all)} partial={profile.leftOut("profile_op") > 0} />
      <div class={op ? "with-detail" : ""}>
        <Section
          title="Ops by name"
          number={rows.length}
          side={
            <Filter
              value={filter}
              label="Filter ops"
              hint="name"
              onInput={(text) => setParams(id, { filter: text || null }, true)}
            />
          }
        >
          <Table
            label="Ops"
            rows={rows}
            columns={columns}
            id={(row) => row.key}
            sort={route.params.get("sort")}
            onSort={(sort) => setParams(id, { sort }, true)}
            selected={at}
            onSelect={(one) => setParams(id, { at: one === at ? null : one })}
            empty={all.length === 0 ? "No ops were recorded." : "No op matches the filter."}
          />
          <LeftOut profile={profile} names={["profile_op"]} />
        </Section>
        {detail && (
          <aside class="panel compile-detail" aria-label="Selected op">
            <h2>
              <bdi>{detail.op.name}</bdi>
            </h2>
            <Shapes {...detail} />
            <Kernels {...detail} />
          </aside>
        )}
      </div>
    </>
  );
}

function Modules({ profile, current }: { profile: Profile; current: Timeline | null }) {
  const rows = useMemo(
    () => profile.rows("profile_module").filter((row) => row.input === current?.input),
    [profile, current],
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
      <LeftOut profile={profile} names={["profile_module"]} />
    </Section>
  );
}

function Ops({ run, route, profile }: ProfileProps) {
  const timelines = useMemo(
    () => timelinesOf(run, profile, ["profile_op", "profile_module"]),
    [run, profile],
  );
  const withModules = useMemo(
    () => timelinesOf(run, profile, ["profile_module"]),
    [run, profile],
  );
  const tabs = [
    { id: "ops", title: "Ops" },
    { id: "modules", title: "Modules" },
  ];
  const tab = chosen(tabs, route.params.get("by"));
  const current = timelineInAddress(timelines, route);
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
        <OpTable profile={profile} route={route} timelines={timelines} current={current} />
      ) : (
        <Modules profile={profile} current={first} />
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
