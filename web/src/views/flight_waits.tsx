// Waits: which rank waits for which, in which op. At the end of the arrows stands whoever holds up the others.
import { useMemo } from "preact/hooks";
import { flightIsland, groupTitle, groupWith, shownState, type Flight } from "../flight/data";
import { flightNeeds } from "../flight/needs";
import { Graph, type Choice } from "../flight/wait_graph";
import { agesWords, clashWords, edgeWords, nodeWords, ranksWords, stateWords } from "../flight/wait_words";
import {
  clashing,
  makeGraph,
  scenesOf,
  waitsIsland,
  type Scene,
  type Wait,
  type WaitGraph,
  type WaitNode,
  type Waits,
} from "../flight/waits";
import { chosen, Tabs, useSteps } from "../parts/choices";
import { drawnColumn, jobName, numberColumn, textColumn } from "../parts/columns";
import { capital, counted, steppedList } from "../parts/format";
import { Section, SortedTable } from "../parts/listing";
import { Load } from "../parts/loading";
import { FindingLinks } from "../parts/marks";
import { sum } from "../parts/rows";
import type { Column } from "../parts/table";
import type { Finding, Run } from "../run/data";
import { useOnce } from "../run/islands";
import { setParams, to, type Route } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "flight_waits";

// Findings that say who is the cause, of this attempt.
function causesOf(run: Run, scene: Scene): Finding[] {
  return run.findings.filter(
    (one) =>
      one.role === "cause" &&
      one.rule.startsWith("flight.") &&
      (one.job === null || one.job === scene.job) &&
      (one.attempt === null || one.attempt === scene.attempt),
  );
}

function dumpsOf(run: Run, scene: Scene): Set<number> {
  return new Set(
    run.inputs.flatMap((one) =>
      one.kind === "flight_recorder" && one.job === scene.job && one.attempt === scene.attempt
        ? (one.rank ?? [])
        : [],
    ),
  );
}

// Those at the end of the arrows, whoever holds up most first.
function Ends({ graph }: { graph: WaitGraph }) {
  const ends = graph.nodes
    .filter((node) => node.to.size === 0 && node.behind > 0)
    .sort((a, b) => b.behind - a.behind);
  return (
    <ul class="wait-ends">
      {graph.circles.map((ranks, i) => (
        <li key={`circle ${i}`}>
          <strong>{capital(ranksWords(ranks))} wait for each other</strong>: none of them can go on.
        </li>
      ))}
      {ends.slice(0, 4).map((node) => (
        <li key={node.id}>
          <strong>
            {capital(ranksWords(node.ranks))} {node.ranks.length === 1 ? "holds" : "hold"} up{" "}
            {counted(node.behind, "rank")}
          </strong>
          : {endWords(node)}
        </li>
      ))}
    </ul>
  );
}

function endWords(node: WaitNode): string {
  if (node.kind === "lost") return "no dump.";
  if (node.kind === "done") return "never issued what the others wait for.";
  if (node.clash.length > 0)
    return `${stateWords(node)}, while ${clashWords(node.clash)} at the same place: neither can complete.`;
  return "all members have joined its op, which does not complete.";
}

// Where the grid shows the op that a node is at, one link for each of its groups.
function GridLinks({ waits, flight }: { waits: Wait[]; flight: Flight | null }) {
  const links = waits.flatMap((wait) => {
    const rank = wait.on[0] ?? wait.ranks[0] ?? -1;
    const group = flight && groupWith(flight, wait, wait.ranks[0] ?? -1);
    if (!group || !group.seq.includes(wait.seq ?? -1)) return [];
    const at = { group: group.id, seq: String(wait.seq), rank: String(rank) };
    return [{ key: group.id, text: `${groupTitle(wait)}, sequence ${wait.seq}`, to: to("flight", at) }];
  });
  if (links.length === 0) return null;
  return (
    <p>
      In the grid:{" "}
      {links.slice(0, 6).map((one) => (
        <a key={one.key} class="id-link" href={one.to}>
          {one.text}
        </a>
      ))}
      {links.length > 6 && <span class="quiet">and {counted(links.length - 6, "other group")}</span>}
    </p>
  );
}

interface ChosenProps {
  choice: Choice;
  causes: Finding[];
  flight: Flight | null;
}

function ChosenPanel({ choice: { node, to }, causes, flight }: ChosenProps) {
  const about = causes.filter((one) => one.ranks.some((rank) => (to ?? node).ranks.includes(rank)));
  return (
    <aside class="panel" aria-label="Selected">
      <h2>
        {capital(ranksWords(node.ranks))}
        {to && ` wait${node.ranks.length === 1 ? "s" : ""} for ${ranksWords(to.ranks)}`}
      </h2>
      <p>{to ? edgeWords(node, to) : nodeWords(node)}</p>
      <FindingLinks findings={about} />
      <GridLinks waits={node.waits} flight={flight} />
    </aside>
  );
}

function waitsForWords(row: Wait, all: Wait[]): string {
  if (row.waits > 0) return ranksWords(row.on, 6);
  const clash = clashing(row, all);
  return clash.length > 0 ? `nobody: ${clashWords(clash)}` : "nobody: all have joined";
}

const columnsOf = (all: Wait[]): Column<Wait>[] => [
  {
    ...drawnColumn<Wait>("ranks", "ranks", 180, (row) => row.ranks[0], (row) => steppedList(row.ranks, 4)),
    opens: true,
  },
  textColumn("op", "at op", 180, (row) => row.op),
  textColumn("group", "group", 160, groupTitle),
  numberColumn("seq", "sequence", 90, (row) => row.seq, undefined,
    "Sequence number of the op in its group; of sends and receives in their channel"),
  textColumn("state", "state", 100, (row) => shownState(row.state)),
  numberColumn("age", "since", 160, (row) => row.oldest_ns, undefined, {
    definition: "How long before the newest time in the rank's dump the op was issued",
    cell: (row) => agesWords([row]),
  }),
  drawnColumn("waits", "waits for", 0, (row) => row.waits,
    (row) => waitsForWords(row, all),
    "Ranks that have not issued it, or are still at an older op"),
];

function nodeWith(graph: WaitGraph, rank: number): WaitNode | undefined {
  return graph.nodes.find((node) => node.ranks.includes(rank));
}

// ?at=5 or ?at=0-5, by ranks: nodes may be joined otherwise when the report is made again.
function choiceOf(graph: WaitGraph, text: string | null): Choice | null {
  const [from = "", to] = (text ?? "").split("-");
  const node = from === "" ? undefined : nodeWith(graph, Number(from));
  if (!node) return null;
  const other = to === undefined ? undefined : nodeWith(graph, Number(to));
  return { node, to: other && node.to.has(other) ? other : null };
}

function SceneView({ scene, run, route }: { scene: Scene; run: Run; route: Route }) {
  const flight = useOnce(flightIsland);
  const causes = useMemo(() => causesOf(run, scene), [run, scene]);
  const graph = useMemo(
    () => makeGraph(scene, new Set(causes.flatMap((one) => one.ranks)), dumpsOf(run, scene)),
    [scene, causes, run],
  );
  const columns = useMemo(() => columnsOf(scene.waits), [scene]);
  const choice = choiceOf(graph, route.params.get("at"));
  const choose = ({ node, to }: Choice) =>
    setParams(id, { at: to ? `${node.id}-${to.id}` : node.id }, true);
  useSteps("ranks", (by) => {
    const at = choice ? graph.nodes.indexOf(choice.node) + by : 0;
    const node = graph.nodes[at];
    if (node) choose({ node, to: null });
  });
  const waiting = sum(graph.nodes, (node) => (node.kind === "waiting" ? node.ranks.length : 0));
  return (
    <>
      <section class="flight" aria-label="Wait-for graph">
        <Ends graph={graph} />
        <Graph graph={graph} chosen={choice} onChoose={choose} />
        <p class="quiet">
          {counted(waiting, "rank")} wait. An arrow leads from ranks to those that they wait for.
          Ranks that wait for the same, in the same state, are one box.
          {graph.joined &&
            " There are many groups: those of one kind whose ranks wait for the same boxes are shown as one."}
        </p>
        {choice && (
          <ChosenPanel
            choice={choice}
            causes={causes}
            flight={flight.state === "ready" ? flight.value : null}
          />
        )}
      </section>
      <Section title="Where each rank is" number={scene.waits.length}>
        <SortedTable
          view={id}
          label="Where each rank is"
          rows={scene.waits}
          columns={columns}
          id={(row) => String(row.ranks[0])}
          selected={choice ? choice.node.id : null}
          onSelect={(at) => setParams(id, { at })}
          empty=""
        />
      </Section>
    </>
  );
}

function Scenes({ waits, run, route }: ViewProps & { waits: Waits }) {
  const scenes = useMemo(() => scenesOf(waits, run.job), [waits, run.job]);
  const tabs = scenes.map((one) => ({ id: one.id, title: sceneTitle(one, run), rows: one.waits.length }));
  const current = scenes.find((one) => one.id === chosen(tabs, route.params.get("attempt")));
  return (
    <>
      <h1>Who waits for whom</h1>
      {scenes.length > 1 && (
        <Tabs
          view={id}
          param="attempt"
          tabs={tabs}
          current={current?.id ?? ""}
          label="Attempt"
          forget={{ at: null }}
        />
      )}
      {current ? (
        <SceneView scene={current} run={run} route={route} />
      ) : (
        <p class="empty">Every op is completed: no rank waits for another.</p>
      )}
      {waits.left_out > 0 && (
        <p class="quiet">
          and {counted(waits.left_out, "more wait", "more waits")} in table{" "}
          <code>first_incomplete</code> of run.duckdb
        </p>
      )}
    </>
  );
}

function sceneTitle(scene: Scene, run: Run): string {
  const job = run.jobs.length > 1 ? `${jobName(run, scene.job)}, ` : "";
  return `${job}attempt ${scene.attempt}`;
}

export const view: View = {
  id,
  title: "Waits",
  section: "Collectives",
  order: 21,
  needs: flightNeeds(["comm_match"]),
  component: (props) => <Load once={waitsIsland}>{(waits) => <Scenes {...props} waits={waits} />}</Load>,
};
