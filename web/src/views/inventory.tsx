// What the job left behind: jobs, which rank left which kind of input, and every input.
import { useMemo } from "preact/hooks";
import { drawnColumn, jobName, numberColumn, textColumn } from "../parts/columns";
import { bytes, count, counted, inputKind, rankList, time } from "../parts/format";
import { AddressFilter, Section, shownOf, SortedTable, useFiltered } from "../parts/listing";
import { Path, StateMark } from "../parts/marks";
import type { Column } from "../parts/table";
import type { Input, Job, Run } from "../run/data";
import { Legend, Matrix } from "../run/matrix";
import { setParams, type Route } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "inventory";
const mostMatrices = 12; // with more jobs, the reader picks one

const jobColumns: Column<Job>[] = [
  textColumn("name", "job", 0, (job) => job.name || `job ${job.job}`, {
    definition: "Folder of the job, relative to the given path",
    opens: true,
  }),
  numberColumn("world_size", "started", 80, (job) => job.world_size, undefined,
    "Ranks the job was started with; empty when no input says so"),
  numberColumn("ranks", "seen", 80, (job) => job.ranks.length, undefined,
    "Ranks that left at least one input"),
  drawnColumn("missing", "left nothing", 180, (job) => missingRanks(job).length,
    (job) => rankList(missingRanks(job), 4), "Ranks that left no input"),
  numberColumn("attempts", "attempts", 90, (job) => job.attempts, undefined,
    "A restart makes a new attempt"),
  numberColumn("inputs", "inputs", 80, (job) => job.inputs),
];

function missingRanks(job: Job): number[] {
  const seen = new Set(job.ranks);
  const size = Math.min(job.world_size ?? 0, 100_000);
  return Array.from({ length: size }, (_, rank) => rank).filter((rank) => !seen.has(rank));
}

function Jobs({ whole, route }: { whole: Run; route: Route }) {
  if (whole.jobs.length < 2) return null;
  const chosen = route.params.get("job");
  return (
    <section aria-labelledby="jobs-title">
      <h2 id="jobs-title">
        Jobs <span class="quiet">{count(whole.jobs.length)}</span>
      </h2>
      <SortedTable
        view={id}
        by="jobs"
        label="Jobs"
        rows={whole.jobs}
        columns={jobColumns}
        id={(job) => String(job.job)}
        empty="No job was recognised."
        selected={chosen}
        onSelect={(job) => setParams(id, { job: job === chosen ? null : job, attempt: null })}
      />
    </section>
  );
}

function Attempts({ job, chosen }: { job: Job; chosen: string | null }) {
  if (job.attempts < 2) return null;
  return (
    <div class="choices" role="group" aria-label="Attempt">
      {[null, ...Array.from({ length: Math.min(job.attempts, 100) }, (_, i) => String(i))].map(
        (attempt) => (
          <button
            key={attempt}
            aria-pressed={attempt === chosen}
            onClick={() => setParams(id, { attempt, job: job.job })}
          >
            {attempt === null ? "all attempts" : `attempt ${attempt}`}
          </button>
        ),
      )}
    </div>
  );
}

function JobMatrix({ job, run, attempt }: { job: Job; run: Run; attempt: string | null }) {
  const inputs = useMemo(
    () =>
      run.inputs.filter(
        (input) => input.job === job.job && (attempt === null || String(input.attempt) === attempt),
      ),
    [run, job, attempt],
  );
  const missing = missingRanks(job);
  return (
    <section class="job" aria-label={`Job ${job.name || job.job}`}>
      <h2>
        {job.name || `Job ${job.job}`}{" "}
        <span class="quiet">
          {job.world_size === null
            ? counted(job.ranks.length, "rank")
            : `${count(job.ranks.length)} of ${counted(job.world_size, "rank")}`}
          , {counted(job.inputs, "input")}
          {job.attempts > 1 && `, ${job.attempts} attempts`}
        </span>
      </h2>
      {missing.length > 0 && <p class="holes">Ranks that left nothing: {rankList(missing)}</p>}
      <Attempts job={job} chosen={attempt} />
      <Matrix
        job={job}
        inputs={inputs}
        pick={(filter) => setParams(id, { filter, job: job.job })}
      />
    </section>
  );
}

function inputColumns(run: Run): Column<Input>[] {
  const some = (has: (input: Input) => boolean) => run.inputs.some(has);
  const columns: [isShown: boolean, Column<Input>][] = [
    [true, textColumn("path", "path", 0, (input) => input.path, {
      definition: "Where it lies; a member of an archive is archive!member",
      cell: (input) => <Path path={input.path} />,
    })],
    [true, textColumn("kind", "kind", 170, (input) => input.kind, {
      definition: "Format, by the importer that takes it",
      cell: (input) => inputKind(input.kind),
    })],
    [true, textColumn("state", "state", 110, (input) => input.state, {
      definition: "imported; recognised: no reader in this version; skipped; failed",
      cell: (input) => <StateMark state={input.state} />,
    })],
    [run.jobs.length > 1, textColumn("job", "job", 135, (input) =>
      run.jobs.some((job) => job.job === input.job) ? jobName(run, input.job) : null)],
    [run.jobs.some((job) => job.attempts > 1), numberColumn("attempt", "attempt", 80, (input) => input.attempt)],
    [true, numberColumn("rank", "rank", 70, (input) => input.rank, undefined,
      "Empty when it belongs to no rank")],
    [true, numberColumn("bytes", "size", 85, (input) => input.bytes, bytes, "As it lies there")],
    [some((input) => input.content_bytes !== null),
      numberColumn("content", "unpacked", 90, (input) => input.content_bytes, bytes, "After decompression")],
    [true, numberColumn("rows", "rows", 85, (input) => input.rows, undefined, "Rows it gave to all tables")],
    [some((input) => input.start_ns !== null), drawnColumn("start", "start (UTC)", 160, (input) => input.start_ns,
      (input) => <span title={time(input.start_ns)}>{time(input.start_ns).slice(0, 19)}</span>,
      "When it begins")],
  ];
  return columns.flatMap(([isShown, column]) => (isShown ? [column] : []));
}

const inputFields = {
  rank: (input: Input) => input.rank,
  kind: (input: Input) => input.kind,
  state: (input: Input) => input.state,
  attempt: (input: Input) => input.attempt,
  job: (input: Input) => input.job,
};

const inputWords = (input: Input) => `${input.path} ${inputKind(input.kind)} ${input.state}`;

function Inputs({ run }: { run: Run }) {
  const columns = useMemo(() => inputColumns(run), [run]);
  const rows = useFiltered(run.inputs, inputFields, inputWords);
  return (
    <Section
      title="Inputs"
      number={shownOf(rows, run.inputs)}
      side={
        <AddressFilter view={id} label="Filter inputs" hint="path, rank:5, kind:text, state:failed" />
      }
    >
      <SortedTable
        view={id}
        label="Inputs"
        rows={rows}
        columns={columns}
        id={(input) => String(input.input)}
        empty={
          run.inputs.length === 0
            ? "No inputs were found under the given paths."
            : "No input matches the filter."
        }
      />
    </Section>
  );
}

function Inventory({ run, whole, route }: ViewProps) {
  const attempt = route.params.get("attempt");
  const shown = run.jobs.length <= mostMatrices ? run.jobs : [];
  return (
    <>
      <h1>Inventory</h1>
      <Jobs whole={whole} route={route} />
      {shown.length < run.jobs.length && (
        <p class="empty">Choose a job to see which rank left what.</p>
      )}
      {shown.map((job) => (
        <JobMatrix
          key={job.job}
          job={job}
          run={run}
          attempt={run.jobs.length === 1 ? attempt : null}
        />
      ))}
      {shown.length > 0 && <Legend />}
      <Inputs run={run} />
    </>
  );
}

export const view: View = { id, title: "Inventory", section: "Inputs", order: 80, component: Inventory };
