#include "inputs/records/job_statements.h"

#include "tables/process_exit.h"
#include "tables/text_event.h"

namespace debrief::inputs {

void AddStatement(const Identity& who, const JobStatement& statement, Part& part) {
  Identity job = who;
  job.rank = kNone32;
  const StringId text = part.pools.Intern(statement.text);
  auto event = Part::RowOf<TextEventRow>(job);
  event.line = statement.line;
  event.time_ns = statement.time_ns;
  event.kind = part.pools.Intern(statement.kind);
  event.exit_code = statement.exit_code;
  event.text = text;
  event.times = 1;
  part.tables.Edit<TextEventTable>().Add(event);
  if (statement.exit_code == kNone32) return;
  auto exit = Part::RowOf<ProcessExitRow>(job);
  exit.line = statement.line;
  exit.time_ns = statement.time_ns;
  if (!statement.host.empty()) exit.host = part.pools.Intern(statement.host);
  exit.pid = statement.pid;
  exit.exit_code = statement.exit_code;
  exit.said_by = part.pools.Intern(statement.said_by);
  exit.how = part.pools.Intern("own");
  exit.text = text;
  part.tables.Edit<ProcessExitTable>().Add(exit);
}

}  // namespace debrief::inputs
