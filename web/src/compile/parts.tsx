// Pieces that the views of compile logs share: areas of the compiler, outcomes, links.
import type { ComponentChildren } from "preact";
import { textColumn } from "../parts/columns";
import { seconds } from "../parts/format";
import { Legend } from "../parts/marks";
import { sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { TableName, Tables } from "../run/tables";
import { to } from "../shell/route";
import { keyOf, withoutAttempt, type Of, type Span } from "./data";

// What to say of no rows: nothing was there, unless the page left some out.
export function emptyWords(tables: Tables, name: TableName, words: string): string {
  return tables.leftOut(name) > 0 ? "None of its rows are on this page." : words;
}

export const areas: [id: string, words: string][] = [
  ["dynamo", "Dynamo: tracing Python, guards"],
  ["aot", "AOTAutograd"],
  ["inductor", "Inductor"],
  ["codegen", "code generation"],
  ["triton", "kernels"],
  ["other", "other"],
];

// Seconds by area.
export function spanParts(row: Span): Record<string, number> {
  const columns = row as Record<string, number | undefined>;
  const told = areas.slice(0, -1).map(([id]): [string, number] => [id, columns[`${id}_s`] ?? 0]);
  const other = Math.max(0, (row.seconds ?? 0) - sum(told, ([, value]) => value));
  return { ...Object.fromEntries(told), other };
}

export function AreaLegend() {
  const items = areas.map(([id, words]) => ({ id, mark: <i class={`area ${id}`} />, words }));
  return <Legend label="Areas of the compiler" items={items} />;
}

export function AreaWord({ area = "other" }: { area: string | undefined }) {
  return (
    <span class="area-word">
      <i class={`area ${area}`} /> {area}
    </span>
  );
}

// Seconds by area, as long as its share of `whole`.
export function AreaBar({ parts, whole }: { parts: Record<string, number>; whole: number }) {
  const words = areas
    .filter(([id]) => (parts[id] ?? 0) > 0)
    .map(([id, name]) => `${name} ${seconds(parts[id])}`)
    .join(", ");
  const widthOf = (id: string) => `${whole > 0 ? (100 * (parts[id] ?? 0)) / whole : 0}%`;
  return (
    <span class="area-bar" role="img" aria-label={words} title={words}>
      {areas.map(([id]) => (
        <span key={id} class={`area ${id}`} style={{ width: widthOf(id) }} />
      ))}
    </span>
  );
}

// The compile id, which leads to the compilation.
export function idColumn<Row extends Of>(): Column<Row> {
  const at = (row: Row) => keyOf({ ...row, compile_id: withoutAttempt(row.compile_id) });
  return textColumn("id", "id", 70, (row) => row.compile_id, {
    definition: "Compile id: frame / how often it was compiled before",
    cell: (row) =>
      row.compile_id && (
        <a href={to("compile", { at: at(row) })} onClick={(event) => event.stopPropagation()}>
          {row.compile_id}
        </a>
      ),
  });
}

// To a line of source; plain text where the file is not told.
export function ToSource(props: {
  file: string | undefined;
  line: number | undefined;
  children: ComponentChildren;
}) {
  const { file, line } = props;
  if (!file) return <>{props.children}</>;
  return (
    <a
      href={to("source", { file, line })}
      title="Show this line with all that is known of it"
    >
      {props.children}
    </a>
  );
}

// The address of a time in the timeline.
export function timelineAt(row: { rank?: number; start_ns?: number; end_ns?: number }): string {
  return to("timeline", { rank: row.rank, from: row.start_ns, to: row.end_ns });
}

const outcomeClass: Record<string, string> = {
  ok: "imported",
  restarted: "recognised",
  empty: "recognised",
  failed: "failed",
  unfinished: "skipped",
};

export function Outcome({ outcome }: { outcome: string | undefined }) {
  return (
    <span class={`state ${outcomeClass[outcome ?? ""] ?? ""}`}>
      <span class="dot" aria-hidden="true" />
      {outcome ?? "unknown"}
    </span>
  );
}
