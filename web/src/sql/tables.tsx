// The tables of the store beside the editor: names, rows, and on request the columns with what they mean.
import { useState } from "preact/hooks";
import { isServed, quoted, storedTables, type StoredTable } from "./api";
import { count } from "../parts/format";
import { Filter } from "../parts/marks";
import { useOnce } from "../run/islands";
import type { Run } from "../run/data";

interface ListProps {
  tables: StoredTable[];
  onChoose?: (sql: string) => void; // a statement to look at a table
}

function Columns({ table }: { table: StoredTable }) {
  return (
    <dl class="sql-columns">
      {table.columns.map((column) => (
        <div key={column.name}>
          <dt>
            <code>{column.name}</code> <span class="quiet">{column.type}</span>
          </dt>
          <dd>{column.doc}</dd>
        </div>
      ))}
    </dl>
  );
}

function TableEntry({ table, onChoose }: { table: StoredTable } & Pick<ListProps, "onChoose">) {
  const [isOpen, setOpen] = useState(false);
  const name = (
    <>
      <code>{table.name}</code> <span class="quiet">{count(table.rows)}</span>
    </>
  );
  if (table.columns.length === 0) return <li title={table.doc}>{name}</li>;
  return (
    <li>
      <button class="plain" aria-expanded={isOpen} title={table.doc} onClick={() => setOpen(!isOpen)}>
        <span class="arrow" aria-hidden="true" />
        {name}
      </button>
      {isOpen && (
        <div class="sql-table">
          <p>{table.doc}</p>
          {onChoose && (
            <button onClick={() => onChoose(`SELECT * FROM ${quoted(table.name)}`)}>
              Show its rows
            </button>
          )}
          <Columns table={table} />
        </div>
      )}
    </li>
  );
}

// Tables with rows first; the others are one more fold away.
function TableList({ tables, onChoose }: ListProps) {
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const shown = tables.filter(
    (one) =>
      one.name.includes(wanted) || one.columns.some((column) => column.name.includes(wanted)),
  );
  const full = shown.filter((one) => one.rows > 0);
  const empty = shown.filter((one) => one.rows === 0);
  const list = (some: StoredTable[]) => (
    <ul>
      {some.map((one) => (
        <TableEntry key={one.name} table={one} {...(onChoose && { onChoose })} />
      ))}
    </ul>
  );
  return (
    <section class="sql-tables" aria-label="Tables">
      <h2>
        Tables <span class="quiet">{count(full.length)}</span>
      </h2>
      <Filter value={filter} onInput={setFilter} hint="table or column" label="Filter tables" />
      {list(full)}
      {empty.length > 0 && (
        <details>
          <summary>{count(empty.length)} without rows</summary>
          {list(empty)}
        </details>
      )}
    </section>
  );
}

function fromPage(run: Run): StoredTable[] {
  return Object.entries(run.rows)
    .map(([name, rows]) => ({ name, rows, doc: "", columns: [] }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

// What the server tells; without one, what the page knows: names and rows.
export function Tables({ run, onChoose }: { run: Run } & Pick<ListProps, "onChoose">) {
  const loaded = useOnce(isServed ? storedTables : null);
  if (isServed && loaded.state === "loading") return <p class="quiet">Reading the tables ...</p>;
  if (isServed && loaded.state === "failed") return <p role="alert">{loaded.reason}</p>;
  const tables = loaded.state === "ready" ? loaded.value : fromPage(run);
  return <TableList tables={tables} {...(onChoose && { onChoose })} />;
}
