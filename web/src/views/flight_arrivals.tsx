// Arrivals: how late each rank came to each collective of a group. A straggler is a dark row; one slow step of
// all is a dark column.
import { useMemo } from "preact/hooks";
import { Bar, numberColumn, Section, Tabs } from "../compile/parts";
import {
  arrivalsIsland,
  heatSteps,
  Lateness,
  stepOf,
  summaries,
  thresholds,
  type Against,
  type ArrivalGroup,
  type Arrivals,
  type Kind,
  type RankSummary,
} from "../flight/arrivals";
import type { Look } from "../flight/cells";
import { commIsland, type Comm } from "../flight/comm";
import { groupTitle } from "../flight/data";
import { Grid, type Place } from "../flight/grid";
import { flightOrProfileNeeds } from "../flight/needs";
import { Picker } from "../flight/picker";
import { count, counted, duration } from "../parts/format";
import { Waiting, withTables } from "../parts/loading";
import { Table, type Column } from "../parts/table";
import { useOnce } from "../run/islands";
import type { Run } from "../run/data";
import { href, setParams, type Route } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "flight_arrivals";
const nanos = (ns: number) => (ns === 0 ? "0 s" : duration(ns));
const micros = (us: number) => nanos(us * 1000);

const kindWords: Record<Kind, string> = {
  flight: "when its host issued it, from the dumps, with clock offsets of hosts taken off where they are clear",
  profile: "when it began, from the profiles, with clocks aligned by the collectives themselves",
};

const looks: Look[] = Array.from({ length: heatSteps }, (_, i) => ({
  colour: `--heat-${i}`,
  full: 1,
  sign: "",
  ink: "--text",
}));

function HeatLegend({ limits, against }: { limits: number[]; against: Against }) {
  const text = (step: number) =>
    step === 0 ? `below ${micros(limits[0] ?? 0)}` : `from ${micros(limits[step - 1] ?? 0)}`;
  return (
    <p class="legend quiet" aria-label={`Colours: time behind the ${against} member`}>
      <span>behind the {against === "first" ? "first" : "median"} member:</span>
      {looks.map((look, step) => (
        <span key={step}>
          <i class="heat" style={{ background: `var(${look.colour})` }} aria-hidden="true" />
          {text(step)}
        </span>
      ))}
      <span>
        <i class="heat none" aria-hidden="true" />
        no time
      </span>
    </p>
  );
}

function lateWords(value: number, against: Against): string {
  if (value < 0) return `${micros(-value)} before the ${against}`;
  return value === 0 && against === "first" ? "first" : `${micros(value)} behind the ${against}`;
}

function describe(lateness: Lateness, { row, column }: Place): string {
  const { group, against } = lateness;
  const value = lateness.at(row, column);
  const what = value === null ? "no time" : lateWords(value, against);
  return `rank ${group.members[row]}, ${group.seq[column]} ${group.op[column]}: ${what}`;
}

function Chosen({ lateness, place, kind, job }: { lateness: Lateness; place: Place; kind: Kind; job: string | null }) {
  const { group } = lateness;
  const { row, column } = place;
  const facts = lateness.columns[column];
  if (!facts) return null;
  const rankAt = (at: number) => group.members[at];
  const late = group.late_us[row]?.[column] ?? -1;
  const spread = group.late_us[facts.last]?.[column] ?? 0;
  const rank = row < 0 ? null : String(rankAt(row));
  return (
    <aside class="panel" aria-label="Selected arrival">
      <h2>
        {groupTitle(group)}, sequence {group.seq[column]}: <code>{group.op[column]}</code>
      </h2>
      {row >= 0 && (
        <p class="cell-words">
          <strong>Rank {rank}</strong>:{" "}
          {late < 0
            ? "no time of it: it never came, or its ring no longer holds the entry."
            : `${lateWords(late, "first")}${facts.last === row ? ", the last" : ""}; ${lateWords(late - facts.median, "median")}.`}
        </p>
      )}
      <p>
        {facts.last < 0
          ? "Fewer than two members have a time of it."
          : `Rank ${rankAt(facts.first)} came first, rank ${rankAt(facts.last)} last, ${micros(spread)} later. ${count(facts.known)} of ${counted(group.members.length, "member")} have a time.`}
      </p>
      <p>
        {kind === "flight" && (
          <a
            class="id-link"
            href={href("flight", { job, group: group.id, seq: String(group.seq[column]), rank })}
          >
            In the grid
          </a>
        )}
        {rank !== null && (
          <a class="id-link" href={href("timeline", { job, rank })}>
            Timeline of rank {rank}
          </a>
        )}
        {rank !== null && (
          <a class="id-link" href={href("ranks", { job, rank })}>
            Rank {rank} beside the others
          </a>
        )}
      </p>
    </aside>
  );
}

// What the run's tables say of a rank beyond the sequences of this page.
interface Row extends RankSummary {
  all_last?: number | undefined; // of all groups
  third_ns?: number | undefined;
  correction_ns?: number | undefined;
  wait_mean_ns?: number | undefined;
}

function rowsOf(lateness: Lateness, kind: Kind, comm: Comm | null): Row[] {
  const { group } = lateness;
  const isHere = (one: { job?: number; attempt?: number }) =>
    one.job === (group.job ?? undefined) && one.attempt === (group.attempt ?? undefined);
  const found = new Map<number | undefined, Partial<Row>>();
  if (kind === "flight") {
    for (const one of comm?.rows("comm_arrival") ?? [])
      if (isHere(one))
        found.set(one.rank, {
          all_last: one.times_last,
          third_ns: one.late_third_ns,
          correction_ns: one.clock_correction_ns,
        });
  } else {
    for (const one of comm?.rows("profile_arrival") ?? [])
      if (isHere(one) && one.group_name === group.name && one.group_desc === group.desc)
        found.set(one.rank, { wait_mean_ns: one.wait_mean_ns });
  }
  return summaries(lateness).map((one) => ({ ...one, ...found.get(one.rank) }));
}

function columnsOf(kind: Kind, against: Against, rows: Row[]): Column<Row>[] {
  const slowest = rows.reduce((most, row) => Math.max(most, row.median_us ?? 0), 0);
  const behind = `behind the ${against} member`;
  const all: Column<Row>[] = [
    { id: "rank", title: "rank", width: 80, number: true, opens: true, value: (row) => row.rank },
    numberColumn(
      "median",
      "median lateness",
      0,
      (row) => row.median_us ?? undefined,
      (us) => <Bar share={slowest > 0 ? us / slowest : 0} text={micros(us)} />,
      { definition: `Median of its time ${behind}, over the sequences of this page` },
    ),
    numberColumn("longest", "longest", 120, (row) => row.longest_us ?? undefined, micros, {
      definition: `The longest of these`,
    }),
    numberColumn("last", "came last", 120, (row) => row.last, undefined, {
      definition: "Sequences of this page to which it came last of all members",
    }),
    numberColumn("first", "came first", 120, (row) => row.first, undefined, {
      definition: "Sequences of this page to which it came first",
    }),
  ];
  const flight: Column<Row>[] = [
    numberColumn("all_last", "last in all groups", 150, (row) => row.all_last, undefined, {
      definition: "Collectives of all groups of the rank to which it came last (comm_arrival)",
    }),
    numberColumn("third", "third-longest delay", 170, (row) => row.third_ns, duration, {
      definition: "Behind the last but one member, of all groups: one delay is chance, three are a straggler",
    }),
    numberColumn("clock", "clock taken off", 140, (row) => row.correction_ns, nanos, {
      definition: "How far its clock is ahead of the others', where that is clear; taken off its times",
    }),
  ];
  const profile: Column<Row>[] = [
    numberColumn("wait", "mean wait for the last", 190, (row) => row.wait_mean_ns, duration, {
      definition: "Its waiting for the last member, mean over all collectives of the group (profile_arrival)",
    }),
  ];
  return [...all, ...(kind === "flight" ? flight : profile)];
}

// Of the sequences, the share to which one of so many ranks comes last only if something is wrong with it:
// three times its fair share and a fifth at least; of few ranks half of the way from its fair share to always.
function clearShare(ranks: number): number {
  return Math.min((1 + 1 / ranks) / 2, Math.max(3 / ranks, 0.2));
}

// The sentence that a reader takes away.
function headline(rows: Row[], total: number): string {
  const most = rows.reduce((best, row) => (row.last > best.last ? row : best), rows[0] as Row);
  if (total === 0 || !most) return "No sequence has times of two members.";
  const often = `to ${count(most.last)} of ${counted(total, "sequence")}`;
  const isClear = total >= 5 && most.last > clearShare(rows.length) * total;
  const late = rows.reduce((best, row) => ((row.longest_us ?? 0) > (best.longest_us ?? 0) ? row : best), most);
  if (!isClear)
    return `No rank is last again and again: rank ${most.rank} most often, ${often}. The longest delay is ${micros(late.longest_us ?? 0)}, of rank ${late.rank}.`;
  return `Rank ${most.rank} came last ${often}, with a median lateness of ${micros(most.median_us ?? 0)}.`;
}

function placeOf(group: ArrivalGroup, route: Route): Place {
  const [seq, rank] = [route.params.get("seq"), route.params.get("rank")];
  return {
    column: seq === null ? -1 : group.seq.indexOf(Number(seq)),
    row: rank === null ? -1 : group.members.indexOf(Number(rank)),
  };
}

interface HeatProps {
  group: ArrivalGroup;
  kind: Kind;
  against: Against;
  comm: Comm | null;
  run: Run;
  route: Route;
}

function Heat({ group, kind, against, comm, run, route }: HeatProps) {
  const lateness = useMemo(() => new Lateness(group, against), [group, against]);
  const limits = useMemo(() => thresholds(lateness), [lateness]);
  const rows = useMemo(() => rowsOf(lateness, kind, comm), [lateness, kind, comm]);
  const columns = useMemo(() => columnsOf(kind, against, rows), [kind, against, rows]);
  const selected = placeOf(group, route);
  const blamed = useMemo(
    () =>
      new Set(
        run.findings
          .filter((one) => one.role === "cause" && (one.job === null || one.job === group.job))
          .flatMap((one) => one.ranks),
      ),
    [run, group],
  );
  const look = (row: number, column: number) => {
    const value = lateness.at(row, column);
    return value === null ? undefined : looks[stepOf(limits, value)];
  };
  const select = ({ row, column }: Place) =>
    setParams(
      id,
      { group: group.id, seq: String(group.seq[column]), rank: String(group.members[row]) },
      true,
    );
  const told = lateness.columns.filter((one) => one.last >= 0).length;
  const shown = group.seq.length;
  return (
    <>
      <p class="takeaway">{headline(rows, told)}</p>
      <Grid
        picture={{ look, seq: group.seq, ranks: group.members, blamed, accused: new Set(), selected }}
        label={`Arrivals of ${groupTitle(group)}: ${counted(group.members.length, "rank")} by ${counted(shown, "sequence")}`}
        describe={(place) => describe(lateness, place)}
        onSelect={select}
        least={3}
      />
      <HeatLegend limits={limits} against={against} />
      <p class="quiet">
        {shown < group.total
          ? `The last ${count(shown)} of ${counted(group.total, "sequence")}. `
          : `All ${counted(group.total, "sequence")}. `}
        A rank comes to a collective {kindWords[kind]}.
      </p>
      {selected.column >= 0 && (
        <Chosen lateness={lateness} place={selected} kind={kind} job={route.params.get("job")} />
      )}
      <Section title="By rank" number={rows.length}>
        <Table
          label="Arrivals by rank"
          rows={rows}
          columns={columns}
          id={(row) => String(row.rank)}
          sort={route.params.get("sort")}
          onSort={(sort) => setParams(id, { sort }, true)}
          selected={route.params.get("rank")}
          onSelect={(rank) => setParams(id, { rank })}
          empty=""
        />
      </Section>
    </>
  );
}

function Groups({ arrivals, comm, run, route }: { arrivals: Arrivals; comm: Comm | null; run: Run; route: Route }) {
  const of = (kind: Kind) =>
    arrivals[kind].groups.filter((one) => run.job === null || one.job === run.job);
  const kinds = (["flight", "profile"] as const).filter((kind) => of(kind).length > 0);
  const kind = kinds.find((one) => one === route.params.get("kind")) ?? kinds[0] ?? "flight";
  const groups = useMemo(() => of(kind), [arrivals, kind, run.job]);
  const group = groups.find((one) => one.id === route.params.get("group")) ?? groups[0];
  const against: Against = route.params.get("against") === "median" ? "median" : "first";
  if (!group) return <p class="empty">No collective of this job has times of two ranks.</p>;
  const titles = { flight: "from dumps", profile: "from profiles" };
  return (
    <section aria-label="Arrivals" class="flight">
      <div class="arrival-choices">
        {kinds.length > 1 && (
          <Tabs
            view={id}
            param="kind"
            label="Where times come from"
            tabs={kinds.map((one) => ({ id: one, title: titles[one] }))}
            current={kind}
            forget={{ group: null, seq: null }}
          />
        )}
        <Tabs
          view={id}
          param="against"
          label="Lateness is counted from"
          tabs={[
            { id: "first", title: "behind the first" },
            { id: "median", title: "behind the median" },
          ]}
          current={against}
        />
      </div>
      <Picker
        view={id}
        run={run}
        groups={groups}
        group={group}
        leftOut={arrivals[kind].left_out}
        table={kind === "flight" ? "comm_match" : "profile_collective_match"}
      />
      <Heat group={group} kind={kind} against={against} comm={comm} run={run} route={route} />
    </section>
  );
}

function ArrivalView({ run, route, comm }: ViewProps & { comm: Comm }) {
  const loaded = useOnce(arrivalsIsland);
  return (
    <>
      <h1>Who comes late</h1>
      {loaded.state === "ready" ? (
        <Groups arrivals={loaded.value} comm={comm} run={run} route={route} />
      ) : (
        <Waiting loaded={loaded} />
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Arrivals",
  section: "Collectives",
  order: 22,
  needs: flightOrProfileNeeds(["comm_match", "profile_collective_match"]),
  component: withTables(commIsland, "comm", ArrivalView),
};
