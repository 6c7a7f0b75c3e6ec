// Where each rank is: its oldest op in each group that is not completed.
import { useMemo } from "preact/hooks";
import { drawnColumn, numberColumn, textColumn } from "../parts/columns";
import { count, duration, rankList } from "../parts/format";
import { SortedTable } from "../parts/listing";
import type { Column } from "../parts/table";
import { setParams, type Route } from "../shell/route";
import { groupWith, shownState, type Flight, type Incomplete } from "./data";
import { clashWords } from "./wait_words";
import { clashing } from "./waits";

interface Row extends Incomplete {
  isBehind: boolean; // the rank is at another op
}

// A rank is at one op; the others that are not completed stand behind it.
function rowsOf(incomplete: Incomplete[]): Row[] {
  const rank = (row: Incomplete) => `${row.job}/${row.attempt}/${row.rank}`;
  const at = new Map<string, Incomplete>();
  for (const row of incomplete)
    if (row.waits > 0 || !at.has(rank(row))) at.set(rank(row), row);
  return incomplete.map((row) => ({ ...row, isBehind: at.get(rank(row)) !== row }));
}

function waitWords(row: Row, all: Row[]): string {
  if (row.waits > 0) return `${row.waits === 1 ? "rank" : "ranks"} ${rankList(row.waits_for, 8)}`;
  if (row.isBehind) return "its older op";
  const clash = clashing(row, all).filter((one) => !one.isBehind);
  if (clash.length === 0) return "nobody: all have joined";
  return `nobody: ${clashWords(clash.map(({ rank, op }) => ({ ranks: [rank ?? -1], op })))}`;
}

const columnsOf = (all: Row[]): Column<Row>[] => [
  numberColumn("rank", "rank", 70, (row) => row.rank, undefined, { opens: true }),
  textColumn("group", "group", 190, (row) => `${row.desc || "group"} (${row.name})`),
  numberColumn("seq", "sequence", 90, (row) => row.seq, undefined,
    "Sequence number of the oldest op of the rank in the group that is not completed"),
  textColumn("op", "op", 190, (row) => row.op),
  textColumn("state", "state", 100, (row) => row.state && shownState(row.state)),
  numberColumn("age", "age", 90, (row) => row.age_ns, duration,
    "How long before the newest time in the rank's dump it was issued"),
  drawnColumn("waits", "waits for", 0, (row) => row.waits, (row) => waitWords(row, all),
    "Ranks of the group that have not issued it, or are still at an older op"),
];

export function Where({ flight, route }: { flight: Flight; route: Route }) {
  const rows = useMemo(() => rowsOf(flight.incomplete), [flight]);
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const key = (row: Incomplete) => [row.job, row.attempt, row.rank, row.name, row.seq].join("/");
  const open = (wanted: string) => {
    const row = flight.incomplete.find((one) => key(one) === wanted);
    const group = row && groupWith(flight, row, row.rank ?? -1);
    if (!row) return;
    setParams("flight", { at: wanted, ...(group && { group: group.id, seq: row.seq, rank: row.rank }) });
  };
  return (
    <section aria-labelledby="where-title">
      <h2 id="where-title">
        Where each rank is{" "}
        <span class="quiet">its oldest op in each group that is not completed</span>
      </h2>
      <SortedTable
        view="flight"
        label="Where each rank is"
        rows={rows}
        columns={columns}
        id={key}
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
