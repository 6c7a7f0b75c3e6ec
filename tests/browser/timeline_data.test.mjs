// The timeline's islands: what the binary writes is what the page's decoder reads, and reads fast. These
// tests need no browser; the decoder is bundled as the page's is.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import esbuild from "esbuild";

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "web", "src");

async function decoder(work) {
  const outfile = path.join(work, "timeline_decode.mjs");
  await esbuild.build({
    entryPoints: [path.join(web, "timeline", "decode.ts")],
    bundle: true,
    format: "esm",
    outfile,
    logLevel: "warning",
  });
  return (await import(pathToFileURL(outfile).href)).decodeIsland;
}

// The bytes of an island of a report that is not one file.
function island(report, name) {
  const script = readFileSync(path.join(report, "report_data", `${name}.js`), "utf8");
  return new Uint8Array(gunzipSync(Buffer.from(script.split('"')[3], "base64")));
}

const event = (name, cat, pid, tid, ts, dur, args = {}) => ({
  ph: "X",
  name,
  cat,
  pid,
  tid,
  ts,
  dur,
  args,
});

function trace() {
  const kernel = (name, ts, dur, more = {}) =>
    event(name, "kernel", 0, 7, ts, dur, { device: 0, stream: 7, ...more });
  return {
    schemaVersion: 1,
    baseTimeNanoseconds: 1700000000000000000,
    distributedInfo: { backend: "nccl", rank: 3, world_size: 8 },
    traceEvents: [
      { ph: "M", name: "process_name", pid: 11, tid: 0, ts: 0, args: { name: "python" } },
      { ph: "M", name: "process_labels", pid: 11, tid: 0, ts: 0, args: { labels: "CPU" } },
      { ph: "M", name: "process_labels", pid: 0, tid: 0, ts: 0, args: { labels: "GPU 0" } },
      event("aten::mm", "cpu_op", 11, 11, 10, 20.5, { "Input Dims": [[4, 4]] }),
      event("cudaLaunchKernel", "cuda_runtime", 11, 11, 12, 3, { correlation: 9 }),
      kernel("gemm \u202e<b>", 20, 10.125, { correlation: 9, grid: [2, 3, 1], block: [32, 1, 1] }),
      kernel("ncclDevKernel_AllReduce", 25, 3600e6),
      { ph: "C", name: "load", pid: 11, tid: 0, ts: 5, args: { sm: 0.5 } },
      { ph: "C", name: "load", pid: 11, tid: 0, ts: 6, args: { sm: -0.25 } },
    ],
  };
}

// Slices of a lane as a reader would tell them.
function told(data, key) {
  const lane = data.lanes.get(key);
  return [...lane.start].map((start, i) => ({
    row: lane.depthFirst.findLastIndex((first) => first <= i),
    start,
    duration: lane.duration[i],
    name: data.texts[lane.name[i]],
    note: data.texts[lane.note[i]],
    kind: data.kinds[lane.kind[i]],
  }));
}

const readBack = {
  name: "timeline data: the page reads what the binary writes",
  needsBinary: true,
  async run(t) {
    const folder = path.join(t.options.work, "timeline_data");
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, "rank3.pt.trace.json");
    const report = path.join(folder, "report");
    writeFileSync(file, JSON.stringify(trace()));
    execFileSync(t.options.binary, [file, "-o", report, "--overwrite", "--quiet", "--no-store"], {
      stdio: "ignore",
    });
    const outline = JSON.parse(new TextDecoder().decode(island(report, "timeline")));
    assert.deepEqual(
      outline.processes.map((one) => [one.title, one.source, one.rank, one.slices]),
      [
        ["rank 3 \u00b7 python (host)", "profile", 3, 2],
        ["rank 3 \u00b7 GPU 0", "profile", 3, 2],
      ],
    );
    assert.deepEqual([outline.slices, outline.leftOut, outline.last], [4, 0, 3600e9 + 20000]);
    const [host, device] = outline.processes;
    const data = (await decoder(t.options.work))(island(report, host.island));
    const thread = host.lanes.find((lane) => lane.kind === "thread");
    const stream = device.lanes.find((lane) => lane.kind === "stream");
    assert.deepEqual(told(data, `${host.id}/${thread.id}`), [
      { row: 0, start: 5000, duration: 20500, name: "aten::mm", note: "[[4,4]]", kind: "op" },
      { row: 1, start: 7000, duration: 3000, name: "cudaLaunchKernel", note: "", kind: "runtime" },
    ]);
    const boxes = told(data, `${device.id}/${stream.id}`);
    assert.deepEqual(
      boxes.map((one) => [one.row, one.start, one.duration, one.name, one.kind]),
      [
        [0, 15000, 10125, "gemm \\u202e<b>", "kernel"],
        [1, 20000, 3600e9, "ncclDevKernel_AllReduce", "comm"],
      ],
    );
    assert.equal(boxes[0].note, "6 blocks of 32 threads");
    const counter = host.lanes.find((lane) => lane.kind === "counter");
    const [series] = data.counters.get(`${host.id}/${counter.id}`);
    assert.deepEqual(
      [series.name, [...series.time], [...series.value]],
      ["sm", [0, 1000], [0.5, -0.25]], // the earliest time of all is that of a counter
    );
    const number = (key, row) => data.lanes.get(key).number[row];
    assert.deepEqual(
      [data.flowKinds[data.flows.kind[0]], data.flows.from[0], data.flows.to[0]],
      ["launch", number(`${host.id}/${thread.id}`, 1), number(`${device.id}/${stream.id}`, 0)],
    );
  },
};

// An island of one lane whose slices all have a gap of 300 and a duration of 1000 ns.
function manySlices(count) {
  const column = (...bytes) => {
    const block = new Uint8Array(count * bytes.length);
    for (let i = 0; i < block.length; ++i) block[i] = bytes[i % bytes.length];
    return block;
  };
  const two = (value) => [(value & 127) | 128, value >> 7];
  const none = new Uint8Array(0);
  const blocks = [
    column(...two(300)),
    column(...two(1000)),
    column(1),
    column(0),
    column(5),
    column(2),
    none,
    none,
    none,
    none,
  ];
  const header = new TextEncoder().encode(
    JSON.stringify({
      kinds: ["a", "b", "c", "d", "e", "kernel"],
      flowKinds: [],
      texts: ["", "gemm"],
      lanes: [["0.0/0", [count]]],
      counters: [],
      flows: 0,
      bytes: blocks.map((block) => block.length),
    }),
  );
  const length = new Uint8Array(new Uint32Array([header.length]).buffer);
  return new Uint8Array(Buffer.concat([length, header, ...blocks]));
}

const fast = {
  name: "timeline data: a million slices in a moment",
  async run(t) {
    const count = 1000000;
    const bytes = manySlices(count);
    const decode = await decoder(t.options.work);
    const start = performance.now();
    const lane = decode(bytes).lanes.get("0.0/0");
    const took = performance.now() - start;
    assert.equal(lane.start[count - 1], (count - 1) * 1300 + 300);
    assert.equal(lane.number[count - 1], count);
    assert.ok(took < 1000, `${took} ms`); // 40 ms on an idle machine
  },
};

const cut = {
  name: "timeline data: an island that is cut short says so",
  async run(t) {
    const decode = await decoder(t.options.work);
    assert.throws(() => decode(manySlices(100).slice(0, 400)), /cut short/);
  },
};

const golden = path.join(web, "..", "..", "tests", "golden");

const gpus = {
  name: "timeline data: samples of GPUs are counters of their ranks",
  needsBinary: true,
  async run(t) {
    const report = t.shared([path.join(golden, "prometheus", "throttled", "input")], "--no-store");
    const outline = JSON.parse(new TextDecoder().decode(island(report, "timeline")));
    const gpu = outline.processes.find((one) => one.rank === 2);
    assert.deepEqual([gpu.title, gpu.source], ["rank 2 \u00b7 GPU counters (n1 GPU 2)", "host"]);
    assert.deepEqual(
      gpu.lanes.map((one) => one.name.replace("rank 2 \u00b7 ", "")),
      ["GPU clock", "GPU temperature", "GPU power", "GPU utilization", "GPU memory", "GPU throttling"],
    );
    const data = (await decoder(t.options.work))(island(report, gpu.island));
    const [clock] = data.counters.get(`${gpu.id}/sm_clock`);
    assert.deepEqual([clock.unit, clock.value[0], clock.value.at(-1), clock.time[1] - clock.time[0]], ["MHz", 1980, 1005, 15e9]);
    assert.deepEqual(
      told(data, `${gpu.id}/throttling`).map((one) => [one.name, one.kind, one.duration]),
      [["power cap", "power_cap", 75e9], ["thermal throttling", "throttling", 90e9]],
    );
  },
};

export const tests = [readBack, gpus, fast, cut];
