// What only some ranks compiled, when some compiled while others waited, and how the expected times and the order
// of graphs differ.
import { useMemo } from "preact/hooks";
import type { Overlap, RankOnly } from "../compile/data";
import { Rows, Section, numberColumn, placeColumn, seconds, textColumn, whoColumns } from "../compile/parts";
import { LeftOutOf } from "../flight/left_out";
import { steppedList } from "../flight/wait_words";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import { orderPlaces, type OrderPlace, type Ranks, type RuntimeDelta } from "./data";

interface Props {
  ranks: Ranks;
  run: Run;
  rank: number | null; // null: all
}

const list = (ranks: number[] | undefined) => steppedList(ranks ?? [], 6);

const onlyColumns: Column<RankOnly>[] = [
  textColumn("function", "function", 180, (row) => row.function ?? "not told"),
  placeColumn("file", 0, (row) => [row.file, row.line]),
  numberColumn("nth", "compilation", 110, (row) => row.nth, (nth) => `no. ${nth + 1}`, {
    definition: "Which compilation of this function, counted from 1",
  }),
  textColumn("id", "id", 70, (row) => row.compile_id),
  textColumn("ranks", "ranks that have it", 170, (row) => list(row.ranks)),
  textColumn("missing", "ranks without it", 170, (row) => list(row.missing)),
  numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
];

export function Only({ ranks, run, rank }: Props) {
  const all = ranks.rows("compile_rank_only");
  const rows = useMemo(
    () => all.filter((row) => rank === null || row.ranks?.includes(rank) || row.missing?.includes(rank)),
    [all, rank],
  );
  const columns = useMemo(() => [...whoColumns(run, all), ...onlyColumns], [run, all]);
  if (!ranks.has("compile_rank_time")) return null;
  return (
    <Section title="Compiled by some ranks only" number={rows.length}>
      <Rows
        label="Compiled by some ranks only"
        rows={rows}
        columns={columns}
        empty="Every function was compiled equally often on all ranks."
      />
      <LeftOutOf tables={ranks} names={["compile_rank_only"]} />
    </Section>
  );
}

const overlapColumns: Column<Overlap>[] = [
  textColumn("ranks", "ranks that compiled", 0, (row) => list(row.ranks)),
  numberColumn("waiting", "ranks that did not", 150, (row) => row.waiting),
  numberColumn("intervals", "times", 90, (row) => row.intervals),
  numberColumn("seconds", "time in all", 110, (row) => row.seconds, seconds),
];

export function Overlaps({ ranks, run, rank }: Props) {
  const all = ranks.rows("compile_overlap");
  const rows = useMemo(
    () => all.filter((row) => rank === null || row.ranks?.includes(rank)),
    [all, rank],
  );
  const columns = useMemo(() => [...whoColumns(run, all), ...overlapColumns], [run, all]);
  if (all.length === 0) return null;
  return (
    <Section title="Some compiled while others did not" number={rows.length}>
      <Rows
        label="Some compiled while others did not"
        rows={rows}
        columns={columns}
        empty="This rank never compiled while others did not."
      />
      <LeftOutOf tables={ranks} names={["compile_overlap"]} />
    </Section>
  );
}

const ms = (value: number) => `${value} ms`;
const deltaColumns: Column<RuntimeDelta>[] = [
  textColumn("graph", "graph", 0, (row) => row.graph),
  textColumn(
    "pairing",
    "compared",
    170,
    (row) => (row.pairing === "graph" ? "of one compilation" : "by place in the log"),
    { definition: "by place in the log: the k-th graph of every rank, whatever it is" },
  ),
  numberColumn("delta", "difference", 100, (row) => row.delta_ms, ms, {
    definition: "Expected time on the slowest rank less that on the fastest",
  }),
  textColumn("fastest", "fastest", 160, (row) =>
    row.tied ? "all alike" : `rank ${row.fastest_rank}: ${ms(row.fastest_ms ?? 0)}`,
  ),
  textColumn("slowest", "slowest", 160, (row) =>
    row.tied ? "all alike" : `rank ${row.slowest_rank}: ${ms(row.slowest_ms ?? 0)}`,
  ),
];

export function Deltas({ ranks, run, rank }: Props) {
  const all = ranks.rows("compile_runtime_delta");
  const rows = useMemo(
    () => all.filter((row) => rank === null || row.fastest_rank === rank || row.slowest_rank === rank),
    [all, rank],
  );
  const columns = useMemo(() => [...whoColumns(run, all), ...deltaColumns], [run, all]);
  if (all.length === 0) return null;
  return (
    <Section title="Expected time of graphs" number={rows.length}>
      <Rows
        label="Expected time of graphs"
        rows={rows}
        columns={columns}
        empty="This rank is neither the fastest nor the slowest anywhere."
      />
      <LeftOutOf tables={ranks} names={["compile_runtime_delta"]} />
    </Section>
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

export function Orders({ ranks, run, rank }: Props) {
  const all = useMemo(() => orderPlaces(ranks), [ranks]);
  const rows = useMemo(
    () => all.filter((row) => rank === null || row.ran.some(([, of]) => of.includes(rank))),
    [all, rank],
  );
  const columns = useMemo(
    () => [...whoColumns(run, ranks.rows("compile_order")).filter((one) => one.id !== "rank"), ...orderColumns] as Column<OrderPlace>[],
    [run, ranks],
  );
  if (!ranks.has("compile_order")) return null;
  return (
    <Section title="Order of graphs, where ranks differ" number={rows.length}>
      <Rows
        label="Order of graphs, where ranks differ"
        rows={rows}
        columns={columns}
        empty="All ranks ran the same graphs in the same order."
      />
      <LeftOutOf tables={ranks} names={["compile_order"]} />
    </Section>
  );
}
