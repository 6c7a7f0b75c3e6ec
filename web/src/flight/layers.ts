// Places of the nodes of a wait-for graph: layers from left to right, so that every arrow leads to the right, to
// what is waited for. Nodes of a circle share a layer. Within a layer nodes stand beside what they wait
// for (one pass from the right, one from the left), which keeps most arrows from crossing.
import type { WaitNode } from "./waits";

export interface Box {
  node: WaitNode;
  x: number;
  y: number;
}

export interface Places {
  boxes: Map<WaitNode, Box>;
  width: number;
  height: number;
}

export const boxSize = { width: 280, height: 56 };
const gap = { x: 76, y: 16 };
const edge = 12;

// How many steps a node is from the end of the longest way. Circles were found by the caller, so a node is looked at
// again only through a longer way; the number of rounds is bounded by the number of nodes.
function layersOf(nodes: WaitNode[]): Map<WaitNode, number> {
  const layer = new Map(nodes.map((node) => [node, 0]));
  const step = (from: WaitNode, to: WaitNode) =>
    from.circle >= 0 && from.circle === to.circle ? 0 : 1;
  for (let round = 0, changed = true; changed && round <= nodes.length; ++round) {
    changed = false;
    for (const node of nodes) {
      for (const to of node.to) {
        const wanted = (layer.get(to) ?? 0) + step(node, to);
        if (wanted <= (layer.get(node) ?? 0) || wanted > nodes.length) continue;
        layer.set(node, wanted);
        changed = true;
      }
    }
  }
  return layer;
}

function mean(values: number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

// Orders each layer by where the neighbours of its nodes stand.
function arrange(layers: WaitNode[][], neighbours: (node: WaitNode) => WaitNode[]): void {
  const place = new Map<WaitNode, number>();
  for (const layer of layers) {
    const keyed = layer.map((node, i) => {
      const places = neighbours(node).flatMap((one) => place.get(one) ?? []);
      return { node, key: places.length > 0 ? mean(places) : i / Math.max(1, layer.length) };
    });
    keyed.sort((a, b) => a.key - b.key || (a.node.ranks[0] ?? 0) - (b.node.ranks[0] ?? 0));
    keyed.forEach(({ node }, i) => {
      layer[i] = node;
      place.set(node, (i + 0.5) / layer.length);
    });
  }
}

export function placeNodes(nodes: WaitNode[]): Places {
  const layer = layersOf(nodes);
  const depth = Math.max(0, ...layer.values());
  const layers: WaitNode[][] = Array.from({ length: depth + 1 }, () => []);
  for (const node of nodes) layers[layer.get(node) as number]?.push(node);
  const from = new Map<WaitNode, WaitNode[]>(nodes.map((node) => [node, []]));
  for (const node of nodes) for (const to of node.to) from.get(to)?.push(node);
  arrange(layers, (node) => [...node.to]);
  arrange([...layers].reverse(), (node) => from.get(node) ?? []);
  const most = Math.max(1, ...layers.map((one) => one.length));
  const height = 2 * edge + most * (boxSize.height + gap.y) - gap.y;
  const boxes = new Map<WaitNode, Box>();
  layers.forEach((list, i) => {
    const top = (height - list.length * (boxSize.height + gap.y) + gap.y) / 2;
    list.forEach((node, j) => {
      const x = edge + (depth - i) * (boxSize.width + gap.x);
      boxes.set(node, { node, x, y: top + j * (boxSize.height + gap.y) });
    });
  });
  return { boxes, width: 2 * edge + (depth + 1) * (boxSize.width + gap.x) - gap.x + 24, height };
}
