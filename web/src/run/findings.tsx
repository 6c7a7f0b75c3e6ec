// Findings as a list that unfolds: each with what it blames, rests on and explains. One is open at a time;
// which one, and whose consequences are shown, is in the address (?finding=f2&more=f1,f2).
import { useEffect, useMemo } from "preact/hooks";
import { countAll, pathTo, type Finding, type FindingNode, type Run, hasRows } from "./data";
import { EvidenceList } from "./evidence";
import { count, counted, rankList, ranksInWords } from "../parts/format";
import { useKeys } from "../shell/keys";
import { Chip, RankStrip, SeverityMark, stripSize } from "../parts/marks";
import { setParams, to, type Route } from "../shell/route";

const mostShown = 201; // findings shown before "show all", with the one at the top

// "high (90 %)": the word first; the bounds are those of outputs/finding_markdown.cc.
export function confidenceText(confidence: number | null): string {
  if (confidence === null) return "";
  const word = confidence >= 0.85 ? "high" : confidence >= 0.6 ? "medium" : "low";
  return `${word} (${Math.round(confidence * 100)} %)`;
}

// Who and what a finding is about; where the run has matched collectives, a link leads to its group.
export function Blame({ finding, run }: { finding: Finding; run: Run }) {
  const job = run.jobs.find((one) => one.job === finding.job);
  const { ranks, groups, op, seq, compile_ids: compileIds, source } = finding;
  const hasGrid = groups.length > 0 && seq !== null && hasRows(run, ["comm_match"]);
  const rank = ranks.length === 1 ? ` rank:${ranks[0]}` : "";
  const hasCompilations = hasRows(run, ["compilation"]);
  const hasSource = hasRows(run, ["compile_entry", "comm_op"]);
  return (
    <div class="blame">
      {ranks.length > 0 &&
        (stripSize(job) > 0 ? (
          <RankStrip finding={finding} size={stripSize(job)} />
        ) : (
          <Chip>{ranksInWords(ranks)}</Chip>
        ))}
      {groups.slice(0, 6).map((group) => (
        <Chip
          key={group.name}
          label="group"
          to={hasGrid ? to("flight", { finding: finding.id, group: group.name, seq }) : undefined}
          title={`Process group ${group.name}: ranks ${rankList(group.ranks, 100)}`}
        >
          {group.desc || group.name} <span class="quiet">ranks {rankList(group.ranks, 6)}</span>
        </Chip>
      ))}
      {groups.length > 6 && <Chip>and {count(groups.length - 6)} more groups</Chip>}
      {op && (
        <Chip label="op">
          <code>{op}</code>
        </Chip>
      )}
      {seq !== null && (
        <Chip label="seq" title="Sequence number in its group">
          {count(seq)}
        </Chip>
      )}
      {compileIds.slice(0, 6).map((one) => (
        <Chip
          key={one}
          label="compile id"
          to={hasCompilations ? to("compile", { filter: `id:${one}${rank}` }) : undefined}
        >
          <code>{one}</code>
        </Chip>
      ))}
      {source.slice(0, 6).map((line, i) => (
        <Chip
          key={i}
          label={line.rank === null ? "line" : `rank ${line.rank} at`}
          to={hasSource ? to("source", { file: line.file, line: line.line }) : undefined}
        >
          <code>
            {line.file}
            {line.line === null ? "" : `:${line.line}`}
          </code>
        </Chip>
      ))}
      {source.length > 6 && <Chip>and {count(source.length - 6)} more lines</Chip>}
      {hasGrid && (
        <a
          class="to-grid"
          href={to("flight", { finding: finding.id, seq, rank: ranks[0] })}
        >
          Show in the grid
        </a>
      )}
    </div>
  );
}

function Origin({ finding, run }: { finding: Finding; run: Run }) {
  const job = run.jobs.find((one) => one.job === finding.job);
  return (
    <p class="quiet">
      Rule <code>{finding.rule}</code>, {finding.role}
      {job && <>, job {job.name || job.job}</>}
      {finding.attempt !== null && <>, attempt {finding.attempt}</>}
    </p>
  );
}

function Details({ finding, run }: { finding: Finding; run: Run }) {
  return (
    <div class="details">
      <Blame finding={finding} run={run} />
      {finding.evidence.length > 0 && <h3>Evidence</h3>}
      <EvidenceList finding={finding} run={run} />
      {finding.why && (
        <>
          <h3>
            Why we believe it <span class="quiet">{confidenceText(finding.confidence)}</span>
          </h3>
          <p>{finding.why}</p>
        </>
      )}
      {finding.next_step && (
        <>
          <h3>Next step</h3>
          <p>{finding.next_step}</p>
        </>
      )}
      <Origin finding={finding} run={run} />
    </div>
  );
}

interface ItemProps {
  view: string;
  node: FindingNode;
  open: string[]; // ids from a root to the open finding
  unfolded: string[]; // ids whose consequences are shown
  run: Run;
}

function toggled(list: string[], one: string): string {
  return (list.includes(one) ? list.filter((other) => other !== one) : [...list, one]).join(",");
}

function Consequences(props: ItemProps) {
  const { view, open, unfolded } = props;
  const { finding, children } = props.node;
  if (children.length === 0) return null;
  const inside = open.length > 1 && open[0] === finding.id;
  const shown = inside || unfolded.includes(finding.id);
  const toggle = () =>
    setParams(view, {
      more: toggled(unfolded, finding.id),
      finding: inside ? finding.id : (open[0] ?? null),
    });
  return (
    <div class="consequences">
      <button class="plain fold" aria-expanded={shown} onClick={toggle}>
        <span class="arrow" aria-hidden="true" />
        {counted(countAll(children), "consequence")}
      </button>
      {shown && (
        <ol>
          {children.map((child) => (
            <Item
              {...props}
              key={child.finding.id}
              node={child}
              open={inside ? open.slice(1) : []}
            />
          ))}
        </ol>
      )}
    </div>
  );
}

function Item(props: ItemProps) {
  const { view, open, run } = props;
  const { finding } = props.node;
  const isOpen = open.length === 1 && open[0] === finding.id;
  const job = run.jobs.find((one) => one.job === finding.job);
  return (
    <li id={`finding-${finding.id}`} class={`finding ${finding.severity}${isOpen ? " open" : ""}`}>
      <h3>
        <button
          class="plain fold"
          aria-expanded={isOpen}
          onClick={() => setParams(view, { finding: isOpen ? "none" : finding.id })}
        >
          <SeverityMark severity={finding.severity} word={false} />
          <span class="headline">{finding.headline}</span>
          {run.jobs.length > 1 && job && <span class="quiet">{job.name}</span>}
          {finding.ranks.length > 0 && (
            <span class="quiet ranks">{ranksInWords(finding.ranks)}</span>
          )}
        </button>
      </h3>
      {isOpen && <Details finding={finding} run={run} />}
      <Consequences {...props} />
    </li>
  );
}

interface FindingsProps {
  view: string; // whose address holds what is open
  run: Run;
  forest: FindingNode[];
  route: Route;
}

export function Findings({ view, run, forest, route }: FindingsProps) {
  const first = forest[0]?.finding.id ?? "";
  const selected = route.params.get("finding") ?? first;
  const open = useMemo(() => pathTo(forest, selected), [forest, selected]);
  const unfolded = (route.params.get("more") ?? "").split(",").filter(Boolean);
  const at = forest.findIndex((node) => node.finding.id === open[0]);
  const all = route.params.get("all") === "1" || at >= mostShown;
  const shown = all ? forest : forest.slice(0, mostShown);

  const move = (by: number) => {
    const next = forest[Math.max(0, Math.min(forest.length - 1, at + by))];
    if (next) setParams(view, { finding: next.finding.id }, true);
  };
  useKeys([
    { key: "j", does: "Next finding", act: () => move(1) },
    { key: "k", does: "Previous finding", act: () => move(-1) },
  ]);
  useEffect(() => {
    const wanted = route.params.get("finding");
    if (wanted) document.getElementById(`finding-${wanted}`)?.scrollIntoView({ block: "nearest" });
  }, [selected]);

  const item = (node: FindingNode) => ({
    view,
    node,
    open: open[0] === node.finding.id ? open : [],
    unfolded,
    run,
  });
  const [hero, ...others] = shown;
  return (
    <>
      {hero && <Grounds {...item(hero)} />}
      {others.length > 0 && (
        <section aria-labelledby="findings-title">
          <h2 id="findings-title">
            Other findings <span class="quiet">{count(forest.length - 1)}</span>
          </h2>
          <ol class="findings">
            {others.map((node) => (
              <Item key={node.finding.id} {...item(node)} />
            ))}
          </ol>
          {shown.length < forest.length && (
            <button onClick={() => setParams(view, { all: "1" })}>
              Show all {count(forest.length - 1)}
            </button>
          )}
        </section>
      )}
    </>
  );
}

// What the finding at the top of the page rests on, and what follows from it, folded.
function Grounds(props: ItemProps) {
  const { finding } = props.node;
  return (
    <section id={`finding-${finding.id}`} class="grounds" aria-labelledby="evidence-title">
      <h2 id="evidence-title">Evidence</h2>
      {finding.evidence.length === 0 && <p class="empty">The analysis names no rows.</p>}
      <EvidenceList finding={finding} run={props.run} />
      <Consequences {...props} />
      <Origin finding={finding} run={props.run} />
    </section>
  );
}
