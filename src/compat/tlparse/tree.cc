#include "compat/tlparse/tree.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "base/json/canonical.h"
#include "base/text/safe_name.h"
#include "compat/tlparse/data_files.h"
#include "compat/tlparse/file_sink.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/plan.h"
#include "model/compile/payload.h"
#include "outputs/output.h"
#include "tables/compile_entry.h"
#include "tables/compile_log.h"
#include "tables/input.h"

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

// provenance_tracking_<directory>.html: the graphs and the code of a compilation side by side.
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

using Task = std::function<Status()>;

Status RunAll(size_t count, ThreadPool& pool, const std::function<Status(size_t)>& run) {
  Status first;
  pool.MapInOrder<Status>(count, run, [&](size_t, Status&& status) {
    if (first.ok()) first = std::move(status);
  });
  return first;
}

// One file of the plan. Buffers are kept from file to file.
Status WriteFile(const PageContext& context, const TreeFile& file, FileSink& sink) {
  thread_local std::string payload, pretty;
  thread_local JsonCanonical canonical;
  pretty.clear();
  if (file.content == Content::kJson) {
    ASSIGN_OR_RETURN(ByteView lines, PayloadLines(context.model, context.entries, file.row));
    if (canonical.Append(lines.text(), JsonCanonical::kPretty, pretty))
      return sink.Write(file.path, pretty);
  }
  TRY(ReadPayload(context.model, context.entries, file.row, payload));
  bool is_payload = file.content == Content::kPayload || file.content == Content::kJson;
  return sink.Write(file.path, is_payload ? payload : FilePage(context, file, payload));
}

// The tree as an output of `debrief PATH --with tlparse_tree`: one folder a log.
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
    if (context.has_report) options.report_link = "../../index.html";
    TreePlan plan = MakePlan(model, {.input = input}, options);
    TRY(WriteTree(model, plan, options, false, pool, folder));
  }
  return {};
}

}  // namespace

std::span<const std::string_view> DerivedTables() {
  static constexpr std::string_view kTables[] = {
      "compilation",        "compile_break",    "compile_collective", "compile_divergence",
      "compile_order",      "compile_parity",   "compile_rank_check", "compile_runtime_delta",
      "compile_runtime_op", "compile_trie_end", "compile_trie_node",  "provenance_graph",
      "provenance_line"};
  return kTables;
}

Status WriteTree(const Model& model, TreePlan& plan, const TreeOptions& options, bool of_many,
                 ThreadPool& pool, const std::string& folder) {
  FileSink sink(folder);
  PageContext context(model, plan, options);
  std::vector<Task> tasks;
  if (!options.export_report) {  // the longest first
    tasks.push_back([&] { return WriteRawLog(model, plan, sink); });
    tasks.push_back([&] { return WriteEvents(model, {&plan, 1}, false, pool, sink); });
    tasks.push_back([&] { return WriteRawLines(model, plan, pool, sink); });
    tasks.push_back([&] { return sink.Write("compile_directory.json", DirectoryJson(plan)); });
    tasks.push_back(
        [&] { return sink.Write("failures_and_restarts.html", FailuresPage(context)); });
  }
  tasks.push_back([&] {
    return sink.Write("index.html", options.export_report ? ExportIndexPage(context)
                                                          : IndexPage(context, of_many));
  });
  if (of_many) {
    tasks.push_back([&] {
      return sink.Write("collectives_parity.json",
                        CollectivesParityJson(model, plan.input, plan.rank));
    });
  }
  size_t pages = options.provenance ? plan.compilations.size() : 0;
  return RunAll(tasks.size() + plan.files.size() + pages, pool, [&](size_t i) {
    if (i < tasks.size()) return tasks[i]();
    i -= tasks.size();
    if (i < plan.files.size()) return WriteFile(context, plan.files[i], sink);
    return WriteProvenance(model, plan, plan.compilations[i - plan.files.size()], sink);
  });
}

Status WriteLanding(const Model& model, std::span<const TreePlan> plans, const TreeOptions& options,
                    ThreadPool& pool, const std::string& folder,
                    std::vector<std::string>& written) {
  FileSink sink(folder);
  const auto& entries = model.tables.Get<CompileEntryTable>();
  auto first =
      std::find_if(plans.begin(), plans.end(), [](auto& plan) { return !plan.rows.empty(); });
  const bool known = first != plans.end();
  const int32_t job = known ? entries.job[first->rows.front()] : kNone32;
  const int32_t attempt = known ? entries.attempt[first->rows.front()] : kNone32;
  if (HasEvents(plans)) TRY(WriteEvents(model, plans, true, pool, sink));
  const std::string runtime = RuntimeEstimationsJson(model, job, attempt);
  const std::pair<std::string_view, std::string> files[] = {
      {"runtime_estimations.json", runtime},
      {"chromium_trace_with_runtime.json", RuntimeTraceJson(model, job, attempt)},
      {"collective_schedules.json", CollectiveSchedulesJson(model, job, attempt)}};
  for (const auto& [name, text] : files) {
    if (text.empty()) continue;
    written.emplace_back(name);
    TRY(sink.Write(written.back(), text));
  }
  return sink.Write("index.html",
                    LandingPage(model, plans, options, job, attempt, !runtime.empty()));
}

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
