// Collectives: what each rank of a group did in each sequence. A hang is a cliff: ranks that are through on
// the left, ranks that wait on the right, and a hole where one never came.
import { useMemo } from "preact/hooks";
import type { Finding, Run } from "../run/data";
import { stateLooks } from "../flight/cells";
import {
  flightIsland,
  flightOfJob,
  groupOf,
  groupTitle,
  isAbout,
  type Flight,
  type FlightGroup,
} from "../flight/data";
import { Grid, type Place } from "../flight/grid";
import { flightNeeds } from "../flight/needs";
import { Picker } from "../flight/picker";
import { describe, Legend, Selected } from "../flight/selected";
import { Where } from "../flight/where";
import { count, counted } from "../parts/format";
import { Load } from "../parts/loading";
import { FindingLinks } from "../parts/marks";
import { setParams, type Route } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "flight";

// The sequence of a column in the address; sends of several channels have the same number.
function columnName(group: FlightGroup, column: number): string {
  const seq = group.seq[column];
  const nth = column - group.seq.indexOf(seq as number);
  return nth > 0 ? `${seq}.${nth}` : `${seq}`;
}

function columnOf(group: FlightGroup, name: string | null): number {
  const [seq = "", nth = "0"] = (name ?? "").split(".");
  const first = seq === "" ? -1 : group.seq.indexOf(Number(seq));
  return first < 0 ? -1 : Math.min(first + Number(nth), group.seq.length - 1);
}

// Where the reader looks when the address does not say: the first finding's sequence, or the first that
// did not complete.
function firstPlace(group: FlightGroup, findings: Finding[]): Place {
  const finding = findings.find((one) => one.seq !== null && group.seq.includes(one.seq));
  if (finding) {
    const rank = finding.ranks.find((one) => group.members.includes(one));
    return {
      column: group.seq.indexOf(finding.seq as number),
      row: rank === undefined ? -1 : group.members.indexOf(rank),
    };
  }
  const open = group.status.findIndex((one) => one !== "completed" && one !== "unknown");
  return { column: open < 0 ? group.seq.length - 1 : open, row: -1 };
}

function placeOf(group: FlightGroup, findings: Finding[], route: Route): Place {
  const column = columnOf(group, route.params.get("seq"));
  const rank = route.params.get("rank");
  const row = rank === null ? -1 : group.members.indexOf(Number(rank));
  if (column < 0 && row < 0) return firstPlace(group, findings);
  return { column: column < 0 ? firstPlace(group, findings).column : column, row };
}

// The group in the address, or that of the finding in the address, or the first.
function chosenGroup(flight: Flight, run: Run, route: Route): FlightGroup | undefined {
  const wanted = route.params.get("group");
  const finding = run.findings.find((one) => one.id === route.params.get("finding"));
  return (
    flight.groups.find((one) => one.id === wanted) ??
    (finding && groupOf(finding, flight)) ??
    flight.groups[0]
  );
}

function Groups({ run, route, all }: ViewProps & { all: Flight }) {
  const flight = useMemo(() => flightOfJob(all, run.job), [all, run.job]);
  const group = chosenGroup(flight, run, route);
  const findings = useMemo(
    () => (group ? run.findings.filter((one) => isAbout(one, group)) : []),
    [run, group],
  );
  const marks = useMemo(() => {
    const causes = findings.filter((one) => one.role === "cause");
    const seqs = new Set(
      findings.filter((one) => one.role !== "consequence").map((one) => one.seq),
    );
    return {
      blamed: new Set(causes.flatMap((one) => one.ranks)),
      accused: new Set(group?.seq.flatMap((seq, i) => (seqs.has(seq) ? [i] : [])) ?? []),
    };
  }, [findings, group]);
  if (!group) return <p class="empty">No collectives of this job were matched.</p>;
  const selected = placeOf(group, findings, route);
  const select = (place: Place) =>
    setParams(
      id,
      {
        group: group.id,
        seq: columnName(group, place.column),
        rank: group.members[place.row],
      },
      true,
    );
  const shown = group.seq.length;
  return (
    <>
      <h1>Collectives</h1>
      <section aria-label="Grid" class="flight">
        <Picker
          view={id}
          run={run}
          groups={flight.groups}
          group={group}
          leftOut={flight.left_out}
          table="comm_match"
        />
        <FindingLinks findings={findings} />
        <Grid
          picture={{
            ...marks,
            selected,
            look: (row, column) => stateLooks[group.cells[row]?.[column] ?? ""],
            seq: group.seq,
            ranks: group.members,
          }}
          label={`${groupTitle(group)}: ${counted(group.members.length, "rank")} by ${counted(shown, "sequence")}`}
          describe={(place) => describe(group, place)}
          onSelect={select}
        />
        <Legend group={group} blames={marks.blamed.size > 0} />
        <p class="quiet">
          {shown < group.total
            ? `${count(shown)} of ${counted(group.total, "sequence")}: the last, the first that did not complete, and those that findings are about.`
            : `All ${counted(group.total, "sequence")} in the dumps.`}
          {group.role && ` Role of the group: ${group.role}.`}
        </p>
        {selected.column >= 0 && <Selected group={group} place={selected} />}
      </section>
      <Where flight={flight} route={route} />
    </>
  );
}

export const view: View = {
  id,
  title: "Grid",
  section: "Collectives",
  order: 20,
  needs: flightNeeds(["comm_match"]),
  component: (props) => <Load once={flightIsland}>{(flight) => <Groups {...props} all={flight} />}</Load>,
};
