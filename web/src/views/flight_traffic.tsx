// Traffic: what each group moves with each op, and how fast by message size.
import { useMemo } from "preact/hooks";
import { BandwidthChart, OpMark, speed } from "../flight/bandwidth_chart";
import { groupTitle } from "../flight/data";
import { commIsland, flightOrProfileNeeds } from "../flight/needs";
import { numberColumn, textColumn } from "../parts/columns";
import { bytes, duration, steppedList } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { AddressFilter, Section, SortedTable, useFiltered } from "../parts/listing";
import { withTables, type TableProps } from "../parts/loading";
import type { Column } from "../parts/table";
import type { Row, Tables } from "../run/tables";
import { param, setParams } from "../shell/route";
import type { View } from "../view";

const id = "flight_traffic";

type Traffic = Row<"comm_traffic">;
type Bandwidth = Row<"profile_bandwidth">;
type OfGroup = Pick<Traffic, "group_name" | "group_desc" | "members">;
const titleOf = (row: OfGroup) =>
  groupTitle({ name: row.group_name ?? "", desc: row.group_desc ?? "" });
const ranks = (row: OfGroup) => steppedList(row.members ?? [], 3);

function groupColumns<Row extends OfGroup>(): Column<Row>[] {
  return [
    textColumn("group", "group", 150, titleOf),
    textColumn("members", "ranks", 150, ranks, "Global ranks of the group"),
  ];
}

const trafficColumns: Column<Traffic>[] = [
  ...groupColumns<Traffic>(),
  textColumn("role", "role", 70, (row) => row.role,
    "What the group is for, inferred from its description or its members: tp, dp, pp, ep, world"),
  textColumn("op", "op", 0, (row) => row.op),
  numberColumn("count", "count", 80, (row) => row.count, undefined,
    "Collectives, or sends or receives, that the dumps hold; the ring keeps the last ones only"),
  numberColumn("in", "bytes in", 100, (row) => row.input_bytes, bytes,
    "Bytes that a member puts in, over all of them; mean of the members"),
  numberColumn("out", "bytes out", 100, (row) => row.output_bytes, bytes,
    "Bytes that a member gets out, over all of them; mean of the members"),
  numberColumn("median", "median time", 110, (row) => row.median_ns, duration,
    "Median of the time from the last member's arrival to its completion. The watchdog that reports it looks every 100 ms " +
      "unless durations are recorded (TORCH_NCCL_ENABLE_TIMING=1), so no bandwidth is made of it."),
  numberColumn("slowest", "slowest", 100, (row) => row.slowest_ns, duration, "The longest of these times"),
  numberColumn("spread", "median spread", 120, (row) => row.median_spread_ns, duration,
    "Median of the time from the first to the last member's arrival"),
];

function OpWord({ ops, op }: { ops: string[]; op: string }) {
  return (
    <span class="area-word">
      <OpMark ops={ops} op={op} /> {op}
    </span>
  );
}

const bandwidthColumns = (ops: string[]): Column<Bandwidth>[] => [
  ...groupColumns<Bandwidth>(),
  textColumn("op", "op", 0, (row) => row.op, { cell: (row) => <OpWord ops={ops} op={row.op ?? ""} /> }),
  numberColumn("bytes", "message", 100, (row) => row.bytes, bytes, "Size of the message of one collective"),
  numberColumn("count", "count", 80, (row) => row.count),
  numberColumn("median", "median time", 110, (row) => row.median_ns, duration,
    "Median over the collectives of the shortest duration on any rank: what it takes when nobody is waited for"),
  numberColumn("algbw", "algorithm", 110, (row) => row.algbw, speed,
    "Algorithm bandwidth: message size by median time, 1 GB is 1e9 bytes"),
  numberColumn("busbw", "bus", 110, (row) => row.busbw, speed,
    "Bus bandwidth: algorithm bandwidth times what the op has to move: all_reduce 2(n-1)/n; all_gather, reduce_scatter " +
      "and all_to_all (n-1)/n; others 1. Comparable with the speed of the link."),
  textColumn("basis", "time of", 130, (row) => (row.basis === "own_duration" ? "one rank" : "fastest rank"),
    "one rank: only one rank shows it, so its waiting for the others is in the time"),
];

const rowKey = (row: Traffic | Bandwidth) =>
  [row.job, row.attempt, row.group_name, row.members?.join("."), row.op, "bytes" in row ? row.bytes : ""].join("/");

function words(row: OfGroup & { op?: string; role?: string }): string {
  return [titleOf(row), row.op, row.role].join(" ");
}

const fields = {
  op: (row: Traffic | Bandwidth) => row.op,
  group: (row: Traffic | Bandwidth) => row.group_name,
};

function OpChoice({ ops }: { ops: string[] }) {
  const chosen = param("op");
  return (
    <div class="choices" role="group" aria-label="Op">
      {ops.map((op) => (
        <button
          key={op}
          aria-pressed={op === chosen}
          onClick={() => setParams(id, { op: op === chosen ? null : op })}
        >
          <OpWord ops={ops} op={op} />
        </button>
      ))}
    </div>
  );
}

function Speeds({ tables }: { tables: Tables }) {
  const all = useMemo(
    () => tables.rows("profile_bandwidth").filter((row) => row.definition === "debrief"),
    [tables],
  );
  const ops = useMemo(() => [...new Set(all.map((row) => row.op ?? ""))].sort(), [all]);
  const op = param("op");
  const ofOp = useMemo(() => all.filter((row) => op === null || row.op === op), [all, op]);
  const rows = useFiltered(ofOp, fields, words);
  const columns = useMemo(() => bandwidthColumns(ops), [ops]);
  if (all.length === 0)
    return (
      <Section title="Bandwidth by message size">
        <p class="empty">
          No profile shows collectives. Dumps alone do not show durations well enough: profile two
          ranks or more with torch.profiler.
        </p>
      </Section>
    );
  return (
    <Section title="Bandwidth by message size" number={rows.length}>
      <OpChoice ops={ops} />
      <BandwidthChart rows={rows} ops={ops} />
      <SortedTable
        view={id}
        by="speeds"
        label="Bandwidth by message size"
        rows={rows}
        columns={columns}
        id={rowKey}
        empty="Nothing matches the filter."
      />
      <LeftOutNote tables={tables} names={["profile_bandwidth"]} />
    </Section>
  );
}

function Amounts({ tables }: { tables: Tables }) {
  const all = tables.rows("comm_traffic");
  const rows = useFiltered(all, fields, words);
  const none = "No Flight Recorder dumps: they show what each group moved.";
  return (
    <Section title="By group and op" number={rows.length}>
      <SortedTable
        view={id}
        label="Traffic by group and op"
        rows={rows}
        columns={trafficColumns}
        id={rowKey}
        empty={all.length === 0 ? none : "Nothing matches the filter."}
      />
      <LeftOutNote tables={tables} names={["comm_traffic"]} />
    </Section>
  );
}

function TrafficView({ tables }: TableProps) {
  return (
    <>
      <div class="section-head">
        <h1>Traffic</h1>
        <AddressFilter view={id} label="Filter traffic" hint="group, op:all_reduce" />
      </div>
      <Speeds tables={tables} />
      <Amounts tables={tables} />
    </>
  );
}

export const view: View = {
  id,
  title: "Traffic",
  section: "Collectives",
  order: 23,
  needs: flightOrProfileNeeds(["comm_traffic", "profile_bandwidth"]),
  component: withTables(commIsland, TrafficView),
};
