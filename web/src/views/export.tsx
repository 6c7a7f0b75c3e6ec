// torch.export: what stood in its way, where in the program, and what to do; the exported program.
import { useMemo } from "preact/hooks";
import { CodeViewer } from "../code/viewer";
import { compileNeeds, withCompile } from "../compile/data";
import { exportIsland, issueWords, keyOf, kindOf, type Export, type Issue, type Program } from "../compile/export";
import { placeColumn, textColumn, whoColumns } from "../parts/columns";
import { bytes, count, counted } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Listing, Section, useFiltered } from "../parts/listing";
import { Load, Waiting, type TableProps } from "../parts/loading";
import { fact, FrameList, Numbers, SourceLink, type Fact } from "../parts/marks";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import { useOnce } from "../run/islands";
import type { Tables } from "../run/tables";
import { textsIndex, useText } from "../run/texts";
import { setParams, to, type Route } from "../shell/route";
import type { View } from "../view";

const id = "export";

function facts(data: Export, tables: Tables): Fact[] {
  const shapes = tables.rows("compile_shape");
  const ofKind = (kind: RegExp) => count(shapes.filter((row) => kind.test(row.kind ?? "")).length);
  const all = data.issues.length + data.left_out;
  const programs = data.programs.length;
  return [
    fact(count(all), all === 1 ? "issue" : "issues", all === 0 ? "nothing stood in the way" : "",
      "Guards that were evaluated, data that decided, fake kernels that are missing or wrong"),
    fact(count(programs), programs === 1 ? "exported program" : "exported programs"),
    fact(ofKind(/^create_symbol$/), "symbolic sizes"),
    fact(ofKind(/^create_unbacked_symbol$/), "unbacked symbols", "", "Sizes and values that only the data decides"),
    fact(ofKind(/^guard_added/), "guards on symbols"),
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

function IssueDetail({ issue }: { issue: Issue }) {
  const kind = kindOf(issue);
  return (
    <aside class="panel" aria-label="Selected issue">
      <h2>{issueWords(issue)}</h2>
      <p>{kind.means}</p>
      {issue.file && (
        <p class="break-place">
          {issue.code && <code>{issue.code}</code>}{" "}
          <SourceLink file={issue.file} line={issue.line} />
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
          <FrameList frames={issue.stack} />
        </>
      )}
      <Pairs title="Local variables" text={issue.locals} />
      <Pairs title="Symbols in scope" text={issue.symbols} />
      <Pairs title="Where the symbols come from" text={issue.sources} />
    </aside>
  );
}

const issueColumns: Column<Issue>[] = [
  textColumn("kind", "kind", 140, (row) => kindOf(row).name),
  textColumn("what", "what", 0, issueWords, { opens: true }),
  placeColumn("at", 260, (row) => [row.file, row.line]),
];

const fields = { kind: (row: Issue) => row.kind };
const wordsOf = (row: Issue) => [kindOf(row).name, issueWords(row), `${row.file}:${row.line}`].join(" ");

function Issues({ data, run }: { data: Export; run: Run }) {
  const rows = useFiltered(data.issues, fields, wordsOf);
  return (
    <Listing
      view={id}
      title="Issues of export"
      all={data.issues}
      rows={rows}
      columns={[...whoColumns(run, data.issues), ...issueColumns]}
      idOf={keyOf}
      noun="issue"
      filter={{ label: "Filter issues", hint: "operator, expression, train.py:41" }}
      empty="The logs have no issues of torch.export."
      unmatched="No issue matches the filter."
      below={
        data.left_out > 0 && (
          <p class="quiet left-out">
            {counted(data.left_out, "row")} of <code>compile_shape</code> are not on this page:{" "}
            <code>debrief query</code> has all.
          </p>
        )
      }
      detail={(row) => <IssueDetail issue={row} />}
    />
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

function Programs({ data, route }: { data: Export; route: Route }) {
  const wanted = route.params.get("program");
  const shown = data.programs.find((one) => keyOf(one) === wanted);
  if (data.programs.length === 0) return null;
  return (
    <Section title="Exported programs" number={data.programs.length}>
      <div class="choices">
        {data.programs.map((one, i) => (
          <button
            key={keyOf(one)}
            aria-pressed={one === shown}
            onClick={() => setParams(id, { program: one === shown ? null : keyOf(one) })}
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

function ofJob(data: Export, job: number | null): Export {
  if (job === null) return data;
  const isOf = (row: { job?: number }) => row.job === job;
  return { ...data, issues: data.issues.filter(isOf), programs: data.programs.filter(isOf) };
}

function Content({ all, run, route, tables }: TableProps & { all: Export }) {
  const data = useMemo(() => ofJob(all, run.job), [all, run.job]);
  return (
    <>
      <Numbers
        label="Export in numbers"
        facts={facts(data, tables)}
        partial={tables.leftOut("compile_shape") > 0}
      />
      <Issues data={data} run={run} />
      <Programs data={data} route={route} />
      <p>
        <a href={to("graphs", { tab: "shapes" })}>Symbols and guards, step by step</a>
      </p>
      <LeftOut tables={tables} names={["compile_shape"]} />
    </>
  );
}

export const view: View = {
  id,
  title: "Export",
  section: "Compile",
  order: 36,
  needs: compileNeeds(["compile_shape"]),
  component: withCompile((props) => (
    <Load title="Export" once={exportIsland}>
      {(data) => <Content {...props} all={data} />}
    </Load>
  )),
};
