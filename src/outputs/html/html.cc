// Output "html": the report as index.html, one file that opens by double-click and can be sent on.
#include <string>

#include "base/write_file.h"
#include "outputs/html/page.h"
#include "outputs/output.h"

namespace debrief::outputs::html {

namespace {

Status Write(const Model& model, const OutputContext& context) {
  if (context.folder.empty()) return {};
  return WriteFileAtomically(context.folder + "/index.html", MakePage(model));
}

}  // namespace

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "html",
               .sentence = "the report: one page that opens offline in any browser",
               .file = "index.html"},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::html
