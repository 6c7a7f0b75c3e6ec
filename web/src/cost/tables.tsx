// Where the time of ranks, collectives and compiled regions goes.
import { useMemo } from "preact/hooks";
import { drawnColumn, numberColumn, placeColumn, textColumn, whoColumns } from "../parts/columns";
import { bytes, count, rankList, shareText, showTime } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Sheet } from "../parts/listing";
import { largestFirst, most, smallestFirst } from "../parts/rows";
import type { Column } from "../parts/table";
import { PartBar, PartLegend } from "../profile/parts";
import type { Run } from "../run/data";
import type { Row, Tables } from "../run/tables";
import { to } from "../shell/route";
import { statesIn, valuesOf } from "./data";

interface Props {
  run: Run;
  tables: Tables;
}

type CostRank = Row<"cost_rank">;

const rankColumns: Column<CostRank>[] = [
  numberColumn("wall_ns", "wall", 84, (row) => row.wall_ns, showTime,
    "Wall time of its recorded steps; of the whole recording where there are none"),
  numberColumn("lost_ns", "lost", 84, (row) => row.lost_ns, showTime,
    "Wall time less the time it is busy with work that is not waiting"),
  numberColumn("share", "of all lost", 90, (row) => row.share, shareText,
    "Its part of what all ranks of the job lost"),
  numberColumn("wait_ns", "waited", 84, (row) => row.wait_ns, showTime,
    "Of the lost time: waiting for other ranks"),
  numberColumn("caused_ns", "others waited", 120, (row) => row.caused_ns, showTime,
    "Waiting of other ranks that this one caused"),
  textColumn("look", "", 80, () => undefined, {
    cell: (row) =>
      row.rank === undefined ? "" : <a href={to("timeline", { rank: row.rank })}>timeline</a>,
  }),
];

export function RankCosts({ run, tables }: Props) {
  const rows = useMemo(() => smallestFirst(tables.rows("cost_rank"), (row) => row.rank), [tables]);
  const parts = useMemo(() => statesIn(rows), [rows]);
  const longest = Math.max(1, most(rows, (row) => row.wall_ns));
  const bar = drawnColumn<CostRank>("wall", "where its steps go", 0, (row) => row.wall_ns,
    (row) => <PartBar parts={parts} values={valuesOf(row)} whole={longest} />,
    "Wall time of its recorded steps, divided without rest");
  return (
    <Sheet
      title="Where the time of each rank goes"
      label="Lost time of ranks"
      rows={rows}
      columns={[...whoColumns(run, rows), bar, ...rankColumns]}
      isCounted={false}
      above={<PartLegend parts={parts} label="Parts of a step" />}
    >
      <LeftOutNote tables={tables} names={["cost_rank"]} />
    </Sheet>
  );
}

// "rank 3, 1.2 s": who was waited for, and how long.
function waitedColumn(
  id: string,
  title: string,
  rank: (row: CostCollective) => number | undefined,
  waited: (row: CostCollective) => number | undefined,
  definition: string,
): Column<CostCollective> {
  const text = (row: CostCollective) => (rank(row) === undefined ? "" : `rank ${rank(row)}`);
  return textColumn(id, title, 150, text, {
    definition,
    cell: (row) => text(row) && `${text(row)}, ${showTime(waited(row) ?? 0)}`,
  });
}

type CostCollective = Row<"cost_collective">;

const collectiveColumns: Column<CostCollective>[] = [
  textColumn("op", "collective", 130, (row) => row.op),
  textColumn("group", "group", 0, (row) => {
    const name = row.group_desc || row.group_name || "unknown";
    return row.members ? `${name} [${rankList(row.members, 6)}]` : name;
  }),
  numberColumn("times", "times", 70, (row) => row.times, count),
  numberColumn("bytes", "bytes", 80, (row) => row.bytes, bytes),
  numberColumn("exposed_ns", "exposed", 84, (row) => row.exposed_ns, showTime,
    "Time of all ranks in it that no computing hides: moving data and waiting"),
  numberColumn("transfer_ns", "moving", 84, (row) => row.transfer_ns, showTime,
    "Of it, after the last member began"),
  numberColumn("wait_ns", "waiting", 84, (row) => row.wait_ns, showTime,
    "Of it, before the last member began"),
  waitedColumn("last", "waited for", (row) => row.last_rank, (row) => row.last_wait_ns,
    "Rank whose arrival was waited for longest"),
  waitedColumn("blamed", "caused by", (row) => row.blamed_rank, (row) => row.blamed_wait_ns,
    "Rank that caused most of the waiting, through the waiting of others"),
];

export function CollectiveCosts({ tables }: Props) {
  const all = tables.rows("cost_collective");
  const rows = useMemo(() => largestFirst(all, (row) => row.exposed_ns), [all]);
  return (
    <Sheet title="Collectives" label="Cost of collectives" rows={rows} columns={collectiveColumns}>
      <LeftOutNote tables={tables} names={["cost_collective"]} />
    </Sheet>
  );
}

type CostRegion = Row<"cost_region">;

// What only a compile log says.
const logColumns: Column<CostRegion>[] = [
  textColumn("function", "function", 160, (row) => row.function),
  placeColumn("place", 0, (row) => [row.file, row.line]),
  textColumn("again", "again", 70, (row) => (row.again ? "again" : row.alone ? "alone" : undefined),
    "again: its frame had been compiled before; alone: most ranks did not compile it"),
  numberColumn("compile_ns", "compiling", 90, (row) => row.compile_ns, showTime, "Time spent compiling it"),
];

const regionColumns = (hasLog: boolean): Column<CostRegion>[] => [
  textColumn("compile_id", "id", 70, (row) => row.compile_id, {
    definition: "Compile id: frame / how often it was compiled before",
    cell: ({ compile_id: id }) =>
      hasLog && id ? <a href={to("compile", { filter: `id:${id}` })}>{id}</a> : id,
  }),
  ...(hasLog ? logColumns : []),
  numberColumn("runs", "runs", 70, (row) => row.runs, count, "Calls of it in the recording"),
  numberColumn("gpu_ns", "GPU time", 90, (row) => row.gpu_ns, showTime,
    "Work on devices that it launched, its backward included"),
  numberColumn("gpu_ns_a_run", "GPU a run", 90, (row) => row.gpu_ns_a_run, showTime),
  numberColumn("region_ns", "host time", 90, (row) => row.region_ns, showTime, "Host inside of its calls"),
];

export function RegionCosts({ run, tables }: Props) {
  const all = tables.rows("cost_region");
  const rows = useMemo(() => largestFirst(all, (row) => row.compile_ns), [all]);
  const hasLog = rows.some((row) => row.function !== undefined);
  return (
    <Sheet
      title="Compiled regions"
      label="Cost of compiled regions"
      rows={rows}
      columns={[...whoColumns(run, rows), ...regionColumns(hasLog)]}
    >
      <LeftOutNote tables={tables} names={["cost_region"]} />
    </Sheet>
  );
}
