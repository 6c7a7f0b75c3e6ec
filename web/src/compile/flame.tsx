// A flame graph of compile time: a row of boxes for each level of the stacks, as wide as the seconds of the
// compilations below. A click zooms, and the way back stands above.
import { percent, seconds } from "../parts/format";
import { nodeName, pathTo, statusWords, type StackNode } from "./stacks";

const rowHeight = 22;
const leastShare = 0.002; // of the width: narrower boxes cannot be hit
const mostBoxes = 3000;
const mostRows = 60;

interface Box {
  node: StackNode;
  left: number; // shares of the width
  width: number;
  row: number;
}

function layOut(forest: StackNode[], all: number): Box[] {
  const boxes: Box[] = [];
  const add = (nodes: StackNode[], left: number, row: number) => {
    if (row >= mostRows) return;
    for (const node of nodes) {
      const width = all > 0 ? node.seconds / all : 0;
      if (width < leastShare || boxes.length >= mostBoxes) continue;
      boxes.push({ node, left, width, row });
      add(node.children, left, row + 1);
      left += width;
    }
  };
  add(forest, 0, 0);
  return boxes;
}

// Colours by function, so that one that is called from several places is seen again.
function hueOf(name: string): number {
  let hash = 7;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) % 997;
  return hash % 6;
}

interface Props {
  forest: StackNode[];
  zoom: string | null;
  onZoom: (id: string | null) => void;
}

function boxNumbers(node: StackNode, all: number): string {
  const share = all > 0 ? node.seconds / all : 0;
  return `${seconds(node.seconds)}, ${percent(share)}; ${statusWords(node.statuses)}`;
}

function boxWords(node: StackNode, all: number): string {
  return `${nodeName(node)}: ${boxNumbers(node, all)}`;
}

function FlameBox({ box, all, onZoom }: { box: Box; all: number; onZoom: Props["onZoom"] }) {
  const { node } = box;
  const words = boxWords(node, all);
  return (
    <button
      class={`flame-box ${node.isUser ? `hue-${hueOf(node.name)}` : "library"}`}
      style={{
        left: `${box.left * 100}%`,
        width: `${box.width * 100}%`,
        top: `${box.row * rowHeight}px`,
        height: `${rowHeight - 1}px`,
      }}
      title={words}
      aria-label={words}
      onClick={() => onZoom(node.id)}
    >
      {box.width > 0.03 ? nodeName(node) : ""}
    </button>
  );
}

export function Flame({ forest, zoom, onZoom }: Props) {
  const all = forest.reduce((sum, node) => sum + node.seconds, 0);
  const path = zoom === null ? [] : pathTo(forest, zoom);
  const last = path[path.length - 1];
  const shown = last ? [last] : forest;
  const width = last ? last.seconds : all;
  const boxes = layOut(shown, width);
  const rows = boxes.reduce((most, box) => Math.max(most, box.row + 1), 0);
  if (all === 0) return <p class="empty">The logs do not tell how long the compilations took.</p>;
  return (
    <>
      <p class="flame-path">
        <button class="plain link" onClick={() => onZoom(null)} disabled={!last}>
          all {seconds(all)}
        </button>
        {path.map((node) => (
          <span key={node.id}>
            {" \u203a "}
            <button class="plain link" onClick={() => onZoom(node.id)} disabled={node === last}>
              {node.name || "?"}
            </button>
          </span>
        ))}
        {last && <span class="quiet"> {boxNumbers(last, all)}</span>}
      </p>
      <div
        class="flame"
        role="group"
        aria-label="Compile time by stack"
        style={{ height: `${rows * rowHeight}px` }}
      >
        {boxes.map((box) => (
          <FlameBox key={box.node.id} box={box} all={all} onZoom={onZoom} />
        ))}
      </div>
    </>
  );
}
