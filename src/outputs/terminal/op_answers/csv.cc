// Ops by name as CSV: all rows, exact.
#include <fmt/format.h>

#include "base/text/escape.h"
#include "outputs/terminal/op_answers/answers.h"

namespace debrief::outputs::op_answers {

void WriteCsv(const OpAnswers& answers, TextSink& out) {
  out.Write("operation,count,duration_ns,self_ns,mean_ns,p50_ns,p99_ns,longest_ns,bytes\n");
  std::string line;
  for (const op_trace::OpSummary& op : answers.ops) {
    line.clear();
    AppendCsv(line, op.operation);
    line += fmt::format(",{},{},{},{},{},{},{},{}\n", op.count, op.duration_ns, op.self_ns,
                        op.mean_ns, op.p50_ns, op.p99_ns, op.longest_ns, op.bytes);
    out.Write(line);
  }
}

}  // namespace debrief::outputs::op_answers
