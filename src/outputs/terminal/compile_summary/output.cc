// The summary as a file of a report: `debrief PATH --with compile_summary`.
#include "outputs/output.h"

#include "base/bytes/write_file.h"
#include "outputs/terminal/compile_summary/summary.h"

namespace debrief::outputs::compile_summary {

namespace {

Status Write(const Model& model, const OutputContext& context) {
  return WriteFileAtomically(context.folder + "/compile_summary.txt",
                             SummaryText(model, {.width = 120, .rows = 1000, .compile_id = {}}));
}

}  // namespace

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "compile_summary",
               .sentence = "what the compile logs tell, as text: recompiles, breaks, time, caches",
               .file = "compile_summary.txt",
               .on_request = true},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::compile_summary
