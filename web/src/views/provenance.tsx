// From the model's graph to the generated code: three texts side by side, and the lines that belong together.
import { useMemo } from "preact/hooks";
import { CodeViewer, type Mark } from "../code/viewer";
import { count, counted } from "../parts/format";
import { Load, Waiting, withTables, type TableProps } from "../parts/loading";
import {
  LineMaps,
  keyOf,
  panes,
  provenanceIsland,
  type Code,
  type Pane,
  type ProvenanceGraph,
} from "../provenance/data";
import { largestFirst } from "../parts/rows";
import type { Tables } from "../run/tables";
import { textsIndex, useText, type Artifact, type Texts } from "../run/texts";
import { useKeys } from "../shell/keys";
import { setParams, type Route } from "../shell/route";
import type { View } from "../view";

const id = "provenance";

const titles: Record<Pane, string> = {
  pre: "Pre-grad graph",
  post: "Post-grad graph",
  code: "Generated code",
};

const definitions: Record<Pane, string> = {
  pre: "What Inductor was given: operations of the model, before passes and gradients",
  post: "What was left of it to be compiled: operations of ATen",
  code: "What runs",
};

function nameOf(row: ProvenanceGraph): string {
  const rank = row.rank === undefined ? "" : `rank ${row.rank}, `;
  return `${rank}${row.compile_id ?? row.graph ?? "compilation unknown"}`;
}

function entryOf(row: ProvenanceGraph, pane: Pane, code: Code): number | undefined {
  if (pane === "pre") return row.pre_entry;
  if (pane === "post") return row.post_entry;
  return code === "cpp" ? row.cpp_entry : row.python_entry;
}

// What the address selects.
interface Selection {
  pane: Pane;
  line: number;
}

function selectionOf(route: Route): Selection | null {
  const pane = panes.find((one) => one === route.params.get("pane"));
  const line = Number(route.params.get("line"));
  return pane && Number.isInteger(line) && line > 0 ? { pane, line } : null;
}

const choose = (selection: Selection) =>
  setParams(id, { pane: selection.pane, line: selection.line }, true);

interface PaneProps {
  pane: Pane;
  artifact: Artifact | undefined;
  maps: LineMaps;
  code: Code;
  selection: Selection | null;
}

function marksOf({ pane, maps, code, selection }: PaneProps): Mark[] {
  const marks: Mark[] = maps
    .linked(pane, code)
    .map((line) => ({ line, class: "hint", title: "Lines of the other texts belong to it" }));
  if (!selection || selection.pane === pane) return marks;
  for (const line of maps.related(selection.pane, selection.line, code)[pane])
    marks.push({ line, class: "linked", title: "Belongs to the selected line" });
  return marks;
}

// The middle of what is linked: that is where the others are, too.
function middleOf({ pane, maps, code, selection }: PaneProps): number | null {
  if (!selection || selection.pane === pane) return null;
  const lines = maps.related(selection.pane, selection.line, code)[pane];
  return lines[lines.length >> 1] ?? null;
}

function PaneText(props: PaneProps) {
  const { pane, artifact, maps, code, selection } = props;
  const loaded = useText(artifact?.text ?? null);
  const marks = useMemo(() => marksOf(props), [pane, maps, code, selection?.pane, selection?.line]);
  if (!artifact) return <p class="quiet">The log has no such text of this compilation.</p>;
  if (artifact.text === null) {
    return (
      <p class="quiet">
        This text is not in the page: <code>debrief compile LOG -i</code> writes the whole tree.
      </p>
    );
  }
  if (loaded.state !== "ready") return <Waiting loaded={loaded} />;
  return (
    <CodeViewer
      text={loaded.value}
      language={pane === "code" ? code : "python"}
      label={titles[pane]}
      line={selection?.pane === pane ? selection.line : null}
      scrollTo={middleOf(props)}
      marks={marks}
      isPlain
      onLine={(line) => choose({ pane, line })}
      height="calc(100vh - 250px)"
    />
  );
}

// j and k: the next and the previous line that leads somewhere.
function useLineKeys(maps: LineMaps, code: Code, selection: Selection | null): void {
  const step = (by: 1 | -1) => {
    const pane = selection?.pane ?? "post";
    const lines = maps.linked(pane, code);
    const at = selection?.line ?? 0;
    const next = by > 0 ? lines.find((one) => one > at) : lines.filter((one) => one < at).pop();
    if (next !== undefined) choose({ pane, line: next });
  };
  useKeys([
    { key: "j", does: "next line that leads to others", act: () => step(1) },
    { key: "k", does: "previous such line", act: () => step(-1) },
  ]);
}

function selectionWords(maps: LineMaps, code: Code, selection: Selection | null): string {
  if (!selection) return "Select a line: those that belong to it are marked in the other texts.";
  const related = maps.related(selection.pane, selection.line, code);
  const others = panes.filter((pane) => pane !== selection.pane);
  const words = others.map((pane) => {
    const lines = related[pane];
    const first = lines.slice(0, 8).map(count).join(", ");
    const rest = lines.length > 8 ? ` and ${count(lines.length - 8)} more` : "";
    return `${titles[pane].toLowerCase()}: ${lines.length === 0 ? "none" : `${lines.length === 1 ? "line" : "lines"} ${first}${rest}`}`;
  });
  return `Line ${count(selection.line)} of ${titles[selection.pane].toLowerCase()} \u2013 ${words.join("; ")}.`;
}

interface SideProps {
  one: ProvenanceGraph;
  tables: Tables;
  texts: Texts;
  route: Route;
}

function SideBySide({ one, tables, texts, route }: SideProps) {
  const maps = useMemo(
    () => new LineMaps(tables.rows("provenance_line"), one),
    [tables, one],
  );
  const both = one.python_entry !== undefined && one.cpp_entry !== undefined;
  const likely: Code =
    one.python_entry === undefined || (maps.has("cpp") && !maps.has("python")) ? "cpp" : "python";
  const code: Code =
    both && route.params.get("code")
      ? route.params.get("code") === "cpp"
        ? "cpp"
        : "python"
      : likely;
  const selection = selectionOf(route);
  useLineKeys(maps, code, selection);
  return (
    <>
      <div class="provenance-head">
        <p role="status">
          {one.mapped
            ? selectionWords(maps, code, selection)
            : "The log does not show which lines of this compilation belong together."}
        </p>
        {both && (
          <div class="choices" role="group" aria-label="Generated code">
            {(["python", "cpp"] as const).map((name) => (
              <button
                key={name}
                aria-pressed={code === name}
                onClick={() => setParams(id, { code: name, pane: null, line: null })}
              >
                {name === "cpp" ? "C++" : "Python"}
              </button>
            ))}
          </div>
        )}
      </div>
      <div class="provenance-panes">
        {panes.map((pane) => {
          const artifact = texts.at(one.input, entryOf(one, pane, code));
          return (
            <section key={`${keyOf(one)} ${pane} ${code}`} aria-label={titles[pane]}>
              <h2 title={definitions[pane]}>
                {titles[pane]} <small class="quiet">{artifact?.name}</small>
              </h2>
              <PaneText
                pane={pane}
                artifact={artifact}
                maps={maps}
                code={code}
                selection={selection}
              />
            </section>
          );
        })}
      </div>
    </>
  );
}

function ProvenanceView({ tables, route }: TableProps) {
  const rows = useMemo(
    () => largestFirst(tables.rows("provenance_graph"), (row) => Number(row.mapped ?? false)),
    [tables],
  );
  const one = rows.find((row) => keyOf(row) === route.params.get("at")) ?? rows[0];
  const left = tables.leftOut("provenance_line", "provenance_graph");
  return (
    <>
      <div class="provenance-head">
        <h1>Provenance</h1>
        <label>
          Compilation{" "}
          <select
            value={one ? keyOf(one) : ""}
            onChange={(event) =>
              setParams(id, { at: event.currentTarget.value, pane: null, line: null, code: null })
            }
          >
            {rows.map((row) => (
              <option key={keyOf(row)} value={keyOf(row)}>
                {nameOf(row)}
                {row.mapped ? "" : " (no map)"}
              </option>
            ))}
          </select>
        </label>
        {left > 0 && (
          <p class="quiet">
            {counted(left, "row")} of <code>provenance_line</code> are not on this page.
          </p>
        )}
      </div>
      {one ? (
        <Load once={textsIndex}>
          {(texts) => <SideBySide one={one} tables={tables} texts={texts} route={route} />}
        </Load>
      ) : (
        <p class="empty">This job has no compilation with such a map.</p>
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Provenance",
  section: "Compile",
  order: 38,
  needs: {
    tables: ["provenance_line"],
    missing: "No compile log shows which line of a graph became which line of the generated code.",
    record:
      "Start the job with TORCH_TRACE=DIR and INDUCTOR_PROVENANCE=1: Inductor then logs where each kernel came from.",
  },
  component: withTables(provenanceIsland, ProvenanceView),
};
