// What only some ranks compiled, when some compiled while others waited, and how the expected times and the order
// of graphs differ.
import { useMemo } from "preact/hooks";
import { numberColumn, placeColumn, textColumn, whoColumns } from "../parts/columns";
import { seconds, showTime, steppedList } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Sheet } from "../parts/listing";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import type { Row, TableName, Tables, Who } from "../run/tables";
import { orderPlaces, type OrderPlace } from "./data";

interface Props {
  tables: Tables;
  run: Run;
  rank: number | null; // null: all
}

interface SheetProps<One> extends Props {
  name: TableName;
  title: string;
  all: One[];
  columns: Column<One>[];
  isOf: (row: One, rank: number) => boolean | undefined;
  empty: string;
}

// A table of which only the rows of the chosen rank are shown.
function RankSheet<One extends object>(props: SheetProps<One>) {
  const { tables, rank, name, title, all, columns, isOf, empty } = props;
  const rows = useMemo(() => all.filter((row) => rank === null || isOf(row, rank)), [all, rank]);
  return (
    <Sheet title={title} rows={rows} columns={columns} empty={empty}>
      <LeftOutNote tables={tables} names={[name]} />
    </Sheet>
  );
}

const list = (ranks: number[] | undefined) => steppedList(ranks ?? [], 6);

const onlyColumns: Column<Row<"compile_rank_only">>[] = [
  textColumn("function", "function", 180, (row) => row.function ?? "unknown"),
  placeColumn("file", 0, (row) => [row.file, row.line]),
  numberColumn("nth", "compilation", 110, (row) => row.nth, (nth) => `no. ${nth + 1}`,
    "Which compilation of this function, counted from 1"),
  textColumn("id", "id", 70, (row) => row.compile_id),
  textColumn("ranks", "ranks that have it", 170, (row) => list(row.ranks)),
  textColumn("missing", "ranks without it", 170, (row) => list(row.missing)),
  numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
];

export function Only(props: Props) {
  const all = props.tables.rows("compile_rank_only");
  if (!props.tables.has("compile_rank_time")) return null;
  return (
    <RankSheet
      {...props}
      name="compile_rank_only"
      title="Compiled by some ranks only"
      all={all}
      columns={[...whoColumns(props.run, all), ...onlyColumns]}
      isOf={(row, rank) => row.ranks?.includes(rank) || row.missing?.includes(rank)}
      empty="Every function was compiled equally often on all ranks."
    />
  );
}

const overlapColumns: Column<Row<"compile_overlap">>[] = [
  textColumn("ranks", "ranks that compiled", 0, (row) => list(row.ranks)),
  numberColumn("waiting", "ranks that did not", 150, (row) => row.waiting),
  numberColumn("intervals", "times", 90, (row) => row.intervals),
  numberColumn("seconds", "time in all", 110, (row) => row.seconds, seconds),
];

export function Overlaps(props: Props) {
  const all = props.tables.rows("compile_overlap");
  if (all.length === 0) return null;
  return (
    <RankSheet
      {...props}
      name="compile_overlap"
      title="Some compiled while others did not"
      all={all}
      columns={[...whoColumns(props.run, all), ...overlapColumns]}
      isOf={(row, rank) => row.ranks?.includes(rank)}
      empty="This rank never compiled while others did not."
    />
  );
}

const ms = (value: number) => showTime(value * 1e6);
const deltaColumns: Column<Row<"compile_runtime_delta">>[] = [
  textColumn("graph", "graph", 0, (row) => row.graph),
  textColumn("pairing", "compared", 170,
    (row) => (row.pairing === "graph" ? "of one compilation" : "by place in the log"),
    "by place in the log: the k-th graph of every rank, whatever it is"),
  numberColumn("delta", "difference", 100, (row) => row.delta_ms, ms,
    "Expected time on the slowest rank less that on the fastest"),
  textColumn("fastest", "fastest", 160, (row) =>
    row.tied ? "all alike" : `rank ${row.fastest_rank}: ${ms(row.fastest_ms ?? 0)}`,
  ),
  textColumn("slowest", "slowest", 160, (row) =>
    row.tied ? "all alike" : `rank ${row.slowest_rank}: ${ms(row.slowest_ms ?? 0)}`,
  ),
];

export function Deltas(props: Props) {
  const all = props.tables.rows("compile_runtime_delta");
  if (all.length === 0) return null;
  return (
    <RankSheet
      {...props}
      name="compile_runtime_delta"
      title="Expected time of graphs"
      all={all}
      columns={[...whoColumns(props.run, all), ...deltaColumns]}
      isOf={(row, rank) => row.fastest_rank === rank || row.slowest_rank === rank}
      empty="This rank is neither the fastest nor the slowest anywhere."
    />
  );
}

const orderColumns: Column<OrderPlace>[] = [
  numberColumn("position", "place", 70, (row) => row.position),
  textColumn("ran", "what ran there", 0, (row) =>
    row.ran.map(([id, of]) => `${id} on ${of.length === 1 ? "rank" : "ranks"} ${list(of)}`).join("; "),
  ),
  textColumn("schedule", "collectives", 130, (row) => (row.schedule ? "differ" : "agree")),
  textColumn("cache", "caches", 130, (row) => (row.cache ? "differ" : "agree")),
];

export function Orders(props: Props) {
  const all = useMemo(() => orderPlaces(props.tables), [props.tables]);
  if (!props.tables.has("compile_order")) return null;
  const who = whoColumns(props.run, props.tables.rows("compile_order")) as Column<Who>[];
  return (
    <RankSheet
      {...props}
      name="compile_order"
      title="Order of graphs, where ranks differ"
      all={all}
      columns={[...who.filter((column) => column.id !== "rank"), ...orderColumns] as Column<OrderPlace>[]}
      isOf={(row, rank) => row.ran.some(([, of]) => of.includes(rank))}
      empty="All ranks ran the same graphs in the same order."
    />
  );
}
