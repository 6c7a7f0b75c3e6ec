// j and k walk through the rows of a table in the order that the reader sees.
import { sortRows, type Column } from "../parts/table";
import { useKeys } from "../shell/keys";

interface Walk<Row> {
  rows: Row[];
  columns: Column<Row>[];
  sort: string | null;
  idOf: (row: Row) => string;
  selected: string | null;
  onSelect: (id: string) => void;
  noun: string; // "compilation"
}

export function useWalk<Row>(walk: Walk<Row>): void {
  const move = (by: number) => {
    const sorted = sortRows(walk.rows, walk.columns, walk.sort);
    const at = sorted.findIndex((row) => walk.idOf(row) === walk.selected);
    const next = sorted[at < 0 ? 0 : Math.max(0, Math.min(sorted.length - 1, at + by))];
    if (next) walk.onSelect(walk.idOf(next));
  };
  useKeys([
    { key: "j", does: `Next ${walk.noun}`, act: () => move(1) },
    { key: "k", does: `Previous ${walk.noun}`, act: () => move(-1) },
  ]);
}
