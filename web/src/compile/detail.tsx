// One compilation: why it was needed, where its time went, what it compiled into and what it relies on.
//
// Tabs are ?show=; `[` and `]` go through them, `n` and `p` through the texts of all tabs.
import { useMemo } from "preact/hooks";
import {
  isOf,
  type Break,
  type Compilation,
  type Compile,
  type Guard,
  type Module,
  type Phase,
} from "./data";
import { GraphsOf } from "./graph";
import { ArtifactList, openTexts } from "./one_artifacts";
import { Chain } from "./one_chain";
import { Guards, Modules } from "./one_guards";
import { Head } from "./one_head";
import { Time } from "./one_time";
import { Why, type Reasons } from "./one_why";
import { Tabs, chosen, type Tab } from "./parts";
import { bytes, counted } from "../parts/format";
import { Waiting } from "../parts/loading";
import type { Run } from "../run/data";
import { useOnce, type Loaded } from "../run/islands";
import { textsIndex, type Artifact, type TextSection, type Texts } from "../run/texts";
import { useKeys } from "../shell/keys";
import { setParams, type Route } from "../shell/route";

export { guardColumns } from "./one_guards";

interface Parts extends Reasons {
  phases: Phase[];
  modules: Module[];
  guards: Guard[];
}

function breaksOf(compile: Compile, one: Compilation): Break[] {
  return compile
    .rows("compile_break")
    .filter(
      (row) =>
        row.input === one.input &&
        row.rank === one.rank &&
        (row.compile_ids ?? "").split(/,\s*/).includes(one.compile_id ?? ""),
    );
}

function partsOf(compile: Compile, one: Compilation): Parts {
  return {
    recompiles: compile.rows("compile_recompile").filter((row) => isOf(one, row)),
    breaks: breaksOf(compile, one),
    failures: compile.rows("compile_failure").filter((row) => isOf(one, row)),
    phases: compile
      .rows("compile_phase")
      .filter((row) => isOf(one, row))
      .sort((a, b) => (b.self_ns ?? 0) - (a.self_ns ?? 0)),
    modules: compile.rows("compile_module").filter((row) => isOf(one, row)),
    guards: compile
      .rows("compile_guard")
      .filter((row) => isOf(one, row))
      .sort((a, b) => (b.failed ?? 0) - (a.failed ?? 0)),
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
    if (next) setParams(view, { show: next.section, text: String(next.entry), line: null });
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
  compile: Compile;
  one: Compilation;
  route: Route;
  run?: Run; // for the findings that name it
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

export function CompilationDetail({ view, compile, one, route, run }: Props) {
  const parts = useMemo(() => partsOf(compile, one), [compile, one]);
  const graphs = useMemo(
    () => compile.rows("compile_graph").filter((row) => isOf(one, row)),
    [compile, one],
  );
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
    { id: "graphs", title: "Graphs", rows: graphs.length },
    { id: "modules", title: "Modules", rows: parts.modules.length },
  ];
  const show = chosen(tabs, route.params.get("show"));
  useOneKeys(view, tabs, show, artifacts, route);
  return (
    <aside class="panel compile-detail" aria-label="Selected compilation">
      <Head
        run={run}
        compile={compile}
        one={one}
        breaks={parts.breaks}
        recompiles={parts.recompiles}
      />
      <Tabs view={view} param="show" tabs={tabs} current={show} label="Details" />
      {show === "why" && (
        <>
          <Chain view={view} compile={compile} texts={texts} one={one} route={route} />
          <Why compile={compile} one={one} reasons={parts} stack={stack} />
        </>
      )}
      {show === "time" && <Time compile={compile} phases={parts.phases} />}
      {show === "graphs" && (
        <GraphsOf view={view} compile={compile} graphs={graphs} route={route} />
      )}
      {show === "modules" && <Modules compile={compile} modules={parts.modules} />}
      {show === "guards" && <Guards compile={compile} guards={parts.guards} one={one} />}
      {textTabs.some(([id]) => id === show) && (
        <TextsTab view={view} loaded={loaded} artifacts={inTab(show)} route={route} />
      )}
    </aside>
  );
}
