// Tables of profiles for the page: two ranks of which rank 1 is waited for, with names that try to be markup.
import { emptyRun, makeFinding, makeInput } from "./fixture.mjs";

export const hostileName = "void </script><img src=x onerror=window.hacked=1>\u202Ekernel";

const who = (rank) => ({ job: 0, attempt: 0, rank, input: rank });
const ms = 1e6;
const start = 1760000000e9;

const steps = [0, 1].flatMap((rank) =>
  [10, 11, 12, 13, 14].map((label, i) => ({
    ...who(rank),
    step: label,
    label,
    host_ns: 10 * ms,
    start_ns: start + i * 20 * ms,
    duration_ns: (label === 12 ? 50 : 20) * ms,
    busy_ns: 15 * ms,
    compute_ns: 10 * ms,
    exposed_communication_ns: 5 * ms,
    exposed_memory_ns: 0,
    idle_ns: (label === 12 ? 35 : 5) * ms,
    works: 7,
    kernels: 6,
    whole: label !== 14,
  })),
);

const breakdown = [0, 1].map((rank) => ({
  ...who(rank),
  definition: "debrief",
  scope: "all",
  total_ns: 100 * ms,
  busy_ns: 75 * ms,
  idle_ns: 25 * ms,
  compute_ns: (rank ? 70 : 50) * ms,
  exposed_communication_ns: (rank ? 5 : 25) * ms,
  exposed_memcpy_ns: 0,
  other_ns: 0,
  kernels: 35,
  idle_known: rank === 0,
  ...(rank && { note: hostileName }),
}));

const ranks = [0, 1].map((rank) => ({
  ...who(rank),
  windows: 5,
  step_ns: 20 * ms,
  compute_ns: 10 * ms,
  communication_ns: 5 * ms,
  idle_ns: 5 * ms,
  host_own_ns: 3 * ms,
  data_loading_ns: 0,
  collectives: 40,
  times_last: rank ? 38 : 2,
  own_delay_ns: rank ? 35 * ms : 0,
  straggler: rank === 1,
  ...(rank && { reason: "gpu", caused_wait_ns: 9 * ms }),
}));

// Rank 0 ran it twice (2 and 4 ms), rank 1 once (6 ms): together 12 ms, mean 4 ms, deviation 2 ms.
const kernels = [
  { ...who(0), name: hostileName, device_class: "compute", count: 2, total_ns: 6 * ms, min_ns: 2 * ms, max_ns: 4 * ms, mean_ns: 3 * ms, median_ns: 3 * ms, stddev_ns: Math.SQRT2 * ms },
  { ...who(1), name: hostileName, device_class: "compute", count: 1, total_ns: 6 * ms, min_ns: 6 * ms, max_ns: 6 * ms, mean_ns: 6 * ms, median_ns: 6 * ms },
  { ...who(0), name: "Memcpy HtoD", device_class: "memcpy", count: 1, total_ns: 4 * ms, min_ns: 4 * ms, max_ns: 4 * ms, mean_ns: 4 * ms, median_ns: 4 * ms },
].map((row) => ({ definition: "debrief", ...row }));

const kernelOps = [
  { ...who(0), kernel: hostileName, op: "aten::<b>mm</b>", shapes: "[[4, 4]]", count: 2, total_ns: 6 * ms },
];

const ops = [0, 1].map((rank) => ({
  ...who(rank),
  name: "aten::<b>mm</b>",
  count: 3,
  host_total_ns: 2 * ms,
  host_self_ns: 1 * ms,
  device_total_ns: 6 * ms,
  device_self_ns: 6 * ms,
  works: 3,
}));

const modules = [
  ["GPT_0", undefined],
  ["Block_0", "GPT_0"],
  ["Linear_0", "Block_0"],
  [hostileName, "Linear_0"],
  ["circle_a", "circle_b"],
  ["circle_b", "circle_a"],
].map(([name, parent], depth) => ({
  ...who(0),
  name,
  ...(parent && { parent }),
  depth,
  count: 1,
  host_total_ns: (9 - depth) * ms,
  host_self_ns: ms,
  device_total_ns: 0,
  device_self_ns: 0,
  works: 0,
}));

const idle = [
  { ...who(0), definition: "debrief", device: 0, category: "host", detail: "python", idle_ns: 20 * ms, ratio: 0.8, gaps: 3, longest_ns: 12 * ms, busiest_host: hostileName },
  { ...who(1), definition: "debrief", device: 0, category: "host", detail: "python", idle_ns: 10 * ms, ratio: 0.4, gaps: 2, longest_ns: 8 * ms, busiest_host: "short" },
];

const gaps = [
  { ...who(0), place: 1, device: 0, start_ns: start + 45 * ms, end_ns: start + 57 * ms, duration_ns: 12 * ms, cause: "host", host: hostileName, op: "aten::add", work: "add_kernel" },
];

const critical = [
  { ...who(0), definition: "debrief", window: "step", step: 11, state: "computed", total_ns: 20 * ms, cpu_ns: 15 * ms, data_loading_ns: 0, gpu_compute_ns: 5 * ms, gpu_communication_ns: 0, gpu_memcpy_ns: 0, kernel_launch_delay_ns: 0, kernel_kernel_delay_ns: 0 },
  { ...who(1), definition: "debrief", window: "step", step: 11, state: "not_computable", reason: "no synchronisation events" },
];

const curve = Array.from({ length: 50 }, (_, point) => ({
  ...who(0),
  device_type: 1,
  device: 0,
  point,
  begin_ns: start + point * ms,
  end_ns: start + point * ms + 900000,
  events: 4,
  allocated_bytes: 1e6 * (point % 25),
  reserved_bytes: 40e6,
  most_allocated_bytes: 1e6 * (point % 25) + 5e5,
  most_reserved_bytes: 40e6,
}));

const peak = {
  ...who(0), device_type: 1, device: 0, events: 200, totals_known: true, peak_allocated_bytes: 24.5e6,
  peak_ns: start + 24 * ms, reserved_at_peak_bytes: 40e6, op: hostileName, peak_reserved_bytes: 40e6,
  capacity_bytes: 80e9, reserved_capacity_pct: 0.05,
};
const alive = { ...who(0), device_type: 1, device: 0, op: hostileName, source: "recorded", allocations: 3, bytes: 20e6, share_pct: 81.6 };
const memoryOp = { ...who(0), device_type: 1, device: 0, op: hostileName, allocations: 9, allocated_bytes: 60e6, frees: 8, freed_bytes: 70e6, net_bytes: -10e6 };

const use = {
  ...who(1), device: 0, segments: 3, end_reserved_bytes: 50e6, end_allocated_bytes: 20e6, end_split_bytes: 7e6,
  largest_free_bytes: 5e6, events: 0,
};
const holder = { ...who(1), device: 0, moment: "end", bytes: 20e6, count: 2, share: 1, frame: "train.py:10 <module>", stack: [hostileName, "train.py:10 <module>"] };

const table = (...rows) => ({ total: rows.length, rows });

export function profileTables() {
  return {
    profile_breakdown: table(...breakdown),
    profile_step: table(...steps),
    profile_rank: table(...ranks),
    profile_kernel: { total: 1003, rows: kernels },
    profile_kernel_op: table(...kernelOps),
    profile_op: table(...ops),
    profile_module: table(...modules),
    profile_idle: table(...idle),
    profile_gap: table(...gaps),
    profile_critical_summary: table(...critical),
    profile_memory_peak: table(peak),
    profile_memory_curve: table(...curve),
    profile_memory_holder: table(alive),
    profile_memory_op: table(memoryOp),
    memory_use: table(use),
    memory_holder: table(holder),
  };
}

const meanings = { profile_kernel: { total_ns: "sum of their durations" } };

export function profileRun() {
  return {
    ...emptyRun(),
    jobs: [{ job: 0, name: "job", world_size: 2, attempts: 1, inputs: 2, ranks: [0, 1] }],
    inputs: [0, 1].map((rank) => makeInput(rank, { kind: "chrome_trace", rank })),
    findings: [
      makeFinding(1, { rule: "profile.straggler", ranks: [1], headline: "Rank 1 comes late" }),
      makeFinding(2, {
        rule: "profile.slow_step",
        headline: "Step 12 took 50 ms",
        evidence: [{ text: "50 ms", table: "profile_step", rows: [2, 7] }],
      }),
    ],
    islands: {
      profile: { tables: profileTables(), meanings },
      flames: { beside: false, timelines: 2, profiles: [] },
    },
    rows: { timeline_slice: 10 },
  };
}
