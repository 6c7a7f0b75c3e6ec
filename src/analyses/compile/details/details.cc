// What do the artifacts of newer PyTorch and of vLLM say? Version of PyTorch, overlap scheduling,
// information about kernels, autoparallel, the configuration of vLLM.
//
// What an artifact is, its name tells. JSON becomes keys and values; of a graph the collectives,
// the waits for them and the lines are counted, which is what scheduling changes. Artifacts of
// other names are left alone. A broken payload gives what stood before the damage.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "base/json/cursor.h"
#include "base/text/columns.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"
#include "tables/compile_detail.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::compile_details {

namespace {

constexpr size_t kMostRows = 1000;  // of one artifact
constexpr size_t kLongest = 240;    // characters of a value
constexpr int kDeepest = 3;         // objects inside of each other

// The family of an artifact; empty for those that say nothing here.
std::string_view FamilyOf(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kStarts = {
      {{"torch_version", "torch_version"},
       {"overlap_scheduling", "overlap_scheduling"},
       {"reorder_communication", "overlap_scheduling"},
       {"sink_waits", "overlap_scheduling"},
       {"raise_comms", "overlap_scheduling"},
       {"kernel_information", "kernel_information"},
       {"inductor_provenance_tracking_kernel_stack_traces", "kernel_information"},
       {"autoparallel", "autoparallel"},
       {"vllm_compilation_config", "vllm"}}};
  for (const auto& [start, family] : kStarts) {
    if (name.starts_with(start)) return family;
  }
  return {};
}

int64_t CountOf(std::string_view text, std::string_view part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

class Details : EntryPass {
 public:
  Details(const Model& model, Part& part) : EntryPass(model, part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) {
      if (Text(entries_.kind[row]) != "artifact") continue;
      const std::string_view family = families_(entries_.name[row]);
      if (!family.empty()) Add(row, family);
    }
  }

 private:
  void Add(size_t row, std::string_view family) {
    made_ = RowOfEntry<CompileDetailRow>(entries_, row);
    made_.compile_id = texts_(entries_.compile_id[row]);
    made_.family = texts_(family);
    made_.name = texts_(entries_.name[row]);
    rows_ = 0;
    if (Text(entries_.detail[row]) == "json") return AddJson(row);
    std::string text;
    if (!ReadPayload(model_, entries_, row, text).ok()) return;
    const bool is_graph = family == "overlap_scheduling" || family == "autoparallel";
    if (!is_graph) return AddValue("text", FirstLine(text));
    const int64_t waits = CountOf(text, "wait_tensor");
    AddValue("lines", fmt::to_string(text.empty() ? 0 : CountOf(text, "\n") + 1));
    AddValue("collectives", fmt::to_string(CountOf(text, "_c10d_functional.") - waits));
    AddValue("waits", fmt::to_string(waits));
  }

  void AddJson(size_t row) {
    const auto lines = PayloadLines(model_, entries_, row);
    if (!lines.ok() || !reader_.Open(lines.value().text()).ok()) return;
    if (reader_.root().kind() != JsonKind::kObject) return;
    const Status status = AddObject(reader_.root(), "", 1);
    static_cast<void>(status);  // what was read before the text broke is true
  }

  Status AddObject(JsonValue object, const std::string& prefix, int depth) {
    return object.ForEachField([&](std::string_view key, JsonValue value) -> Status {
      const std::string name =
          prefix.empty() ? std::string(key) : fmt::format("{}.{}", prefix, key);
      if (value.kind() == JsonKind::kObject && depth < kDeepest)
        return AddObject(value, name, depth + 1);
      const auto text = value.kind() == JsonKind::kString ? value.String() : value.Raw();
      AddValue(name, Trimmed(text.value_or("")));
      return {};
    });
  }

  void AddValue(std::string_view key, std::string_view value) {
    if (rows_++ >= kMostRows) return;
    made_.key = texts_(key);
    made_.value = texts_(CutEnd(value, kLongest));
    part_.tables.Edit<CompileDetailTable>().Add(made_);
  }

  JsonReader reader_;
  AskOnce<std::string_view> families_{model_.pools, FamilyOf};
  CompileDetailRow made_;
  size_t rows_ = 0;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_details",
               .scope = AnalysisScope::kRank,
               .sentence = "What do artifacts of PyTorch 2.12 and later, of autoparallel and of "
                           "vLLM say?",
               .example = "a table of keys and values; no findings of its own",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileDetailTable>},
      .run = RunPass<Details>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_details
