// j and k walk through the rows of a table in the order that the reader sees. The selected row is in the
// address as `at`; it is read there when a key comes, since keys may come faster than the page is drawn.
import { sortRows, type Column } from "../parts/table";
import { useKeys } from "../shell/keys";
import { currentRoute, setParams } from "../shell/route";

interface Walk<Row> {
  view: string;
  rows: Row[];
  columns: Column<Row>[];
  sort: string | null;
  idOf: (row: Row) => string;
  noun: string; // "compilation"
  forget?: Record<string, null>; // parameters of what was selected before
}

export function useWalk<Row>(walk: Walk<Row>): void {
  const move = (by: number) => {
    const sorted = sortRows(walk.rows, walk.columns, walk.sort);
    const selected = currentRoute().params.get("at");
    const at = sorted.findIndex((row) => walk.idOf(row) === selected);
    const next = sorted[at < 0 ? 0 : Math.max(0, Math.min(sorted.length - 1, at + by))];
    if (next) setParams(walk.view, { ...walk.forget, at: walk.idOf(next) }, true);
  };
  useKeys([
    { key: "j", does: `Next ${walk.noun}`, act: () => move(1) },
    { key: "k", does: `Previous ${walk.noun}`, act: () => move(-1) },
  ]);
}
