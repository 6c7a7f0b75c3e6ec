// Pieces that the views of compile logs share: numbers, bars, tabs, small tables and their columns.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { keyOf, withoutAttempt, type Compile, type Of, type TableName, type Who } from "./data";
import type { Run } from "../run/data";
import { count, duration } from "../parts/format";
import { Path } from "../parts/marks";
import { currentRoute, href, setParams } from "../shell/route";
import { MoreInStore } from "../sql/more";
import { Table, type Column } from "../parts/table";

export function seconds(value: number | undefined): string {
  if (value === 0) return "0 s";
  return value === undefined ? "" : duration(Math.round(value * 1e9));
}

export function percent(share: number | undefined): string {
  return share === undefined ? "" : `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))} %`;
}

export function placeText(file: string | undefined, line: number | undefined): string {
  return file ? `${file}${line === undefined ? "" : `:${line}`}` : "";
}

export function Place({ file, line }: { file?: string | undefined; line?: number | undefined }) {
  if (!file) return <span class="quiet">place not told</span>;
  const text = placeText(file, line);
  return text.includes("/") ? <Path path={text} /> : <bdi>{text}</bdi>;
}

// A line of source that leads to all that is known about it. `short`: without its folders.
export function SourceLink(props: {
  file?: string | undefined;
  line?: number | undefined;
  job?: string | null;
  short?: boolean;
}) {
  const { file, line } = props;
  if (!file) return <span class="quiet">place not told</span>;
  const text = placeText(props.short ? file.slice(file.lastIndexOf("/") + 1) : file, line);
  const params = {
    job: props.job ?? currentRoute().params.get("job"),
    file,
    line: line === undefined ? null : String(line),
  };
  return (
    <a
      class="source-link"
      href={href("source", params)}
      title={placeText(file, line)}
      onClick={(event) => event.stopPropagation()}
    >
      {text.includes("/") ? <Path path={text} /> : <bdi>{text}</bdi>}
    </a>
  );
}

export interface Fact {
  value: string;
  label: string;
  note?: string;
  definition?: string;
}

interface NumbersProps {
  facts: Fact[];
  label: string;
  partial: boolean; // rows that they count are not all on this page
}

export function Numbers({ facts, label, partial }: NumbersProps) {
  return (
    <div>
      <ul class="facts numbers" aria-label={label}>
        {facts.map((fact) => (
          <li key={fact.label} title={fact.definition}>
            <b>
              {fact.value} <small>{fact.label}</small>
            </b>
            {fact.note && <span class="quiet">{fact.note}</span>}
          </li>
        ))}
      </ul>
      {partial && <p class="quiet left-out">These numbers count only what is on this page.</p>}
    </div>
  );
}

// What to say of no rows: nothing was there, unless the page left some out.
export function emptyWords(compile: Compile, name: TableName, words: string): string {
  return compile.leftOut(name) > 0 ? "None of its rows are on this page." : words;
}

// Rows that the page does not have. The reader is told where they are.
export function LeftOut({ compile, names }: { compile: Compile; names: TableName[] }) {
  const some = names.filter((name) => compile.leftOut(name) > 0);
  return (
    <>
      {some.map((name) => (
        <MoreInStore key={name} table={name} missing={compile.leftOut(name)} />
      ))}
    </>
  );
}

export interface Tab {
  id: string;
  title: string;
  rows?: number; // shown beside the title
}

// A choice inside of a view; the first is the default and not in the address.
export function Tabs(props: {
  view: string;
  param: string;
  tabs: Tab[];
  current: string;
  label: string;
  forget?: Record<string, null>; // parameters of the other tabs
}) {
  return (
    <div class="choices" role="group" aria-label={props.label}>
      {props.tabs.map((tab) => (
        <button
          key={tab.id}
          aria-pressed={tab.id === props.current}
          onClick={() =>
            setParams(props.view, {
              [props.param]: tab.id === props.tabs[0]?.id ? null : tab.id,
              ...props.forget,
            })
          }
        >
          {tab.title}
          {tab.rows !== undefined && <span class="tab-count"> {count(tab.rows)}</span>}
        </button>
      ))}
    </div>
  );
}

export function chosen(tabs: Tab[], wanted: string | null): string {
  return (tabs.find((tab) => tab.id === wanted) ?? tabs[0])?.id ?? "";
}

// A share of a whole as a bar with its text behind it.
export function Bar({ share, text }: { share: number; text: string }) {
  return (
    <span class="bar-cell">
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      </span>
      <span class="bar-text">{text}</span>
    </span>
  );
}

export const areas: [id: string, words: string][] = [
  ["dynamo", "Dynamo: tracing Python, guards"],
  ["aot", "AOTAutograd"],
  ["inductor", "Inductor"],
  ["codegen", "code generation"],
  ["triton", "kernels"],
  ["other", "other"],
];

export function AreaLegend() {
  return (
    <div class="legend" aria-label="Areas of the compiler">
      {areas.map(([id, words]) => (
        <span key={id}>
          <i class={`area ${id}`} /> {words}
        </span>
      ))}
    </div>
  );
}

// Seconds by area, as long as its share of `whole`.
export function AreaBar({ parts, whole }: { parts: Record<string, number>; whole: number }) {
  const words = areas
    .filter(([id]) => (parts[id] ?? 0) > 0)
    .map(([id, name]) => `${name} ${seconds(parts[id])}`)
    .join(", ");
  return (
    <span class="area-bar" role="img" aria-label={words} title={words}>
      {areas.map(([id]) => (
        <span
          key={id}
          class={`area ${id}`}
          style={{ width: `${whole > 0 ? (100 * (parts[id] ?? 0)) / whole : 0}%` }}
        />
      ))}
    </span>
  );
}

interface RowsProps<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  empty: string;
  selected?: string | null;
  onSelect?: (row: Row) => void;
  idOf?: (row: Row) => string;
}

// A table whose order is not in the address: there may be several of them in a view.
export function Rows<Row extends object>(props: RowsProps<Row>) {
  const [sort, setSort] = useState<string | null>(null);
  const numbers = useMemo(() => new Map(props.rows.map((row, i) => [row, i])), [props.rows]);
  const idOf = props.idOf ?? ((row: Row) => String(numbers.get(row)));
  const { onSelect } = props;
  return (
    <Table
      label={props.label}
      rows={props.rows}
      columns={props.columns}
      id={idOf}
      sort={sort}
      onSort={setSort}
      empty={props.empty}
      {...(onSelect && {
        selected: props.selected ?? null,
        onSelect: (id: string) => {
          const row = props.rows.find((one) => idOf(one) === id);
          if (row) onSelect(row);
        },
      })}
    />
  );
}

type Extra<Row> = Partial<Pick<Column<Row>, "definition" | "opens" | "cell">>;

export function textColumn<Row>(
  id: string,
  title: string,
  width: number,
  value: (row: Row) => string | undefined,
  extra: Extra<Row> = {},
): Column<Row> {
  return { id, title, width, value: (row) => value(row) ?? null, ...extra };
}

// The compile id, which leads to the compilation.
export function idColumn<Row extends Of>(): Column<Row> {
  return {
    ...textColumn<Row>("id", "id", 70, (row) => row.compile_id, {
      definition: "Compile id: frame / how often it was compiled before",
    }),
    cell: (row) => row.compile_id && <CompileLink row={row}>{row.compile_id}</CompileLink>,
  };
}

export function CompileLink({ row, children }: { row: Of; children: ComponentChildren }) {
  const at = keyOf({ ...row, compile_id: withoutAttempt(row.compile_id) });
  return (
    <a
      href={href("compile", { job: currentRoute().params.get("job"), at })}
      onClick={(event) => event.stopPropagation()}
    >
      {children}
    </a>
  );
}

export function numberColumn<Row>(
  id: string,
  title: string,
  width: number,
  value: (row: Row) => number | undefined,
  show?: (value: number) => ComponentChildren,
  extra: Extra<Row> = {},
): Column<Row> {
  const cell = (row: Row) => {
    const one = value(row);
    return one === undefined ? "" : show?.(one);
  };
  return {
    id,
    title,
    width,
    number: true,
    value: (row) => value(row) ?? null,
    ...(show && { cell }),
    ...extra,
  };
}

export function placeColumn<Row>(
  title: string,
  width: number,
  place: (row: Row) => [string | undefined, number | undefined],
): Column<Row> {
  return {
    id: "place",
    title,
    width,
    value: (row) => placeText(...place(row)) || null,
    cell: (row) => {
      const [file, line] = place(row);
      return file ? <SourceLink file={file} line={line} /> : "";
    },
  };
}

// Job, attempt and rank, where there are several.
export function whoColumns<Row extends Who>(run: Run, rows: Row[]): Column<Row>[] {
  const differ = (value: (row: Row) => number | undefined) => new Set(rows.map(value)).size > 1;
  const name = (job: number | undefined) =>
    run.jobs.find((one) => one.job === job)?.name || `job ${job}`;
  return [
    ...(differ((row) => row.job)
      ? [textColumn<Row>("job", "job", 130, (row) => name(row.job))]
      : []),
    ...(differ((row) => row.attempt)
      ? [numberColumn<Row>("attempt", "attempt", 80, (row) => row.attempt)]
      : []),
    ...(differ((row) => row.rank)
      ? [numberColumn<Row>("rank", "rank", 60, (row) => row.rank)]
      : []),
  ];
}

export function Section(props: {
  title: string;
  number?: number;
  children: ComponentChildren;
  side?: ComponentChildren;
}) {
  const title = (
    <h2>
      {props.title}{" "}
      {props.number !== undefined && (
        <span class="quiet" role="status">
          {count(props.number)}
        </span>
      )}
    </h2>
  );
  return (
    <section aria-label={props.title}>
      {props.side ? (
        <div class="section-head">
          {title}
          {props.side}
        </div>
      ) : (
        title
      )}
      {props.children}
    </section>
  );
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
      {outcome ?? "not told"}
    </span>
  );
}
