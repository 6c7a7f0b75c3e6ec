// The modules of one timeline as a tree that folds: each with its time on host and device.
import { useMemo, useState } from "preact/hooks";
import { columnsOf, textColumn } from "../parts/columns";
import { showTime } from "../parts/format";
import { Rows } from "../parts/listing";
import { most } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Row } from "../run/tables";

type Module = Row<"profile_module">;

interface Node {
  module: Module;
  depth: number;
  children: Node[];
}

// Modules stand under the one that their row names; what names none, or goes in a circle, stands at the top.
function moduleForest(rows: Module[]): Node[] {
  const nodes = new Map(
    rows.map((module) => [module.name ?? "", { module, depth: 0, children: [] } as Node]),
  );
  const parentOf = (node: Node) => nodes.get(node.module.parent ?? "\n");
  const isCircle = (node: Node) => {
    const seen = new Set<Node>();
    for (let at: Node | undefined = node; at; at = parentOf(at)) {
      if (seen.has(at)) return true;
      seen.add(at);
    }
    return false;
  };
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = isCircle(node) ? undefined : parentOf(node);
    (parent?.children ?? roots).push(node);
  }
  const time = (node: Node) =>
    (node.module.device_total_ns ?? 0) * 1e3 + (node.module.host_total_ns ?? 0);
  const settle = (list: Node[], depth: number) => {
    list.sort((a, b) => time(b) - time(a));
    for (const node of list) {
      node.depth = depth;
      settle(node.children, depth + 1);
    }
  };
  settle(roots, 0);
  return roots;
}

function shown(nodes: Node[], isOpen: (node: Node) => boolean): Node[] {
  return nodes.flatMap((node) => [node, ...(isOpen(node) ? shown(node.children, isOpen) : [])]);
}

const openDepth = 3; // folded below at first

export function ModuleTree({ rows }: { rows: Module[] }) {
  const [toggled, setToggled] = useState(new Set<string>());
  const forest = useMemo(() => moduleForest(rows), [rows]);
  const isOpen = (node: Node) =>
    node.depth + 1 < openDepth !== toggled.has(node.module.name ?? "");
  const toggle = (node: Node) => {
    const next = new Set(toggled);
    if (!next.delete(node.module.name ?? "")) next.add(node.module.name ?? "");
    setToggled(next);
  };
  const list = useMemo(() => shown(forest, isOpen), [forest, toggled]);
  const columns = useMemo((): Column<Node>[] => {
    const of = columnsOf("profile_module");
    const onNode = (column: Column<Module>): Column<Node> => ({
      ...column,
      value: (node) => column.value(node.module),
      cell: (node) => column.cell?.(node.module) ?? column.value(node.module),
    });
    return [
      textColumn("name", "module", 0, (node) => node.module.name ?? "", {
        cell: (node) => (
          <span class="fold-name" style={{ paddingLeft: `${16 * node.depth}px` }}>
            {node.children.length > 0 ? (
              <button
                class="plain"
                aria-expanded={isOpen(node)}
                aria-label={`${isOpen(node) ? "Fold" : "Unfold"} ${node.module.name}`}
                onClick={() => toggle(node)}
              >
                <span class="arrow" />
              </button>
            ) : (
              <i style={{ width: "16px" }} />
            )}
            <span>{node.module.name}</span>
          </span>
        ),
      }),
      onNode(of.bar("device_total_ns", "device", 200, most(rows, (row) => row.device_total_ns), showTime)),
      onNode(of.time("device_self_ns", "device self", 100)),
      onNode(of.bar("host_total_ns", "host", 200, most(rows, (row) => row.host_total_ns), showTime)),
      onNode(of.time("host_self_ns", "host self", 100)),
      onNode(of.count("count", "calls", 80)),
      onNode(of.count("works", "work", 80)),
    ];
  }, [rows, toggled, forest]);
  return (
    <Rows
      label="Modules"
      rows={list}
      columns={columns}
      idOf={(node) => node.module.name ?? ""}
      empty="No module calls were recorded."
    />
  );
}
