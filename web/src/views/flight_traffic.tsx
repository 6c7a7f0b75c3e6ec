// Traffic: what each group moves with each op, and how fast by message size.
import { useMemo } from "preact/hooks";
import { LeftOutOf } from "../flight/left_out";
import { numberColumn, Section, textColumn } from "../compile/parts";
import { BandwidthChart, OpMark, speed } from "../flight/bandwidth_chart";
import { commIsland, type Bandwidth, type Comm, type Traffic } from "../flight/comm";
import { groupTitle } from "../flight/data";
import { flightOrProfileNeeds } from "../flight/needs";
import { steppedList } from "../flight/wait_words";
import { bytes, duration } from "../parts/format";
import { matcher } from "../parts/filter";
import { withTables } from "../parts/loading";
import { Filter } from "../parts/marks";
import { Table, type Column } from "../parts/table";
import { setParams, type Route } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "flight_traffic";

type OfGroup = Pick<Traffic, "group_name" | "group_desc" | "members">;
const titleOf = (row: OfGroup) =>
  groupTitle({ name: row.group_name ?? "", desc: row.group_desc ?? "" });
const ranks = (row: OfGroup) => steppedList(row.members ?? [], 3);

function groupColumns<Row extends OfGroup>(): Column<Row>[] {
  return [
    textColumn("group", "group", 150, titleOf),
    textColumn("members", "ranks", 150, ranks, { definition: "Global ranks of the group" }),
  ];
}

const trafficColumns: Column<Traffic>[] = [
  ...groupColumns<Traffic>(),
  textColumn("role", "role", 70, (row) => row.role, {
    definition: "What the group is for, inferred from its description or its members: tp, dp, pp, ep, world",
  }),
  textColumn("op", "op", 0, (row) => row.op),
  numberColumn("count", "count", 80, (row) => row.count, undefined, {
    definition: "Collectives, or sends or receives, that the dumps hold; the ring keeps the last ones only",
  }),
  numberColumn("in", "bytes in", 100, (row) => row.input_bytes, bytes, {
    definition: "Bytes that a member puts in, over all of them; mean of the members",
  }),
  numberColumn("out", "bytes out", 100, (row) => row.output_bytes, bytes, {
    definition: "Bytes that a member gets out, over all of them; mean of the members",
  }),
  numberColumn("median", "median time", 110, (row) => row.median_ns, duration, {
    definition:
      "Median of the time from the last member's arrival to its completion. The watchdog that tells it looks every 100 ms unless durations are recorded (TORCH_NCCL_ENABLE_TIMING=1), so no bandwidth is made of it.",
  }),
  numberColumn("slowest", "slowest", 100, (row) => row.slowest_ns, duration, {
    definition: "The longest of these times",
  }),
  numberColumn("spread", "median spread", 120, (row) => row.median_spread_ns, duration, {
    definition: "Median of the time from the first to the last member's arrival",
  }),
];

function bandwidthColumns(ops: string[]): Column<Bandwidth>[] {
  return [
    ...groupColumns<Bandwidth>(),
    {
      ...textColumn<Bandwidth>("op", "op", 0, (row) => row.op),
      cell: (row) => (
        <span class="area-word">
          <OpMark ops={ops} op={row.op ?? ""} /> {row.op}
        </span>
      ),
    },
    numberColumn("bytes", "message", 100, (row) => row.bytes, bytes, {
      definition: "Size of the message of one collective",
    }),
    numberColumn("count", "count", 80, (row) => row.count),
    numberColumn("median", "median time", 110, (row) => row.median_ns, duration, {
      definition:
        "Median over the collectives of the shortest duration on any rank: what it takes when nobody is waited for",
    }),
    numberColumn("algbw", "algorithm", 110, (row) => row.algbw, speed, {
      definition: "Algorithm bandwidth: message size by median time, 1 GB is 1e9 bytes",
    }),
    numberColumn("busbw", "bus", 110, (row) => row.busbw, speed, {
      definition:
        "Bus bandwidth: algorithm bandwidth times what the op has to move: all_reduce 2(n-1)/n; all_gather, reduce_scatter and all_to_all (n-1)/n; others 1. Comparable with the speed of the link.",
    }),
    textColumn("basis", "time of", 130, (row) => (row.basis === "own_duration" ? "one rank" : "fastest rank"), {
      definition: "one rank: only one rank shows it, so its waiting for the others is in the time",
    }),
  ];
}

const rowKey = (row: Traffic | Bandwidth) =>
  [row.job, row.attempt, row.group_name, row.members?.join("."), row.op, "bytes" in row ? row.bytes : ""].join("/");

function words(row: OfGroup & { op?: string; role?: string }): string {
  return [titleOf(row), row.op, row.role].join(" ");
}

const fields = {
  op: (row: Traffic | Bandwidth) => row.op ?? null,
  group: (row: Traffic | Bandwidth) => row.group_name ?? null,
};

function OpChoice({ ops, route }: { ops: string[]; route: Route }) {
  const chosen = route.params.get("op");
  return (
    <div class="choices" role="group" aria-label="Op">
      {ops.map((op) => (
        <button
          key={op}
          aria-pressed={op === chosen}
          onClick={() => setParams(id, { op: op === chosen ? null : op })}
        >
          <span class="area-word">
            <OpMark ops={ops} op={op} /> {op}
          </span>
        </button>
      ))}
    </div>
  );
}

interface Props {
  comm: Comm;
  route: Route;
  filter: string;
}

function Speeds({ comm, route, filter }: Props) {
  const all = useMemo(
    () => comm.rows("profile_bandwidth").filter((row) => row.definition === "debrief"),
    [comm],
  );
  const ops = useMemo(() => [...new Set(all.map((row) => row.op ?? ""))].sort(), [all]);
  const op = route.params.get("op");
  const rows = useMemo(
    () =>
      all.filter((row) => op === null || row.op === op).filter(matcher(filter, fields, words)),
    [all, op, filter],
  );
  const columns = useMemo(() => bandwidthColumns(ops), [ops]);
  if (all.length === 0)
    return (
      <Section title="Bandwidth by message size">
        <p class="empty">
          No profile shows collectives. Dumps alone do not tell durations well enough: profile two
          ranks or more with torch.profiler.
        </p>
      </Section>
    );
  return (
    <Section title="Bandwidth by message size" number={rows.length}>
      <OpChoice ops={ops} route={route} />
      <BandwidthChart rows={rows} ops={ops} />
      <Table
        label="Bandwidth by message size"
        rows={rows}
        columns={columns}
        id={rowKey}
        sort={route.params.get("speeds")}
        onSort={(speeds) => setParams(id, { speeds }, true)}
        empty="Nothing matches the filter."
      />
      <LeftOutOf tables={comm} names={["profile_bandwidth"]} />
    </Section>
  );
}

function Amounts({ comm, route, filter }: Props) {
  const all = comm.rows("comm_traffic");
  const rows = useMemo(() => all.filter(matcher(filter, fields, words)), [all, filter]);
  return (
    <Section title="By group and op" number={rows.length}>
      <Table
        label="Traffic by group and op"
        rows={rows}
        columns={trafficColumns}
        id={rowKey}
        sort={route.params.get("sort")}
        onSort={(sort) => setParams(id, { sort }, true)}
        empty={
          all.length === 0
            ? "No Flight Recorder dumps: they tell what each group moved."
            : "Nothing matches the filter."
        }
      />
      <LeftOutOf tables={comm} names={["comm_traffic"]} />
    </Section>
  );
}

function TrafficView({ route, comm }: ViewProps & { comm: Comm }) {
  const filter = route.params.get("filter") ?? "";
  return (
    <>
      <div class="section-head">
        <h1>Traffic</h1>
        <Filter
          value={filter}
          label="Filter traffic"
          hint="group, op:all_reduce"
          onInput={(text) => setParams(id, { filter: text || null }, true)}
        />
      </div>
      <Speeds comm={comm} route={route} filter={filter} />
      <Amounts comm={comm} route={route} filter={filter} />
    </>
  );
}

export const view: View = {
  id,
  title: "Traffic",
  section: "Collectives",
  order: 23,
  needs: flightOrProfileNeeds(["comm_traffic", "profile_bandwidth"]),
  component: withTables(commIsland, "comm", TrafficView),
};
