// What was wrong in the inputs: the kinds of trouble, then where each was met.
import { useMemo } from "preact/hooks";
import { drawnColumn, numberColumn, textColumn } from "../parts/columns";
import { count, counted } from "../parts/format";
import { AddressFilter, Section, shownOf, SortedTable, useFiltered } from "../parts/listing";
import { Path, SeverityMark } from "../parts/marks";
import { grouped, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Diagnostic, Run, Severity } from "../run/data";
import { param, setParams } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "diagnostics";
const weight: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

interface Kind {
  one: Diagnostic; // any of them: name, meaning and remedy are the same
  inputs: number;
  total: number;
}

// A diagnostic with its place in the run, which is its address.
interface Placed {
  at: string;
  diagnostic: Diagnostic;
}

function kinds(run: Run): Kind[] {
  const found = [...grouped(run.diagnostics, (one) => one.name).values()].map((some) => ({
    one: some[0] as Diagnostic,
    inputs: some.length,
    total: sum(some, (one) => one.count),
  }));
  return found.sort(
    (a, b) => weight[a.one.severity] - weight[b.one.severity] || b.total - a.total,
  );
}

const columns: Column<Placed>[] = [
  drawnColumn("severity", "severity", 100, (row) => weight[row.diagnostic.severity],
    (row) => <SeverityMark severity={row.diagnostic.severity} />, "error: data was lost"),
  textColumn("name", "kind", 200, (row) => row.diagnostic.name, { opens: true }),
  textColumn("path", "input", 0, (row) => row.diagnostic.path, {
    cell: ({ diagnostic: { path } }) => (path === null ? "no single input" : <Path path={path} />),
  }),
  numberColumn("count", "count", 80, (row) => row.diagnostic.count, undefined,
    "How often it was met in this input"),
  textColumn("first", "first", 300, (row) => place(row.diagnostic, 0)),
];

function place(diagnostic: Diagnostic, at: number): string {
  const one = diagnostic.first[at];
  if (!one) return "";
  const where =
    one.line !== null
      ? `line ${count(one.line)}`
      : one.offset !== null
        ? `byte ${count(one.offset)}`
        : "";
  return [where, one.detail].filter(Boolean).join(": ");
}

function Kinds({ list, filter }: { list: Kind[]; filter: string }) {
  return (
    <ul class="kinds">
      {list.map(({ one, inputs, total }) => {
        const own = `name:${one.name}`;
        return (
          <li key={one.name} class={one.severity}>
            <SeverityMark severity={one.severity} />
            <div>
              <p>
                <strong>{one.meaning}</strong>
              </p>
              {one.remedy && <p>{one.remedy}</p>}
            </div>
            <button
              aria-pressed={filter === own}
              onClick={() => setParams(id, { filter: filter === own ? null : own, at: null })}
            >
              <code>{one.name}</code> {count(total)} in {counted(inputs, "input")}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function Detail({ diagnostic }: { diagnostic: Diagnostic }) {
  const more = diagnostic.count - diagnostic.first.length;
  return (
    <aside class="panel" aria-label="Selected diagnostic">
      <h3>
        <SeverityMark severity={diagnostic.severity} /> {diagnostic.meaning}
      </h3>
      <p>
        <code>
          <bdi>{diagnostic.path ?? "no single input"}</bdi>
        </code>
      </p>
      {diagnostic.first.length > 0 && (
        <ol>
          {diagnostic.first.map((_, i) => (
            <li key={i}>{place(diagnostic, i) || "place not known"}</li>
          ))}
        </ol>
      )}
      {more > 0 && (
        <p class="quiet">
          {diagnostic.first.length > 0 ? `and ${count(more)} more` : `${count(more)} times`}
        </p>
      )}
      {diagnostic.remedy && (
        <p>
          <strong>What to do</strong> {diagnostic.remedy}
        </p>
      )}
    </aside>
  );
}

const fields = {
  name: (row: Placed) => row.diagnostic.name,
  severity: (row: Placed) => row.diagnostic.severity,
  input: (row: Placed) => row.diagnostic.input,
};

const wordsOf = ({ diagnostic: one }: Placed) =>
  `${one.name} ${one.severity} ${one.path ?? ""} ${one.meaning}`;

function Diagnostics({ run }: ViewProps) {
  const at = param("at");
  const list = useMemo(() => kinds(run), [run]);
  const all = useMemo(
    () =>
      run.diagnostics.map((diagnostic) => ({
        at: `${diagnostic.name}@${diagnostic.input ?? ""}`,
        diagnostic,
      })),
    [run],
  );
  const rows = useFiltered(all, fields, wordsOf);
  const selected = rows.find((row) => row.at === at);
  if (all.length === 0) {
    return (
      <>
        <h1>Diagnostics</h1>
        <p class="empty">Nothing was wrong in the inputs: every byte that was read made sense.</p>
      </>
    );
  }
  return (
    <>
      <h1>Diagnostics</h1>
      <Kinds list={list} filter={param("filter") ?? ""} />
      <Section
        title="Where"
        number={shownOf(rows, all)}
        side={
          <AddressFilter
            view={id}
            label="Filter diagnostics"
            hint="path, name:gzip.truncated, severity:error"
            forget={{ at: null }}
          />
        }
      >
        <SortedTable
          view={id}
          label="Diagnostics"
          rows={rows}
          columns={columns}
          id={(row) => row.at}
          empty="No diagnostic matches the filter."
          selected={at}
          onSelect={(one) => setParams(id, { at: one === at ? null : one })}
        />
        {selected && <Detail diagnostic={selected.diagnostic} />}
      </Section>
    </>
  );
}

export const view: View = {
  id,
  title: "Diagnostics",
  section: "Inputs",
  order: 90,
  component: Diagnostics,
  badge: (run) => run.diagnostics.filter((one) => one.severity === "error").length,
};
