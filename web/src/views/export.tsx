// torch.export: what stood in its way, where in the program, and what to do; the exported program.
import { useMemo } from "preact/hooks";
import { CodeViewer } from "../code/viewer";
import { compileNeeds, withCompile, type CompileProps } from "../compile/data";
import {
  exportIsland,
  issueWords,
  keyOfIssue,
  kindOf,
  type Export,
  type Issue,
  type Program,
} from "../compile/export";
import {
  LeftOut,
  Numbers,
  Section,
  SourceLink,
  placeColumn,
  textColumn,
  whoColumns,
  type Fact,
} from "../compile/parts";
import { useWalk } from "../compile/walk";
import { matcher } from "../parts/filter";
import { bytes, count, counted } from "../parts/format";
import { Waiting } from "../parts/loading";
import { Filter } from "../parts/marks";
import { Table, type Column } from "../parts/table";
import { useOnce } from "../run/islands";
import { textsIndex, useText } from "../run/texts";
import { href, setParams } from "../shell/route";
import type { View } from "../view";

const id = "export";

function facts(data: Export, compile: CompileProps["compile"]): Fact[] {
  const shapes = compile.rows("compile_shape");
  const ofKind = (kind: RegExp) => shapes.filter((row) => kind.test(row.kind ?? "")).length;
  const all = data.issues.length + data.left_out;
  return [
    {
      value: count(all),
      label: all === 1 ? "issue" : "issues",
      note: all === 0 ? "nothing stood in the way" : "",
      definition:
        "Guards that were evaluated, data that decided, fake kernels that are missing or wrong",
    },
    {
      value: count(data.programs.length),
      label: data.programs.length === 1 ? "exported program" : "exported programs",
    },
    { value: count(ofKind(/^create_symbol$/)), label: "symbolic sizes" },
    {
      value: count(ofKind(/^create_unbacked_symbol$/)),
      label: "unbacked symbols",
      definition: "Sizes and values that only the data tells",
    },
    { value: count(ofKind(/^guard_added/)), label: "guards on symbols" },
  ];
}

function Pairs({ title, text }: { title: string; text: string | undefined }) {
  if (!text) return null;
  return (
    <details>
      <summary>{title}</summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

function IssueDetail({ issue, job }: { issue: Issue; job: string | null }) {
  const kind = kindOf(issue);
  return (
    <aside class="panel" aria-label="Selected issue">
      <h2>{issueWords(issue)}</h2>
      <p>{kind.means}</p>
      {issue.file && (
        <p class="break-place">
          {issue.code && <code>{issue.code}</code>}{" "}
          <SourceLink file={issue.file} line={issue.line} job={job} />
          {issue.function && <span class="quiet"> in {issue.function}</span>}
        </p>
      )}
      {kind.step && (
        <p>
          <strong>Next step</strong> {kind.step}
        </p>
      )}
      {issue.stack && issue.stack.length > 0 && (
        <>
          <h3>Stack, innermost first</h3>
          <ol>
            {issue.stack.map((frame, i) => (
              <li key={i}>
                <code>{frame}</code>
              </li>
            ))}
          </ol>
        </>
      )}
      <Pairs title="Local variables" text={issue.locals} />
      <Pairs title="Symbols in scope" text={issue.symbols} />
      <Pairs title="Where the symbols come from" text={issue.sources} />
    </aside>
  );
}

function Issues({ data, run, route }: CompileProps & { data: Export }) {
  const filter = route.params.get("filter") ?? "";
  const at = route.params.get("at");
  const columns = useMemo(
    (): Column<Issue>[] => [
      ...whoColumns(run, data.issues),
      textColumn("kind", "kind", 140, (row) => kindOf(row).name),
      textColumn("what", "what", 0, issueWords, { opens: true }),
      placeColumn("at", 260, (row) => [row.file, row.line]),
    ],
    [run, data],
  );
  const rows = useMemo(
    () =>
      data.issues.filter(
        matcher(filter, { kind: (row: Issue) => row.kind }, (row) =>
          [kindOf(row).name, issueWords(row), `${row.file}:${row.line}`].join(" "),
        ),
      ),
    [data, filter],
  );
  const sort = route.params.get("sort");
  useWalk({
    view: id,
    rows,
    columns,
    sort,
    idOf: keyOfIssue,
    noun: "issue",
  });
  const selected = data.issues.find((row) => keyOfIssue(row) === at);
  return (
    <div class={selected ? "with-detail" : ""}>
      <Section
        title="Issues of export"
        number={rows.length}
        side={
          data.issues.length > 0 && (
            <Filter
              value={filter}
              label="Filter issues"
              hint="operator, expression, train.py:41"
              onInput={(text) => setParams(id, { filter: text || null }, true)}
            />
          )
        }
      >
        <Table
          label="Issues of export"
          rows={rows}
          columns={columns}
          id={keyOfIssue}
          sort={sort}
          onSort={(to) => setParams(id, { sort: to }, true)}
          selected={at}
          onSelect={(one) => setParams(id, { at: one === at ? null : one })}
          empty={
            data.issues.length === 0
              ? "The logs have no issues of torch.export."
              : "No issue matches the filter."
          }
        />
        {data.left_out > 0 && (
          <p class="quiet left-out">
            {counted(data.left_out, "row")} of <code>compile_shape</code> are not on this page:{" "}
            <code>debrief query</code> has all.
          </p>
        )}
      </Section>
      {selected && <IssueDetail issue={selected} job={route.params.get("job")} />}
    </div>
  );
}

// The text of a program, where the page has it.
function ProgramText({ program }: { program: Program }) {
  const index = useOnce(textsIndex);
  const artifact =
    index.state === "ready" ? index.value.at(program.input, program.entry) : undefined;
  const text = useText(artifact?.text ?? null);
  if (index.state === "loading" || (artifact?.text != null && text.state === "loading"))
    return <Waiting loaded={{ state: "loading" }} />;
  if (text.state !== "ready") return <p class="empty">Its text is not in this page.</p>;
  return <CodeViewer text={text.value} language="python" label="Exported program" height="50vh" />;
}

function Programs({ data, route }: Pick<CompileProps, "route"> & { data: Export }) {
  const wanted = route.params.get("program");
  const shown = data.programs.find((one) => keyOfProgram(one) === wanted);
  if (data.programs.length === 0) return null;
  return (
    <Section title="Exported programs" number={data.programs.length}>
      <div class="choices">
        {data.programs.map((one, i) => (
          <button
            key={keyOfProgram(one)}
            aria-pressed={one === shown}
            onClick={() => setParams(id, { program: one === shown ? null : keyOfProgram(one) })}
          >
            {one.rank === undefined ? "" : `rank ${one.rank} `}program {i + 1}{" "}
            <span class="tab-count">{bytes(one.bytes)}</span>
          </button>
        ))}
      </div>
      {shown && <ProgramText key={wanted} program={shown} />}
    </Section>
  );
}

const keyOfProgram = (program: Program) => `${program.input ?? ""}:${program.entry}`;

function ofJob(data: Export, job: number | null): Export {
  if (job === null) return data;
  const isOf = (row: { job?: number }) => row.job === job;
  return { ...data, issues: data.issues.filter(isOf), programs: data.programs.filter(isOf) };
}

function ExportView(props: CompileProps) {
  const loaded = useOnce(exportIsland);
  const value = loaded.state === "ready" ? loaded.value : null;
  const data = useMemo(() => value && ofJob(value, props.run.job), [value, props.run.job]);
  const job = props.route.params.get("job");
  return (
    <>
      <h1>Export</h1>
      {data ? (
        <>
          <Numbers
            label="Export in numbers"
            facts={facts(data, props.compile)}
            partial={props.compile.leftOut("compile_shape") > 0}
          />
          <Issues {...props} data={data} />
          <Programs route={props.route} data={data} />
          <p>
            <a href={href("graphs", { job, tab: "shapes" })}>Symbols and guards, step by step</a>
          </p>
          <LeftOut compile={props.compile} names={["compile_shape"]} />
        </>
      ) : (
        <Waiting loaded={loaded} />
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Export",
  section: "Compile",
  order: 36,
  needs: compileNeeds(["compile_shape"]),
  component: withCompile(ExportView),
};
