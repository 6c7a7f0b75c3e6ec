// Where in the program do compilations begin, and how did they end? Stacks of a log are joined to a
// tree by their outermost frames: a program compiles from few places, and 2,000 stacks of 120
// frames become a tree of some hundred nodes.
//
// Two trees for each input and rank: "starts" of the entries dynamo_start, without the frames of
// Dynamo itself, and "entries" of whatever other entries carry a stack. A compilation has one
// status whatever the number of its attempts: the metrics are logged with the last of them. Cost:
// one lookup in a hash table for each frame of each stack.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "model/compile/frames.h"
#include "tables/compile_entry.h"
#include "tables/compile_metrics.h"
#include "tables/compile_trie_end.h"
#include "tables/compile_trie_node.h"

namespace debrief::analyses::compile_stacks {

namespace {

// Worse is larger: a compilation with several metrics has the worst status of them.
enum class Outcome : uint8_t { kMissing, kOk, kBreak, kEmpty, kError };
constexpr std::array<std::string_view, 5> kOutcomeNames = {"missing", "ok", "break", "empty",
                                                           "error"};

Outcome OutcomeOf(const CompileMetricsTable& metrics, size_t row) {
  if (metrics.fail_type[row] != StringId::kNone) return Outcome::kError;
  const int64_t ops = metrics.graph_op_count[row];
  if (ops == kNone64 || ops == 0) return Outcome::kEmpty;
  return metrics.restart_reasons[row] > 0 ? Outcome::kBreak : Outcome::kOk;
}

// Metrics belong to the process that their entry does: its row knows rank and life best.
class Outcomes {
 public:
  explicit Outcomes(const Model& model) : pools_(model.pools) {
    const auto& metrics = model.tables.Get<CompileMetricsTable>();
    const auto& entries = model.tables.Get<CompileEntryTable>();
    EntryCursor cursor(entries);
    for (size_t row = 0; row < metrics.size(); ++row) {
      if (pools_.Text(metrics.kind[row]) != "compilation_metrics") continue;
      const size_t entry = cursor.Find(metrics.input[row], metrics.entry[row]);
      if (entry == kNoRow) continue;
      Outcome& outcome = outcomes_[Key(ProcessOf(entries, entry), metrics.compile_id[row])];
      outcome = std::max(outcome, OutcomeOf(metrics, row));
    }
  }

  Outcome Of(const CompileEntryTable& entries, size_t row) const {
    if (entries.compile_id[row] == StringId::kNone) return Outcome::kMissing;
    auto found = outcomes_.find(Key(ProcessOf(entries, row), entries.compile_id[row]));
    return found == outcomes_.end() ? Outcome::kMissing : found->second;
  }

 private:
  using CompileKey = std::tuple<Process, std::string_view>;

  CompileKey Key(const Process& process, StringId compile_id) const {
    return {process, WithoutAttempt(pools_.Text(compile_id))};
  }

  const Pools& pools_;
  std::map<CompileKey, Outcome> outcomes_;
};

// One kind of tree, for all inputs and ranks.
class Trie {
 public:
  Trie(const Model& model, std::string_view name, AnalysisResult& result)
      : model_(model),
        pools_(result.part.pools),
        texts_(model.pools, pools_),
        nodes_(result.part.tables.Edit<CompileTrieNodeTable>()),
        ends_(result.part.tables.Edit<CompileTrieEndTable>()),
        name_(pools_.Intern(name)) {}

  // `frames` are innermost first; none of them: no row.
  void Insert(const CompileEntryTable& entries, size_t row, std::span<const FrameId> frames,
              Outcome outcome) {
    if (frames.empty()) return;
    Children& children = children_of_[{entries.input[row], entries.rank[row]}];
    int32_t& next = next_of_[entries.input[row]];
    int32_t node = kNone32;
    for (size_t i = frames.size(); i-- > 0;) {
      const uint64_t key =
          uint64_t{static_cast<uint32_t>(node)} << 32 | static_cast<uint32_t>(frames[i]);
      auto [found, is_new] = children.try_emplace(key, next);
      if (is_new) AddNode(entries, row, next++, node, frames[i]);
      node = found->second;
    }
    AddEnd(entries, row, node, outcome);
  }

 private:
  void AddNode(const CompileEntryTable& entries, size_t entry, int32_t node, int32_t parent,
               FrameId frame) {
    auto row = RowLike<CompileTrieNodeRow>(entries, entry);
    row.trie = name_;
    row.node = node;
    row.parent = parent;
    row.frame = CopyFrame(frame);
    nodes_.Add(row);
  }

  void AddEnd(const CompileEntryTable& entries, size_t entry, int32_t node, Outcome outcome) {
    auto row = RowOfEntry<CompileTrieEndRow>(entries, entry);
    row.trie = name_;
    row.node = node;
    row.compile_id = texts_(entries.compile_id[entry]);
    row.status = pools_.Intern(kOutcomeNames[static_cast<size_t>(outcome)]);
    ends_.Add(row);
  }

  StackId CopyFrame(FrameId id) {
    const Frame& theirs = model_.pools.GetFrame(id);
    const FrameId frame = pools_.AddFrame({.file = texts_(theirs.file),
                                           .function = texts_(theirs.function),
                                           .line = theirs.line,
                                           .text = texts_(theirs.text)});
    return pools_.AddStack({&frame, 1});
  }

  using Children = std::unordered_map<uint64_t, int32_t>;  // parent and frame -> node

  const Model& model_;
  Pools& pools_;
  ResultTexts texts_;
  CompileTrieNodeTable& nodes_;
  CompileTrieEndTable& ends_;
  StringId name_;
  std::map<std::pair<int32_t, int32_t>, Children> children_of_;  // by input and rank
  std::map<int32_t, int32_t> next_of_;                           // by input
};

Status Run(const Model& model, AnalysisResult& result) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const Outcomes outcomes(model);
  Trie starts(model, "starts", result);
  Trie others(model, "entries", result);
  for (size_t row = 0; row < entries.size(); ++row) {
    if (entries.stack[row] != StackId::kNone &&
        model.pools.Text(entries.kind[row]) == "dynamo_start") {
      starts.Insert(entries, row, WithoutConvertFrame(model.pools, entries.stack[row]),
                    outcomes.Of(entries, row));
    }
    // An entry with several kinds of content has one stack.
    if (entries.entry_stack[row] != StackId::kNone && BeginsEntry(entries, row)) {
      others.Insert(entries, row, model.pools.GetStack(entries.entry_stack[row]),
                    outcomes.Of(entries, row));
    }
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_stacks",
               .sentence = "From where in the program are functions compiled, and how did it end?",
               .example = "(makes tables only)",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileTrieNodeTable, CompileTrieEndTable>,
               .uses = kTableNames<CompileMetricsTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_stacks
