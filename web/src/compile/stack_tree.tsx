// The frames of the program at which compilations began, as a tree that unfolds.
import { useMemo, useState } from "preact/hooks";
import { useSteps } from "../parts/choices";
import { count, seconds } from "../parts/format";
import { SourceLink } from "../parts/marks";
import { sum } from "../parts/rows";
import { VirtualList } from "../parts/virtual";
import { param, to } from "../shell/route";
import { allNodes, filtered, nodeName, statusWords, type End, type StackNode } from "./stacks";
import { looks, StatusSign } from "./status";

const rowHeight = 28;
const mostEnds = 5; // compilations of a frame that are links of their own

interface Row {
  node: StackNode;
  depth: number;
  isOpen: boolean;
}

function visibleRows(forest: StackNode[], closed: Set<string>): Row[] {
  const rows: Row[] = [];
  const add = (nodes: StackNode[], depth: number) => {
    for (const node of nodes) {
      const isOpen = !closed.has(node.id);
      rows.push({ node, depth, isOpen });
      if (isOpen) add(node.children, depth + 1);
    }
  };
  add(forest, 0);
  return rows;
}

function Ends({ node }: { node: StackNode }) {
  const order = new Map(looks.map((look, i) => [look.status, i]));
  const worst = [...node.ends].sort(
    (a, b) => (order.get(a.status) ?? 0) - (order.get(b.status) ?? 0),
  );
  const name = (end: End) => (end.rank === null ? end.id : `rank ${end.rank} ${end.id}`);
  return (
    <span class="stack-ends">
      {worst.slice(0, mostEnds).map((end) => (
        <a
          key={end.key}
          class="stack-end"
          href={to("compile", { at: end.key })}
          title={`Compilation ${end.id}${end.rank === null ? "" : ` of rank ${end.rank}`}, ${seconds(end.seconds)}`}
        >
          <StatusSign status={end.status} />
          {name(end)}
        </a>
      ))}
      {worst.length > mostEnds && (
        <a
          class="stack-end"
          href={to("compile", { filter: `function:${node.name}` })}
          title={statusWords(node.statuses)}
        >
          and {count(worst.length - mostEnds)} more
        </a>
      )}
    </span>
  );
}

// What is folded away below a closed frame, worst first.
function Hidden({ node }: { node: StackNode }) {
  return (
    <span class="stack-ends quiet" title={statusWords(node.statuses)}>
      {looks
        .filter((look) => node.statuses.has(look.status))
        .map((look) => (
          <span key={look.status} class="stack-end">
            <StatusSign status={look.status} />
            {count(node.statuses.get(look.status) ?? 0)}
          </span>
        ))}
    </span>
  );
}

interface Props {
  forest: StackNode[];
  filter: string;
  selected: string | null;
  onSelect: (id: string | null) => void;
}

function TreeRow(
  props: Row & Omit<Props, "forest" | "filter"> & { all: number; toggle: () => void },
) {
  const { node, depth, isOpen, selected, all } = props;
  const folds = node.children.length > 0;
  const isSelected = selected === node.id;
  return (
    <li
      key={node.id}
      class={`stack-row${isSelected ? " selected" : ""}${node.isUser ? "" : " library"}`}
      style={{ height: `${rowHeight}px` }}
    >
      <span class="stack-name" style={{ paddingLeft: `${8 + Math.min(depth, 30) * 16}px` }}>
        {folds ? (
          <button
            class="plain fold"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? "Fold" : "Unfold"} ${nodeName(node)}`}
            onClick={props.toggle}
          >
            <span class="arrow" aria-hidden="true" />
          </button>
        ) : (
          <span class="no-arrow" aria-hidden="true" />
        )}
        <button
          class="plain stack-function"
          aria-pressed={isSelected}
          title="Show in the flame graph"
          onClick={() => props.onSelect(isSelected ? null : node.id)}
        >
          {node.name || "?"}
        </button>{" "}
        <SourceLink file={node.file} line={node.line} short />
      </span>
      {!isOpen && folds ? <Hidden node={node} /> : <Ends node={node} />}
      <span class="stack-time" title="Compile time of this frame and all below it">
        {seconds(node.seconds)}
        <span class="bar" aria-hidden="true">
          <span style={{ width: `${all > 0 ? (100 * node.seconds) / all : 0}%` }} />
        </span>
      </span>
    </li>
  );
}

export function StackTree({ forest, filter, selected, onSelect }: Props) {
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return forest;
    const text = (node: StackNode) =>
      `${node.name} ${node.file}:${node.line} ${[...node.statuses.keys()].filter(() => node.ends.length > 0).join(" ")} ${node.ends.map((end) => `id:${end.id}`).join(" ")}`.toLowerCase();
    return filtered(forest, (node) => words.every((word) => text(node).includes(word)));
  }, [forest, filter]);
  const rows = useMemo(() => visibleRows(shown, closed), [shown, closed]);
  const all = sum(forest, (node) => node.seconds);
  const at = rows.findIndex((row) => row.node.id === selected);
  useSteps("frame", (by) => {
    const now = param("frame"); // keys may come faster than the page is drawn
    const from = rows.findIndex((row) => row.node.id === now);
    const next = rows[Math.max(0, Math.min(rows.length - 1, from + by))];
    if (next) onSelect(next.node.id);
  });
  const toggle = (id: string) => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const closeAll = () =>
    setClosed(
      new Set(
        allNodes(forest)
          .filter((node) => node.children.length > 0)
          .map((node) => node.id),
      ),
    );
  if (rows.length === 0) return <p class="empty">No frame matches the filter.</p>;
  return (
    <>
      <div class="choices stack-choices">
        <button onClick={() => setClosed(new Set())}>Unfold all</button>
        <button onClick={closeAll}>Fold all</button>
      </div>
      <VirtualList rows={rows} height={rowHeight} label="Frames" shown={at}>
        {(row) => (
          <TreeRow
            {...row}
            key={row.node.id}
            selected={selected}
            all={all}
            onSelect={onSelect}
            toggle={() => toggle(row.node.id)}
          />
        )}
      </VirtualList>
    </>
  );
}
