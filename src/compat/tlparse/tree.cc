#include "compat/tlparse/tree.h"

#include <functional>

#include "base/json/canonical.h"
#include "base/json/cursor.h"
#include "compat/tlparse/event_file.h"
#include "compat/tlparse/file_sink.h"
#include "compat/tlparse/multi_rank_json.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/planner.h"
#include "compat/tlparse/provenance_files.h"
#include "compat/tlparse/raw_files.h"
#include "model/compile/payload.h"
#include "outputs/output.h"
#include "tables/compile_entry.h"
#include "tables/compile_shape.h"

namespace debrief::outputs::tlparse_tree {

namespace {

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

}  // namespace

std::span<const std::string_view> DerivedTables() {
  static constexpr std::string_view kTables[] = {
      "compile_collective", "compile_divergence",    "compile_order",      "compile_parity",
      "compile_rank_check", "compile_runtime_delta", "compile_runtime_op", "compile_trie_end",
      "compile_trie_node",  "provenance_graph",      "provenance_line"};
  return kTables;
}

Status WriteTree(const Model& model, TreePlan& plan, const TreeOptions& options, bool of_many,
                 ThreadPool& pool, const std::string& folder) {
  FileSink sink(folder);
  PageContext context(model, plan, options);
  std::vector<Task> tasks;
  if (!options.export_report) {  // the longest first
    tasks.push_back([&] { return WriteRawLog(model, plan, sink); });
    tasks.push_back([&] { return WriteEvents(model, plan, pool, sink); });
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

bool IsKernelStacks(const Model& model, size_t row) {
  auto lines = PayloadLines(model, model.tables.Get<CompileEntryTable>(), row);
  JsonReader reader;
  if (!lines.ok() || lines.value().size() == 0 || !reader.Open(lines.value().text()).ok())
    return false;
  return reader.root()
      .ForEachField([](std::string_view, JsonValue stacks) {
        return stacks.ForEachElement([](JsonValue stack) {
          return stack.String() ? Status() : Status(Code::kInvalid, "is no string");
        });
      })
      .ok();
}

bool IsEvaluated(const Model& model, size_t row) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const auto& shapes = model.tables.Get<CompileShapeTable>();
  auto [begin, end] = RowsOfInput(shapes, entries.input[row]);
  auto first = shapes.entry.begin() + static_cast<std::ptrdiff_t>(begin);
  auto last = shapes.entry.begin() + static_cast<std::ptrdiff_t>(end);
  for (auto at = std::lower_bound(first, last, entries.entry[row]);
       at != last && *at == entries.entry[row]; ++at) {
    auto shape = static_cast<size_t>(at - shapes.entry.begin());
    if (shapes.kind[shape] == entries.kind[row])
      return model.pools.Text(shapes.prefix[shape]) == "eval";
  }
  return false;
}

}  // namespace debrief::outputs::tlparse_tree
