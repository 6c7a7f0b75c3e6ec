// One row for each rank: what it compiled, how long its steps are, how late it comes, who blames it. Choosing a
// rank leaves only what concerns it in the sections below.
import { useMemo } from "preact/hooks";
import { barColumn, drawnColumn, jobName, numberColumn, textColumn } from "../parts/columns";
import { duration, seconds } from "../parts/format";
import { Section, SortedTable } from "../parts/listing";
import { SeverityMark } from "../parts/marks";
import { differ, most } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import { setParams, to, type Route } from "../shell/route";
import { checkWords } from "./checks";
import type { RankRow } from "./data";

const reasons: Record<string, string> = {
  host: "its host is slow",
  gpu: "its GPU is slow",
  data: "it waits for data",
  unknown: "slow, the profile does not say why",
};

function Blame({ row }: { row: RankRow }) {
  return (
    <span class="blame-links">
      {row.blamed.map((finding) => (
        <a key={finding.id} title={finding.headline} href={to("verdict", { finding: finding.id })}>
          <SeverityMark severity={finding.severity} word={false} /> {finding.headline}
        </a>
      ))}
    </span>
  );
}

// Only columns in which some rank has something.
function columnsOf(rows: RankRow[], run: Run): Column<RankRow>[] {
  const has = (value: (row: RankRow) => unknown) => rows.some((row) => value(row) !== undefined);
  const bar = (
    id: string,
    title: string,
    width: number,
    value: (row: RankRow) => number | undefined,
    show: (value: number) => string,
    definition: string,
  ) => barColumn(id, title, width, value, most(rows, value), show, definition);
  const apart = (row: RankRow) =>
    row.apart.map((what) => checkWords[what]?.[0] ?? what).join(", ") || undefined;
  const columns: [isShown: boolean, Column<RankRow>][] = [
    [differ(rows, (row) => row.job), textColumn("job", "job", 120, (row) => jobName(run, row.job))],
    [differ(rows, (row) => row.attempt), numberColumn("attempt", "attempt", 80, (row) => row.attempt)],
    [true, numberColumn("rank", "rank", 70, (row) => row.rank, undefined, { opens: true })],
    [has((row) => row.time), bar("compile", "compile time", 150, (row) => row.time?.seconds, seconds,
      "Time that the rank spent on compilations")],
    [has((row) => row.time), numberColumn("alone", "alone", 76, (row) => row.time?.alone_s, seconds,
      "Time in which it compiled and no other rank did")],
    [has(apart), textColumn("apart", "compiled otherwise", 160, apart,
      "Ways of asking in which it is not with most ranks")],
    [has((row) => row.profile), bar("step", "step time", 150, (row) => row.profile?.step_ns, duration,
      "Median time of its steps, from its profile")],
    [has((row) => row.profile?.compute_ns), bar("gpu", "GPU computing", 150, (row) => row.profile?.compute_ns, duration,
      "Device computing, copying or filling, median over its steps")],
    [has((row) => row.profile?.host_own_ns), bar("host", "host", 140, (row) => row.profile?.host_own_ns, duration,
      "Host not waiting for a device or for other ranks, median over its steps")],
    [has((row) => row.profile?.reason),
      textColumn("why", "slow because", 120, (row) => reasons[row.profile?.reason ?? ""],
        "Why the others wait for it (profile_rank)")],
    [has((row) => row.arrival), numberColumn("last", "last in dumps", 100, (row) => row.arrival?.times_last,
      undefined, "Collectives of the dumps at which it arrived last; profiles have their own (Profile, Who is waited for)")],
    [has((row) => row.arrival),
      bar("late", "late 3 x or more by", 150, (row) => row.arrival?.late_third_ns, duration,
        "It was late at least three times by this much, behind the last but one member: once is chance, three times is a straggler")],
    [true, drawnColumn("blame", "blamed by", 0, (row) => row.blamed.length || null,
      (row) => <Blame row={row} />, "Findings that call it the cause")],
  ];
  return columns.flatMap(([isShown, column]) => (isShown ? [column] : []));
}

// Ways from the chosen rank to the views that have more about it.
function Ways({ rank, rows }: { rank: string; rows: RankRow[] }) {
  const mine = rows.filter((row) => String(row.rank) === rank);
  const ways = [
    mine.some((row) => row.time) && { text: "Its compilations", to: to("compile", { filter: `rank:${rank}` }) },
    mine.some((row) => row.arrival) && { text: "Its arrivals", to: to("flight_arrivals", { rank }) },
    mine.some((row) => row.profile ?? row.time) && { text: "Its timeline", to: to("timeline", { rank }) },
    { text: "Its files", to: to("inventory", { filter: `rank:${rank}` }) },
  ];
  return (
    <p class="rank-ways">
      <strong>Rank {rank}</strong>
      {ways.map((way) => way && <a key={way.text} href={way.to}>{way.text}</a>)}
      <button onClick={() => setParams("ranks", { rank: null })}>Show all ranks</button>
    </p>
  );
}

export function Matrix({ rows, run, route }: { rows: RankRow[]; run: Run; route: Route }) {
  const rank = route.params.get("rank");
  const columns = useMemo(() => columnsOf(rows, run), [rows, run]);
  const chosen = rows.find((row) => String(row.rank) === rank);
  const choose = (key: string) => {
    const wanted = key.slice(key.lastIndexOf(".") + 1);
    setParams("ranks", { rank: wanted === rank ? null : wanted, diff: null });
  };
  return (
    <Section title="All ranks" number={rows.length}>
      {rank !== null && chosen && <Ways rank={rank} rows={rows} />}
      <SortedTable
        view="ranks"
        label="All ranks"
        rows={rows}
        columns={columns}
        id={(row) => row.key}
        selected={chosen?.key ?? null}
        onSelect={choose}
        empty="Nothing compares ranks."
      />
    </Section>
  );
}
