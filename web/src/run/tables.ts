// An island of tables (src/outputs/report/html/table_islands.cc): {"tables": {NAME: {"total": N, "rows": [{...}]}}}.
//
// The texts of a table are cleaned when a view first asks for it, so that a large island opens without
// walking all of it. Types of rows come from src/**/tables.def (build.mjs); docs/tables.md says what the columns mean.
import type { TableRows } from "tables";
import { capital } from "../parts/format";
import { clean } from "./clean";
import { loadJson, Once } from "./islands";

export type TableName = keyof TableRows;
export type Row<Name extends TableName> = TableRows[Name];

export interface Who {
  job?: number;
  attempt?: number;
  rank?: number;
  input?: number;
}

interface RawTables {
  tables: Record<string, { total: number; rows: Who[] } | undefined>;
  meanings?: Record<string, Record<string, string>>;
}

export class Tables {
  private made = new Map<string, Who[]>();

  constructor(
    private raw: RawTables,
    private whole: Tables | null = null,
    private job: number | null = null,
  ) {}

  rows<Name extends TableName>(name: Name): Row<Name>[] {
    let rows = this.made.get(name);
    if (!rows) {
      rows = this.whole
        ? (this.whole.rows(name) as Who[]).filter((row) => row.job === this.job)
        : (clean(this.raw.tables[name]?.rows ?? []) as Who[]);
      this.made.set(name, rows);
    }
    return rows as Row<Name>[];
  }

  // Whether the run has any, without cleaning them.
  has(...names: TableName[]): boolean {
    return names.some((name) =>
      this.raw.tables[name]?.rows.some((row) => this.job === null || row.job === this.job),
    );
  }

  // Rows of the tables that this page does not have, whatever their job.
  leftOut(...names: TableName[]): number {
    const found = names.flatMap((name) => this.raw.tables[name] ?? []);
    return found.reduce((all, table) => all + table.total - table.rows.length, 0);
  }

  ofJob(job: number): Tables {
    return new Tables(this.raw, this.whole ?? this, job);
  }
}

const meanings: Record<string, Record<string, string>> = {};

// What a column means, in the words of its table, where the island brings them; for hovering.
export function meaning<Name extends TableName>(table: Name, column: keyof Row<Name> & string): string {
  return capital(meanings[table]?.[column] ?? "");
}

// `prepare` sees the island before anybody else.
export function tablesIsland(name: string, prepare = (_: RawTables): void => undefined): Once<Tables> {
  return new Once(async () => {
    const raw = (await loadJson(name)) as RawTables;
    Object.assign(meanings, raw.meanings);
    prepare(raw);
    return new Tables(raw);
  });
}
