// Where in the program compilations began: the tree of stacks, and how the time spreads over it.
import { useMemo } from "preact/hooks";
import { compileNeeds, withCompile } from "../compile/data";
import { Flame } from "../compile/flame";
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
import { Select } from "../parts/choices";
import { numberColumn, textColumn } from "../parts/columns";
import { counted, percent, seconds } from "../parts/format";
import { AddressFilter, Rows, Section } from "../parts/listing";
import { Load, type TableProps } from "../parts/loading";
import { SourceLink } from "../parts/marks";
import { largestFirst, sum } from "../parts/rows";
import type { Column } from "../parts/table";
import { setParams } from "../shell/route";
import type { View } from "../view";

const id = "compile_tree";

function RankChoice({ ranks, rank }: { ranks: number[]; rank: number | null }) {
  if (ranks.length < 2) return null;
  return (
    <Select
      class="rank-choice"
      name="Rank"
      value={rank ?? ""}
      options={[["", `all ${ranks.length}`], ...ranks.map((one): [number, string] => [one, String(one)])]}
      onChoose={(value) => setParams(id, { rank: value || null, frame: null })}
    />
  );
}

const nodeColumns = (all: number): Column<StackNode>[] => [
  textColumn("frame", "frame", 0, nodeName, { opens: true }),
  textColumn("place", "place", 260, (node) => `${node.file}:${node.line}`, {
    cell: (node) => <SourceLink file={node.file} line={node.line} />,
  }),
  numberColumn("seconds", "time", 100, (node) => node.seconds, seconds,
    "Of the compilations that began at this frame or below it"),
  numberColumn("share", "share", 80, (node) => (all > 0 ? node.seconds / all : 0), percent),
  numberColumn("count", "compilations", 110, (node) => node.count),
  textColumn("statuses", "how they ended", 260, (node) => statusWords(node.statuses)),
];

function FrameTable({ forest, frame }: { forest: StackNode[]; frame: string | null }) {
  const nodes = useMemo(() => largestFirst(allNodes(forest), (node) => node.seconds), [forest]);
  return (
    <details class="by-rank">
      <summary>The same as a list ({counted(nodes.length, "frame")})</summary>
      <Rows
        label="Frames by compile time"
        rows={nodes}
        columns={nodeColumns(sum(forest, (node) => node.seconds))}
        idOf={(node) => node.id}
        selected={frame}
        onSelect={(node) => setParams(id, { frame: node.id === frame ? null : node.id })}
      />
    </details>
  );
}

function Content({ stacks, run, route, tables }: TableProps & { stacks: Stacks }) {
  const filter = route.params.get("filter") ?? "";
  const frame = route.params.get("frame");
  const library = route.params.get("frames") === "all";
  const ranks = useMemo(() => ranksIn(stacks, run.job), [stacks, run.job]);
  const wanted = Number(route.params.get("rank") ?? "NaN");
  const rank = ranks.includes(wanted) ? wanted : null;
  const forest = useMemo(
    () => makeForest(stacks, tables, run.job, { rank, library }),
    [stacks, tables, run.job, rank, library],
  );
  const select = (one: string | null) => setParams(id, { frame: one }, true);
  return (
    <>
      <Section
        title="Frames at which compilations began"
        number={sum(forest, (node) => node.count)}
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
            <AddressFilter
              view={id}
              label="Filter frames"
              hint="function, train.py:41, failed, id:0/1"
            />
          </div>
        }
      >
        <StatusLegend />
        <StackTree forest={forest} filter={filter} selected={frame} onSelect={select} />
        {stacks.left_out > 0 && (
          <p class="quiet left-out">
            {counted(stacks.left_out, "compilation")} of <code>compile_trie_end</code> are not on
            this page: <code>debrief query</code> has all.
          </p>
        )}
      </Section>
      <Section title="Compile time by stack">
        <Flame forest={forest} zoom={frame} onZoom={(one) => setParams(id, { frame: one })} />
        <FrameTable forest={forest} frame={frame} />
      </Section>
    </>
  );
}

export const view: View = {
  id,
  title: "Stacks",
  section: "Compile",
  order: 31,
  needs: compileNeeds(["compile_trie_end"]),
  component: withCompile((props) => (
    <Load title="Stacks" once={stacksIsland}>
      {(stacks) => <Content {...props} stacks={stacks} />}
    </Load>
  )),
};
