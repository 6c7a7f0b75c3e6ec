// Output "collapsed": where the time of threads and streams went, as collapsed stacks for
// flamegraph.pl, speedscope and inferno.
#include "base/bytes/output_file.h"
#include "outputs/output.h"
#include "outputs/stack_tree.h"
#include "outputs/timeline_merge.h"

namespace debrief::outputs::collapsed {

namespace {

constexpr std::string_view kFile = "timeline.collapsed";

Status Write(const Model& model, const OutputContext& context) {
  const std::string path = PathOf(context, kFile);
  if (path.empty()) return {};
  const Frames frames = context.frames == "python" ? Frames::kPython
                        : context.frames == "host" ? Frames::kHost
                                                   : Frames::kAll;
  StackTree tree(model.pools);
  const auto timelines = timeline::Timelines(model);
  for (const timeline::TimelineView& view : timelines)
    tree.Add(view, timelines.size() > 1 ? RankName(view.who) : "", frames);
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  TRY(tree.Write([&](std::string_view line) { return file.Append(line); }));
  return file.Finish();
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"collapsed",
       "where the time of threads and streams went, as collapsed stacks for flame graphs", kFile,
       kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::collapsed
