// Output "perfetto": the timelines of a run as one Perfetto trace, for ui.perfetto.dev.
//
// Cost: 40 bytes and a begin and an end packet for each slice, more with details; streamed, so that
// memory is that of the names.
#include <fmt/format.h>

#include "outputs/exports/perfetto/timeline_packets.h"
#include "outputs/output.h"

namespace debrief::outputs::perfetto {

namespace {

constexpr std::string_view kFile = "timeline.pftrace";

Status Write(const Model& model, const OutputContext& context) {
  if (context.folder.empty() && context.file.empty()) return {};
  const std::string path =
      context.file.empty() ? fmt::format("{}/{}", context.folder, kFile) : context.file;
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  PacketWriter writer(model.pools, file);
  TraceNumbers numbers;
  const std::vector<MergedTimeline> merged = MergeTimelines(model);
  for (const MergedTimeline& timeline : merged)
    TRY(TimelinePackets(timeline, numbers, writer).Write());
  return file.Finish();
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      .info = {.name = "perfetto",
               .sentence = "the timelines of the run on one clock as a Perfetto trace, for "
                           "ui.perfetto.dev",
               .file = kFile,
               .on_request = true},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::perfetto
