// Where in the program compilations began: the tree of stacks, and how the time spreads over it.
import { useMemo } from "preact/hooks";
import { compileNeeds, withCompile, type CompileProps } from "../compile/data";
import { Flame } from "../compile/flame";
import {
  Rows,
  Section,
  SourceLink,
  numberColumn,
  percent,
  seconds,
  textColumn,
} from "../compile/parts";
import { StackTree } from "../compile/stack_tree";
import {
  allNodes,
  makeForest,
  nodeName,
  ranksIn,
  stacksIsland,
  statusWords,
  type StackNode,
  type Stacks,
} from "../compile/stacks";
import { StatusLegend } from "../compile/status";
import { counted } from "../parts/format";
import { Waiting } from "../parts/loading";
import { Filter } from "../parts/marks";
import type { Column } from "../parts/table";
import { useOnce } from "../run/islands";
import { setParams } from "../shell/route";
import type { View } from "../view";

const id = "compile_tree";

function RankChoice({ ranks, rank }: { ranks: number[]; rank: number | null }) {
  if (ranks.length < 2) return null;
  return (
    <label class="rank-choice">
      <span class="quiet">Rank</span>{" "}
      <select
        aria-label="Rank"
        value={rank ?? ""}
        onChange={(event) =>
          setParams(id, { rank: event.currentTarget.value || null, frame: null })
        }
      >
        <option value="">all {ranks.length}</option>
        {ranks.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function nodeColumns(all: number, job: string | null): Column<StackNode>[] {
  return [
    textColumn("frame", "frame", 0, nodeName, { opens: true }),
    {
      ...textColumn<StackNode>("place", "place", 260, (node) => `${node.file}:${node.line}`),
      cell: (node) => <SourceLink file={node.file} line={node.line} job={job} />,
    },
    numberColumn("seconds", "time", 100, (node) => node.seconds, seconds, {
      definition: "Of the compilations that began at this frame or below it",
    }),
    numberColumn("share", "share", 80, (node) => (all > 0 ? node.seconds / all : 0), percent),
    numberColumn("count", "compilations", 110, (node) => node.count),
    textColumn("statuses", "how they ended", 260, (node) => statusWords(node.statuses)),
  ];
}

function FrameList({
  forest,
  job,
  frame,
}: {
  forest: StackNode[];
  job: string | null;
  frame: string | null;
}) {
  const all = forest.reduce((sum, node) => sum + node.seconds, 0);
  const nodes = useMemo(() => allNodes(forest).sort((a, b) => b.seconds - a.seconds), [forest]);
  const columns = useMemo(() => nodeColumns(all, job), [all, job]);
  return (
    <details class="by-rank">
      <summary>The same as a list ({counted(nodes.length, "frame")})</summary>
      <Rows
        label="Frames by compile time"
        rows={nodes}
        columns={columns}
        idOf={(node) => node.id}
        selected={frame}
        onSelect={(node) => setParams(id, { frame: node.id === frame ? null : node.id })}
        empty=""
      />
    </details>
  );
}

function Content({ stacks, run, route, compile }: CompileProps & { stacks: Stacks }) {
  const filter = route.params.get("filter") ?? "";
  const job = route.params.get("job");
  const frame = route.params.get("frame");
  const library = route.params.get("frames") === "all";
  const ranks = useMemo(() => ranksIn(stacks, run.job), [stacks, run.job]);
  const wanted = Number(route.params.get("rank") ?? "NaN");
  const rank = ranks.includes(wanted) ? wanted : null;
  const forest = useMemo(
    () => makeForest(stacks, compile, run.job, { rank, library }),
    [stacks, compile, run.job, rank, library],
  );
  const select = (one: string | null) => setParams(id, { frame: one }, true);
  return (
    <>
      <Section
        title="Frames at which compilations began"
        number={forest.reduce((sum, node) => sum + node.count, 0)}
        side={
          <div class="side-choices">
            <RankChoice ranks={ranks} rank={rank} />
            <button
              aria-pressed={library}
              onClick={() => setParams(id, { frames: library ? null : "all", frame: null })}
              title="Frames of PyTorch and other installed packages"
            >
              Library frames
            </button>
            <Filter
              value={filter}
              label="Filter frames"
              hint="function, train.py:41, failed, id:0/1"
              onInput={(text) => setParams(id, { filter: text || null }, true)}
            />
          </div>
        }
      >
        <StatusLegend />
        <StackTree forest={forest} filter={filter} selected={frame} job={job} onSelect={select} />
        {stacks.left_out > 0 && (
          <p class="quiet left-out">
            {counted(stacks.left_out, "compilation")} of <code>compile_trie_end</code> are not on
            this page: <code>debrief query</code> has all.
          </p>
        )}
      </Section>
      <Section title="Compile time by stack">
        <Flame forest={forest} zoom={frame} onZoom={(one) => setParams(id, { frame: one })} />
        <FrameList forest={forest} job={job} frame={frame} />
      </Section>
    </>
  );
}

function Tree(props: CompileProps) {
  const loaded = useOnce(stacksIsland);
  return (
    <>
      <h1>Stacks</h1>
      {loaded.state === "ready" ? (
        <Content {...props} stacks={loaded.value} />
      ) : (
        <Waiting loaded={loaded} />
      )}
    </>
  );
}

export const view: View = {
  id,
  title: "Stacks",
  section: "Compile",
  order: 31,
  needs: compileNeeds(["compile_trie_end"]),
  component: withCompile(Tree),
};
