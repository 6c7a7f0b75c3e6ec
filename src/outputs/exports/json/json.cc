// findings.json: the run for scripts. docs/formats/findings_json.md
#include "base/bytes/write_file.h"
#include "outputs/output.h"
#include "outputs/run_json.h"

namespace debrief::outputs::json {

namespace {

Status Write(const Model& model, const OutputContext& context) {
  return WriteFileAtomically(context.folder + "/findings.json", RunJson(model, 1));
}

}  // namespace

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "json",
               .sentence = "findings, diagnostics and inputs as JSON, for scripts",
               .file = "findings.json"},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::json
