// One compilation: why it was needed, where its time went, what it compiled into and what it relies on.
//
// Tabs are ?show=; `[` and `]` go through them, `n` and `p` through the texts of all tabs.
import { useMemo } from "preact/hooks";
import { bytes, counted } from "../parts/format";
import { chosen, Tabs, type Tab } from "../parts/choices";
import { Waiting } from "../parts/loading";
import { largestFirst } from "../parts/rows";
import type { Run } from "../run/data";
import { useOnce, type Loaded } from "../run/islands";
import type { Tables } from "../run/tables";
import { textsIndex, type Artifact, type TextSection, type Texts } from "../run/texts";
import { useKeys } from "../shell/keys";
import { setParams, type Route } from "../shell/route";
import { isOf, type Break, type Compilation, type Of } from "./data";
import { GraphsOf } from "./graph";
import { ArtifactList, openTexts } from "./one_artifacts";
import { Chain } from "./one_chain";
import { Head } from "./one_head";
import { Guards, Modules, Time } from "./one_parts";
import { Why } from "./one_why";

function breaksOf(tables: Tables, one: Compilation): Break[] {
  return tables
    .rows("compile_break")
    .filter(
      (row) =>
        row.input === one.input &&
        row.rank === one.rank &&
        (row.compile_ids ?? "").split(/,\s*/).includes(one.compile_id ?? ""),
    );
}

// What the tables have of a compilation.
function partsOf(tables: Tables, one: Compilation) {
  const isOwn = (row: Of) => isOf(one, row);
  return {
    recompiles: tables.rows("compile_recompile").filter(isOwn),
    breaks: breaksOf(tables, one),
    failures: tables.rows("compile_failure").filter(isOwn),
    phases: largestFirst(tables.rows("compile_phase").filter(isOwn), (row) => row.self_ns),
    modules: tables.rows("compile_module").filter(isOwn),
    guards: largestFirst(tables.rows("compile_guard").filter(isOwn), (row) => row.failed),
    graphs: tables.rows("compile_graph").filter(isOwn),
  };
}

// Tabs that show texts, and how they are called.
const textTabs: [TextSection, string][] = [
  ["dynamo", "Dynamo"],
  ["aot", "AOTAutograd"],
  ["inductor", "Inductor"],
  ["guards", "Guards"],
  ["other", "Other texts"],
];

function useOneKeys(view: string, tabs: Tab[], show: string, artifacts: Artifact[], route: Route) {
  const step = (by: number) => {
    const at = tabs.findIndex((tab) => tab.id === show);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next) setParams(view, { show: next.id === tabs[0]?.id ? null : next.id });
  };
  const open = (by: number) => {
    const last = openTexts(route).pop();
    const at = artifacts.findIndex((one) => one.entry === last);
    const next = artifacts[at < 0 ? (by > 0 ? 0 : artifacts.length - 1) : at + by];
    if (next) setParams(view, { show: next.section, text: next.entry, line: null });
  };
  useKeys([
    { key: "]", does: "next section of the compilation", act: () => step(1) },
    { key: "[", does: "previous section", act: () => step(-1) },
    { key: "n", does: "next text of the compilation", act: () => open(1) },
    { key: "p", does: "previous text", act: () => open(-1) },
  ]);
}

function TextsTab(props: {
  view: string;
  loaded: Loaded<Texts>;
  artifacts: Artifact[];
  route: Route;
}) {
  const { loaded } = props;
  if (loaded.state !== "ready") return <Waiting loaded={loaded} />;
  const { texts, bytes: left } = loaded.value.leftOut;
  return (
    <>
      <ArtifactList
        view={props.view}
        artifacts={props.artifacts}
        route={props.route}
        empty="The log has no texts of this part of the compiler."
      />
      {texts > 0 && (
        <p class="quiet left-out">
          {counted(texts, "text")} of the logs ({bytes(left)}) {texts === 1 ? "is" : "are"} not in
          this page: <code>debrief compile LOG</code> writes the whole tree of files.
        </p>
      )}
    </>
  );
}

interface Props {
  view: string;
  tables: Tables;
  one: Compilation;
  route: Route;
  run: Run;
}

function useTexts(one: Compilation) {
  const loaded = useOnce(textsIndex);
  const texts = loaded.state === "ready" ? loaded.value : null;
  const artifacts = useMemo(() => {
    const all = texts?.of(one) ?? [];
    return textTabs.flatMap(([id]) => all.filter((artifact) => artifact.section === id));
  }, [texts, one]);
  const stack = useMemo(() => texts?.stackOf(one) ?? [], [texts, one]);
  return { loaded, texts, artifacts, stack };
}

export function CompilationDetail({ view, tables, one, route, run }: Props) {
  const parts = useMemo(() => partsOf(tables, one), [tables, one]);
  const { loaded, texts, artifacts, stack } = useTexts(one);
  const inTab = (id: string) => artifacts.filter((artifact) => artifact.section === id);
  const tabs: Tab[] = [
    { id: "why", title: "Why" },
    { id: "time", title: "Time" },
    ...textTabs
      .filter(([id]) => id !== "other" || inTab("other").length > 0)
      .map(([id, title]) => {
        const rows = inTab(id).length + (id === "guards" ? parts.guards.length : 0);
        return { id, title, rows };
      }),
    { id: "graphs", title: "Graphs", rows: parts.graphs.length },
    { id: "modules", title: "Modules", rows: parts.modules.length },
  ];
  const show = chosen(tabs, route.params.get("show"));
  useOneKeys(view, tabs, show, artifacts, route);
  return (
    <aside class="panel compile-detail" aria-label="Selected compilation">
      <Head run={run} tables={tables} one={one} breaks={parts.breaks} recompiles={parts.recompiles} />
      <Tabs view={view} param="show" tabs={tabs} current={show} label="Details" />
      {show === "why" && (
        <>
          <Chain view={view} tables={tables} texts={texts} one={one} route={route} />
          <Why tables={tables} one={one} reasons={parts} stack={stack} />
        </>
      )}
      {show === "time" && <Time tables={tables} phases={parts.phases} />}
      {show === "graphs" && (
        <GraphsOf view={view} tables={tables} graphs={parts.graphs} route={route} />
      )}
      {show === "modules" && <Modules tables={tables} modules={parts.modules} />}
      {show === "guards" && <Guards tables={tables} guards={parts.guards} one={one} />}
      {textTabs.some(([id]) => id === show) && (
        <TextsTab view={view} loaded={loaded} artifacts={inTab(show)} route={route} />
      )}
    </aside>
  );
}
