// The answer on a terminal: findings first, then what they rest on.
//
//   <headline of the most important finding>
//   ... other findings, each with its next step; of several jobs a section each, the worst first
//   Jobs: what was found, by job and kind
//   Trouble: diagnostics, most serious first
//   Not analysed: which analyses lacked data
//
// A screen is short: long lists are cut with a line that says how to see the rest.
#include "outputs/output.h"
#include "outputs/terminal/console/sections.h"

namespace debrief::outputs::console {

namespace {

Status Write(const Model& model, const OutputContext& context) {
  Paper paper(*context.text, context.width, context.colour);
  WriteFindings(model, context.findings_of, paper);
  if (context.findings_of.empty()) WriteJobs(model, paper);
  WriteDiagnostics(model, paper);
  if (context.findings_of.empty()) WriteNotRun(model, paper);
  return {};
}

}  // namespace

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "console",
               .sentence = "the verdict, inputs and diagnostics as text on the terminal",
               .file = ""},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::console
