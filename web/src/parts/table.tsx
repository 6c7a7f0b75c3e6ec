// A table for any number of rows: only those in sight are elements (virtual.tsx); a row above the first costs nothing
// but its share of a spacer.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { count } from "./format";
import { revealRow, useWindow } from "./virtual";

export interface Column<Row> {
  id: string;
  title: string;
  definition?: string; // shown on hover
  width: number; // in px; 0: takes what is left
  number?: boolean; // right-aligned
  opens?: boolean; // in a table whose rows can be selected, the cell that does it by keyboard
  value: (row: Row) => string | number | null; // what it is ordered by
  cell?: (row: Row) => ComponentChildren; // how it is shown, when not as the value
}

export interface TableProps<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  id: (row: Row) => string;
  sort: string | null;
  onSort: (sort: string | null) => void;
  selected?: string | null;
  onSelect?: (id: string) => void;
  empty: string; // what to say when there are no rows
  isOrdered?: boolean; // rows come in the order of `sort`
  onEnd?: () => void; // the last row is in sight
}

const rowHeight = 28;

// Nulls last whatever the direction; ties keep the order of the data.
export function sortRows<Row>(rows: Row[], columns: Column<Row>[], sort: string | null): Row[] {
  const column = columns.find((one) => one.id === sort?.replace(/^-/, ""));
  if (!column) return rows;
  const sign = sort?.startsWith("-") ? -1 : 1;
  const keyed = rows.map((row, i) => ({ row, i, key: column.value(row) }));
  keyed.sort((a, b) => {
    if (a.key === b.key) return a.i - b.i;
    if (a.key === null) return 1;
    if (b.key === null) return -1;
    return (a.key < b.key ? -1 : 1) * sign;
  });
  return keyed.map((one) => one.row);
}

function nextSort(id: string, sort: string | null): string | null {
  if (sort === id) return `-${id}`;
  return sort === `-${id}` ? null : id;
}

function Heading<Row>(props: Pick<TableProps<Row>, "sort" | "onSort"> & { column: Column<Row> }) {
  const { column, sort, onSort } = props;
  const direction =
    sort === column.id ? "ascending" : sort === `-${column.id}` ? "descending" : "none";
  return (
    <th
      scope="col"
      aria-sort={direction}
      class={column.number ? "number" : undefined}
      title={column.definition}
    >
      <button class="plain" onClick={() => onSort(nextSort(column.id, sort))}>
        {column.title}
        {direction !== "none" && (
          <span aria-hidden="true" class="sort-mark">
            {direction === "ascending" ? "\u25b2" : "\u25bc"}
          </span>
        )}
      </button>
    </th>
  );
}

function Spacer({ rows, columns }: { rows: number; columns: number }) {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden="true" class="spacer">
      <td colSpan={columns} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  );
}

const narrow = 700; // px, as in style.css

export function Table<Row>(props: TableProps<Row>) {
  const { rows, columns, selected } = props;
  const box = useRef<HTMLDivElement>(null);
  const sorted = useMemo(
    () => (props.isOrdered ? rows : sortRows(rows, columns, props.sort)),
    [rows, columns, props.sort, props.isOrdered],
  );
  const [first, last] = useWindow(box, sorted.length, rowHeight);

  useEffect(() => {
    if (last >= sorted.length) props.onEnd?.();
  }, [last, sorted.length]);

  // A selected row that is out of sight (after a reload, or by keys) is brought into sight.
  useEffect(() => {
    const at = selected ? sorted.findIndex((row) => props.id(row) === selected) : -1;
    revealRow(box, at, rowHeight);
  }, [selected, sorted]);

  if (rows.length === 0) return <p class="empty">{props.empty}</p>;
  const rest = window.innerWidth <= narrow ? 160 : 240; // of the column that takes what the others leave
  const least = columns.reduce((sum, column) => sum + (column.width || rest), 0);
  return (
    <div
      class="table-box"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={`${props.label}, ${count(rows.length)} rows`}
    >
      <table
        class="virtual"
        aria-rowcount={sorted.length + 1}
        aria-label={props.label}
        style={{ minWidth: `${least}px` }}
      >
        <colgroup>
          {columns.map((column) => (
            <col key={column.id} style={column.width ? { width: `${column.width}px` } : {}} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Heading key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={first} columns={columns.length} />
          {sorted.slice(first, last).map((row, i) => (
            <TableRow key={props.id(row)} row={row} index={first + i} table={props} />
          ))}
          <Spacer rows={sorted.length - last} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

function TableRow<Row>({ row, index, table }: { row: Row; index: number; table: TableProps<Row> }) {
  const id = table.id(row);
  const isSelected = table.selected === id;
  const select = table.onSelect ? () => table.onSelect?.(id) : undefined;
  return (
    <tr
      aria-rowindex={index + 2}
      onClick={select}
      class={`${index % 2 ? "odd" : ""}${select ? " selectable" : ""}${isSelected ? " selected" : ""}`}
    >
      {table.columns.map((column) => {
        const value = column.value(row);
        const text = typeof value === "number" ? count(value) : value;
        const content = column.cell ? column.cell(row) : text;
        return (
          <td
            key={column.id}
            class={column.number ? "number" : undefined}
            title={typeof value === "string" && !column.number ? value : undefined}
          >
            {column.opens && select ? (
              <button class="plain" aria-pressed={isSelected}>
                {content}
              </button>
            ) : (
              content
            )}
          </td>
        );
      })}
    </tr>
  );
}
