// What the ranks printed, as far as it tells something: errors, timeouts, exits, steps, last lines.
import { useMemo } from "preact/hooks";
import { numberColumn, textColumn } from "../parts/columns";
import { baseName, count, showTime, time, words } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Listing, useFiltered } from "../parts/listing";
import { withTables, type TableProps } from "../parts/loading";
import type { Column } from "../parts/table";
import { tablesIsland, type Row, type Tables } from "../run/tables";
import { to } from "../shell/route";
import type { View } from "../view";

const id = "output";
const tableNames = ["text_event", "process_exit", "progress", "tail_line"] as const;
type Table = (typeof tableNames)[number];

interface Line {
  key: string; // "text_event:58": table and row
  kind: string;
  rank: number | null;
  input: number | null;
  line: number | null;
  time: number | null;
  text: string;
}

// Rows get the number that they have in their table, which evidence names them by.
const outputIsland = tablesIsland("output", (raw) => {
  for (const name of tableNames)
    raw.tables[name]?.rows.forEach((row, i) => Object.assign(row, { row: i }));
});

function progressText(row: Row<"progress">): string {
  const parts = [
    row.step !== undefined && `step ${count(row.step)}`,
    row.loss !== undefined && `loss ${row.loss}`,
    row.not_finite && "loss not finite",
    row.step_time_ms !== undefined && showTime(row.step_time_ms * 1e6),
  ];
  return parts.filter(Boolean).join(", ");
}

function linesOf(tables: Tables, name: Table): Line[] {
  return tables.rows(name).map((row) => {
    const one = row as Row<"text_event"> & { row?: number };
    const text = name === "progress" ? progressText(row as Row<"progress">) : one.text;
    const kind = name === "text_event" ? one.kind : name === "tail_line" ? "last line" : name;
    return {
      key: `${name}:${one.row ?? 0}`,
      kind: words(kind ?? ""),
      rank: one.rank ?? null,
      input: one.input ?? null,
      line: one.line ?? null,
      time: one.time_ns ?? null,
      text: text ?? "",
    };
  });
}

const order = (line: Line) => [line.rank ?? 1e9, line.input ?? 1e9, line.line ?? 0] as const;

function byPlace(a: Line, b: Line): number {
  const [left, right] = [order(a), order(b)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

// The text without the marks at its begin that the other columns have: time, place in PyTorch's source, rank.
const marks = /^(?:\s*\[(?:[EWIF]\d{4} |PG ID |Rank \d|rank\d)[^\]]*\]:?)+\s*/;
const saidIn = (line: Line) => line.text.replace(marks, "") || line.text;

const columns: Column<Line>[] = [
  numberColumn("rank", "rank", 70, (row) => row.rank),
  textColumn("time", "time (UTC)", 190, (row) => time(row.time), "As the line has it; zone and year are guessed where it has none"),
  textColumn("kind", "what", 150, (row) => row.kind, { opens: true }),
  textColumn("text", "text", 0, (row) => row.text, { cell: (row) => <span title={row.text}>{saidIn(row)}</span> }),
  numberColumn("line", "line", 80, (row) => row.line, count),
];

const fields = {
  rank: (row: Line) => row.rank,
  kind: (row: Line) => row.kind.replace(/ /g, "_"),
  input: (row: Line) => row.input,
};

function Detail({ line, path }: { line: Line; path: string }) {
  const span = line.time === null ? null : { from: line.time - 2e9, to: line.time + 2e9 };
  return (
    <aside class="panel" aria-label="Selected line">
      <h3>
        {line.kind}
        {line.rank !== null && `, rank ${line.rank}`}
      </h3>
      <pre>{line.text}</pre>
      <p class="quiet">
        {path && <span title={path}>{baseName(path)}</span>}
        {line.line !== null && ` line ${count(line.line)}`}
        {span && (
          <>
            {" \u00b7 "}
            <a href={to("timeline", { ...span, rank: line.rank })}>show in the timeline</a>
          </>
        )}
      </p>
    </aside>
  );
}

function Output({ run, tables }: TableProps) {
  const all = useMemo(
    () => tableNames.flatMap((name) => linesOf(tables, name)).sort(byPlace),
    [tables],
  );
  const rows = useFiltered(all, fields, (row) => `${row.kind} ${row.text}`);
  const pathOf = (line: Line) => run.inputs.find((one) => one.input === line.input)?.path ?? "";
  return (
    <>
      <h1>Output</h1>
      <Listing
        view={id}
        title="Lines that matter"
        noun="line"
        all={all}
        rows={rows}
        columns={columns}
        idOf={(row) => row.key}
        filter={{ label: "Filter lines", hint: "words, rank:5, kind:watchdog_timeout" }}
        empty="No line of the output reports anything."
        unmatched="No line matches the filter."
        below={<LeftOut tables={tables} names={[...tableNames]} />}
        detail={(row) => <Detail line={row} path={pathOf(row)} />}
      />
    </>
  );
}

export const view: View = {
  id,
  title: "Output",
  section: "Inputs",
  order: 92,
  needs: {
    tables: [...tableNames],
    missing: "No output of ranks was found.",
    record:
      "Keep what every rank prints: torchrun --log-dir DIR --redirects 3, or one file for each rank of the launcher you use.",
  },
  component: withTables(outputIsland, Output),
};
