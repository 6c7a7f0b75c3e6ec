// The first thing in which a rank compiled something else than most, and the two texts side by side
// (?diff=RANK).
import { CodeDiff, CodeViewer } from "../code/viewer";
import { count, ranksInWords } from "../parts/format";
import { LeftOutNote } from "../parts/left_out";
import { Section } from "../parts/listing";
import { Load, Waiting } from "../parts/loading";
import { differ } from "../parts/rows";
import type { Run } from "../run/data";
import type { Tables } from "../run/tables";
import { textsIndex, useText, type Artifact, type Texts } from "../run/texts";
import { setParams, to, type Route } from "../shell/route";
import type { Difference } from "./data";

const kindWords: Record<string, string> = {
  extra: "compiled something that the others did not",
  missing: "did not compile what the others did",
  graph: "compiled another graph",
};

// The logs of a rank are inputs of that rank.
function logsOf(run: Run, row: Difference, rank: number | undefined): number[] {
  return run.inputs
    .filter((one) => one.kind === "torch_trace" && one.rank === rank)
    .filter((one) => one.job === (row.job ?? null) && one.attempt === (row.attempt ?? null))
    .map((one) => one.input);
}

// Of a compilation that only one side has: the graph that Dynamo traced, else its first text.
function textOf(texts: Texts, input: number, row: Difference, rank: number | undefined): Artifact | undefined {
  const all = texts.of({
    input,
    ...(rank !== undefined && { rank }),
    ...(row.compile_id !== undefined && { compile_id: row.compile_id }),
  });
  const shown = all.filter((one) => one.text !== null);
  return shown.filter((one) => one.kind === "dynamo_output_graph").pop() ?? shown[0];
}

function BothTexts({ row, left, right }: { row: Difference; left: Artifact; right: Artifact }) {
  const [a, b] = [useText(left.text), useText(right.text)];
  if (left.text === null || right.text === null)
    return <p class="quiet">A text of it is not in this page: too large, or left out.</p>;
  if (a.state !== "ready") return <Waiting loaded={a} />;
  if (b.state !== "ready") return <Waiting loaded={b} />;
  return (
    <CodeDiff
      left={a.value}
      right={b.value}
      leftTitle={`${left.name} of rank ${row.rank_a}, as most ranks`}
      rightTitle={`${right.name} of rank ${row.rank_b}`}
      language={right.language}
      height="min(50vh, 480px)"
    />
  );
}

function OneText({ artifact, rank }: { artifact: Artifact; rank: number | undefined }) {
  const loaded = useText(artifact.text);
  if (artifact.text === null) return <p class="quiet">The text is not in this page.</p>;
  if (loaded.state !== "ready") return <Waiting loaded={loaded} />;
  const label = `${artifact.name} of rank ${rank}`;
  return (
    <>
      <h3>{label}</h3>
      <CodeViewer text={loaded.value} language={artifact.language} label={label} height="min(40vh, 380px)" />
    </>
  );
}

function TextsOf({ row, run, texts }: { row: Difference; run: Run; texts: Texts }) {
  const at = (rank: number | undefined, entry: number | undefined) =>
    logsOf(run, row, rank).flatMap((input) => texts.at(input, entry) ?? [])[0];
  const left = at(row.rank_a, row.entry_a);
  const right = at(row.rank_b, row.entry_b);
  if (left && right) return <BothTexts row={row} left={left} right={right} />;
  const rank = row.kind === "missing" ? row.rank_a : row.rank_b;
  const others = logsOf(run, row, rank).flatMap((input) => textOf(texts, input, row, rank) ?? []);
  const one = right ?? left ?? others[0];
  if (one) return <OneText artifact={one} rank={rank} />;
  return <p class="quiet">The log has no text of it.</p>;
}

interface ItemProps {
  row: Difference;
  run: Run;
  route: Route;
  several: boolean; // attempts
}

function Item({ row, run, route, several }: ItemProps) {
  const isOpen = route.params.get("diff") === String(row.rank_b);
  const owner = row.kind === "missing" ? row.rank_a : row.rank_b;
  const filter = `rank:${owner} id:${row.compile_id}`;
  return (
    <li>
      <p>
        <strong>
          Rank {row.rank_b} {kindWords[row.kind ?? ""] ?? "differs"}
        </strong>
        : {row.name}{" "}
        {row.compile_id ? (
          <a href={to("compile", { filter })}>
            in {row.compile_id} of rank {owner}
          </a>
        ) : (
          <span class="quiet">in no compilation</span>
        )}
      </p>
      {row.difference && <pre tabIndex={0}>{row.difference}</pre>}
      <p class="quiet">
        Compared with rank {row.rank_a}
        {several && row.attempt !== undefined && `, attempt ${row.attempt}`}{" "}
        <button
          aria-expanded={isOpen}
          onClick={() => setParams("ranks", { diff: isOpen ? null : row.rank_b })}
        >
          {isOpen ? "Close the texts" : row.kind === "graph" ? "Compare the texts" : "Show the text"}
        </button>
      </p>
      {isOpen && (
        <Load once={textsIndex}>{(texts) => <TextsOf row={row} run={run} texts={texts} />}</Load>
      )}
    </li>
  );
}

const mostDifferences = 16;

interface Props {
  tables: Tables;
  run: Run;
  route: Route;
  rank: number | null;
}

export function Differences({ tables, run, route, rank }: Props) {
  const all = tables.rows("compile_first_difference");
  const rows = all.filter((row) => rank === null || row.rank_b === rank || row.rank_a === rank);
  const several = differ(all, (one) => one.attempt);
  if (!tables.has("compile_rank_time")) return null;
  return (
    <Section title="First difference of each rank" number={rows.length}>
      {rows.length === 0 ? (
        <p class="empty">
          {all.length === 0
            ? "All ranks compiled the same graphs, as far as the logs show."
            : "This rank compiled what most ranks did."}
        </p>
      ) : (
        <div class="panel">
          <ul class="reasons">
            {rows.slice(0, mostDifferences).map((row, i) => (
              <Item key={i} row={row} run={run} route={route} several={several} />
            ))}
          </ul>
          {rows.length > mostDifferences && (
            <p class="quiet">
              and {count(rows.length - mostDifferences)} more:{" "}
              {ranksInWords(rows.slice(mostDifferences).map((row) => row.rank_b ?? -1))}
            </p>
          )}
        </div>
      )}
      <LeftOutNote tables={tables} names={["compile_first_difference"]} />
    </Section>
  );
}
