// findings.json: the run for scripts. docs/formats/findings_json.md
#include "base/bytes/growing_file.h"
#include "outputs/output.h"
#include "outputs/run_json.h"

namespace debrief::outputs::json {

namespace {

Status Write(const Model& model, const OutputContext& context) {
  return WriteFileAtomically(context.folder + "/findings.json", RunJson(model, 1));
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"json", "findings, diagnostics and inputs as JSON, for scripts", "findings.json"}, Write};
  return kOutput;
}

}  // namespace debrief::outputs::json
