// Numbers, sizes, times and rank lists as people read them.

const grouped = new Intl.NumberFormat("en-US");

export function count(value: number | null): string {
  return value === null ? "" : grouped.format(value);
}

// "1 input", "20,000 inputs".
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// Powers of 1000, three digits: "12.3 MB".
export function bytes(value: number | null): string {
  if (value === null) return "";
  if (value < 1000) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB", "PB"];
  let scaled = value / 1000;
  let unit = 0;
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000;
    ++unit;
  }
  return `${scaled.toPrecision(3)} ${units[unit]}`;
}

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

export function ranksInWords(ranks: number[]): string {
  return `${ranks.length === 1 ? "Rank" : "Ranks"} ${rankList(ranks)}`;
}

// "flight_recorder" -> "flight recorder".
export function words(name: string): string {
  return name.replace(/_/g, " ");
}

// "601 s", "12.3 ms": three digits.
export function duration(ns: number | null): string {
  if (ns === null) return "";
  const units: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "\u00b5s"],
  ];
  const [size, unit] = units.find(([least]) => Math.abs(ns) >= least) ?? [1, "ns"];
  const scaled = ns / size;
  return `${Math.abs(scaled) >= 1000 ? count(Math.round(scaled)) : Number(scaled.toPrecision(3))} ${unit}`;
}
