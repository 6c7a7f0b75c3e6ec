// Ranks side by side: who is waited for and why, and how much communication hides behind computation.
import { useMemo } from "preact/hooks";
import { numberColumn, Rows, Section } from "../compile/parts";
import { count } from "../parts/format";
import type { Column } from "../parts/table";
import type { Run } from "../run/data";
import { href, type Route } from "../shell/route";
import type { Overlap, Profile, RankRow, Timeline } from "./data";
import { columnsOf, LeftOut, ShareBar, shareText, showTime, timelineColumns } from "./parts";

// What the parts of the view get.
export interface PartProps {
  run: Run;
  profile: Profile;
  route: Route;
  timelines: Timeline[];
  current: Timeline | null;
}

export function OverlapTable({ run, profile, timelines }: PartProps) {
  const rows = useMemo(
    () =>
      profile
        .rows("profile_overlap")
        .filter((row) => row.scope === "all" && (row.communication_ns ?? 0) > 0)
        .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)),
    [profile],
  );
  const columns = useMemo((): Column<Overlap>[] => {
    const of = columnsOf("profile_overlap");
    return [
      ...timelineColumns<Overlap>(run, timelines),
      {
        id: "overlap_pct",
        title: "hidden",
        width: 0,
        number: true,
        definition: "Of the time in which something communicates, the part in which something computes too",
        value: (row) => row.overlap_pct ?? null,
        cell: (row) => (
          <ShareBar
            value={row.overlap_pct ?? 0}
            most={100}
            text={shareText((row.overlap_pct ?? 0) / 100)}
          />
        ),
      },
      of.time("communication_ns", "communication", 130),
      of.time("overlap_ns", "both at once", 120),
      of.time("computation_ns", "computation", 120),
    ];
  }, [run, timelines]);
  if (rows.length === 0) return null;
  return (
    <Section title="Communication hidden behind computation">
      <Rows label="Overlap" rows={rows} columns={columns} empty="" />
      <LeftOut profile={profile} names={["profile_overlap"]} />
    </Section>
  );
}

const reasons: Record<string, string> = {
  host: "its host",
  gpu: "its GPU",
  data: "its data loading",
  unknown: "not known",
};

function rankColumns(run: Run, timelines: Timeline[], job: string | null): Column<RankRow>[] {
  const of = columnsOf("profile_rank");
  const lost = (row: RankRow) => (row.own_delay_ns ?? 0) / Math.max(1, row.windows ?? 1);
  const finding = (row: RankRow) =>
    run.findings.find(
      (one) =>
        one.rule === "profile.straggler" &&
        one.ranks.includes(row.rank ?? -1) &&
        (one.job === null || one.job === row.job),
    );
  return [
    ...timelineColumns<RankRow>(run, timelines),
    of.time("step_ns", "step", 84),
    of.time("compute_ns", "compute", 84),
    of.time("communication_ns", "communication", 120),
    of.time("idle_ns", "idle", 84),
    of.time("host_own_ns", "host", 84),
    of.time("data_loading_ns", "data", 76),
    of.count("times_last", "came last", 100, {
      cell: (row) => (
        <>
          {count(row.times_last ?? 0)}{" "}
          <span class="share-text">of {count(row.collectives ?? 0)}</span>
        </>
      ),
    }),
    numberColumn("lost", "lost a step", 100, lost, showTime, {
      definition:
        "How late it came where it came last, without what it inherited from the collective before, divided by its steps",
    }),
    of.time("caused_wait_ns", "others wait", 96),
    {
      id: "reason",
      title: "because of",
      width: 0,
      definition: "Of a rank that the others wait for again and again: what takes longer on it",
      value: (row) => (row.straggler ? (row.reason ?? "unknown") : null),
      cell: (row) => {
        if (!row.straggler) return "";
        const one = finding(row);
        const words = <span class="reason-mark">{reasons[row.reason ?? ""] ?? row.reason}</span>;
        return one ? (
          <>
            {words} <a href={href("verdict", { job, finding: one.id })}>finding</a>
          </>
        ) : (
          words
        );
      },
    },
  ];
}

export function Waited({ run, profile, route, timelines }: PartProps) {
  const rows = useMemo(
    () => [...profile.rows("profile_rank")].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)),
    [profile],
  );
  const job = route.params.get("job");
  const columns = useMemo(() => rankColumns(run, timelines, job), [run, timelines, job]);
  if (rows.length < 2) return null;
  const late = rows.filter((row) => row.straggler);
  return (
    <Section title="Who is waited for">
      <p class="quiet">
        {late.length === 0
          ? "No rank makes the others wait again and again. Times are medians over steps."
          : "Times are medians over steps."}
      </p>
      <Rows label="Ranks side by side" rows={rows} columns={columns} empty="" />
      <LeftOut profile={profile} names={["profile_rank"]} />
    </Section>
  );
}
