// Tables in a view: under a heading, with a filter, with the details of the selected row. Order, filter and selection
// are in the address (?sort=-bytes&filter=...&at=ID), except of tables of which a view has several.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { currentRoute, param, setParams } from "../shell/route";
import { useSteps } from "./choices";
import { matcher, type Fields } from "./filter";
import { count } from "./format";
import { Filter } from "./marks";
import { sortRows, Table, type Column, type TableProps } from "./table";

export function Section(props: {
  title: string;
  number?: ComponentChildren;
  side?: ComponentChildren;
  children: ComponentChildren;
}) {
  const title = (
    <h2>
      {props.title}{" "}
      {props.number !== undefined && (
        <span class="quiet" role="status">
          {typeof props.number === "number" ? count(props.number) : props.number}
        </span>
      )}
    </h2>
  );
  const head = props.side ? <div class="section-head">{title}{props.side}</div> : title;
  return (
    <section aria-label={props.title}>
      {head}
      {props.children}
    </section>
  );
}

// "3 of 12" where a filter hides some.
export function shownOf(rows: unknown[], all: unknown[]): string {
  return rows.length < all.length ? `${count(rows.length)} of ${count(all.length)}` : count(all.length);
}

interface RowsProps<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  empty?: string;
  selected?: string | null;
  onSelect?: (row: Row) => void;
  idOf?: (row: Row) => string;
}

// A table whose order is not in the address: there may be several of them in a view.
export function Rows<Row extends object>(props: RowsProps<Row>) {
  const [sort, setSort] = useState<string | null>(null);
  const numbers = useMemo(() => new Map(props.rows.map((row, i) => [row, i])), [props.rows]);
  const { label, rows, columns, empty = "", onSelect } = props;
  const id = props.idOf ?? ((row: Row) => String(numbers.get(row)));
  const select = (wanted: string) => {
    const row = rows.find((one) => id(one) === wanted);
    if (row) onSelect?.(row);
  };
  const selection = onSelect && { selected: props.selected ?? null, onSelect: select };
  return <Table {...{ label, rows, columns, empty, id, sort }} onSort={setSort} {...selection} />;
}

// Such a table under its heading. Without words for no rows it is not there when it has none.
export function Sheet<Row extends object>(
  props: Omit<RowsProps<Row>, "label"> & {
    title: string;
    label?: string;
    isCounted?: boolean;
    side?: ComponentChildren;
    above?: ComponentChildren;
    children?: ComponentChildren; // below it
  },
) {
  const { title, label = title, side, above, children, isCounted = true, ...rest } = props;
  if (rest.rows.length === 0 && rest.empty === undefined) return null;
  return (
    <Section title={title} side={side} {...(isCounted && { number: rest.rows.length })}>
      {above}
      <Rows label={label} {...rest} />
      {children}
    </Section>
  );
}

type InAddress<Row> = Omit<TableProps<Row>, "sort" | "onSort">;

// A table whose order is in the address.
export function SortedTable<Row>({ view, by = "sort", ...table }: InAddress<Row> & { view: string; by?: string }) {
  return <Table {...table} sort={param(by)} onSort={(sort) => setParams(view, { [by]: sort }, true)} />;
}

export function AddressFilter(props: { view: string; label: string; hint: string; forget?: Record<string, null> }) {
  const { view, forget, ...rest } = props;
  const write = (text: string) => setParams(view, { filter: text || null, ...forget }, true);
  return <Filter value={param("filter") ?? ""} onInput={write} {...rest} />;
}

// Rows that the filter of the address leaves.
export function useFiltered<Row>(all: Row[], fields: Fields<Row>, text: (row: Row) => string): Row[] {
  const filter = param("filter") ?? "";
  return useMemo(() => (filter.trim() ? all.filter(matcher(filter, fields, text)) : all), [all, filter]);
}

interface Walk<Row> {
  view: string;
  rows: Row[];
  columns: Column<Row>[];
  idOf: (row: Row) => string;
  noun: string; // "compilation"
  forget?: Record<string, null> | undefined; // parameters of what was selected before
}

// j and k walk through the rows in the order that the reader sees. The selected row is read from the address when a
// key comes, since keys may come faster than the page is drawn.
function useWalk<Row>({ view, rows, columns, idOf, noun, forget }: Walk<Row>): void {
  useSteps(noun, (by) => {
    const sorted = sortRows(rows, columns, param("sort"));
    const selected = currentRoute().params.get("at");
    const at = sorted.findIndex((row) => idOf(row) === selected);
    const next = sorted[at < 0 ? 0 : Math.max(0, Math.min(sorted.length - 1, at + by))];
    if (next) setParams(view, { ...forget, at: idOf(next) }, true);
  });
}

interface ListingProps<Row> extends Walk<Row> {
  title: string;
  label?: string;
  all: Row[]; // before the filter
  filter: { label: string; hint: string };
  tools?: ComponentChildren; // beside the filter
  empty: string; // when there is none at all
  unmatched: string; // when none matches the filter
  below?: ComponentChildren;
  detail?: (row: Row) => ComponentChildren; // of the selected one; left out: the view shows it
}

// Rows to choose from, and the chosen one in detail.
export function Listing<Row>(props: ListingProps<Row>) {
  const { view, title, all, rows, columns, idOf, forget } = props;
  const at = param("at");
  const selected = all.find((row) => idOf(row) === at);
  useWalk(props);
  const filter = all.length > 0 && <AddressFilter view={view} {...props.filter} />;
  const side = props.tools ? <div class="profile-tools">{props.tools}{filter}</div> : filter;
  const select = (id: string) => setParams(view, { ...forget, at: id === at ? null : id });
  return (
    <div class={selected ? "with-detail" : ""}>
      <Section title={title} number={rows.length} side={side}>
        <SortedTable
          view={view}
          label={props.label ?? title}
          rows={rows}
          columns={columns}
          id={idOf}
          selected={at}
          onSelect={select}
          empty={all.length === 0 ? props.empty : props.unmatched}
        />
        {props.below}
      </Section>
      {selected && props.detail?.(selected)}
    </div>
  );
}
