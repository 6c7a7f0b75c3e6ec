// What the job left behind: jobs, which rank left which kind of input, and every input.
import { useMemo } from "preact/hooks";
import type { Input, Job, Run } from "../run/data";
import { matcher } from "../parts/filter";
import { bytes, count, counted, rankList, time, words } from "../parts/format";
import { Legend, Matrix } from "../run/matrix";
import { Filter, Path, StateMark } from "../parts/marks";
import { setParams, type Route } from "../shell/route";
import { Table, type Column } from "../parts/table";
import type { View, ViewProps } from "../view";

const id = "inventory";
const mostMatrices = 12; // with more jobs, the reader picks one

function jobName(run: Run, job: number | null): string {
  const found = run.jobs.find((one) => one.job === job);
  return found ? found.name || `job ${found.job}` : "";
}

const jobColumns: Column<Job>[] = [
  {
    id: "name",
    title: "job",
    width: 0,
    definition: "Folder of the job, relative to the given path",
    opens: true,
    value: (job) => job.name || `job ${job.job}`,
  },
  {
    id: "world_size",
    title: "started",
    width: 80,
    number: true,
    definition: "Ranks the job was started with; empty when no input tells",
    value: (job) => job.world_size,
  },
  {
    id: "ranks",
    title: "seen",
    width: 80,
    number: true,
    definition: "Ranks that left at least one input",
    value: (job) => job.ranks.length,
  },
  {
    id: "missing",
    title: "left nothing",
    width: 180,
    definition: "Ranks that left no input",
    value: (job) => missingRanks(job).length,
    cell: (job) => rankList(missingRanks(job), 4),
  },
  {
    id: "attempts",
    title: "attempts",
    width: 90,
    number: true,
    definition: "A restart makes a new attempt",
    value: (job) => job.attempts,
  },
  { id: "inputs", title: "inputs", width: 80, number: true, value: (job) => job.inputs },
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
      <Table
        label="Jobs"
        rows={whole.jobs}
        columns={jobColumns}
        id={(job) => String(job.job)}
        empty="No job was told apart."
        sort={route.params.get("jobs")}
        onSort={(sort) => setParams(id, { jobs: sort }, true)}
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
            onClick={() => setParams(id, { attempt, job: String(job.job) })}
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
        pick={(filter) => setParams(id, { filter, job: String(job.job) })}
      />
    </section>
  );
}

function inputColumns(run: Run): Column<Input>[] {
  const columns: (Column<Input> | false)[] = [
    {
      id: "path",
      title: "path",
      width: 0,
      definition: "Where it lies; a member of an archive is archive!member",
      value: (input) => input.path,
      cell: (input) => <Path path={input.path} />,
    },
    {
      id: "kind",
      title: "kind",
      width: 135,
      definition: "Format, by the importer that takes it",
      value: (input) => input.kind,
      cell: (input) => words(input.kind),
    },
    {
      id: "state",
      title: "state",
      width: 110,
      value: (input) => input.state,
      cell: (input) => <StateMark state={input.state} />,
      definition: "imported; recognised: no reader in this version; skipped; failed",
    },
    run.jobs.length > 1 && {
      id: "job",
      title: "job",
      width: 135,
      value: (input: Input) => jobName(run, input.job) || null,
    },
    run.jobs.some((job) => job.attempts > 1) && {
      id: "attempt",
      title: "attempt",
      width: 80,
      number: true,
      value: (input: Input) => input.attempt,
    },
    {
      id: "rank",
      title: "rank",
      width: 60,
      number: true,
      definition: "Empty when it belongs to no rank",
      value: (input) => input.rank,
    },
    {
      id: "bytes",
      title: "size",
      width: 85,
      number: true,
      definition: "As it lies there",
      value: (input) => input.bytes,
      cell: (input) => bytes(input.bytes),
    },
    run.inputs.some((input) => input.content_bytes !== null) && {
      id: "content",
      title: "unpacked",
      width: 90,
      number: true,
      definition: "After decompression",
      value: (input: Input) => input.content_bytes,
      cell: (input: Input) => bytes(input.content_bytes),
    },
    {
      id: "rows",
      title: "rows",
      width: 85,
      number: true,
      definition: "Rows it gave to all tables",
      value: (input) => input.rows,
    },
    run.inputs.some((input) => input.start_ns !== null) && {
      id: "start",
      title: "start (UTC)",
      width: 160,
      definition: "When it begins",
      value: (input: Input) => input.start_ns,
      cell: (input: Input) => (
        <span title={time(input.start_ns)}>{time(input.start_ns).slice(0, 19)}</span>
      ),
    },
  ];
  return columns.filter((column): column is Column<Input> => column !== false);
}

const inputFields = {
  rank: (input: Input) => input.rank,
  kind: (input: Input) => input.kind,
  state: (input: Input) => input.state,
  attempt: (input: Input) => input.attempt,
  job: (input: Input) => input.job,
};

function Inputs({ run, route }: { run: Run; route: Route }) {
  const filter = route.params.get("filter") ?? "";
  const columns = useMemo(() => inputColumns(run), [run]);
  const rows = useMemo(() => {
    if (!filter.trim()) return run.inputs;
    return run.inputs.filter(
      matcher(filter, inputFields, (input) => `${input.path} ${words(input.kind)} ${input.state}`),
    );
  }, [run, filter]);
  return (
    <section aria-labelledby="inputs-title">
      <div class="section-head">
        <h2 id="inputs-title">
          Inputs{" "}
          <span class="quiet" role="status">
            {rows.length < run.inputs.length
              ? `${count(rows.length)} of ${count(run.inputs.length)}`
              : count(rows.length)}
          </span>
        </h2>
        <Filter
          value={filter}
          label="Filter inputs"
          hint="path, rank:5, kind:text, state:failed"
          onInput={(text) => setParams(id, { filter: text || null }, true)}
        />
      </div>
      <Table
        label="Inputs"
        rows={rows}
        columns={columns}
        id={(input) => String(input.input)}
        sort={route.params.get("sort")}
        onSort={(sort) => setParams(id, { sort }, true)}
        empty={
          run.inputs.length === 0
            ? "No inputs were found under the given paths."
            : "No input matches the filter."
        }
      />
    </section>
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
      <Inputs run={run} route={route} />
    </>
  );
}

export const view: View = { id, title: "Inventory", section: "Inputs", order: 80, component: Inventory };
