// The tree as an output of `debrief PATH --with tlparse_tree`: one folder a log.
#include "outputs/output.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text/safe_name.h"
#include "compat/tlparse/tree.h"
#include "tables/compile_log.h"
#include "tables/input.h"

namespace debrief::outputs::tlparse_tree {

namespace {

Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return {};
  return Status(Code::kDenied, "cannot make the folder").At({.file = path});
}

Status Write(const Model& model, const OutputContext& context) {
  const auto& logs = model.tables.Get<CompileLogTable>();
  const auto& inputs = model.tables.Get<InputTable>();
  std::string root = context.folder + "/tlparse_tree";
  TRY(MakeFolder(root));
  ThreadPool pool(1);
  for (size_t i = 0; i < logs.size(); ++i) {
    int32_t input = logs.input[i];
    std::string path(model.pools.Text(inputs.path[static_cast<size_t>(input)]));
    std::string folder =
        fmt::format("{}/{}_{}", root, input, SafeName(path.substr(path.rfind('/') + 1)));
    TRY(MakeFolder(folder));
    TreeOptions options;
    TreePlan plan = MakePlan(model, {.input = input}, options);
    TRY(WriteTree(model, plan, options, false, pool, folder));
  }
  return {};
}

}  // namespace

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "tlparse_tree",
               .sentence = "the files and pages that tlparse makes of each TORCH_TRACE log",
               .file = "tlparse_tree",
               .on_request = true},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::tlparse_tree
