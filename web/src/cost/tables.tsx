// Where the time of ranks, collectives and compiled regions goes.
import { useMemo } from "preact/hooks";
import {
  numberColumn,
  placeColumn,
  Rows,
  Section,
  textColumn,
  whoColumns,
} from "../compile/parts";
import { LeftOutOf } from "../flight/left_out";
import { bytes, count, rankList } from "../parts/format";
import type { Column } from "../parts/table";
import { PartBar, PartLegend, shareText, showTime, type Part } from "../profile/parts";
import type { Run } from "../run/data";
import { href } from "../shell/route";
import {
  statesIn,
  valuesOf,
  type Cost,
  type CostCollective,
  type CostRank,
  type CostRegion,
} from "./data";

interface Props {
  run: Run;
  cost: Cost;
  job: string | null;
}

function rankColumns(run: Run, rows: CostRank[], parts: Part[], job: string | null): Column<CostRank>[] {
  const longest = Math.max(1, ...rows.map((row) => row.wall_ns ?? 0));
  const who = whoColumns(run, rows);
  return [
    ...who,
    {
      id: "wall",
      title: "where its steps go",
      width: 0,
      definition: "Wall time of its recorded steps, divided without rest",
      value: (row) => row.wall_ns ?? null,
      cell: (row) => <PartBar parts={parts} values={valuesOf(row)} whole={longest} />,
    },
    numberColumn("wall_ns", "wall", 84, (row) => row.wall_ns, showTime, {
      definition: "Wall time of its recorded steps; of the whole recording where there are none",
    }),
    numberColumn("lost_ns", "lost", 84, (row) => row.lost_ns, showTime, {
      definition: "Wall time less the time it is busy with work that is not waiting",
    }),
    numberColumn("share", "of all lost", 90, (row) => row.share, shareText, {
      definition: "Its part of what all ranks of the job lost",
    }),
    numberColumn("wait_ns", "waited", 84, (row) => row.wait_ns, showTime, {
      definition: "Of the lost time: waiting for other ranks",
    }),
    numberColumn("caused_ns", "made others lose", 130, (row) => row.caused_ns, showTime, {
      definition: "Waiting of other ranks that goes back to this one",
    }),
    textColumn("look", "", 80, () => undefined, {
      cell: (row) =>
        row.rank === undefined ? "" : <a href={href("timeline", { job, rank: String(row.rank) })}>timeline</a>,
    }),
  ];
}

export function RankCosts({ run, cost, job }: Props) {
  const rows = useMemo(
    () => [...cost.rows("cost_rank")].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)),
    [cost],
  );
  const parts = useMemo(() => statesIn(rows), [rows]);
  const columns = useMemo(() => rankColumns(run, rows, parts, job), [run, rows, parts, job]);
  if (rows.length === 0) return null;
  return (
    <Section title="Where the time of each rank goes">
      <PartLegend parts={parts} label="Parts of a step" />
      <Rows label="Lost time of ranks" rows={rows} columns={columns} empty="" />
      <LeftOutOf tables={cost} names={["cost_rank"]} />
    </Section>
  );
}

const rankText = (rank: number | undefined) => (rank === undefined ? "" : `rank ${rank}`);

function collectiveColumns(): Column<CostCollective>[] {
  return [
    textColumn("op", "collective", 130, (row) => row.op),
    textColumn("group", "group", 0, (row) => {
      const name = row.group_desc || row.group_name || "not told";
      return row.members ? `${name} [${rankList(row.members, 6)}]` : name;
    }),
    numberColumn("times", "times", 70, (row) => row.times, (value) => count(value)),
    numberColumn("bytes", "bytes", 80, (row) => row.bytes, (value) => bytes(value)),
    numberColumn("exposed_ns", "exposed", 84, (row) => row.exposed_ns, showTime, {
      definition: "Time of all ranks in it that no computing hides: moving data and waiting",
    }),
    numberColumn("transfer_ns", "moving", 84, (row) => row.transfer_ns, showTime, {
      definition: "Of it, behind the begin of the last member",
    }),
    numberColumn("wait_ns", "waiting", 84, (row) => row.wait_ns, showTime, {
      definition: "Of it, before the begin of the last member",
    }),
    textColumn("last", "waited for", 150, (row) => rankText(row.last_rank), {
      definition: "Rank whose arrival was waited for longest",
      cell: (row) =>
        row.last_rank === undefined ? "" : `${rankText(row.last_rank)}, ${showTime(row.last_wait_ns ?? 0)}`,
    }),
    textColumn("blamed", "goes back to", 150, (row) => rankText(row.blamed_rank), {
      definition: "Rank that most of the waiting goes back to, through the waiting of others",
      cell: (row) =>
        row.blamed_rank === undefined
          ? ""
          : `${rankText(row.blamed_rank)}, ${showTime(row.blamed_wait_ns ?? 0)}`,
    }),
  ];
}

export function CollectiveCosts({ cost }: Props) {
  const rows = useMemo(
    () => [...cost.rows("cost_collective")].sort((a, b) => (b.exposed_ns ?? 0) - (a.exposed_ns ?? 0)),
    [cost],
  );
  const columns = useMemo(collectiveColumns, []);
  if (rows.length === 0) return null;
  return (
    <Section title="Collectives" number={rows.length}>
      <Rows label="Cost of collectives" rows={rows} columns={columns} empty="" />
      <LeftOutOf tables={cost} names={["cost_collective"]} />
    </Section>
  );
}

function regionColumns(run: Run, rows: CostRegion[], job: string | null): Column<CostRegion>[] {
  const hasLog = rows.some((row) => row.function !== undefined);
  return [
    ...whoColumns(run, rows),
    textColumn("compile_id", "id", 70, (row) => row.compile_id, {
      definition: "Compile id: frame / how often it was compiled before",
      cell: (row) =>
        hasLog && row.compile_id ? (
          <a href={href("compile", { job, filter: `id:${row.compile_id}` })}>{row.compile_id}</a>
        ) : (
          row.compile_id
        ),
    }),
    textColumn("function", "function", 160, (row) => row.function),
    placeColumn("place", 0, (row) => [row.file, row.line]),
    textColumn("again", "again", 70, (row) => (row.again ? "again" : undefined), {
      definition: "Its frame had been compiled before",
    }),
    numberColumn("compile_ns", "compiling", 90, (row) => row.compile_ns, showTime, {
      definition: "Time spent compiling it",
    }),
    numberColumn("runs", "runs", 70, (row) => row.runs, (value) => count(value), {
      definition: "Calls of it in the recording",
    }),
    numberColumn("gpu_ns", "GPU time", 90, (row) => row.gpu_ns, showTime, {
      definition: "Work on devices that it launched, its backward included",
    }),
    numberColumn("gpu_ns_a_run", "GPU a run", 90, (row) => row.gpu_ns_a_run, showTime),
    numberColumn("region_ns", "host time", 90, (row) => row.region_ns, showTime, {
      definition: "Host inside of its calls",
    }),
  ];
}

export function RegionCosts({ run, cost, job }: Props) {
  const rows = useMemo(
    () => [...cost.rows("cost_region")].sort((a, b) => (b.compile_ns ?? 0) - (a.compile_ns ?? 0)),
    [cost],
  );
  const columns = useMemo(() => regionColumns(run, rows, job), [run, rows, job]);
  if (rows.length === 0) return null;
  return (
    <Section title="Compiled regions" number={rows.length}>
      <Rows label="Cost of compiled regions" rows={rows} columns={columns} empty="" />
      <LeftOutOf tables={cost} names={["cost_region"]} />
    </Section>
  );
}
