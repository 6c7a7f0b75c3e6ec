#include "compat/tlparse/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text/strings.h"
#include "compat/tlparse/names.h"
#include "compat/tlparse/pages/pages.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_log.h"
#include "tables/compile_shape.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// Signs of cache artifacts, by their name.
std::string_view CacheSign(std::string_view path) {
  if (Contains(path, "cache_miss")) return "\u274c";
  if (Contains(path, "cache_hit")) return "\u2705";
  return Contains(path, "cache_bypass") ? "\u2753" : "";
}

// Kinds of PyTorch 2.11 that came after tlparse 0.4.3.
bool IsNewerThanTlparse(std::string_view kind) {
  constexpr std::string_view kNewer[] = {"create_symbol", "compilation_metrics_runtime",
                                         "bwd_compilation_metrics_runtime", "memoizer_artifacts",
                                         "subgraph_name"};
  return std::find(std::begin(kNewer), std::end(kNewer), kind) != std::end(kNewer);
}

constexpr std::string_view kKernelStacks = "inductor_provenance_tracking_kernel_stack_traces";

// Whether a guard was evaluated: the others are of no interest for export.
bool IsEvaluated(const Model& model, size_t row) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const auto& shapes = model.tables.Get<CompileShapeTable>();
  const auto shape = RowOfKind(shapes, entries.input[row], entries.entry[row], entries.kind[row]);
  return shape && model.pools.Text(shapes.prefix[*shape]) == "eval";
}

// The pass over the entries that makes a plan.
class Planner {
 public:
  Planner(const Model& model, const TreeScope& scope, const TreeOptions& options)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        scope_(scope),
        options_(options) {
    plan_.input = scope.input;
    plan_.rank = scope.rank;
  }

  TreePlan Make() {
    CountLog();
    size_t end = entries_.size();
    for (size_t row = 0; row < end;) {
      size_t next = row + 1;
      bool same_log = entries_.input[row] == scope_.input;
      while (same_log && next < end && entries_.input[next] == scope_.input &&
             entries_.entry[next] == entries_.entry[row])
        ++next;
      if (same_log && InScope(row)) TakeEntry(row, next);
      row = next;
    }
    DropOverwritten();
    return std::move(plan_);
  }

 private:
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }
  int32_t LastFile() const { return static_cast<int32_t>(plan_.files.size()) - 1; }

  // What the importer counted; lines belong to no rank.
  void CountLog() {
    const auto& logs = model_.tables.Get<CompileLogTable>();
    for (size_t i = 0; i < logs.size(); ++i) {
      if (logs.input[i] != scope_.input) continue;
      plan_.stats.fail_glog = logs.bad_prefix[i];
      plan_.stats.fail_json = logs.bad_json[i] + logs.bad_json_lost[i];
    }
  }

  bool InScope(size_t row) const {
    bool life = scope_.life == kNone32 || entries_.life[row] == scope_.life;
    return life && (!scope_.rank_asked || entries_.rank[row] == scope_.rank);
  }

  // tlparse's rule: the first rank seen is the one; until then entries without a rank are taken,
  // and from then on dropped.
  bool IsMine(size_t row) {
    if (scope_.rank_asked) return true;
    int32_t rank = entries_.logged_rank[row];
    if (expected_ == kNone32 && rank != kNone32) {
      expected_ = rank;
      if (plan_.rank == kNone32) plan_.rank = rank;
    }
    return rank == expected_;
  }

  void CountUnknown(size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      bool unknown = Text(entries_.state[row]) == "unknown" ||
                     (options_.compat && IsNewerThanTlparse(Text(entries_.kind[row])));
      if (!unknown) continue;
      ++plan_.stats.unknown;
      std::string key(Text(entries_.kind[row]));
      auto& keys = plan_.unknown_keys;
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }

  // The rows [begin, end) are one entry.
  void TakeEntry(size_t begin, size_t end) {
    if (Text(entries_.state[begin]) == "refused") return AddRaw(begin, kNone32);
    CountUnknown(begin, end);
    bool has_payload = entries_.payload_md5[begin] != StringId::kNone;
    if (has_payload && !entries_.payload_ok[begin]) ++plan_.stats.fail_payload_md5;
    bool is_event = false;
    for (size_t row = begin; row < end; ++row)
      is_event |= Text(entries_.kind[row]) == "chromium_event";
    if (!IsMine(begin)) {
      ++plan_.stats.other_rank;
      if (!is_event) AddRaw(begin, kNone32);
      return;
    }
    ++plan_.stats.ok;
    plan_.broken_ids |= entries_.compile_id[begin] == StringId::kNone;
    Compilation& compilation = CompilationOf(begin);
    payload_file_ = kNone32;
    for (size_t row = begin; row < end; ++row) {
      plan_.rows.push_back(row);
      if (options_.export_report) {
        ShowExport(row, compilation);
      } else {
        Show(row, compilation);
      }
    }
    if (is_event) plan_.events.push_back(begin);
    if (payload_file_ == kNone32 && !is_event && entries_.payload_bytes[begin] > 0) {
      std::string name = InsidePath(std::string(Text(entries_.payload_md5[begin])) + ".txt");
      plan_.files.push_back(
          {.path = "payloads/" + name, .content = Content::kPayload, .row = begin});
      payload_file_ = LastFile();
    }
    if (!is_event) AddRaw(begin, payload_file_);
  }

  void AddRaw(size_t row, int32_t payload_file) {
    plan_.raw_rows.push_back(row);
    plan_.raw_files.push_back(payload_file);
  }

  Compilation& CompilationOf(size_t row) {
    auto [found, is_new] =
        compilations_.try_emplace(entries_.compile_id[row], plan_.compilations.size());
    if (is_new) {
      std::string id = DisplayId(Text(entries_.compile_id[row]));
      plan_.compilations.push_back(
          {.id = id,
           .key = entries_.compile_id[row] == StringId::kNone ? "unknown" : id,
           .directory = GraphDirectory(entries_, row),
           .files = {}});
    }
    return plan_.compilations[found->second];
  }

  // Puts a numbered file of `name` into the directory of its compilation.
  TreeFile& AddFile(size_t row, std::string_view name, Content content, Compilation& compilation) {
    std::string path = GraphDirectory(entries_, row) + "/" + Numbered(InsidePath(name), counter_);
    plan_.files.push_back(
        {.path = path,
         .content = content,
         .row = row,
         .listed = compilation.files.size(),
         .compilation = static_cast<int32_t>(&compilation - plan_.compilations.data())});
    return plan_.files.back();
  }

  ListedFile& List(size_t row, std::string url, Compilation& compilation) {
    std::string name(FileName(url));
    std::string_view sign = CacheSign(url);
    compilation.files.push_back({.url = std::move(url),
                                 .name = std::move(name),
                                 .number = counter_++,
                                 .suffix = sign,
                                 .has_readable = false,
                                 .readable_url = "",
                                 .page_url = "",
                                 .row = row});
    return compilation.files.back();
  }

  void Show(size_t row, Compilation& compilation) {
    std::string_view form = Text(entries_.form[row]);
    std::string_view kind = Text(entries_.kind[row]);
    if (Text(entries_.state[row]) == "unusable" && kind == "artifact") {
      ++plan_.stats.fail_parser;
      plan_.messages.push_back(fmt::format("Parser artifact failed: Unsupported encoding: {}",
                                           Text(entries_.detail[row])));
    } else if (Text(entries_.state[row]) == "unusable" && form == "guards") {
      ++plan_.stats.fail_dynamo_guards_json;
      plan_.messages.push_back(
          fmt::format("Failed to parse guards json of line {}", entries_.line[row]));
    } else if (form == "link") {
      ListedFile& listed = List(row, std::string(Text(entries_.detail[row])), compilation);
      listed.name = Text(entries_.name[row]);
      listed.suffix = "";
    } else if (form == "dump") {
      ShowDump(row, compilation);
    } else if (form == "code") {
      ShowCode(row, compilation);
    } else if (form == "text") {
      ShowText(row, compilation);
    } else if (form == "json") {
      ShowJson(row, compilation);
    } else if (form == "guards") {
      ShowPage(row, "dynamo_guards.html", Content::kGuards, compilation);
    } else if (form == "metrics") {
      ShowPage(row, Text(entries_.file[row]), Content::kMetrics, compilation);
    }
  }

  void ShowPage(size_t row, std::string_view name, Content content, Compilation& compilation) {
    List(row, AddFile(row, name, content, compilation).path, compilation);
  }

  void ShowPayload(size_t row, std::string_view name, Content content, Compilation& compilation) {
    ShowPage(row, name, content, compilation);
    payload_file_ = LastFile();
  }

  // Graphs also have a page, with line numbers and links; no number is taken for it.
  void ShowText(size_t row, Compilation& compilation) {
    const std::string_view name = Text(entries_.file[row]);
    ShowPayload(row, name, Content::kPayload, compilation);
    if (options_.compat || options_.plain_text || !Contains(name, "graph")) return;
    TreeFile page = plan_.files.back();
    if (!page.path.ends_with(".txt")) return;
    page.path.replace(page.path.size() - 4, 4, ".html");
    page.content = Content::kGraph;
    compilation.files.back().page_url = page.path;
    plan_.files.push_back(std::move(page));
  }

  // The page of kernel stacks takes a number of its own, between the name of its file and the
  // number in the listing: the file ..._15.json has number 16.
  void ShowJson(size_t row, Compilation& compilation) {
    std::string_view name = Text(entries_.file[row]);
    if (!name.starts_with(kKernelStacks))
      return ShowPayload(row, name, Content::kJson, compilation);
    std::string path = AddFile(row, name, Content::kJson, compilation).path;
    payload_file_ = LastFile();
    std::string page = path.substr(0, path.size() - 5) + "_readable.html";
    std::string payload;
    Kernels kernels;
    bool readable =
        ReadPayload(model_, entries_, row, payload).ok() && ReadKernels(payload, kernels).ok();
    if (readable) {
      plan_.files.push_back({.path = page,
                             .content = Content::kKernelStacks,
                             .row = row,
                             .listed = compilation.files.size(),
                             .compilation = plan_.files.back().compilation});
    }
    ++counter_;
    ListedFile& listed = List(row, path, compilation);
    listed.has_readable = true;
    listed.readable_url = readable ? page : "";
  }

  void ShowCode(size_t row, Compilation& compilation) {
    std::string_view file = Text(entries_.detail[row]);
    std::string name = "inductor_output_code";
    if (!file.empty()) name += "_" + std::string(StemOf(file));
    if (options_.plain_text) return ShowPayload(row, name + ".txt", Content::kPayload, compilation);
    ShowPage(row, name + ".html", Content::kCode, compilation);
  }

  // Stacks link to it.
  void ShowDump(size_t row, Compilation& compilation) {
    const std::string_view name = Text(entries_.name[row]);
    std::string path = DumpPath(name);
    if (path.empty()) path = "dump_file/" + InsidePath(name) + ".html";
    plan_.files.push_back({.path = path, .content = Content::kDump, .row = row});
    List(row, path, compilation);
  }

  void ShowExport(size_t row, Compilation& compilation) {
    std::string_view kind = Text(entries_.kind[row]);
    if (kind == "exported_program") {
      ShowPayload(row, "exported_program.txt", Content::kPayload, compilation);
    } else if (kind == "propagate_real_tensors_provenance" ||
               (kind == "guard_added" && IsEvaluated(model_, row))) {
      ShowPage(row, "symbolic_guard_information.html", Content::kSymbolicGuard, compilation);
    }
  }

  // A later file of the same path replaces the earlier one.
  void DropOverwritten() {
    std::unordered_map<std::string_view, size_t> last;
    for (size_t i = 0; i < plan_.files.size(); ++i) last[plan_.files[i].path] = i;
    if (last.size() == plan_.files.size()) return;
    std::vector<TreeFile> kept;
    std::vector<int32_t> kept_at(plan_.files.size());
    for (size_t i = 0; i < plan_.files.size(); ++i) {
      kept_at[i] = static_cast<int32_t>(kept.size());
      if (last[plan_.files[i].path] == i) kept.push_back(plan_.files[i]);
    }
    // NOLINTNEXTLINE(modernize-loop-convert): a packed column gives values, not references
    for (size_t i = 0; i < plan_.raw_files.size(); ++i) {
      if (int32_t file = plan_.raw_files[i]; file != kNone32)
        plan_.raw_files[i] = kept_at[last[plan_.files[static_cast<size_t>(file)].path]];
    }
    plan_.files = std::move(kept);
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  TreeScope scope_;
  TreeOptions options_;
  TreePlan plan_;
  std::unordered_map<StringId, size_t> compilations_;
  int32_t expected_ = kNone32;  // the first rank that the log names
  int32_t counter_ = 0;
  int32_t payload_file_ = kNone32;  // the file that shows the payload of the present entry
};

}  // namespace

std::string Stats::Text() const {
  const std::pair<std::string_view, int64_t> kCounts[] = {
      {"ok", ok},
      {"other_rank", other_rank},
      {"fail_glog", fail_glog},
      {"fail_json", fail_json},
      {"fail_payload_md5", fail_payload_md5},
      {"fail_dynamo_guards_json", fail_dynamo_guards_json},
      {"fail_parser", fail_parser},
      {"fail_key_conflict", fail_key_conflict},
      {"fail_json_serialization", fail_json_serialization},
      {"unknown", unknown}};
  std::vector<std::string> counts;
  for (const auto& [name, count] : kCounts) {
    if (count > 0) counts.push_back(fmt::format("{}: {}", name, count));
  }
  return fmt::format("Stats {{ {}{}}}", fmt::join(counts, ", "), counts.empty() ? "" : " ");
}

bool Stats::Failed() const {
  return fail_glog + fail_json + fail_payload_md5 + other_rank + fail_dynamo_guards_json +
             fail_parser >
         0;
}

bool HasEvents(std::span<const TreePlan> plans) {
  return std::any_of(plans.begin(), plans.end(), [](auto& plan) { return !plan.events.empty(); });
}

TreePlan MakePlan(const Model& model, const TreeScope& scope, const TreeOptions& options) {
  return Planner(model, scope, options).Make();
}

}  // namespace debrief::outputs::tlparse_tree
