// Output "compile_flame": flame graphs of where in the program compile time comes from, and the
// tree of stacks for graphviz.
//
// The files are small: a line for each compilation, a few bytes for each of its frames.
#include "base/bytes/growing_file.h"
#include "outputs/compile_stacks.h"
#include "outputs/output.h"

namespace debrief::outputs::compile_flame {

namespace {

constexpr std::string_view kFile = "compile_flame.speedscope.json";

Status Write(const Model& model, const OutputContext& context) {
  if (!context.file.empty())
    return WriteFileAtomically(context.file, Speedscope(model, MakeSamples(model)));
  if (context.folder.empty()) return {};
  const std::vector<Sample> samples = MakeSamples(model);
  TRY(WriteFileAtomically(context.folder + "/compile_flame.collapsed", Collapsed(model, samples)));
  TRY(WriteFileAtomically(context.folder + "/" + std::string(kFile), Speedscope(model, samples)));
  return WriteFileAtomically(context.folder + "/compile_stacks.dot", Dot(model));
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"compile_flame",
       "flame graphs of compile time by the program's stacks, and their tree as compile_stacks.dot",
       kFile, kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::compile_flame
