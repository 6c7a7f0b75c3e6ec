// Memory of the ranks of a job side by side, and what the memory of one device was for.
import { useMemo } from "preact/hooks";
import { columnsOf } from "../parts/columns";
import { memory, shareText } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Sheet } from "../parts/listing";
import { largestFirst } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Row, Tables } from "../run/tables";

type Category = Row<"memory_category">;
type Rank = Row<"memory_rank">;

function categoryColumns(most: number): Column<Category>[] {
  const of = columnsOf("memory_category");
  return [
    of.text("category", "for", 0),
    of.bar("bytes", "bytes", 220, most, memory),
    of.count("share", "share", 76, { cell: (row) => shareText(row.share ?? 0) }),
    of.count("count", "count", 80),
  ];
}

export function MemoryCategories({ rows, tables }: { rows: Category[]; tables: Tables }) {
  const sorted = useMemo(() => largestFirst(rows, (row) => row.bytes), [rows]);
  if (sorted.length === 0) return null;
  return (
    <Sheet
      title="What it was for"
      label="Memory by category"
      rows={sorted}
      columns={categoryColumns(sorted[0]?.bytes ?? 0)}
    >
      <LeftOutNote tables={tables} names={["memory_category"]} inStore />
    </Sheet>
  );
}

function rankColumns(most: number): Column<Rank>[] {
  const of = columnsOf("memory_rank");
  return [
    of.count("rank", "rank", 70),
    of.bar("in_use_bytes", "in use", 220, most, memory),
    of.memory("excess_bytes", "more than others", 130),
    of.text("line", "line that differs most", 0),
    of.memory("line_bytes", "here", 100),
    of.memory("line_others_bytes", "others", 100),
  ];
}

export function MemoryRanks({ rows, tables }: { rows: Rank[]; tables: Tables }) {
  const sorted = useMemo(() => largestFirst(rows, (row) => row.excess_bytes), [rows]);
  if (sorted.length < 2) return null;
  const most = Math.max(...sorted.map((row) => row.in_use_bytes ?? 0));
  return (
    <Sheet title="Ranks side by side" label="Memory by rank" rows={sorted} columns={rankColumns(most)}>
      <LeftOutNote tables={tables} names={["memory_rank"]} inStore />
    </Sheet>
  );
}
