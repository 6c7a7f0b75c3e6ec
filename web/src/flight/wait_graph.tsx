// The wait-for graph as a drawing: boxes of ranks, arrows to what they wait for. Boxes and arrows can be chosen by
// mouse and by keyboard; what is chosen is said in words beside it (wait_words.ts).
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { boxSize, placeNodes, type Box } from "./layers";
import { capital } from "../parts/format";
import { edgeWords, nodeWords, ranksWords, stateWords } from "./wait_words";
import type { WaitGraph, WaitNode } from "./waits";

export interface Choice {
  node: WaitNode;
  to: WaitNode | null; // of an arrow
}

interface Props {
  graph: WaitGraph;
  chosen: Choice | null;
  onChoose: (choice: Choice) => void;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
}

function pressed(act: () => void) {
  return {
    tabindex: 0, // of SVG: preact writes the name as it is
    role: "button" as const,
    onClick: act,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act();
    },
  };
}

// From the right side of a box to the left side of the other; within a layer around the right side.
function pathOf(from: Box, to: Box): string {
  const [x1, y1] = [from.x + boxSize.width, from.y + boxSize.height / 2];
  const y2 = to.y + boxSize.height / 2;
  if (from === to) return `M${x1} ${y1 - 12}c26 -8 26 32 2 24`;
  if (to.x <= from.x) {
    const x2 = to.x + boxSize.width + 6;
    const reach = 22 + Math.min(40, Math.abs(y2 - y1) / 8);
    return `M${x1} ${y1}C${x1 + reach} ${y1} ${x2 + reach} ${y2} ${x2} ${y2}`;
  }
  const x2 = to.x - 7;
  const bend = Math.max(30, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

function Arrow({ from, to, isChosen, act }: { from: Box; to: Box; isChosen: boolean; act: () => void }) {
  const path = pathOf(from, to);
  const words = edgeWords(from.node, to.node);
  const inCircle = from.node.circle >= 0 && from.node.circle === to.node.circle;
  const end = isChosen ? "chosen" : inCircle ? "circle" : "plain";
  return (
    <g
      class={`wait-edge${inCircle ? " circle" : ""}${isChosen ? " chosen" : ""}`}
      aria-pressed={isChosen}
      aria-label={words}
      {...pressed(act)}
    >
      <title>{words}</title>
      <path class="reach" d={path} />
      <path class="line" d={path} marker-end={`url(#wait-end-${end})`} />
    </g>
  );
}

function marksOf(node: WaitNode): string {
  return [node.isBlamed ? "blamed" : "", node.circle >= 0 ? "in a circle" : ""]
    .filter(Boolean)
    .join(", ");
}

function NodeBox({ box, isChosen, act }: { box: Box; isChosen: boolean; act: () => void }) {
  const { node } = box;
  const marks = marksOf(node);
  const title = capital(ranksWords(node.ranks, 3));
  const classes = [
    "wait-node",
    node.kind,
    node.isBlamed ? "blamed" : "",
    node.circle >= 0 ? "circle" : "",
    isChosen ? "chosen" : "",
  ];
  return (
    <g
      class={classes.filter(Boolean).join(" ")}
      transform={`translate(${box.x} ${box.y})`}
      aria-pressed={isChosen}
      aria-label={nodeWords(node) + (marks ? ` ${capital(marks)}.` : "")}
      {...pressed(act)}
    >
      <title>{nodeWords(node)}</title>
      <rect width={boxSize.width} height={boxSize.height} rx="8" />
      {node.isBlamed && <rect class="blame-bar" width="6" height={boxSize.height} rx="3" />}
      <text class="who" x="16" y="23">
        {cut(title, marks ? 17 : 26)}
      </text>
      {marks && (
        <text class="mark" x={boxSize.width - 12} y="23" text-anchor="end">
          {marks}
        </text>
      )}
      <text class="what" x="16" y="42">
        {cut(stateWords(node), 38)}
      </text>
    </g>
  );
}

function Ends() {
  return (
    <defs>
      {["plain", "circle", "chosen"].map((kind) => (
        <marker
          key={kind}
          id={`wait-end-${kind}`}
          class={`wait-end ${kind}`}
          viewBox="0 0 8 8"
          refX="6"
          refY="4"
          markerWidth="8"
          markerHeight="8"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 0 8 4 0 8z" />
        </marker>
      ))}
    </defs>
  );
}

export function Graph({ graph, chosen, onChoose }: Props) {
  const places = useMemo(() => placeNodes(graph.nodes), [graph]);
  const boxes = [...places.boxes.values()];
  const edges = boxes.flatMap((from) =>
    [...from.node.to].map((to) => ({ from, to: places.boxes.get(to) as Box })),
  );
  // Who is waited for stands at the right.
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.scrollTo({ left: places.width }), [places.width]);
  const isEdge = (from: Box, to: Box) => chosen?.node === from.node && chosen.to === to.node;
  return (
    <div class="wait-box" ref={box} tabIndex={0} role="region" aria-label="Who waits for whom">
      <svg width={places.width} height={places.height} role="group">
        <Ends />
        {edges.map(({ from, to }) => (
          <Arrow
            key={`${from.node.id}-${to.node.id}`}
            from={from}
            to={to}
            isChosen={isEdge(from, to)}
            act={() => onChoose({ node: from.node, to: to.node })}
          />
        ))}
        {boxes.map((box) => (
          <NodeBox
            key={box.node.id}
            box={box}
            isChosen={chosen?.node === box.node && chosen.to === null}
            act={() => onChoose({ node: box.node, to: null })}
          />
        ))}
      </svg>
    </div>
  );
}
