// All sheets as a file of a report: `debrief PATH --with profile_sheets`.
#include "outputs/output.h"

#include "base/bytes/write_file.h"
#include "outputs/string_sink.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

Status Write(const Model& model, const OutputContext& context) {
  StringSink text;
  std::string_view last;
  for (const Sheet& sheet : AllSheets()) {
    if (sheet.subcommand == last) continue;
    last = sheet.subcommand;
    WriteText(model, last, {.width = 160}, text);
  }
  return WriteFileAtomically(context.folder + "/profile_sheets.txt", text.text());
}

}  // namespace

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "profile_sheets",
               .sentence =
                   "what the profiles tell, as text: breakdown, idle time, kernels, ops, ...",
               .file = "profile_sheets.txt",
               .on_request = true},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::profile_sheets
