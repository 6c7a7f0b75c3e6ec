// The first thing in which a rank compiled something else than most, and the two texts side by side
// (?diff=RANK).
import { CodeDiff, CodeViewer } from "../code/viewer";
import { Section } from "../compile/parts";
import { LeftOutOf } from "../flight/left_out";
import { count, ranksInWords } from "../parts/format";
import { Waiting } from "../parts/loading";
import type { Run } from "../run/data";
import { useOnce } from "../run/islands";
import { textsIndex, useText, type Artifact, type Texts } from "../run/texts";
import { href, setParams, type Route } from "../shell/route";
import type { Difference, Ranks } from "./data";

const kindWords: Record<string, string> = {
  extra: "compiled something that the others did not",
  missing: "did not compile what the others did",
  graph: "compiled another graph",
};

// The entry of a rank; its log is the input of that rank.
function artifactOf(
  texts: Texts,
  run: Run,
  row: Difference,
  rank: number | undefined,
  entry: number | undefined,
): Artifact | undefined {
  for (const input of run.inputs) {
    if (input.kind !== "torch_trace" || input.rank !== rank) continue;
    if (input.job !== (row.job ?? null) || input.attempt !== (row.attempt ?? null)) continue;
    const found = texts.at(input.input, entry);
    if (found) return found;
  }
  return undefined;
}

// Of a compilation that only one side has: the graph that Dynamo traced, else its first text.
function textOf(texts: Texts, run: Run, row: Difference, rank: number | undefined): Artifact | undefined {
  for (const input of run.inputs) {
    if (input.kind !== "torch_trace" || input.rank !== rank) continue;
    if (input.job !== (row.job ?? null) || input.attempt !== (row.attempt ?? null)) continue;
    const all = texts.of({
      input: input.input,
      ...(rank !== undefined && { rank }),
      ...(row.compile_id !== undefined && { compile_id: row.compile_id }),
    });
    const shown = all.filter((one) => one.text !== null);
    const found = shown.filter((one) => one.kind === "dynamo_output_graph").pop() ?? shown[0];
    if (found) return found;
  }
  return undefined;
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

function TextsOf({ row, run }: { row: Difference; run: Run }) {
  const loaded = useOnce(textsIndex);
  if (loaded.state !== "ready") return <Waiting loaded={loaded} />;
  const left = artifactOf(loaded.value, run, row, row.rank_a, row.entry_a);
  const right = artifactOf(loaded.value, run, row, row.rank_b, row.entry_b);
  if (left && right) return <BothTexts row={row} left={left} right={right} />;
  const rank = row.kind === "missing" ? row.rank_a : row.rank_b;
  const one = right ?? left ?? textOf(loaded.value, run, row, rank);
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
          <a href={href("compile", { job: route.params.get("job"), filter })}>
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
          onClick={() => setParams("ranks", { diff: isOpen ? null : String(row.rank_b) })}
        >
          {isOpen ? "Close the texts" : row.kind === "graph" ? "Compare the texts" : "Show the text"}
        </button>
      </p>
      {isOpen && <TextsOf row={row} run={run} />}
    </li>
  );
}

const mostDifferences = 16;

interface Props {
  ranks: Ranks;
  run: Run;
  route: Route;
  rank: number | null;
}

export function Differences({ ranks, run, route, rank }: Props) {
  const all = ranks.rows("compile_first_difference");
  const rows = all.filter((row) => rank === null || row.rank_b === rank || row.rank_a === rank);
  const several = new Set(all.map((one) => one.attempt)).size > 1;
  if (!ranks.has("compile_rank_time")) return null;
  return (
    <Section title="First difference of each rank" number={rows.length}>
      {rows.length === 0 ? (
        <p class="empty">
          {all.length === 0
            ? "As far as the logs tell, all ranks compiled the same graphs."
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
      <LeftOutOf tables={ranks} names={["compile_first_difference"]} />
    </Section>
  );
}
