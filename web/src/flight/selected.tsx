// A chosen cell of the grid in words: what the rank did there, with what, issued where, and who of the others
// is in which state. It says all that the picture shows.
import { counted, rankList } from "../parts/format";
import { shapeWords } from "./shapes";
import { Load } from "../parts/loading";
import { Legend as Signs, Term } from "../parts/marks";
import { cellDefinitions, cellWords, groupTitle, type FlightGroup } from "./data";
import type { Place } from "./grid";
import { CellStack } from "./stack";
import { stacksIsland, stacksOf, type Stacks } from "./stacks";

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

export function describe(group: FlightGroup, place: Place): string {
  const cell = cellOf(group, place);
  const what = [cell.op, shapeWords(cell.sizes)].filter(Boolean).join(" ");
  return `rank ${group.members[place.row]}, ${group.seq[place.column]} ${what}: ${cellWords[cell.state]}`;
}

const legendOrder = ["c", "t", "s", "m", "x", "u", "."];

const StateMark = ({ state }: { state: string }) => (
  <i class={`state-cell ${cellWords[state]?.replace(/ /g, "-")}`} aria-hidden="true" />
);

export function Legend({ group, blames }: { group: FlightGroup; blames: boolean }) {
  const used = new Set(group.cells.flatMap((row) => [...new Set(row)]));
  const items = legendOrder
    .filter((state) => used.has(state))
    .map((state) => ({
      id: state,
      mark: <StateMark state={state} />,
      words: cellWords[state],
      title: cellDefinitions[state],
    }));
  const mark = <i class="blamed-mark" aria-hidden="true" />;
  const blame = { id: "blamed", mark, words: "blamed by a finding", title: undefined };
  return <Signs items={blames ? [...items, blame] : items} isQuiet />;
}

// Who is in which state.
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
            <StateMark state={state} />
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

// The stacks are an island of their own: a reader who only looks at the picture does not wait for them.
function Issued({ group, place, all }: { group: FlightGroup; place: Place; all: Stacks }) {
  const { row, column } = place;
  const isIssued = row < 0 || !"mu.".includes(group.cells[row]?.[column] ?? "u");
  const stacks = stacksOf(all, group.number, row, column, isIssued);
  const rank = row < 0 ? null : (group.members[row] ?? null);
  return <CellStack stacks={stacks} rank={rank} members={group.members} />;
}

export function Selected({ group, place }: { group: FlightGroup; place: Place }) {
  const { row, column } = place;
  const cell = cellOf(group, place);
  return (
    <aside class="panel" aria-label="Selected sequence">
      <h2>
        {groupTitle(group)}, sequence {group.seq[column]}: <code>{group.op[column]}</code>{" "}
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
        <Term name={cell.differs ? "its sizes" : "sizes"}>{cell.sizes && <code>{shapeWords(cell.sizes)}</code>}</Term>
        {cell.differs && group.sizes[column] && (
          <Term name="of the others">
            <code>
              {group.op[column]} {shapeWords(group.sizes[column])}
            </code>
          </Term>
        )}
        <Term name={cell.differs ? "its line" : cell.state === "m" ? "others issued at" : "issued at"}>
          {cell.line && <code>{cell.line}</code>}
        </Term>
      </dl>
      <ColumnInWords group={group} column={column} />
      <Load once={stacksIsland}>{(all) => <Issued group={group} place={place} all={all} />}</Load>
    </aside>
  );
}
