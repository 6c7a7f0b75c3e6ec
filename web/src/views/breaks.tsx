// What keeps the program from being compiled whole: graph breaks, failures, and what to look at first.
import { useMemo } from "preact/hooks";
import {
  joinBreaks,
  keyOf,
  ranksOf,
  sum,
  type Blocker,
  type Compile,
  type Failure,
  type JoinedBreak,
  compileNeeds,
  withCompile,
  type CompileProps,
} from "../compile/data";
import {
  idColumn,
  LeftOut,
  Numbers,
  Rows,
  Section,
  SourceLink,
  numberColumn,
  percent,
  placeColumn,
  placeText,
  seconds,
  textColumn,
  whoColumns,
  type Fact,
} from "../compile/parts";
import { statusOf, StatusSign } from "../compile/status";
import { useWalk } from "../compile/walk";
import type { Run } from "../run/data";
import { matcher } from "../parts/filter";
import { count, counted, rankList, words } from "../parts/format";
import { Filter } from "../parts/marks";
import { href, setParams, type Route } from "../shell/route";
import { Table, type Column } from "../parts/table";
import type { View } from "../view";

const id = "breaks";

const cost = (row: JoinedBreak) => (row.wasted_s ?? 0) + (row.resume_s ?? 0);

function facts(compile: Compile): Fact[] {
  const rows = compile.rows("compile_progress");
  const frames = sum(rows, (row) => row.frames) - sum(rows, (row) => row.empty);
  const whole = sum(rows, (row) => row.whole);
  const of = (value: number) => (frames > 0 ? percent(value / frames) : "");
  const broken = sum(rows, (row) => row.broken);
  const failed = sum(rows, (row) => row.failed);
  return [
    {
      value: count(frames),
      label: frames === 1 ? "frame" : "frames",
      note: "with something to compile",
    },
    { value: count(whole), label: "in one graph", note: of(whole) },
    {
      value: count(broken),
      label: "in pieces",
      note: of(broken),
      definition: "A graph break cut it",
    },
    { value: count(failed), label: "never compiled", note: of(failed) },
    {
      value: seconds(sum(rows, (row) => row.wasted_s)),
      label: "wasted",
      note: `of ${seconds(sum(rows, (row) => row.seconds))}`,
      definition: "In failed compilations and attempts that were given up",
    },
  ];
}

function breakColumns(several: boolean): Column<JoinedBreak>[] {
  return [
    ...(several
      ? [textColumn<JoinedBreak>("ranks", "ranks", 90, (row) => rankList(row.ranks, 4))]
      : []),
    numberColumn("count", "times", 70, (row) => row.count),
    textColumn("reason", "reason", 0, (row) => row.reason ?? words(row.kind ?? ""), {
      opens: true,
    }),
    placeColumn("place", 240, (row) => [row.user_file, row.user_line]),
    textColumn("functions", "functions", 180, (row) => row.functions),
    numberColumn("cost", "cost", 90, cost, seconds, {
      definition:
        "Time of attempts that were given up and of compiling what resumes behind the break",
    }),
  ];
}

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

// The compilations that it broke: of the first rank that has them, or by filter where the page has no row.
function BrokenOnes({
  row,
  compile,
  job,
}: {
  row: JoinedBreak;
  compile: Compile;
  job: string | null;
}) {
  const ids = (row.compile_ids ?? "").split(/,\s*/).filter(Boolean);
  const isOn = (rank: number | undefined) =>
    row.ranks.length === 0 || (rank !== undefined && row.ranks.includes(rank));
  const find = (id: string) =>
    compile
      .rows("compilation")
      .find((one) => one.compile_id === id && one.job === row.job && isOn(one.rank));
  return (
    <>
      {ids.map((id) => {
        const one = find(id);
        const params = one ? { job, at: keyOf(one) } : { job, filter: `id:${id}` };
        return (
          <a key={id} class="id-link" href={href("compile", params)}>
            {one && <StatusSign status={statusOf(one)} />} {id}
          </a>
        );
      })}
    </>
  );
}

function BreakDetail({
  row,
  compile,
  job,
}: {
  row: JoinedBreak;
  compile: Compile;
  job: string | null;
}) {
  return (
    <aside class="panel" aria-label="Selected graph break">
      <h2>{row.reason ?? words(row.kind ?? "graph break")}</h2>
      {row.explanation && <p>{row.explanation}</p>}
      {row.also && <p class="quiet">It led to: {row.also}</p>}
      {row.user_file && (
        <p class="break-place">
          {row.user_code && <code>{row.user_code}</code>}{" "}
          <span class="quiet">
            <SourceLink file={row.user_file} line={row.user_line} job={job} />
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
        <strong>Compilations</strong> <BrokenOnes row={row} compile={compile} job={job} />
        <span class="quiet">
          {counted(row.count ?? 0, "time")}
          {row.ranks.length > 1 && ` on ranks ${rankList(row.ranks)}`}
        </span>
      </p>
      <h3>Stack, innermost first</h3>
      {row.user_stack && row.user_stack.length > 0 ? (
        <ol>
          {row.user_stack.slice(0, 30).map((frame, i) => (
            <li key={i}>
              <code>{frame}</code>
            </li>
          ))}
        </ol>
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

const fields = { kind: (row: JoinedBreak) => row.kind ?? null };

function BreakTable({ compile, route }: { compile: Compile; route: Route }) {
  const filter = route.params.get("filter") ?? "";
  const at = route.params.get("at");
  const all = useMemo(
    () => joinBreaks(compile.rows("compile_break")).sort((a, b) => cost(b) - cost(a)),
    [compile],
  );
  const several = ranksOf(compile.rows("compile_break")).length > 1;
  const columns = useMemo(() => breakColumns(several), [several]);
  const rows = useMemo(
    () =>
      all.filter(
        matcher(filter, fields, (row) =>
          [
            row.reason,
            placeText(row.user_file, row.user_line),
            row.functions,
            row.explanation,
          ].join(" "),
        ),
      ),
    [all, filter],
  );
  const selected = all.find((row) => row.key === at);
  useWalk({
    view: id,
    rows,
    columns,
    sort: route.params.get("sort"),
    idOf: (row) => row.key,
    noun: "graph break",
  });
  return (
    <div class={selected ? "with-detail" : ""}>
      <Section
        title="Graph breaks"
        number={rows.length}
        side={
          all.length > 0 && (
            <Filter
              value={filter}
              label="Filter graph breaks"
              hint="reason, file, kind:graph_break"
              onInput={(text) => setParams(id, { filter: text || null }, true)}
            />
          )
        }
      >
        <Table
          label="Graph breaks"
          rows={rows}
          columns={columns}
          id={(row) => row.key}
          sort={route.params.get("sort")}
          onSort={(sort) => setParams(id, { sort }, true)}
          selected={at}
          onSelect={(one) => setParams(id, { at: one === at ? null : one })}
          empty={
            all.length === 0
              ? "No graph break was logged: nothing cut a graph."
              : "No graph break matches the filter."
          }
        />
        <LeftOut compile={compile} names={["compile_break"]} />
      </Section>
      {selected && <BreakDetail row={selected} compile={compile} job={route.params.get("job")} />}
    </div>
  );
}

function Blockers({ run, compile }: { run: Run; compile: Compile }) {
  const rows = compile.rows("compile_blocker");
  const columns = useMemo(
    (): Column<Blocker>[] => [
      ...whoColumns(run, rows),
      textColumn("kind", "kind", 110, (row) => words(row.kind ?? "")),
      textColumn("reason", "what", 0, (row) => row.reason),
      placeColumn("look at", 240, (row) => [row.user_file, row.user_line]),
      textColumn("functions", "functions", 180, (row) => row.functions),
      numberColumn("frames", "frames", 80, (row) => row.frames),
      numberColumn("seconds", "cost", 90, (row) => row.seconds, seconds),
    ],
    [run, rows],
  );
  if (rows.length === 0) return null;
  return (
    <Section title="What blocks whole compilation, largest first" number={rows.length}>
      <Rows label="Blockers" rows={rows} columns={columns} empty="" />
      <LeftOut compile={compile} names={["compile_blocker"]} />
    </Section>
  );
}

function Failures({ run, compile }: { run: Run; compile: Compile }) {
  const rows = compile.rows("compile_failure");
  const columns = useMemo(
    (): Column<Failure>[] => [
      ...whoColumns(run, rows),
      idColumn(),
      textColumn("function", "function", 160, (row) => row.function),
      textColumn("type", "exception", 200, (row) => row.fail_type),
      textColumn("reason", "text", 0, (row) => row.reason),
      placeColumn("at", 200, (row) => [row.user_file, row.user_line]),
      textColumn("back", "then", 130, (row) => (row.falls_back ? "ran uncompiled" : "ended"), {
        definition: "ran uncompiled: a graph break was logged for it and the program went on",
      }),
      numberColumn("seconds", "time", 90, (row) => row.seconds, seconds),
    ],
    [run, rows],
  );
  if (rows.length === 0) return null;
  return (
    <Section title="Failed compilations" number={rows.length}>
      <Rows label="Failed compilations" rows={rows} columns={columns} empty="" />
      <LeftOut compile={compile} names={["compile_failure"]} />
    </Section>
  );
}

function Breaks({ run, route, compile }: CompileProps) {
  return (
    <>
      <h1>Graph breaks</h1>
      {compile.has("compile_progress") && (
        <Numbers
          label="How much is compiled"
          facts={facts(compile)}
          partial={compile.leftOut("compile_progress") > 0}
        />
      )}
      <BreakTable compile={compile} route={route} />
      <Blockers run={run} compile={compile} />
      <Failures run={run} compile={compile} />
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
