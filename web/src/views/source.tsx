// The user's program: what compile logs, dumps and findings say about each of its lines.
import { useMemo } from "preact/hooks";
import { compileIsland } from "../compile/data";
import { useSteps } from "../parts/choices";
import { baseName, count, counted, seconds } from "../parts/format";
import { AddressFilter } from "../parts/listing";
import { Load } from "../parts/loading";
import { Path } from "../parts/marks";
import { hasRows, type Finding } from "../run/data";
import { useOnce } from "../run/islands";
import { param, setParams, type Route } from "../shell/route";
import {
  findingsOf,
  isSameFile,
  rowsOf,
  sourceIsland,
  totalOf,
  type FileTotal,
  type Source,
} from "../source/data";
import { LineDetail, Lines, SourceLegend } from "../source/lines";
import type { View, ViewProps } from "../view";

const id = "source";
const mostFiles = 300;

// "12 s, 3 breaks": what makes a file worth a look.
function totalWords(total: FileTotal): string {
  const words = [
    total.seconds > 0 ? seconds(total.seconds) : "",
    total.failed > 0 ? `${count(total.failed)} failed` : "",
    total.breaks > 0 ? counted(total.breaks, "break") : "",
    total.exports > 0 ? counted(total.exports, "issue of export", "issues of export") : "",
    total.recompiled > 0 ? counted(total.recompiled, "recompilation") : "",
    total.collectives > 0 ? counted(total.collectives, "collective") : "",
    total.findings > 0 ? counted(total.findings, "finding") : "",
  ].filter(Boolean);
  return words.slice(0, 4).join(", ") || counted(total.nodes, "node");
}

const nameOf = (path: string) => baseName(path) || path;

function useTotals(source: Source, job: number | null, findings: Finding[]): FileTotal[] {
  return useMemo(
    () =>
      source.files
        .filter((file) => job === null || file.job === job)
        .map((file) => totalOf(file, findings))
        .sort(
          (a, b) =>
            Number(b.file.user) - Number(a.file.user) ||
            b.findings - a.findings ||
            b.seconds - a.seconds,
        ),
    [source, job, findings],
  );
}

function FileList({ totals, current }: { totals: FileTotal[]; current: FileTotal }) {
  return (
    <ol class="file-list">
      {totals.slice(0, mostFiles).map((total) => (
        <li key={`${total.file.job} ${total.file.file}`} class={total.file.user ? "" : "library"}>
          <button
            class="plain"
            aria-pressed={total === current}
            onClick={() => setParams(id, { file: total.file.file, line: null })}
            title={total.file.file}
          >
            <bdi class="name">{nameOf(total.file.file)}</bdi>
            <bdi class="folder-of quiet">
              {total.file.file.slice(0, -nameOf(total.file.file).length)}
            </bdi>
            <span class="quiet">{totalWords(total)}</span>
          </button>
        </li>
      ))}
      {totals.length > mostFiles && (
        <li class="quiet">and {count(totals.length - mostFiles)} more files</li>
      )}
    </ol>
  );
}

// The compilations of the page, where there are any; they are read beside the lines.
function useCompilations(props: ViewProps) {
  const wanted = hasRows(props.run, ["compilation"]);
  const loaded = useOnce(wanted ? compileIsland : null);
  return wanted && loaded.state === "ready" ? loaded.value.rows("compilation") : [];
}

function chosenFile(totals: FileTotal[], route: Route): FileTotal | undefined {
  const wanted = route.params.get("file");
  if (wanted === null) return totals[0];
  return (
    totals.find((one) => one.file.file === wanted) ??
    totals.find((one) => isSameFile(one.file.file, wanted))
  );
}

function File({ total, props }: { total: FileTotal; props: ViewProps }) {
  const { route, run } = props;
  const { file } = total;
  const findings = useMemo(() => findingsOf(run.findings, file.file), [run.findings, file]);
  const wanted = Number(route.params.get("line") ?? "NaN");
  const selected = Number.isInteger(wanted) && wanted > 0 ? wanted : null;
  const rows = useMemo(
    () => rowsOf(file, [...findings.keys(), ...(selected === null ? [] : [selected])]),
    [file, findings, selected],
  );
  const compilations = useCompilations(props);
  const lines = rows.flatMap((row) => ("line" in row ? [row.line] : []));
  const at = lines.findIndex((line) => line.line === selected);
  const select = (line: number | null) =>
    setParams(id, { line }, true);
  useSteps("line", (by) => {
    const now = Number(param("line") ?? "NaN"); // keys may come faster than drawing
    const from = lines.findIndex((one) => one.line === now);
    const next = lines[Math.max(0, Math.min(lines.length - 1, from + by))];
    if (next) setParams(id, { file: file.file, line: next.line }, true);
  });
  const line = lines[at];
  return (
    <div class="source-file">
      <h2>
        <Path path={file.file} />
      </h2>
      <Lines rows={rows} findings={findings} selected={selected} onSelect={select} />
      <SourceLegend />
      {line ? (
        <LineDetail
          key={line.line}
          file={file.file}
          line={line}
          findings={findings.get(line.line) ?? []}
          compilations={compilations}
        />
      ) : (
        <p class="quiet">Select a line to see what points at it.</p>
      )}
    </div>
  );
}

function Content({ source, ...props }: ViewProps & { source: Source }) {
  const { run, route } = props;
  const filter = route.params.get("filter") ?? "";
  const all = useTotals(source, run.job, run.findings);
  const current = chosenFile(all, route);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const totals = all.filter((one) =>
    words.every((word) => one.file.file.toLowerCase().includes(word)),
  );
  if (all.length === 0) return <p class="empty">Nothing in this run points at a line of source.</p>;
  return (
    <div class="source-view">
      <div class="source-files">
        <AddressFilter view={id} label="Filter files" hint="part of a path" />
        {totals.length > 0 ? (
          <FileList totals={totals} current={current ?? (totals[0] as FileTotal)} />
        ) : (
          <p class="empty">No file matches.</p>
        )}
        {source.left_out > 0 && (
          <p class="quiet left-out">{counted(source.left_out, "line")} are not on this page.</p>
        )}
      </div>
      {current ? (
        <File key={current.file.file} total={current} props={props} />
      ) : (
        <p class="empty">
          Nothing is known about <code>{route.params.get("file")}</code>.
        </p>
      )}
    </div>
  );
}

export const view: View = {
  id,
  title: "Source",
  order: 45,
  needs: {
    tables: ["compile_entry", "comm_op"],
    missing:
      "Neither compile logs nor Flight Recorder dumps were found: they name lines of source.",
    record:
      "Start the job with TORCH_TRACE=DIR, or with TORCH_NCCL_TRACE_BUFFER_SIZE and TORCH_NCCL_DUMP_ON_TIMEOUT set.",
  },
  component: (props) => (
    <Load title="Source" once={sourceIsland}>
      {(source) => <Content {...props} source={source} />}
    </Load>
  ),
};
