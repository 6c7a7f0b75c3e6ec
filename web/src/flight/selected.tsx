// A chosen cell of the grid in words: what the rank did there, with what, issued where, and who of the others
// is in which state. It says all that the picture shows.
import { counted, rankList } from "../parts/format";
import { Waiting } from "../parts/loading";
import { useOnce } from "../run/islands";
import { cellDefinitions, cellWords, groupTitle, type FlightGroup } from "./data";
import type { Place } from "./grid";
import { CellStack } from "./stack";
import { stacksIsland, stacksOf } from "./stacks";

export function cellOf(group: FlightGroup, { row, column }: Place) {
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
  const what = [cell.op, cell.sizes].filter(Boolean).join(" ");
  return `rank ${group.members[place.row]}, ${group.seq[place.column]} ${what}: ${cellWords[cell.state]}`;
}

export const legendOrder = ["c", "t", "s", "m", "x", "u", "."];

export function Legend({ group, blames }: { group: FlightGroup; blames: boolean }) {
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

// The stacks are an island of their own: a reader who only looks at the picture does not wait for them.
function Issued({ group, place: { row, column } }: { group: FlightGroup; place: Place }) {
  const loaded = useOnce(stacksIsland);
  if (loaded.state !== "ready") return <Waiting loaded={loaded} />;
  const isIssued = row < 0 || !"mu.".includes(group.cells[row]?.[column] ?? "u");
  const stacks = stacksOf(loaded.value, group.number, row, column, isIssued);
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
      <Issued group={group} place={place} />
    </aside>
  );
}

