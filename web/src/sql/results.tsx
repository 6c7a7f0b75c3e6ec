// The rows of a statement: a page at a time, the next one when the reader comes to the end of the last.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ordered, readPage, type ResultColumn, type Value } from "./api";
import { count, counted } from "../parts/format";
import { Table, type Column } from "../parts/table";

const pageRows = 500;
// More rows than anybody scrolls through; the page must not grow without end.
const mostRows = 100_000;

type State = "running" | "done" | "failed";

interface Result {
  state: State;
  columns: ResultColumn[];
  rows: Value[][];
  more: boolean;
  ms: number; // of the first page
  error: string;
}

const nothing: Result = { state: "running", columns: [], rows: [], more: false, ms: 0, error: "" };

// The result of `sql`, and a way to get its next page.
function useResult(sql: string, turn: number): [Result, () => void] {
  const [result, setResult] = useState(nothing);
  const abort = useRef<AbortController | null>(null);
  const load = (before: Result) => {
    const own = new AbortController();
    abort.current = own;
    setResult({ ...before, state: "running" });
    readPage(sql, pageRows, before.rows.length, own.signal)
      .then((page) => {
        const rows = [...before.rows, ...page.rows];
        const ms = before.rows.length > 0 ? before.ms : page.ms;
        setResult({ ...page, rows, ms, state: "done", error: "" });
      })
      .catch((error: unknown) => {
        if (own.signal.aborted) return;
        const text = error instanceof Error ? error.message : String(error);
        setResult({ ...before, state: "failed", error: text });
      });
  };
  useEffect(() => {
    load(nothing);
    return () => abort.current?.abort();
  }, [sql, turn]);
  const next = () => {
    if (result.state === "done" && result.more && result.rows.length < mostRows) load(result);
  };
  return [result, next];
}

const numberTypes = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL)$/;

function textOf(value: Value): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

// As wide as the longest of the first rows, within reason.
function widthOf(name: string, rows: Value[][], at: number): number {
  let longest = name.length + 2;
  for (const row of rows.slice(0, 100))
    longest = Math.max(longest, textOf(row[at] ?? null).length);
  return Math.max(70, Math.min(440, Math.round(longest * 7.9 + 26)));
}

// It takes what room there is.
function isLastText(columns: ResultColumn[], at: number): boolean {
  return at === columns.length - 1 && !numberTypes.test(columns[at]?.type ?? "");
}

interface Numbered {
  at: number;
  row: Value[];
}

function columnsOf(columns: ResultColumn[], rows: Value[][]): Column<Numbered>[] {
  return columns.map(({ name, type }, i) => ({
    id: String(i + 1),
    title: name,
    definition: type,
    width: isLastText(columns, i) ? 0 : widthOf(name, rows, i),
    number: numberTypes.test(type),
    value: ({ row }) => (row[i] === null || row[i] === undefined ? null : textOf(row[i] as Value)),
    cell: ({ row }) =>
      row[i] === null || row[i] === undefined ? (
        <span class="quiet">NULL</span>
      ) : (
        textOf(row[i] as Value)
      ),
  }));
}

function Words({ result }: { result: Result }) {
  const { rows, more, state, ms } = result;
  if (state === "running" && rows.length === 0) return <>Running ...</>;
  const number = more ? `The first ${counted(rows.length, "row")}` : counted(rows.length, "row");
  const rest = rows.length >= mostRows ? "; the page shows no more: take the CSV" : "";
  const next = state === "running" ? "; reading more ..." : more ? "; more as you scroll" : "";
  return <>{`${number}${rest || next}, ${count(ms)} ms`}</>;
}

interface ResultsProps {
  sql: string;
  sort: string | null; // number of a column, from 1; with a minus: descending
  onSort: (sort: string | null) => void;
  turn?: number; // another number: run it again
  label: string;
}

export function Results({ sql, sort, onSort, turn = 0, label }: ResultsProps) {
  const [result, next] = useResult(ordered(sql, sort), turn);
  const rows = useMemo(() => result.rows.map((row, at) => ({ at, row })), [result.rows]);
  const columns = useMemo(
    () => columnsOf(result.columns, result.rows),
    [result.columns, result.rows.length > 0],
  );
  if (result.state === "failed" && rows.length === 0) {
    return (
      <section class="sql-error" role="alert" aria-label="Error">
        <pre>{result.error}</pre>
      </section>
    );
  }
  return (
    <section aria-label={label} class="sql-results" aria-busy={result.state === "running"}>
      <p class="quiet" role="status">
        <Words result={result} />
      </p>
      {result.state === "failed" && <pre role="alert">{result.error}</pre>}
      {columns.length > 0 && (
        <Table
          label={label}
          rows={rows}
          columns={columns}
          id={(row) => String(row.at)}
          sort={sort}
          onSort={onSort}
          isOrdered
          onEnd={next}
          empty="The statement gives no rows."
        />
      )}
    </section>
  );
}
