// Statements to begin with. Every report has these tables, if only without rows.
interface Example {
  title: string;
  sql: string;
}

export const examples: Example[] = [
  {
    title: "Ranks and what they left",
    sql: `SELECT rank, count(*) AS inputs, string_agg(DISTINCT kind, ', ' ORDER BY kind) AS kinds,
       sum(bytes) AS bytes, sum(rows) AS rows
FROM input
GROUP BY rank
ORDER BY rank`,
  },
  {
    title: "Findings",
    sql: `SELECT finding, severity, role, ranks, headline, explained_by
FROM finding
ORDER BY length(finding), finding`,
  },
  {
    title: "Slowest compilations",
    sql: `SELECT rank, compile_id, function, file, line, outcome, round(seconds, 3) AS seconds,
       restarts, guards
FROM compilation
ORDER BY seconds DESC NULLS LAST`,
  },
  {
    title: "Kernels by time",
    sql: `SELECT name, device_class, count(DISTINCT rank) AS ranks, sum(count) AS calls,
       round(sum(total_ns) / 1e6, 3) AS total_ms, round(max(max_ns) / 1e3, 1) AS longest_us
FROM profile_kernel
WHERE definition = 'debrief'
GROUP BY name, device_class
ORDER BY total_ms DESC`,
  },
  {
    title: "What was wrong in the inputs",
    sql: `SELECT severity, name, count(*) AS inputs, sum(count) AS times,
       any_value(path) AS for_example, any_value(remedy) AS remedy
FROM diagnostic
GROUP BY severity, name
ORDER BY severity, times DESC`,
  },
];
