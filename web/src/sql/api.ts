// What `debrief serve` answers (src/serve/store_api.h), as the page uses it. All texts are cleaned here: they are
// values of inputs.
import { clean } from "../run/clean";
import { Once } from "../run/islands";

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

export interface ResultColumn {
  name: string;
  type: string; // SQL
}

interface Page {
  columns: ResultColumn[];
  rows: Value[][];
  more: boolean;
  ms: number;
}

export interface StoredTable {
  name: string;
  doc: string; // what one row is
  rows: number;
  columns: { name: string; type: string; doc: string }[];
}

// From a file there is nobody to ask.
export const isServed = location.protocol === "http:" || location.protocol === "https:";

export const serveCommand = "debrief serve FOLDER";

async function get<T>(address: string, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(address, signal ? { signal } : {}).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Error("The server does not answer. It ends with its terminal: start it again.");
  });
  const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
  if (!isJson) throw new Error(`This page is not served by debrief: run ${serveCommand}.`);
  const value = clean(await answer.json()) as T & { error?: string };
  if (value.error !== undefined) throw new Error(value.error);
  return value;
}

function queryAddress(sql: string, params: Record<string, string>): string {
  return `api/query?${new URLSearchParams({ sql, ...params }).toString()}`;
}

export function readPage(
  sql: string,
  limit: number,
  offset: number,
  signal: AbortSignal,
): Promise<Page> {
  return get<Page>(queryAddress(sql, { limit: String(limit), offset: String(offset) }), signal);
}

export function csvAddress(sql: string): string {
  return queryAddress(sql, { format: "csv" });
}

export const storedTables = new Once(async () => {
  const { tables } = await get<{ tables: StoredTable[] }>("api/tables");
  return tables;
});

// A name of a table or column inside of a statement.
export function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replace(/"/g, '""')}"`;
}

// The statement with the order of the table's head: "-2" is the second column, descending.
export function ordered(sql: string, sort: string | null): string {
  const [, down, column] = /^(-?)(\d+)$/.exec(sort ?? "") ?? [];
  if (column === undefined) return sql;
  const bare = sql.replace(/[;\s]+$/, "");
  return `SELECT * FROM (\n${bare}\n) ORDER BY ${column}${down ? " DESC" : ""} NULLS LAST`;
}
