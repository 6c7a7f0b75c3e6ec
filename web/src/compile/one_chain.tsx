// All compilations of a frame in order, each with the guard that failed before it; a step opens what changed in
// the graph: ?diff=COMPILE_ID compares that compilation's graph with the one before it.
import { useMemo } from "preact/hooks";
import { CodeDiff } from "../code/viewer";
import { counted, seconds } from "../parts/format";
import { Waiting } from "../parts/loading";
import type { Tables } from "../run/tables";
import { useText, type Artifact, type Texts } from "../run/texts";
import { setParams, to, type Route } from "../shell/route";
import { isOf, keyOf, type Compilation, type Recompile } from "./data";
import { changeText } from "./one_why";
import { Outcome } from "./parts";

// "3/1" and "3/2" are of frame 3.
const frameOf = (id: string | undefined) => (id ?? "").replace(/\/[^/]*$/, "");

function chainOf(tables: Tables, one: Compilation): Compilation[] {
  return tables
    .rows("compilation")
    .filter(
      (row) =>
        row.input === one.input &&
        row.rank === one.rank &&
        (row.life ?? 0) === (one.life ?? 0) &&
        frameOf(row.compile_id) === frameOf(one.compile_id),
    )
    .sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
}

// The graph that Dynamo traced, of the last attempt.
function graphOf(texts: Texts | null, one: Compilation | undefined): Artifact | undefined {
  if (!texts || !one) return undefined;
  return texts
    .of(one)
    .filter((artifact) => artifact.kind === "dynamo_output_graph")
    .pop();
}

function GraphDiff(props: { texts: Texts; before: Compilation; now: Compilation }) {
  const { texts, before, now } = props;
  const graphs = useMemo(() => [graphOf(texts, before), graphOf(texts, now)], [texts, before, now]);
  const left = useText(graphs[0]?.text ?? null);
  const right = useText(graphs[1]?.text ?? null);
  const missing = [before, now].filter((_, i) => (graphs[i]?.text ?? null) === null);
  if (missing.length > 0) {
    return (
      <p class="quiet">
        The graph of {missing.map((one) => one.compile_id).join(" and ")} is not in this page.
      </p>
    );
  }
  if (left.state !== "ready") return <Waiting loaded={left} />;
  if (right.state !== "ready") return <Waiting loaded={right} />;
  return (
    <CodeDiff
      left={left.value}
      right={right.value}
      leftTitle={`Graph of ${before.compile_id}`}
      rightTitle={`Graph of ${now.compile_id}`}
      height="min(50vh, 480px)"
    />
  );
}

interface StepProps {
  view: string;
  tables: Tables;
  texts: Texts | null;
  row: Compilation;
  before: Compilation | undefined;
  isHere: boolean;
  route: Route;
}

function mainReason(tables: Tables, row: Compilation): Recompile | undefined {
  const rows = tables.rows("compile_recompile").filter((one) => isOf(row, one));
  return rows.find((one) => one.is_main) ?? rows[0];
}

function Step({ view, tables, texts, row, before, isHere, route }: StepProps) {
  const reason = useMemo(() => mainReason(tables, row), [tables, row]);
  const isOpen = before !== undefined && route.params.get("diff") === row.compile_id;
  return (
    <li class={isHere ? "here" : ""} aria-current={isHere ? "step" : undefined}>
      <p>
        {isHere ? (
          <strong>{row.compile_id}</strong>
        ) : (
          <a href={to(view, { at: keyOf(row) })}>{row.compile_id}</a>
        )}{" "}
        <Outcome outcome={row.outcome} />{" "}
        <span class="quiet">{row.seconds === undefined ? "" : seconds(row.seconds)}</span>{" "}
        {reason ? (
          <>
            <code>{changeText(reason)}</code>{" "}
            {reason.guard && <code class="quiet">{reason.guard}</code>}
          </>
        ) : (
          <span class="quiet">{before ? (row.why ?? "reason unknown") : "the first"}</span>
        )}{" "}
        {before && texts && (
          <button
            class="plain"
            aria-expanded={isOpen}
            onClick={() => setParams(view, { diff: isOpen ? null : (row.compile_id ?? null) })}
          >
            {isOpen ? "Hide the comparison" : `Compare with ${before.compile_id}`}
          </button>
        )}
      </p>
      {isOpen && before && texts && <GraphDiff texts={texts} before={before} now={row} />}
    </li>
  );
}

const most = 40;

// Those beside `one`, when there are too many.
function near(chain: Compilation[], one: Compilation): Compilation[] {
  if (chain.length <= most) return chain;
  const at = chain.indexOf(one);
  const from = Math.max(0, Math.min(at - most / 2, chain.length - most));
  return chain.slice(from, from + most);
}

export function Chain(props: {
  view: string;
  tables: Tables;
  texts: Texts | null;
  one: Compilation;
  route: Route;
}) {
  const { view, tables, texts, one, route } = props;
  const chain = useMemo(() => chainOf(tables, one), [tables, one]);
  if (chain.length < 2) return null;
  const shown = near(chain, one);
  return (
    <section aria-label="All compilations of this frame">
      <h3>
        All {counted(chain.length, "compilation")} of this frame{" "}
        <span class="quiet">each with the guard that failed</span>
      </h3>
      <ol class="chain">
        {shown.map((row) => (
          <Step
            key={row.compile_id}
            view={view}
            tables={tables}
            texts={texts}
            row={row}
            before={chain[chain.indexOf(row) - 1]}
            isHere={row === one}
            route={route}
          />
        ))}
      </ol>
      {shown.length < chain.length && (
        <p class="quiet">The {shown.length} nearest of them are shown.</p>
      )}
    </section>
  );
}
