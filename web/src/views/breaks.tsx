// What keeps the program from being compiled whole: graph breaks, failures, and what to look at first.
import { useMemo } from "preact/hooks";
import {
  compileNeeds,
  joinBreaks,
  keyOf,
  ranksOf,
  withCompile,
  type Failure,
  type JoinedBreak,
} from "../compile/data";
import { idColumn } from "../compile/parts";
import { statusOf, StatusSign } from "../compile/status";
import { numberColumn, placeColumn, textColumn, whoColumns } from "../parts/columns";
import { count, counted, percent, placeText, rankList, seconds, words } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Listing, Sheet, useFiltered } from "../parts/listing";
import type { TableProps } from "../parts/loading";
import { fact, FrameList, Numbers, SourceLink, type Fact } from "../parts/marks";
import { sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Row, Tables } from "../run/tables";
import { to } from "../shell/route";
import type { View } from "../view";

const id = "breaks";

const cost = (row: JoinedBreak) => (row.wasted_s ?? 0) + (row.resume_s ?? 0);

function facts(tables: Tables): Fact[] {
  const rows = tables.rows("compile_progress");
  const frames = sum(rows, (row) => row.frames) - sum(rows, (row) => row.empty);
  const whole = sum(rows, (row) => row.whole);
  const of = (value: number) => (frames > 0 ? percent(value / frames) : "");
  const broken = sum(rows, (row) => row.broken);
  const failed = sum(rows, (row) => row.failed);
  const wasted = seconds(sum(rows, (row) => row.wasted_s));
  return [
    fact(count(frames), frames === 1 ? "frame" : "frames", "with something to compile"),
    fact(count(whole), "in one graph", of(whole)),
    fact(count(broken), "in pieces", of(broken), "A graph break cut it"),
    fact(count(failed), "never compiled", of(failed)),
    fact(wasted, "wasted", `of ${seconds(sum(rows, (row) => row.seconds))}`,
      "In failed compilations and attempts that were given up"),
  ];
}

const breakColumns: Column<JoinedBreak>[] = [
  textColumn("ranks", "ranks", 90, (row) => rankList(row.ranks, 4)),
  numberColumn("count", "times", 70, (row) => row.count),
  textColumn("reason", "reason", 0, (row) => row.reason ?? words(row.kind ?? ""), { opens: true }),
  placeColumn("place", 240, (row) => [row.user_file, row.user_line]),
  textColumn("functions", "functions", 180, (row) => row.functions),
  numberColumn("cost", "cost", 90, cost, seconds,
    "Time of attempts that were given up and of compiling what resumes behind the break"),
];

function Hints({ text }: { text: string | undefined }) {
  const hints = (text ?? "").split("\n").filter(Boolean);
  if (hints.length === 0) return null;
  return (
    <>
      <h3>What to try</h3>
      <ul class="evidence">
        {hints.map((hint, i) => (
          <li key={i}>{hint}</li>
        ))}
      </ul>
    </>
  );
}

interface DetailProps {
  row: JoinedBreak;
  tables: Tables;
}

// The compilations that it broke: of the first rank that has them, or by filter where the page has no row.
function BrokenOnes({ row, tables }: DetailProps) {
  const ids = (row.compile_ids ?? "").split(/,\s*/).filter(Boolean);
  const isOn = (rank: number | undefined) =>
    row.ranks.length === 0 || (rank !== undefined && row.ranks.includes(rank));
  const find = (id: string) =>
    tables
      .rows("compilation")
      .find((one) => one.compile_id === id && one.job === row.job && isOn(one.rank));
  return (
    <>
      {ids.map((id) => {
        const one = find(id);
        return (
          <a key={id} class="id-link" href={to("compile", one ? { at: keyOf(one) } : { filter: `id:${id}` })}>
            {one && <StatusSign status={statusOf(one)} />} {id}
          </a>
        );
      })}
    </>
  );
}

function BreakDetail({ row, tables }: DetailProps) {
  return (
    <aside class="panel" aria-label="Selected graph break">
      <h2>{row.reason ?? words(row.kind ?? "graph break")}</h2>
      {row.explanation && <p>{row.explanation}</p>}
      {row.also && <p class="quiet">It led to: {row.also}</p>}
      {row.user_file && (
        <p class="break-place">
          {row.user_code && <code>{row.user_code}</code>}{" "}
          <span class="quiet">
            <SourceLink file={row.user_file} line={row.user_line} />
            {row.user_function && ` in ${row.user_function}`}
          </span>
        </p>
      )}
      <Hints text={row.hints} />
      <p>
        <strong>Cost</strong> {seconds(row.wasted_s) || "0 s"} in attempts that were given up,{" "}
        {seconds(row.resume_s) || "0 s"} in {counted(row.resumes ?? 0, "compilation")} of what
        resumes behind it.
      </p>
      <p>
        <strong>Compilations</strong> <BrokenOnes row={row} tables={tables} />
        <span class="quiet">
          {counted(row.count ?? 0, "time")}
          {row.ranks.length > 1 && ` on ranks ${rankList(row.ranks)}`}
        </span>
      </p>
      <h3>Stack, innermost first</h3>
      {row.user_stack && row.user_stack.length > 0 ? (
        <FrameList frames={row.user_stack.slice(0, 30)} />
      ) : (
        <p class="quiet">The log has no stack of it.</p>
      )}
      {row.context && (
        <details>
          <summary>For developers of the compiler</summary>
          <pre tabIndex={0}>{row.context}</pre>
        </details>
      )}
      {row.link && (
        <p class="quiet">
          More about this kind: <code>{row.link}</code>
        </p>
      )}
    </aside>
  );
}

const fields = { kind: (row: JoinedBreak) => row.kind };

const wordsOf = (row: JoinedBreak) =>
  [row.reason, placeText(row.user_file, row.user_line), row.functions, row.explanation].join(" ");

function BreakTable({ tables }: { tables: Tables }) {
  const raw = tables.rows("compile_break");
  const all = useMemo(() => joinBreaks(raw).sort((a, b) => cost(b) - cost(a)), [raw]);
  const rows = useFiltered(all, fields, wordsOf);
  const several = ranksOf(raw.map((row) => row.rank)).length > 1;
  return (
    <Listing
      view={id}
      title="Graph breaks"
      all={all}
      rows={rows}
      columns={several ? breakColumns : breakColumns.slice(1)}
      idOf={(row) => row.key}
      noun="graph break"
      filter={{ label: "Filter graph breaks", hint: "reason, file, kind:graph_break" }}
      empty="No graph break was logged: nothing cut a graph."
      unmatched="No graph break matches the filter."
      below={<LeftOut tables={tables} names={["compile_break"]} />}
      detail={(row) => <BreakDetail row={row} tables={tables} />}
    />
  );
}

const blockerColumns: Column<Row<"compile_blocker">>[] = [
  textColumn("kind", "kind", 110, (row) => words(row.kind ?? "")),
  textColumn("reason", "what", 0, (row) => row.reason),
  placeColumn("look at", 240, (row) => [row.user_file, row.user_line]),
  textColumn("functions", "functions", 180, (row) => row.functions),
  numberColumn("frames", "frames", 80, (row) => row.frames),
  numberColumn("seconds", "cost", 90, (row) => row.seconds, seconds),
];

const failureColumns: Column<Failure>[] = [
  idColumn(),
  textColumn("function", "function", 160, (row) => row.function),
  textColumn("type", "exception", 200, (row) => row.fail_type),
  textColumn("reason", "text", 0, (row) => row.reason),
  placeColumn("at", 200, (row) => [row.user_file, row.user_line]),
  textColumn("back", "then", 130, (row) => (row.falls_back ? "ran uncompiled" : "ended"),
    "ran uncompiled: a graph break was logged for it and the program went on"),
  numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
];

function Breaks({ run, tables }: TableProps) {
  const blockers = tables.rows("compile_blocker");
  const failures = tables.rows("compile_failure");
  return (
    <>
      <h1>Graph breaks</h1>
      {tables.has("compile_progress") && (
        <Numbers
          label="How much is compiled"
          facts={facts(tables)}
          partial={tables.leftOut("compile_progress") > 0}
        />
      )}
      <BreakTable tables={tables} />
      <Sheet
        title="What blocks whole compilation, largest first"
        label="Blockers"
        rows={blockers}
        columns={[...whoColumns(run, blockers), ...blockerColumns]}
      >
        <LeftOut tables={tables} names={["compile_blocker"]} />
      </Sheet>
      <Sheet
        title="Failed compilations"
        rows={failures}
        columns={[...whoColumns(run, failures), ...failureColumns]}
      >
        <LeftOut tables={tables} names={["compile_failure"]} />
      </Sheet>
    </>
  );
}

export const view: View = {
  id,
  title: "Graph breaks",
  section: "Compile",
  order: 33,
  needs: compileNeeds(["compile_break", "compile_blocker", "compile_failure", "compile_progress"]),
  component: withCompile(Breaks),
};
