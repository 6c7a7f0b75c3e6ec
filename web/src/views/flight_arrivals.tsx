// Arrivals: how late each rank came to each collective of a group. A straggler is a dark row; one slow step of
// all is a dark column.
import { useMemo } from "preact/hooks";
import { columnsOf, micros, rowsOf, takeaway } from "../flight/arrival_ranks";
import {
  arrivalsIsland,
  heatSteps,
  Lateness,
  stepOf,
  thresholds,
  type Against,
  type ArrivalGroup,
  type Arrivals,
  type Kind,
} from "../flight/arrivals";
import type { Look } from "../flight/cells";
import { groupTitle } from "../flight/data";
import { Grid, type Place } from "../flight/grid";
import { commIsland, flightOrProfileNeeds } from "../flight/needs";
import { Picker } from "../flight/picker";
import { Tabs } from "../parts/choices";
import { count, counted, durationInWords } from "../parts/format";
import { Section, SortedTable } from "../parts/listing";
import { Load, withTables, type TableProps } from "../parts/loading";
import { Legend } from "../parts/marks";
import type { Run } from "../run/data";
import type { Tables } from "../run/tables";
import { setParams, to, type Route } from "../shell/route";
import type { View } from "../view";

const id = "flight_arrivals";

const kindWords: Record<Kind, string> = {
  flight: "when its host issues it, from the dumps, with clock offsets of hosts corrected where they are clear",
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
    `${step === 0 ? "below" : "from"} ${durationInWords((limits[Math.max(0, step - 1)] ?? 0) * 1000)}`;
  const items = looks.map((look, step) => ({
    id: look.colour,
    mark: <i class="heat" style={{ background: `var(${look.colour})` }} aria-hidden="true" />,
    words: text(step),
  }));
  const none = { id: "none", mark: <i class="heat none" aria-hidden="true" />, words: "no time" };
  return (
    <Legend
      label={`Colours: time behind the ${against} member`}
      items={[...items, none]}
      before={<span>behind the {against} member:</span>}
      isQuiet
    />
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

function Chosen({ lateness, place, kind }: { lateness: Lateness; place: Place; kind: Kind }) {
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
            ? "no time of it: it did not reach it, or its ring no longer holds the entry."
            : facts.last < 0
              ? "the only one with a time."
              : `${lateWords(late, "first")}${facts.last === row ? ", the last" : ""}; ${lateWords(late - facts.median, "median")}.`}
        </p>
      )}
      <p>
        {facts.last < 0
          ? "Fewer than two members have a time of it."
          : `Rank ${rankAt(facts.first)} arrived first, rank ${rankAt(facts.last)} last, ${micros(spread)} later. ${count(facts.known)} of ${counted(group.members.length, "member")} have a time.`}
      </p>
      <p>
        {kind === "flight" && (
          <a class="id-link" href={to("flight", { group: group.id, seq: group.seq[column], rank })}>
            In the grid
          </a>
        )}
        {rank !== null && (
          <>
            <a class="id-link" href={to("timeline", { rank })}>
              Timeline of rank {rank}
            </a>
            <a class="id-link" href={to("ranks", { rank })}>
              Rank {rank} beside the others
            </a>
          </>
        )}
      </p>
    </aside>
  );
}

// What the address says; whoever stands out is in sight when it says nothing.
function placeOf(group: ArrivalGroup, route: Route, standsOut: number | null): Place {
  const seq = route.params.get("seq");
  const rank = route.params.get("rank") ?? standsOut;
  return {
    column: seq === null ? -1 : group.seq.indexOf(Number(seq)),
    row: rank === null ? -1 : group.members.indexOf(Number(rank)),
  };
}

interface HeatProps {
  group: ArrivalGroup;
  kind: Kind;
  against: Against;
  tables: Tables;
  run: Run;
  route: Route;
}

function Heat({ group, kind, against, tables, run, route }: HeatProps) {
  const lateness = useMemo(() => new Lateness(group, against), [group, against]);
  const limits = useMemo(() => thresholds(lateness), [lateness]);
  const rows = useMemo(() => rowsOf(lateness, kind, tables), [lateness, kind, tables]);
  const columns = useMemo(() => columnsOf(kind, against, rows), [kind, against, rows]);
  const told = lateness.columns.filter((one) => one.last >= 0).length;
  const { rank: standsOut, words } = takeaway(rows, told);
  const selected = placeOf(group, route, standsOut);
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
  const shown = group.seq.length;
  return (
    <>
      <p class="takeaway">{words}</p>
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
        A rank arrives at a collective {kindWords[kind]}.
      </p>
      {selected.column >= 0 && (
        <Chosen lateness={lateness} place={selected} kind={kind} />
      )}
      <Section title="By rank" number={rows.length}>
        <SortedTable
          view={id}
          label="Arrivals by rank"
          rows={rows}
          columns={columns}
          id={(row) => String(row.rank)}
          selected={route.params.get("rank")}
          onSelect={(rank) => setParams(id, { rank })}
          empty=""
        />
      </Section>
    </>
  );
}

function Groups({ arrivals, tables, run, route }: TableProps & { arrivals: Arrivals }) {
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
      <Heat group={group} kind={kind} against={against} tables={tables} run={run} route={route} />
    </section>
  );
}

export const view: View = {
  id,
  title: "Arrivals",
  section: "Collectives",
  order: 22,
  needs: flightOrProfileNeeds(["comm_match", "profile_collective_match"]),
  component: withTables(commIsland, (props) => (
    <Load title="Late arrivals" once={arrivalsIsland}>
      {(arrivals) => <Groups {...props} arrivals={arrivals} />}
    </Load>
  )),
};
