// Memory of one device: the curve, its peak, and what held it. From profiles (profile_memory=True) and from snapshots of
// the CUDA allocator.
import { useMemo } from "preact/hooks";
import { Numbers, Section, type Fact } from "../compile/parts";
import { bytes, count, counted, duration } from "../parts/format";
import {
  meaning,
  profileNeeds,
  timelinesOf,
  withProfile,
  type MemoryPeak,
  type MemoryUse,
  type Profile,
  type ProfileProps,
  type Span,
  type Timeline,
} from "../profile/data";
import { Curve } from "../profile/curve";
import { AliveOps, Holders, MemoryOps } from "../profile/holders";
import { LeftOut, shareText } from "../profile/parts";
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
function devicesOf(timelines: Timeline[], profile: Profile): Device[] {
  const byInput = new Map(timelines.map((one, i) => [one.input, i]));
  const place = (row: { input?: number }) => byInput.get(row.input) ?? 0;
  const isHost = (row: MemoryPeak) => (row.device_type === 0 ? 1 : 0);
  const peaks = [...profile.rows("profile_memory_peak")].sort(
    (a, b) => isHost(a) - isHost(b) || place(a) - place(b) || (a.device ?? 0) - (b.device ?? 0),
  );
  const uses = [...profile.rows("memory_use")].sort((a, b) => place(a) - place(b));
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
  const told = (column: keyof MemoryPeak & string) => ({
    definition: meaning("profile_memory_peak", column),
  });
  const where = [peak.module, peak.op].filter(Boolean).join(", ");
  return [
    {
      value: bytes(peak.peak_allocated_bytes ?? 0),
      label: "peak allocated",
      ...(where && { note: `in ${where}` }),
      ...told("peak_allocated_bytes"),
    },
    ...(peak.reserved_at_peak_bytes === undefined
      ? []
      : [
          {
            value: bytes(peak.reserved_at_peak_bytes),
            label: "reserved then",
            note: `${shareText(1 - (peak.peak_allocated_bytes ?? 0) / Math.max(1, peak.reserved_at_peak_bytes))} of it unused`,
            ...told("reserved_at_peak_bytes"),
          },
          {
            value: bytes(peak.peak_reserved_bytes ?? 0),
            label: "peak reserved",
            ...(peak.reserved_capacity_pct !== undefined && {
              note: `${shareText(peak.reserved_capacity_pct / 100)} of the ${bytes(peak.capacity_bytes ?? 0)} of the device`,
            }),
            ...told("peak_reserved_bytes"),
          },
        ]),
    {
      value: count(peak.events ?? 0),
      label: "allocations and frees",
      note: peak.totals_known ? "with totals" : "without totals: counted from the first event",
      ...told("events"),
    },
  ];
}

function useFacts(use: MemoryUse): Fact[] {
  const told = (column: keyof MemoryUse & string) => ({ definition: meaning("memory_use", column) });
  const traced = (use.events ?? 0) > 0;
  return [
    ...(traced
      ? [
          {
            value: bytes(use.peak_allocated_bytes ?? 0),
            label: "peak in use",
            ...(use.peak_annotation && { note: `in ${use.peak_annotation}` }),
            ...told("peak_allocated_bytes"),
          },
          {
            value: shareText(use.peak_unused_share ?? 0),
            label: "unused at the peak",
            note: `${bytes(use.peak_unused_bytes ?? 0)} of ${bytes(use.peak_reserved_bytes ?? 0)} reserved`,
            ...told("peak_unused_share"),
          },
        ]
      : []),
    {
      value: bytes(use.end_allocated_bytes ?? 0),
      label: "in use at the end",
      note: `of ${bytes(use.end_reserved_bytes ?? 0)} reserved`,
      ...told("end_allocated_bytes"),
    },
    {
      value: bytes(use.end_split_bytes ?? 0),
      label: "fragmented",
      note: `largest free block ${bytes(use.largest_free_bytes ?? 0)}`,
      ...told("end_split_bytes"),
    },
    ...(traced
      ? [
          {
            value: count(use.ooms ?? 0),
            label: "out of memory",
            note: `${counted(use.retries ?? 0, "retry", "retries")}`,
            definition: `${meaning("memory_use", "ooms")}; retries: ${meaning("memory_use", "retries")}`,
          },
        ]
      : []),
  ];
}

const allNumbers: [column: keyof MemoryUse & string, words: string][] = [
  ["segments", "segments at the end"],
  ["end_reserved_bytes", "reserved at the end"],
  ["end_allocated_bytes", "in use at the end"],
  ["end_requested_bytes", "of that asked for"],
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
  ["segment_frees", "segments given back"],
  ["events", "entries of the trace"],
];

function AllNumbers({ use }: { use: MemoryUse }) {
  return (
    <Section title="The allocator in numbers">
      <dl class="memory-numbers">
        {allNumbers.map(([column, words]) => {
          const value = use[column] as number | undefined;
          if (value === undefined) return null;
          return (
            <div key={column} title={meaning("memory_use", column)}>
              <dt>{words}</dt>
              <dd>{column.endsWith("_bytes") ? bytes(value) : count(value)}</dd>
            </div>
          );
        })}
      </dl>
    </Section>
  );
}

function CurveOf({ profile, device }: { profile: Profile; device: Device }) {
  const table = device.use ? "memory_timeline" : "profile_memory_curve";
  const spans = useMemo(
    (): Span[] =>
      profile
        .rows(table)
        .filter(device.isOf)
        .sort((a, b) => (a.begin_ns ?? 0) - (b.begin_ns ?? 0)),
    [profile, table, device],
  );
  const of = device.peak ?? device.use;
  const peak =
    of?.peak_ns !== undefined && of.peak_allocated_bytes !== undefined
      ? { ns: of.peak_ns, bytes: of.peak_allocated_bytes }
      : null;
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
        peak={peak}
        label={
          `Memory over ${duration(last - first)}` +
          (peak ? `; the peak of ${bytes(peak.bytes)} is at ${duration(Math.max(0, peak.ns - first))}` : "")
        }
      />
      <p class="quiet left-out">
        The most in each of {counted(spans.length, "span")} of{" "}
        {counted(spans.reduce((all, span) => all + (span.events ?? 0), 0), "event")}, in time since the
        first. Drag to zoom, double click to go back.
      </p>
      <LeftOut profile={profile} names={[table]} />
    </Section>
  );
}

function DeviceChoice({ devices, device }: { devices: Device[]; device: Device }) {
  if (devices.length < 2) return null;
  return (
    <label class="group-choice">
      <span aria-hidden="true">Device</span>
      <select
        aria-label="Device"
        value={device.key}
        onChange={(event) =>
          setParams(id, { device: event.currentTarget.value, rank: null, at: null, moment: null })
        }
      >
        {devices.map((one) => (
          <option key={one.key} value={one.key}>
            {one.label}: {bytes(mostOf(one))}
          </option>
        ))}
      </select>
    </label>
  );
}

function Memory({ run, route, profile }: ProfileProps) {
  const devices = useMemo(
    () => devicesOf(timelinesOf(run, profile, ["profile_memory_peak", "memory_use"]), profile),
    [run, profile],
  );
  const device = chosenDevice(devices, route);
  if (!device) return <p class="empty">No memory of a device was recorded in this job.</p>;
  const { peak, use } = device;
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
      <CurveOf key={device.key} profile={profile} device={device} />
      {peak && (
        <>
          <AliveOps
            profile={profile}
            rows={profile.rows("profile_memory_holder").filter(device.isOf)}
          />
          <MemoryOps profile={profile} rows={profile.rows("profile_memory_op").filter(device.isOf)} />
        </>
      )}
      {use && (
        <>
          <Holders
            profile={profile}
            route={route}
            rows={profile.rows("memory_holder").filter(device.isOf)}
          />
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
