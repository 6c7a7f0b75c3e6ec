// Where processes, lanes and rows stand, from the outline alone: nothing moves when slices arrive.
//
//   process header     24 px, stays in sight while its lanes pass below
//     lane, row 0      one row for each depth
//     lane, row 1
//   folded process     one thin row
import type { Lane, Process } from "./model";

export const headerHeight = 24;
export const foldedHeight = 22;
export const rowHeight = 18; // of a box, with the line below it
const laneGap = 6;
const counterHeight = 46;
const blockGap = 4;

export interface LaneBox {
  lane: Lane;
  y: number;
  height: number;
}

export interface Block {
  process: Process;
  isOpen: boolean;
  y: number;
  height: number;
  lanes: LaneBox[]; // none when folded
}

export interface Layout {
  blocks: Block[];
  height: number;
}

// A lane without slices has nothing to show; a counter has points instead.
export function isShown(lane: Lane): boolean {
  return lane.slices > 0 || lane.kind === "counter";
}

function laneHeight(lane: Lane): number {
  return lane.kind === "counter" ? counterHeight : Math.max(1, lane.depths) * rowHeight;
}

function openBlock(process: Process, y: number): Block {
  const lanes: LaneBox[] = [];
  let at = y + headerHeight + 3;
  for (const lane of process.lanes.filter(isShown)) {
    const height = laneHeight(lane);
    lanes.push({ lane, y: at, height });
    at += height + laneGap;
  }
  return { process, isOpen: true, y, height: at - y, lanes };
}

export function makeLayout(processes: Process[], open: Set<string>): Layout {
  const blocks: Block[] = [];
  let y = 0;
  for (const process of processes) {
    const block: Block = open.has(process.id)
      ? openBlock(process, y)
      : { process, isOpen: false, y, height: foldedHeight, lanes: [] };
    blocks.push(block);
    y += block.height + (block.isOpen ? blockGap : 0);
  }
  return { blocks, height: y };
}

// The first of `boxes`, which follow each other downwards, that ends below `y`.
function firstBelow(boxes: { y: number; height: number }[], y: number): number {
  let [low, high] = [0, boxes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const box = boxes[middle] as { y: number; height: number };
    if (box.y + box.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function blocksIn(layout: Layout, top: number, bottom: number): Block[] {
  const first = firstBelow(layout.blocks, top);
  let end = first;
  while (end < layout.blocks.length && (layout.blocks[end] as Block).y < bottom) ++end;
  return layout.blocks.slice(first, end);
}

export interface Spot {
  block: Block;
  box: LaneBox | null; // null: on a header, between lanes, or on a folded process
  depth: number;
}

export function spotAt(layout: Layout, y: number): Spot | null {
  const block = layout.blocks[firstBelow(layout.blocks, y)];
  if (!block || y < block.y) return null;
  const box = block.lanes[firstBelow(block.lanes, y)];
  if (!box || y < box.y) return { block, box: null, depth: -1 };
  const depth = box.lane.kind === "counter" ? 0 : Math.floor((y - box.y) / rowHeight);
  return { block, box, depth };
}

// The upper edge and height of a row; that of the folded process when it is folded. null: filtered away.
export function rowBox(
  layout: Layout,
  process: Process,
  lane: Lane,
  depth: number,
): { y: number; height: number } | null {
  const block = layout.blocks.find((one) => one.process === process);
  if (!block) return null;
  const box = block.lanes.find((one) => one.lane === lane);
  if (!box) return { y: block.y, height: foldedHeight };
  return { y: box.y + depth * rowHeight, height: rowHeight };
}

// Lanes between two heights, wholly or in part.
export function lanesBetween(
  layout: Layout,
  top: number,
  bottom: number,
): { process: Process; lane: Lane }[] {
  return blocksIn(layout, top, bottom).flatMap((block) =>
    block.lanes
      .filter((box) => box.y < bottom && box.y + box.height > top)
      .map((box) => ({ process: block.process, lane: box.lane })),
  );
}
