// Output "flight_timeline": the Flight Recorder dumps as Trace Event JSON, for chrome://tracing and
// ui.perfetto.dev. docs/formats/flight_timeline.md
//
// The file is about 400 bytes an op and grows in pieces: it is larger than the model and must not
// be held beside it.
#include "outputs/exports/flight_timeline/events.h"
#include "outputs/exports/flight_timeline/layout.h"
#include "outputs/output.h"

namespace debrief::outputs::flight_timeline {

namespace {

constexpr std::string_view kFile = "flight_timeline.json";

Status Write(const Model& model, const OutputContext& context) {
  if (context.folder.empty() && context.file.empty()) return {};
  const Layout layout = MakeLayout(model);
  std::string path =
      context.file.empty() ? context.folder + "/" + std::string(kFile) : context.file;
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
  TRY(WriteEvents(model, layout, file));
  return file.Finish();
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      .info = {.name = "flight_timeline",
               .sentence = "collectives of all ranks as Chrome Trace Event JSON, an arrow a match",
               .file = kFile,
               .on_request = true},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::flight_timeline
