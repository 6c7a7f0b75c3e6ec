// Reads the bytes of an island of slices (src/outputs/report/html/timeline/island.h tells what they are).
//
// Everything becomes typed arrays; there is no object for a slice. A million slices take some 50 ms.
import { cleanText } from "../run/clean";
import type { CounterData, Flows, IslandData, LaneData } from "./model";

type Header = {
  kinds: string[];
  flowKinds: string[];
  texts: string[];
  lanes: [key: string, rowSizes: number[]][];
  counters: [key: string, series: [name: string, unit: string, points: number, whole: number][]][];
  flows: number;
  bytes: number[];
};

// One block of numbers, read from its beginning to its end.
class Block {
  constructor(
    private bytes: Uint8Array,
    private at: number,
  ) {}

  varint(): number {
    const bytes = this.bytes;
    let byte = bytes[this.at++] as number;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; shift < 28; shift += 7) {
      byte = bytes[this.at++] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    // Beyond 28 bits shifts would lose the high ones.
    for (let scale = 2 ** 28; ; scale *= 128) {
      byte = bytes[this.at++] as number;
      value += (byte & 127) * scale;
      if (!(byte >= 128)) return value;
    }
  }

  // 0, 1, 2, 3 are 0, -1, 1, -2.
  signed(): number {
    const folded = this.varint();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  double(): number {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8);
    this.at += 8;
    return view.getFloat64(0, true);
  }

  varints(count: number): Uint32Array {
    const values = new Uint32Array(count);
    for (let i = 0; i < count; ++i) values[i] = this.varint();
    return values;
  }

  // Each told as its distance from the one before.
  sums(count: number): Uint32Array {
    const values = new Uint32Array(count);
    for (let i = 0, sum = 0; i < count; ++i) values[i] = sum += this.signed();
    return values;
  }

  take(count: number): Uint8Array {
    this.at += count;
    return this.bytes.slice(this.at - count, this.at);
  }
}

interface Blocks {
  start: Block;
  duration: Block;
  name: Block;
  note: Block;
  kind: Block;
  number: Block;
  counters: Block;
  flowTo: Block;
  flowFrom: Block;
  flowKind: Block;
}

function findBlocks(bytes: Uint8Array, first: number, sizes: number[]): Blocks {
  const names = [
    "start",
    "duration",
    "name",
    "note",
    "kind",
    "number",
    "counters",
    "flowTo",
    "flowFrom",
    "flowKind",
  ] as const;
  const blocks: Partial<Blocks> = {};
  let at = first;
  names.forEach((name, i) => {
    blocks[name] = new Block(bytes, at);
    at += sizes[i] ?? 0;
  });
  if (at > bytes.length) throw new Error("This part of the timeline is cut short.");
  return blocks as Blocks;
}

function readLane(blocks: Blocks, rowSizes: number[]): LaneData {
  const depthFirst = new Uint32Array(rowSizes.length + 1);
  rowSizes.forEach((size, i) => (depthFirst[i + 1] = (depthFirst[i] as number) + size));
  const count = depthFirst[rowSizes.length] as number;
  const start = new Float64Array(count);
  const duration = new Float64Array(count);
  for (let row = 0; row < rowSizes.length; ++row) {
    const last = depthFirst[row + 1] as number;
    let end = 0;
    for (let i = depthFirst[row] as number; i < last; ++i) {
      const from = end + blocks.start.varint();
      const length = blocks.duration.varint();
      start[i] = from;
      duration[i] = length;
      end = from + length;
    }
  }
  return {
    depthFirst,
    start,
    duration,
    name: blocks.name.varints(count),
    note: blocks.note.varints(count),
    kind: blocks.kind.take(count),
    number: blocks.number.sums(count),
  };
}

function readSeries(block: Block, name: string, unit: string, points: number, whole: boolean) {
  const time = new Float64Array(points);
  const value = new Float64Array(points);
  for (let i = 0, sum = 0; i < points; ++i) time[i] = sum += block.signed();
  if (whole) for (let i = 0, sum = 0; i < points; ++i) value[i] = sum += block.signed();
  else for (let i = 0; i < points; ++i) value[i] = block.double();
  return { name: cleanText(name), unit, time, value };
}

function readFlows(blocks: Blocks, count: number): Flows {
  const to = new Uint32Array(count);
  for (let i = 0, sum = 0; i < count; ++i) to[i] = sum += blocks.flowTo.varint();
  return { from: blocks.flowFrom.sums(count), to, kind: blocks.flowKind.take(count) };
}

export function decodeIsland(bytes: Uint8Array): IslandData {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  const header = JSON.parse(text) as Header;
  const blocks = findBlocks(bytes, 4 + length, header.bytes);
  const lanes = new Map<string, LaneData>();
  for (const [key, rowSizes] of header.lanes) lanes.set(key, readLane(blocks, rowSizes));
  const counters = new Map<string, CounterData[]>();
  for (const [key, series] of header.counters) {
    const read = series.map(([name, unit, points, whole]) =>
      readSeries(blocks.counters, name, unit, points, whole === 1),
    );
    counters.set(key, read);
  }
  return {
    texts: header.texts.map(cleanText),
    kinds: header.kinds,
    flowKinds: header.flowKinds.map(cleanText),
    lanes,
    counters,
    flows: readFlows(blocks, header.flows),
  };
}
