// Memory of one device: the curve, its peak, and what held it. From profiles (profile_memory=True) and from snapshots of
// the CUDA allocator.
import { useMemo } from "preact/hooks";
import { Select } from "../parts/choices";
import { count, counted, duration, memory, shareText } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Section } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, Numbers, Term, type Fact } from "../parts/marks";
import { smallestFirst, sum } from "../parts/rows";
import { Curve, type Moment } from "../profile/curve";
import {
  profileNeeds,
  timelinesOf,
  withProfile,
  type MemoryPeak,
  type MemoryUse,
  type Timeline,
} from "../profile/data";
import { AliveOps, Holders, MemoryOps } from "../profile/holders";
import { MemoryCategories, MemoryRanks } from "../profile/memory_ranks";
import { meaning, type Tables } from "../run/tables";
import { setParams, type Route } from "../shell/route";
import type { View } from "../view";

const id = "profile_memory";

// A device of a profile or of a snapshot.
interface Device {
  key: string; // in the address: input.type.device
  label: string;
  isOf: (row: { input?: number; device?: number; device_type?: number }) => boolean;
  peak?: MemoryPeak;
  use?: MemoryUse;
}

function deviceName(type: number | undefined, device: number | undefined): string {
  if (type === 0) return "host";
  return type === undefined || type === 1 ? `GPU ${device ?? "?"}` : `device ${device ?? "?"} of type ${type}`;
}

function profiled(timeline: Timeline | undefined, peak: MemoryPeak): Device {
  return {
    key: `${peak.input}.${peak.device_type}.${peak.device}`,
    label: `${timeline?.label ?? "profile"}, ${deviceName(peak.device_type, peak.device)}`,
    isOf: (row) =>
      row.input === peak.input && row.device === peak.device && row.device_type === peak.device_type,
    peak,
  };
}

function snapshot(timeline: Timeline | undefined, use: MemoryUse): Device {
  return {
    key: `${use.input}.s.${use.device}`,
    label: `snapshot of ${timeline?.label ?? "a process"}, ${deviceName(undefined, use.device)}`,
    isOf: (row) => row.input === use.input && row.device === use.device,
    use,
  };
}

const mostOf = (device: Device) =>
  (device.peak ?? device.use)?.peak_allocated_bytes ?? device.use?.end_allocated_bytes ?? 0;

// GPUs before hosts, those of profiles in order of rank, then snapshots.
function devicesOf(timelines: Timeline[], tables: Tables): Device[] {
  const byInput = new Map(timelines.map((one, i) => [one.input, i]));
  const place = (row: { input?: number }) => byInput.get(row.input) ?? 0;
  const isHost = (row: MemoryPeak) => (row.device_type === 0 ? 1 : 0);
  const peaks = [...tables.rows("profile_memory_peak")].sort(
    (a, b) => isHost(a) - isHost(b) || place(a) - place(b) || (a.device ?? 0) - (b.device ?? 0),
  );
  const uses = smallestFirst(tables.rows("memory_use"), place);
  return [
    ...peaks.map((row) => profiled(timelines[place(row)], row)),
    ...uses.map((row) => snapshot(timelines[place(row)], row)),
  ].filter((device) => mostOf(device) > 0 || device.use !== undefined);
}

function chosenDevice(devices: Device[], route: Route): Device | undefined {
  const wanted = route.params.get("device");
  const rank = route.params.get("rank");
  const ofRank = (device: Device) => String((device.peak ?? device.use)?.rank) === rank;
  return (
    devices.find((device) => device.key === wanted) ??
    (rank === null ? undefined : devices.find(ofRank)) ??
    devices[0]
  );
}

function peakFacts(peak: MemoryPeak): Fact[] {
  const told = (column: keyof MemoryPeak & string) => meaning("profile_memory_peak", column);
  const where = [peak.module, peak.op].filter(Boolean).join(", ");
  const allocated = peak.peak_allocated_bytes ?? 0;
  const reserved = peak.reserved_at_peak_bytes;
  const share = shareText((peak.reserved_capacity_pct ?? 0) / 100);
  const ofDevice = `${share} of the ${memory(peak.capacity_bytes ?? 0)} of the device`;
  return [
    fact(memory(allocated), "peak allocated", where && `in ${where}`, told("peak_allocated_bytes")),
    ...(reserved === undefined
      ? []
      : [
          fact(memory(reserved), "reserved then",
            `${shareText(1 - allocated / Math.max(1, reserved))} of it unused`, told("reserved_at_peak_bytes")),
          fact(memory(peak.peak_reserved_bytes ?? 0), "peak reserved",
            peak.reserved_capacity_pct === undefined ? "" : ofDevice, told("peak_reserved_bytes")),
        ]),
    fact(count(peak.events ?? 0), "allocations and frees",
      peak.totals_known ? "with totals" : "without totals: counted from the first event", told("events")),
  ];
}

function useFacts(use: MemoryUse): Fact[] {
  const told = (column: keyof MemoryUse & string) => meaning("memory_use", column);
  const size = (column: keyof MemoryUse & string) => memory((use[column] as number | undefined) ?? 0);
  const traced = (use.events ?? 0) > 0;
  const atPeak = [
    fact(size("peak_allocated_bytes"), "peak in use",
      use.peak_annotation && `in ${use.peak_annotation}`, told("peak_allocated_bytes")),
    fact(shareText(use.peak_unused_share ?? 0), "unused at the peak",
      `${size("peak_unused_bytes")} of ${size("peak_reserved_bytes")} reserved`, told("peak_unused_share")),
  ];
  return [
    ...(traced ? atPeak : []),
    fact(size("end_allocated_bytes"), "in use at the end", `of ${size("end_reserved_bytes")} reserved`,
      told("end_allocated_bytes")),
    fact(size("end_split_bytes"), "fragmented", `largest free block ${size("largest_free_bytes")}`,
      told("end_split_bytes")),
    ...(traced
      ? [
          fact(count(use.ooms ?? 0), "out of memory", counted(use.retries ?? 0, "retry", "retries"),
            `${told("ooms")}; retries: ${told("retries")}`),
        ]
      : []),
  ];
}

const allNumbers: [column: keyof MemoryUse & string, words: string][] = [
  ["segments", "segments at the end"],
  ["end_reserved_bytes", "reserved at the end"],
  ["end_allocated_bytes", "in use at the end"],
  ["end_requested_bytes", "of that requested"],
  ["end_pending_bytes", "waiting for a stream"],
  ["end_free_bytes", "free blocks"],
  ["end_split_bytes", "of that in split segments"],
  ["largest_free_bytes", "largest free block"],
  ["start_allocated_bytes", "in use before the trace"],
  ["start_reserved_bytes", "reserved before the trace"],
  ["peak_reserved_bytes", "reserved at the peak"],
  ["peak_unused_bytes", "unused at the peak"],
  ["most_reserved_bytes", "most reserved"],
  ["segment_allocs", "segments allocated"],
  ["segment_frees", "segments freed"],
  ["events", "entries of the trace"],
];

function AllNumbers({ use }: { use: MemoryUse }) {
  return (
    <Section title="The allocator in numbers">
      <dl class="memory-numbers">
        {allNumbers.map(([column, words]) => {
          const value = use[column] as number | undefined;
          return (
            <Term key={column} name={words} title={meaning("memory_use", column)}>
              {value !== undefined && (column.endsWith("_bytes") ? memory(value) : count(value))}
            </Term>
          );
        })}
      </dl>
    </Section>
  );
}

// The peak, and when memory ran out: what was in use then, as the curve shows it.
function momentsOf(device: Device, spans: { end_ns?: number; most_allocated_bytes?: number }[]): Moment[] {
  const of = device.peak ?? device.use;
  const out = device.use?.oom_ns;
  const bytes = spans.find((span) => (span.end_ns ?? 0) >= (out ?? 0))?.most_allocated_bytes;
  return [
    ...(of?.peak_ns !== undefined && of.peak_allocated_bytes !== undefined
      ? [{ ns: of.peak_ns, bytes: of.peak_allocated_bytes, words: "peak" }]
      : []),
    ...(out !== undefined && bytes !== undefined ? [{ ns: out, bytes, words: "out of memory at" }] : []),
  ];
}

function CurveOf({ tables, device }: { tables: Tables; device: Device }) {
  const table = device.use ? "memory_timeline" : "profile_memory_curve";
  const spans = useMemo(
    () => smallestFirst(tables.rows(table).filter(device.isOf), (row) => row.begin_ns),
    [tables, table, device],
  );
  const moments = useMemo(() => momentsOf(device, spans), [device, spans]);
  const first = spans[0]?.begin_ns ?? 0;
  const last = spans[spans.length - 1]?.end_ns ?? 0;
  if (spans.length < 2) {
    return (
      <p class="empty">
        {device.use
          ? "The snapshot has no trace: call torch.cuda.memory._record_memory_history() before what you want to see."
          : "Too few allocations were recorded for a curve."}
      </p>
    );
  }
  return (
    <Section title={`Memory over time: ${device.label}`}>
      <Curve
        spans={spans}
        moments={moments}
        label={[
          `Memory over ${duration(last - first)}`,
          ...moments.map(({ ns, bytes, words }) =>
            words === "peak"
              ? `the peak of ${memory(bytes)} is at ${duration(Math.max(0, ns - first))}`
              : `out of memory at ${duration(Math.max(0, ns - first))}`),
        ].join("; ")}
      />
      <p class="quiet left-out">
        The most in each of {counted(spans.length, "span")} of{" "}
        {counted(sum(spans, (span) => span.events), "event")}, in time since the
        first. Drag to zoom, double click to go back.
      </p>
      <LeftOutNote tables={tables} names={[table]} inStore />
    </Section>
  );
}

function DeviceChoice({ devices, device }: { devices: Device[]; device: Device }) {
  if (devices.length < 2) return null;
  return (
    <Select
      name="Device"
      value={device.key}
      options={devices.map((one) => [one.key, `${one.label}: ${memory(mostOf(one))}`])}
      onChoose={(key) => setParams(id, { device: key, rank: null, at: null, moment: null })}
    />
  );
}

function Memory({ run, route, tables }: TableProps) {
  const devices = useMemo(
    () => devicesOf(timelinesOf(run, tables, ["profile_memory_peak", "memory_use"]), tables),
    [run, tables],
  );
  const device = chosenDevice(devices, route);
  if (!device) return <p class="empty">No memory of a device was recorded in this job.</p>;
  const { peak, use, isOf } = device;
  return (
    <>
      <div class="profile-head">
        <h1>Memory</h1>
        <DeviceChoice devices={devices} device={device} />
      </div>
      <Numbers
        label="Memory"
        facts={peak ? peakFacts(peak) : use ? useFacts(use) : []}
        partial={false}
      />
      <CurveOf key={device.key} tables={tables} device={device} />
      {peak && (
        <>
          <AliveOps tables={tables} rows={tables.rows("profile_memory_holder").filter(isOf)} />
          <MemoryOps tables={tables} rows={tables.rows("profile_memory_op").filter(isOf)} />
        </>
      )}
      {use && (
        <>
          <MemoryCategories tables={tables} rows={tables.rows("memory_category").filter(isOf)} />
          <Holders tables={tables} route={route} rows={tables.rows("memory_holder").filter(isOf)} />
          <MemoryRanks tables={tables} rows={tables.rows("memory_rank")} />
          <AllNumbers use={use} />
        </>
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Memory",
  section: "Profile",
  order: 74,
  needs: profileNeeds(
    ["profile_memory_peak", "memory_use"],
    "No memory was recorded.",
    "Profile with profile_memory=True, or call torch.cuda.memory._record_memory_history() at the start and " +
      "torch.cuda.memory._dump_snapshot(FILE) where you want to know.",
  ),
  component: withProfile(Memory),
};
