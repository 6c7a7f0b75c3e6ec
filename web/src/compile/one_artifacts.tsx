// The texts of one compilation: each a line that unfolds into the viewer. Which are open, and the line in one of
// them, is in the address: ?text=ENTRY,ENTRY&line=ENTRY.LINE&as=table.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { CodeViewer } from "../code/viewer";
import { numberColumn, textColumn } from "../parts/columns";
import { baseName, bytes, counted, placeText } from "../parts/format";
import { Rows } from "../parts/listing";
import { Waiting } from "../parts/loading";
import type { Column } from "../parts/table";
import { useText, type Artifact } from "../run/texts";
import { setParams, type Route } from "../shell/route";
import { readGraph, type GraphNode } from "./one_graph";
import { ToSource } from "./parts";

export function openTexts(route: Route): number[] {
  return (route.params.get("text") ?? "").split(",").filter(Boolean).map(Number);
}

function isGraph(artifact: Artifact): boolean {
  return /graph/.test(artifact.kind === "artifact" ? artifact.name : artifact.kind) &&
    artifact.language === "python" && !/runnable/.test(artifact.name); // prettier-ignore
}

const columns: Column<GraphNode>[] = [
  numberColumn("line", "line", 60, (row) => row.line),
  textColumn("name", "node", 190, (row) => row.name, { opens: true }),
  textColumn("op", "op", 80, (row) => row.op),
  textColumn("target", "target", 0, (row) => row.target),
  textColumn("inputs", "inputs", 180, (row) => row.inputs),
  textColumn("shape", "type and sizes", 230, (row) => row.shape),
  textColumn("source", "source line", 160, (row) => placeText(row.file, row.fileLine), {
    cell: (row) => (
      <ToSource file={row.file} line={row.fileLine}>
        <bdi title={row.code}>{placeText(baseName(row.file), row.fileLine)}</bdi>
      </ToSource>
    ),
  }),
];

function GraphTable({ text, onLine }: { text: string; onLine: (line: number) => void }) {
  const nodes = useMemo(() => readGraph(text), [text]);
  return (
    <Rows
      label="Nodes of the graph"
      rows={nodes}
      columns={columns}
      idOf={(row) => `${row.line}:${row.name}`}
      onSelect={(row) => onLine(row.line)}
      empty="No node could be read from this text."
    />
  );
}

// JSON on one line is nothing to read; what is no JSON after all stays as it is.
function readable(text: string, artifact: Artifact): string {
  if (artifact.language !== "json" || text.length > 2e6 || artifact.isCut) return text;
  if (text.trimEnd().split("\n", 20).length === 20) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function lineIn(route: Route, artifact: Artifact): number | null {
  const [entry, line] = (route.params.get("line") ?? "").split(".");
  return Number(entry) === artifact.entry && line ? Number(line) : null;
}

function OpenText(props: { view: string; artifact: Artifact; number: number; route: Route }) {
  const { view, artifact, number, route } = props;
  const loaded = useText(number);
  const value = loaded.state === "ready" ? loaded.value : null;
  const text = useMemo(() => (value === null ? "" : readable(value, artifact)), [value, artifact]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (value !== null) box.current?.scrollIntoView({ block: "nearest" }); // keys may have opened it out of sight
  }, [value]);
  if (loaded.state !== "ready") return <Waiting loaded={loaded} />;
  const asTable = route.params.get("as") === "table" && isGraph(artifact);
  const choose = (table: boolean) => setParams(view, { as: table ? "table" : null }, true);
  const goToLine = (line: number) =>
    setParams(view, { line: `${artifact.entry}.${line}`, as: null });
  return (
    <div class="artifact-text" ref={box}>
      {isGraph(artifact) && (
        <div class="choices" role="group" aria-label="How to show it">
          <button aria-pressed={!asTable} onClick={() => choose(false)}>
            Code
          </button>
          <button aria-pressed={asTable} onClick={() => choose(true)}>
            Table
          </button>
        </div>
      )}
      {asTable ? (
        <GraphTable text={text} onLine={goToLine} />
      ) : (
        <CodeViewer
          text={text}
          language={artifact.language}
          label={artifact.name}
          line={lineIn(route, artifact)}
          onLine={goToLine}
        />
      )}
    </div>
  );
}

function ArtifactItem(props: { view: string; artifact: Artifact; route: Route; isOpen: boolean }) {
  const { view, artifact, route, isOpen } = props;
  const toggle = () => {
    const others = openTexts(route).filter((entry) => entry !== artifact.entry);
    const open = isOpen ? others : [...others, artifact.entry];
    setParams(view, { text: open.join(",") || null, line: null });
  };
  return (
    <li class="artifact">
      <button class="plain artifact-line" aria-expanded={isOpen} onClick={toggle}>
        <span class="fold-mark" aria-hidden="true" />
        <bdi class="artifact-name">{artifact.name}</bdi>
        <span class="quiet">
          {artifact.attempt > 0 && `attempt ${artifact.attempt}, `}
          {artifact.language === "cpp" ? "C++" : artifact.language}
        </span>
        <span class="quiet artifact-number">
          {artifact.lines === null ? "" : counted(artifact.lines, "line")}
        </span>
        <span class="quiet artifact-number">{bytes(artifact.bytes)}</span>
        {artifact.text === null && <span class="quiet">not in this page</span>}
        {artifact.isCut && <span class="quiet">cut</span>}
      </button>
      {isOpen &&
        (artifact.text === null ? (
          <p class="quiet">
            This text is not in the page, which has at most 48 MB of them:{" "}
            <code>debrief compile LOG</code> writes the whole tree of files.
          </p>
        ) : (
          <OpenText view={view} artifact={artifact} number={artifact.text} route={route} />
        ))}
    </li>
  );
}

export function ArtifactList(props: {
  view: string;
  artifacts: Artifact[];
  route: Route;
  empty: string;
}) {
  const open = openTexts(props.route);
  if (props.artifacts.length === 0) return <p class="quiet">{props.empty}</p>;
  return (
    <ul class="artifacts" aria-label="Texts of this compilation">
      {props.artifacts.map((artifact) => (
        <ArtifactItem
          key={artifact.entry}
          view={props.view}
          artifact={artifact}
          route={props.route}
          isOpen={open.includes(artifact.entry)}
        />
      ))}
    </ul>
  );
}
