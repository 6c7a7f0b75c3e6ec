// What was wrong in the inputs: the kinds of trouble, then where each was met.
import { useMemo } from "preact/hooks";
import type { Diagnostic, Run, Severity } from "../run/data";
import { matcher } from "../parts/filter";
import { count, counted } from "../parts/format";
import { Filter, Path, SeverityMark } from "../parts/marks";
import { setParams } from "../shell/route";
import { Table, type Column } from "../parts/table";
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
  const found = new Map<string, Kind>();
  for (const one of run.diagnostics) {
    const kind = found.get(one.name) ?? { one, inputs: 0, total: 0 };
    kind.inputs += 1;
    kind.total += one.count;
    found.set(one.name, kind);
  }
  return [...found.values()].sort(
    (a, b) => weight[a.one.severity] - weight[b.one.severity] || b.total - a.total,
  );
}

const columns: Column<Placed>[] = [
  {
    id: "severity",
    title: "severity",
    width: 100,
    definition: "error: data was lost",
    value: (row) => weight[row.diagnostic.severity],
    cell: (row) => <SeverityMark severity={row.diagnostic.severity} />,
  },
  { id: "name", title: "kind", width: 200, opens: true, value: (row) => row.diagnostic.name },
  {
    id: "path",
    title: "input",
    width: 0,
    value: (row) => row.diagnostic.path,
    cell: (row) =>
      row.diagnostic.path === null ? "no single input" : <Path path={row.diagnostic.path} />,
  },
  {
    id: "count",
    title: "count",
    width: 80,
    number: true,
    definition: "How often it was met in this input",
    value: (row) => row.diagnostic.count,
  },
  { id: "first", title: "first", width: 300, value: (row) => place(row.diagnostic, 0) },
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

function Diagnostics({ run, route }: ViewProps) {
  const filter = route.params.get("filter") ?? "";
  const at = route.params.get("at");
  const list = useMemo(() => kinds(run), [run]);
  const all = useMemo(
    () =>
      run.diagnostics.map((diagnostic) => ({
        at: `${diagnostic.name}@${diagnostic.input ?? ""}`,
        diagnostic,
      })),
    [run],
  );
  const rows = useMemo(
    () =>
      all.filter(
        matcher(
          filter,
          fields,
          ({ diagnostic }) =>
            `${diagnostic.name} ${diagnostic.severity} ${diagnostic.path ?? ""} ${diagnostic.meaning}`,
        ),
      ),
    [all, filter],
  );
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
      <Kinds list={list} filter={filter} />
      <section aria-labelledby="places-title">
        <div class="section-head">
          <h2 id="places-title">
            Where{" "}
            <span class="quiet" role="status">
              {rows.length < all.length
                ? `${count(rows.length)} of ${count(all.length)}`
                : count(all.length)}
            </span>
          </h2>
          <Filter
            value={filter}
            label="Filter diagnostics"
            hint="path, name:gzip.truncated, severity:error"
            onInput={(text) => setParams(id, { filter: text || null, at: null }, true)}
          />
        </div>
        <Table
          label="Diagnostics"
          rows={rows}
          columns={columns}
          id={(row) => row.at}
          empty="No diagnostic matches the filter."
          sort={route.params.get("sort")}
          onSort={(sort) => setParams(id, { sort }, true)}
          selected={at}
          onSelect={(one) => setParams(id, { at: one === at ? null : one })}
        />
        {selected && <Detail diagnostic={selected.diagnostic} />}
      </section>
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
