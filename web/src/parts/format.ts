// Numbers, sizes, times, places and rank lists as people read them.

const grouped = new Intl.NumberFormat("en-US");

export function count(value: number | null): string {
  return value === null ? "" : grouped.format(value);
}

// "1 input", "20,000 inputs".
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// Memory of a device, which has powers of two: "640.0 KiB", "312.5 MiB", "77.60 GiB", as findings print it.
export function memory(value: number | null): string {
  if (value === null) return "";
  const size = Math.abs(value);
  const sign = value < 0 ? "\u2212" : "";
  if (size < 2 ** 10) return `${sign}${size} bytes`;
  if (size < 2 ** 20) return `${sign}${(size / 2 ** 10).toFixed(1)} KiB`;
  return size < 2 ** 30 ? `${sign}${(size / 2 ** 20).toFixed(1)} MiB` : `${sign}${(size / 2 ** 30).toFixed(2)} GiB`;
}

interface Rounded {
  value: number;
  digits: number;
  unit: string;
}

// Three digits in the largest unit in which it is at least 1, as src/base/text/units.cc does it; tests/amounts.def holds both to it.
function inUnits(amount: number, units: string[]): Rounded {
  const most = Math.abs(amount);
  let [unit, size] = [0, 1];
  while (unit + 1 < units.length && most >= 999.5 * size) {
    size *= 1000;
    ++unit;
  }
  const digits = unit === 0 || most / size >= 99.95 ? 0 : most / size >= 9.995 ? 1 : 2;
  const parts = 10 ** digits;
  const value = Math.round(most / (size / parts)) / parts;
  return { value: amount < 0 ? -value : value, digits, unit: units[unit] as string };
}

const withUnit = ({ value, digits, unit }: Rounded) => `${value.toFixed(digits)} ${unit}`;

// Powers of 1000, three digits: "12.3 MB".
export function bytes(value: number | null): string {
  return value === null ? "" : withUnit(inUnits(value, ["B", "kB", "MB", "GB", "TB", "PB"]));
}

export const showBytes = (value: number) =>
  value < 0 ? `\u2212${bytes(-value)}` : bytes(Math.round(value));

// UTC with milliseconds; the last digits of nanoseconds are beyond what a double holds.
export function time(ns: number | null): string {
  if (ns === null || Math.abs(ns) > 8.64e21) return "";
  return new Date(ns / 1e6).toISOString().replace("T", " ").replace("Z", "");
}

// [0, 1, 2, 5] -> "0-2, 5". At most `most` pieces, the rest is counted.
export function rankList(ranks: number[], most = 12): string {
  const pieces: string[] = [];
  const sorted = [...ranks].sort((a, b) => a - b);
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === (sorted[end] as number) + 1) ++end;
    const [from, to] = [sorted[i] as number, sorted[end] as number];
    pieces.push(from === to ? `${from}` : `${from}\u2013${to}`);
    i = end + 1;
  }
  if (pieces.length <= most) return pieces.join(", ");
  return `${pieces.slice(0, most).join(", ")} and ${count(pieces.length - most)} more`;
}

// Groups of a mesh have every n-th rank: [0, 2, 4, 6, 9] -> "0, 2 ... 6, 9". At most `most` pieces, the
// rest is counted.
export function steppedList(ranks: number[], most = 6): string {
  const pieces: string[] = [];
  let shown = 0;
  for (let i = 0; i < ranks.length && pieces.length < most; ) {
    const step = (ranks[i + 1] ?? NaN) - (ranks[i] as number);
    let end = i;
    while (end + 1 < ranks.length && (ranks[end + 1] as number) - (ranks[end] as number) === step)
      ++end;
    if (step === 1 || end - i < 3) end = step === 1 ? end : i;
    const [first, last] = [ranks[i] as number, ranks[end] as number];
    if (end === i) pieces.push(`${first}`);
    else pieces.push(step === 1 ? `${first}\u2013${last}` : `${first}, ${first + step} \u2026 ${last}`);
    shown += end - i + 1;
    i = end + 1;
  }
  const more = ranks.length - shown;
  return more > 0 ? `${pieces.join(", ")} and ${count(more)} more` : pieces.join(", ");
}

export function ranksInWords(ranks: number[]): string {
  return `${ranks.length === 1 ? "Rank" : "Ranks"} ${rankList(ranks)}`;
}

// "flight_recorder" -> "flight recorder".
export function words(name: string): string {
  return name.replace(/_/g, " ");
}

// "[512, 256], [8]" of "[[512,256],[8],[],[]]", as sheets print it: the shapes without what has none.
export function shapesOf(json: string | undefined): string {
  const shapes = (json ?? "").match(/\[[^[\]]+\]/g) ?? [];
  return shapes.map((one) => one.replace(/, */g, ", ")).join(", ");
}

// The kinds of inputs as the terminal names them.
const inputKinds: Record<string, string> = {
  aiu_compiler_log: "AIU compiler log",
  chakra: "Chakra trace",
  chrome_trace: "profile",
  execution_trace: "execution trace",
  flex: "accelerator profile",
  flight_recorder: "Flight Recorder dump",
  fr_trace_text: "fr_trace report",
  job_text: "output",
  nccl_inspector: "NCCL Inspector log",
  nccl_ras: "NCCL RAS report",
  nsys: "profile (Nsight Systems)",
  perfetto: "profile (Perfetto)",
  process_stacks: "stack dump",
  rocpd: "profile (rocprofiler)",
  torch_trace: "compile log",
  torchcomms_clog: "torchcomms log",
};

export const inputKind = (kind: string): string => inputKinds[kind] ?? words(kind);

const timeUnits = ["ns", "us", "ms", "s"];

// "601 s", "12.0 ms": three digits.
export function duration(ns: number | null): string {
  return ns === null ? "" : withUnit(inUnits(ns, timeUnits));
}

// The same without zeros at the end, for marks of an axis and in sentences: "10 s", "1.3 s".
export function durationInWords(ns: number): string {
  const { value, unit } = inUnits(ns, timeUnits);
  return `${value} ${unit}`;
}

export function seconds(value: number | undefined): string {
  if (value === 0) return "0 s";
  return value === undefined ? "" : duration(Math.round(value * 1e9));
}

// Nanoseconds that may be a fraction, in a column of them.
export const showTime = (ns: number) => (ns === 0 ? "0" : duration(Math.round(ns)));

// Two or three digits: "4.2 %", "57.1 %".
export function percent(share: number | undefined): string {
  return share === undefined ? "" : `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))} %`;
}

// "12.3 %": one digit, which is what people compare; less than that is told as such.
export function shareText(share: number): string {
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share > 0.999 && share < 1) return ">99.9 %";
  return `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;
}

// A number and its unit, and a list in brackets, stay on one line.
export function unbroken(text: string): string {
  return text
    .replace(/(\d) (ns|us|ms|s|%|x|[KMGT]i?B)(?!\w)/g, "$1\u00a0$2")
    .replace(/\[[^\]]{1,24}\]/g, (list) => list.replace(/ /g, "\u00a0"));
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

// "train.py:52".
export function placeText(file: string | undefined, line: number | undefined): string {
  return file ? `${file}${line === undefined ? "" : `:${line}`}` : "";
}

// The round distance of marks of an axis that is not below `least`: 1, 2 or 5 times a power of ten, from 1 on.
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least * 0.999999) ?? power * 10;
}
