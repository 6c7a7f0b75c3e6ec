#include "compat/tlparse/provenance_files.h"

#include <initializer_list>
#include <string_view>

#include "compat/tlparse/multi_rank_json.h"
#include "compat/tlparse/pages/pages.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// The text of the last file of the first name that the compilation has.
Status ReadLast(const Model& model, const Compilation& compilation,
                std::initializer_list<std::string_view> names, std::string& text) {
  for (std::string_view name : names) {
    std::string begin = compilation.directory + "/" + std::string(name);
    for (size_t i = compilation.files.size(); i-- > 0;) {
      if (!compilation.files[i].url.starts_with(begin)) continue;
      return ReadPayload(model, model.tables.Get<CompileEntryTable>(), compilation.files[i].row,
                         text);
    }
  }
  return {};
}

}  // namespace

Status WriteProvenance(const Model& model, const TreePlan& plan, const Compilation& compilation,
                       FileSink& sink) {
  std::string pre, post, code;
  TRY(ReadLast(model, compilation, {"before_pre_grad_graph", "inductor_pre_grad_graph"}, pre));
  TRY(ReadLast(model, compilation, {"after_post_grad_graph", "inductor_post_grad_graph"}, post));
  TRY(ReadLast(model, compilation, {"inductor_aot_wrapper_code", "inductor_output_code"}, code));
  std::string mappings = LineMappingsJson(model, plan.input, plan.rank, compilation.directory);
  return sink.Write("provenance_tracking_" + compilation.directory + ".html",
                    ProvenancePage({.id = compilation.id,
                                    .pre_grad = pre,
                                    .post_grad = post,
                                    .code = code,
                                    .line_mappings = mappings}));
}

}  // namespace debrief::outputs::tlparse_tree
