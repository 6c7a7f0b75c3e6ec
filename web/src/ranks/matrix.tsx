// One row for each rank: what it compiled, how long its steps are, how late it comes, who blames it. Choosing a
// rank leaves only what concerns it in the sections below.
import { useMemo } from "preact/hooks";
import { Bar, Section, numberColumn, seconds, textColumn } from "../compile/parts";
import { duration } from "../parts/format";
import { SeverityMark } from "../parts/marks";
import { Table, type Column } from "../parts/table";
import type { Run } from "../run/data";
import { href, setParams, type Route } from "../shell/route";
import { checkWords } from "./checks";
import type { RankRow } from "./data";

const reasons: Record<string, string> = {
  host: "its host is slow",
  gpu: "its GPU is slow",
  data: "it waits for data",
  unknown: "slow, the profile does not tell why",
};

// A number with its share of the largest as a bar, as a link to where it comes from.
function barColumn(
  id: string,
  title: string,
  width: number,
  rows: RankRow[],
  value: (row: RankRow) => number | undefined,
  show: (value: number) => string,
  definition: string,
): Column<RankRow> {
  const most = rows.reduce((best, row) => Math.max(best, value(row) ?? 0), 0);
  return numberColumn(
    id,
    title,
    width,
    value,
    (one) => <Bar share={most > 0 ? one / most : 0} text={show(one)} />,
    { definition },
  );
}

function Blame({ row, job }: { row: RankRow; job: string | null }) {
  return (
    <span class="blame-links">
      {row.blamed.map((finding) => (
        <a
          key={finding.id}
          title={finding.headline}
          href={href("verdict", { job, finding: finding.id })}
        >
          <SeverityMark severity={finding.severity} word={false} /> {finding.headline}
        </a>
      ))}
    </span>
  );
}

function columnsOf(rows: RankRow[], run: Run, job: string | null): Column<RankRow>[] {
  const several = (value: (row: RankRow) => number) => new Set(rows.map(value)).size > 1;
  const jobName = (row: RankRow) =>
    run.jobs.find((one) => one.job === row.job)?.name || `job ${row.job}`;
  const has = (value: (row: RankRow) => unknown) => rows.some((row) => value(row) !== undefined);
  return [
    ...(several((row) => row.job) ? [textColumn<RankRow>("job", "job", 120, jobName)] : []),
    ...(several((row) => row.attempt)
      ? [numberColumn<RankRow>("attempt", "attempt", 80, (row) => row.attempt)]
      : []),
    { id: "rank", title: "rank", width: 64, number: true, opens: true, value: (row) => row.rank },
    ...(has((row) => row.time)
      ? [
          barColumn("compile", "compile time", 180, rows, (row) => row.time?.seconds, seconds,
            "Time that the rank spent on compilations"),
          numberColumn<RankRow>("alone", "alone", 76, (row) => row.time?.alone_s, seconds, {
            definition: "Time in which it compiled and no other rank did",
          }),
        ]
      : []),
    ...(rows.some((row) => row.apart.length > 0)
      ? [
          textColumn<RankRow>(
            "apart",
            "compiled otherwise",
            160,
            (row) => row.apart.map((what) => checkWords[what]?.[0] ?? what).join(", ") || undefined,
            { definition: "Ways of asking in which it is not with most ranks" },
          ),
        ]
      : []),
    ...(has((row) => row.profile)
      ? [
          barColumn("step", "step time", 180, rows, (row) => row.profile?.step_ns, duration,
            "Median time of its steps, from its profile"),
        ]
      : []),
    ...(has((row) => row.profile?.reason)
      ? [
          textColumn<RankRow>("why", "slow because", 140, (row) => reasons[row.profile?.reason ?? ""], {
            definition: "Why the others wait for it again and again (profile_rank)",
          }),
        ]
      : []),
    ...(has((row) => row.arrival)
      ? [
          numberColumn<RankRow>("last", "came last", 90, (row) => row.arrival?.times_last, undefined, {
            definition: "Collectives to which it came last, from the dumps",
          }),
          barColumn("late", "third-longest delay", 190, rows, (row) => row.arrival?.late_third_ns, duration,
            "Behind the last but one member; one delay is chance, three are a straggler"),
        ]
      : []),
    {
      id: "blame",
      title: "blamed by",
      width: 0,
      definition: "Findings that call it the cause",
      value: (row) => row.blamed.length || null,
      cell: (row) => <Blame row={row} job={job} />,
    },
  ];
}

// Ways from the chosen rank to the views that have more about it.
function Ways({ rank, job, rows }: { rank: string; job: string | null; rows: RankRow[] }) {
  const mine = rows.filter((row) => String(row.rank) === rank);
  const ways = [
    mine.some((row) => row.time) && { text: "Its compilations", to: href("compile", { job, filter: `rank:${rank}` }) },
    mine.some((row) => row.arrival) && { text: "Its arrivals", to: href("flight_arrivals", { job, rank }) },
    mine.some((row) => row.profile ?? row.time) && { text: "Its timeline", to: href("timeline", { job, rank }) },
    { text: "Its files", to: href("inventory", { job, filter: `rank:${rank}` }) },
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
  const [rank, job] = [route.params.get("rank"), route.params.get("job")];
  const columns = useMemo(() => columnsOf(rows, run, job), [rows, run, job]);
  const chosen = rows.find((row) => String(row.rank) === rank);
  const choose = (key: string) => {
    const wanted = key.slice(key.lastIndexOf(".") + 1);
    setParams("ranks", { rank: wanted === rank ? null : wanted, diff: null });
  };
  return (
    <Section title="All ranks" number={rows.length}>
      {rank !== null && chosen && <Ways rank={rank} job={job} rows={rows} />}
      <Table
        label="All ranks"
        rows={rows}
        columns={columns}
        id={(row) => row.key}
        sort={route.params.get("sort")}
        onSort={(sort) => setParams("ranks", { sort }, true)}
        selected={chosen?.key ?? null}
        onSelect={choose}
        empty="Nothing compares ranks."
      />
    </Section>
  );
}
