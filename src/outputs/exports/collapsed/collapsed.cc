// Output "collapsed": where the time of threads and streams went, as collapsed stacks for
// flamegraph.pl, speedscope and inferno.
#include <fmt/format.h>

#include "base/bytes/output_file.h"
#include "outputs/output.h"
#include "outputs/stack_tree.h"

namespace debrief::outputs::collapsed {

namespace {

constexpr std::string_view kFile = "timeline.collapsed";

std::string RankName(const Identity& who) {
  return who.rank == kNone32 ? fmt::format("input {}", who.input)
                             : fmt::format("rank {}", who.rank);
}

Status Write(const Model& model, const OutputContext& context) {
  if (context.folder.empty() && context.file.empty()) return {};
  const Frames frames = context.frames == "python" ? Frames::kPython
                        : context.frames == "host" ? Frames::kHost
                                                   : Frames::kAll;
  StackTree tree(model.pools);
  const auto timelines = timeline::Timelines(model);
  for (const timeline::TimelineView& view : timelines)
    tree.Add(view, timelines.size() > 1 ? RankName(view.who) : "", frames);
  const std::string path =
      context.file.empty() ? fmt::format("{}/{}", context.folder, kFile) : context.file;
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  TRY(tree.Write([&](std::string_view line) { return file.Append(line); }));
  return file.Finish();
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      .info = {.name = "collapsed",
               .sentence = "where the time of threads and streams went, as collapsed stacks for "
                           "flame graphs",
               .file = kFile,
               .on_request = true},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::collapsed
