// Collectives: what each rank of a group did in each sequence. A hang is a cliff: ranks that are through on
// the left, ranks that wait on the right, and a hole where one never came.
import { useMemo } from "preact/hooks";
import type { Finding, Run } from "../run/data";
import {
  cellDefinitions,
  cellWords,
  isAbout,
  type FlightGroup,
  type Incomplete, flightIsland, flightOfJob, groupOf, type Flight } from "../flight/data";
import { Waiting } from "../parts/loading";
import { useOnce } from "../run/islands";
import { count, counted, duration, rankList } from "../parts/format";
import { Grid, type Place } from "../flight/grid";
import { useKeys } from "../shell/keys";
import { SeverityMark } from "../parts/marks";
import { href, setParams, type Route } from "../shell/route";
import { Table, type Column } from "../parts/table";
import type { View, ViewProps } from "../view";

const id = "flight";

function title(group: FlightGroup): string {
  const name =
    group.desc && group.desc !== group.name ? `${group.desc} (${group.name})` : group.name;
  return `${name || "unnamed group"}${group.p2p ? ", point to point" : ""}`;
}

function optionText(group: FlightGroup, run: Run): string {
  const ranks = `${counted(group.members.length, "rank")}: ${rankList(group.members, 4)}`;
  const trouble = group.trouble > 0 ? `, ${count(group.trouble)} open or mismatched` : "";
  const job = run.jobs.length > 1 ? `, job ${group.job}` : "";
  const attempt = run.jobs.some((one) => one.attempts > 1) ? `, attempt ${group.attempt}` : "";
  return `${title(group)} - ${ranks}${trouble}${job}${attempt}`;
}

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

function cellOf(group: FlightGroup, { row, column }: Place) {
  const own = group.differs.get(`${column},${row}`);
  const state = group.cells[row]?.[column] ?? "u";
  return {
    state,
    op: own?.op || group.op[column] || "",
    sizes: own?.sizes || group.sizes[column] || "",
    line: own?.line || group.line[column] || "",
    differs: own !== undefined,
  };
}

function describe(group: FlightGroup, place: Place): string {
  const cell = cellOf(group, place);
  const what = [cell.op, cell.sizes].filter(Boolean).join(" ");
  return `rank ${group.members[place.row]}, ${group.seq[place.column]} ${what}: ${cellWords[cell.state]}`;
}

const legendOrder = ["c", "t", "s", "m", "x", "u", "."];

function Legend({ group, blames }: { group: FlightGroup; blames: boolean }) {
  const used = new Set(group.cells.flatMap((row) => [...new Set(row)]));
  return (
    <p class="legend quiet">
      {legendOrder
        .filter((one) => used.has(one))
        .map((one) => (
          <span key={one} title={cellDefinitions[one]}>
            <i class={`state-cell ${cellWords[one]?.replace(/ /g, "-")}`} aria-hidden="true" />
            {cellWords[one]}
          </span>
        ))}
      {blames && (
        <span>
          <i class="blamed-mark" aria-hidden="true" /> blamed by a finding
        </span>
      )}
    </p>
  );
}

// The chosen column in words: who is in which state. It says all that the picture shows.
function ColumnInWords({ group, column }: { group: FlightGroup; column: number }) {
  const states = legendOrder
    .map((state) => ({
      state,
      ranks: group.members.filter((_, row) => (group.cells[row]?.[column] ?? "u") === state),
    }))
    .filter(({ state, ranks }) => ranks.length > 0 && state !== ".");
  return (
    <dl class="column-words">
      {states.map(({ state, ranks }) => (
        <div key={state}>
          <dt title={cellDefinitions[state]}>
            <i class={`state-cell ${cellWords[state]?.replace(/ /g, "-")}`} aria-hidden="true" />
            {cellWords[state]}
          </dt>
          <dd>
            {counted(ranks.length, "rank")}: {rankList(ranks, 24)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Selected({ group, place }: { group: FlightGroup; place: Place }) {
  const { row, column } = place;
  const cell = cellOf(group, place);
  return (
    <aside class="panel" aria-label="Selected sequence">
      <h2>
        {title(group)}, sequence {group.seq[column]}: <code>{group.op[column]}</code>{" "}
        <span class="quiet">{group.status[column]}</span>
      </h2>
      {row >= 0 && (
        <p class="cell-words">
          <strong>Rank {group.members[row]}</strong>: {cellWords[cell.state]}
          {cell.differs && (
            <>
              {" "}
              with <code>{cell.op}</code>
            </>
          )}
          . <span class="quiet">{cellDefinitions[cell.state]}.</span>
        </p>
      )}
      <dl class="column-words">
        {cell.sizes && (
          <div>
            <dt>{cell.differs ? "its sizes" : "sizes"}</dt>
            <dd>
              <code>{cell.sizes}</code>
            </dd>
          </div>
        )}
        {cell.differs && group.sizes[column] && (
          <div>
            <dt>of the others</dt>
            <dd>
              <code>
                {group.op[column]} {group.sizes[column]}
              </code>
            </dd>
          </div>
        )}
        {cell.line && (
          <div>
            <dt>
              {cell.differs ? "its line" : cell.state === "m" ? "others issued at" : "issued at"}
            </dt>
            <dd>
              <code>{cell.line}</code>
            </dd>
          </div>
        )}
      </dl>
      <ColumnInWords group={group} column={column} />
    </aside>
  );
}

const incompleteColumns: Column<Incomplete>[] = [
  { id: "rank", title: "rank", width: 70, number: true, opens: true, value: (row) => row.rank },
  {
    id: "group",
    title: "group",
    width: 190,
    value: (row) => `${row.desc || "group"} (${row.name})`,
  },
  {
    id: "seq",
    title: "sequence",
    width: 90,
    number: true,
    definition: "Sequence number of the oldest op of the rank in the group that is not completed",
    value: (row) => row.seq,
  },
  { id: "op", title: "op", width: 190, value: (row) => row.op },
  { id: "state", title: "state", width: 100, value: (row) => row.state },
  {
    id: "age",
    title: "age",
    width: 90,
    number: true,
    definition: "How long before the newest time in the rank's dump it was issued",
    value: (row) => row.age_ns,
    cell: (row) => duration(row.age_ns),
  },
  {
    id: "waits",
    title: "waits for",
    width: 0,
    definition: "Ranks of the group that have not joined it",
    value: (row) => row.waits,
    cell: (row) =>
      row.waits === 0
        ? "all have joined"
        : `${row.waits === 1 ? "rank" : "ranks"} ${rankList(row.waits_for, 8)}`,
  },
];

function Where({ flight, route }: { flight: Flight; route: Route }) {
  const key = (row: Incomplete) => [row.job, row.attempt, row.rank, row.name, row.seq].join("/");
  const open = (wanted: string) => {
    const row = flight.incomplete.find((one) => key(one) === wanted);
    const group = flight.groups.find(
      (one) =>
        row &&
        one.name === row.name &&
        one.job === row.job &&
        one.attempt === row.attempt &&
        one.members.includes(row.rank ?? -1),
    );
    if (!row) return;
    const rank = row.rank === null ? null : String(row.rank);
    setParams(id, { at: wanted, ...(group && { group: group.id, seq: String(row.seq), rank }) });
  };
  return (
    <section aria-labelledby="where-title">
      <h2 id="where-title">
        Where each rank is{" "}
        <span class="quiet">its oldest op in each group that is not completed</span>
      </h2>
      <Table
        label="Where each rank is"
        rows={flight.incomplete}
        columns={incompleteColumns}
        id={key}
        sort={route.params.get("sort")}
        onSort={(sort) => setParams(id, { sort }, true)}
        selected={route.params.get("at")}
        onSelect={open}
        empty="Every op in every dump is completed."
      />
      {flight.incomplete_left_out > 0 && (
        <p class="quiet">
          and {count(flight.incomplete_left_out)} more in table <code>first_incomplete</code> of
          run.duckdb
        </p>
      )}
    </section>
  );
}

function Picker({ run, flight, group }: { run: Run; flight: Flight; group: FlightGroup }) {
  const groups = flight.groups;
  const at = groups.indexOf(group);
  const choose = (wanted: string) =>
    setParams(id, { group: wanted, seq: null, rank: null, at: null });
  const move = (by: number) => {
    const next = groups[at + by];
    if (next) choose(next.id);
  };
  useKeys([
    { key: "j", does: "Next group", act: () => move(1) },
    { key: "k", does: "Previous group", act: () => move(-1) },
  ]);
  return (
    <div class="section-head">
      <label class="group-choice">
        <span aria-hidden="true">Group</span>
        <select
          aria-label="Group"
          value={group.id}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {groups.map((one) => (
            <option key={one.id} value={one.id}>
              {optionText(one, run)}
            </option>
          ))}
        </select>
      </label>
      {flight && flight.left_out > 0 && (
        <span class="quiet">
          and {counted(flight.left_out, "group")} in table <code>comm_match</code> of run.duckdb
        </span>
      )}
    </div>
  );
}

function About({ findings, job }: { findings: Finding[]; job: string | null }) {
  if (findings.length === 0) return null;
  return (
    <ul class="trouble">
      {findings.slice(0, 3).map((one) => (
        <li key={one.id}>
          <SeverityMark severity={one.severity} word={false} />
          <a href={href("verdict", { job, finding: one.id })}>{one.headline}</a>
        </li>
      ))}
    </ul>
  );
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

function Collectives({ run, route }: ViewProps) {
  const loaded = useOnce(flightIsland);
  const whole = loaded.state === "ready" ? loaded.value : null;
  const flight = useMemo(() => whole && flightOfJob(whole, run.job), [whole, run.job]);
  return flight ? <Groups run={run} route={route} flight={flight} /> : <Waiting loaded={loaded} />;
}

function Groups({ run, route, flight }: { run: Run; route: Route; flight: Flight }) {
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
        rank: place.row < 0 ? null : String(group.members[place.row]),
      },
      true,
    );
  const shown = group.seq.length;
  return (
    <>
      <h1>Collectives</h1>
      <section aria-label="Grid" class="flight">
        <Picker run={run} flight={flight} group={group} />
        <About findings={findings} job={route.params.get("job")} />
        <Grid
          picture={{ ...marks, selected, cells: group.cells, seq: group.seq, ranks: group.members }}
          label={`${title(group)}: ${counted(group.members.length, "rank")} by ${counted(shown, "sequence")}`}
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
  title: "Collectives",
  order: 20,
  needs: {
    tables: ["comm_match"],
    missing: "No Flight Recorder dumps were found.",
    record:
      "Start the job with TORCH_FR_BUFFER_SIZE=2000 (before PyTorch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE) and " +
      "TORCH_NCCL_DUMP_ON_TIMEOUT=1; each rank then leaves a dump when a collective hangs.",
  },
  component: Collectives,
};
