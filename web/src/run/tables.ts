// An island of tables (src/outputs/report/html/table_islands.cc): {"tables": {NAME: {"total": N, "rows": [{...}]}}}.
//
// The texts of a table are cleaned when a view first asks for it, so that a large island opens without
// walking all of it. A value that is null in the table is missing here. docs/tables.md says what the
// columns mean; each room declares those it reads.
import { clean } from "./clean";

export interface Who {
  job?: number;
  attempt?: number;
  rank?: number;
  input?: number;
}

export interface RawTables {
  tables: Record<string, { total: number; rows: Who[] } | undefined>;
}

// `Map` has the type of a row under the name of its table.
export class Tables<Map extends object> {
  private made = new globalThis.Map<string, Who[]>();

  constructor(
    private raw: RawTables,
    private whole: Tables<Map> | null = null,
    private job: number | null = null,
  ) {}

  rows<Name extends keyof Map & string>(name: Name): Map[Name][] {
    let rows = this.made.get(name);
    if (!rows) {
      rows = this.whole
        ? (this.whole.rows(name) as Who[]).filter((row) => row.job === this.job)
        : (clean(this.raw.tables[name]?.rows ?? []) as Who[]);
      this.made.set(name, rows);
    }
    return rows as Map[Name][];
  }

  // Whether the run has any, without cleaning them.
  has(...names: (keyof Map & string)[]): boolean {
    return names.some((name) =>
      this.raw.tables[name]?.rows.some((row) => this.job === null || row.job === this.job),
    );
  }

  // Rows of the table that this page does not have, whatever their job.
  leftOut(name: keyof Map & string): number {
    const table = this.raw.tables[name];
    return table ? table.total - table.rows.length : 0;
  }

  ofJob(job: number): Tables<Map> {
    return new Tables<Map>(this.raw, this.whole ?? this, job);
  }
}
