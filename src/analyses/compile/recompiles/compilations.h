// The compilations of all logs: which entries belong to one, in one pass over the entries.
//
// A compilation is a compile id without its attempt, in one process (input, rank, life). It counts
// when its begin (dynamo_start) or its end (compilation_metrics) was logged. Entries of the id
// "-/-" belong to none, or to what without_id.h finds. Cost: one lookup for an entry whose id
// differs from that of the entry before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/compile/rows.h"
#include "base/text/strings.h"
#include "model/model.h"
#include "tables/compile_entry.h"
#include "tables/compile_metrics.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::compile_recompiles {

inline constexpr int32_t kNobody = -1;

using ProcessKey = debrief::Process;

struct Process {
  size_t row = kNoRow;  // the first of compile_entry
  int64_t first_entry = kNone64, last_entry = kNone64;
  int32_t last = kNobody;      // compilation that the last entry with an id belongs to
  bool names_version = false;  // as PyTorch 2.12 and later do
};

// Where a thing of the user's program lies.
struct Place {
  StringId file = StringId::kNone;  // of the model's pools
  int32_t line = kNone32;

  auto operator<=>(const Place&) const = default;
};

struct Compilation {
  int32_t process = 0;
  std::string_view id;  // without attempt
  int64_t frame_id = kNone64;
  size_t start = kNoRow, reasons = kNoRow, guards = kNoRow;  // rows of compile_entry
  size_t shape = kNoRow;                                     // the first with a whole stack
  std::vector<size_t> breaks;                                // likewise
  size_t metrics = kNoRow;                                   // row of compile_metrics
  size_t backward_failure = kNoRow;                          // likewise
  int64_t first_entry = kNone64, last_entry = kNone64;
  int64_t start_ns = kNone64, end_ns = kNone64;
  int64_t last_attempt = 0;
  bool ended = false;        // it has metrics
  bool has_graph = false;    // that Dynamo made
  bool ends_log = false;     // the log of its process ends inside of it
  bool begins_anew = false;  // an earlier one of the process has the same id

  // Filled in when all is known.
  std::string_view what;      // instead of a function, where there is no id (without_id.h)
  int64_t took_ns = kNone64;  // likewise, where a phase tells
  std::string stop_file;      // where tracing it stopped
  int32_t stop_line = kNone32;
  StringId function = StringId::kNone;
  Place code, user, caller;
  Place caller_of_symbol;  // as the whole stack of a symbol tells it
  int32_t number = 0;
  int32_t previous = kNobody;
  std::string_view outcome;
  int32_t restarts = 0;

  bool counts() const { return start != kNoRow || metrics != kNoRow; }
  // The metrics that say how it failed, if it did.
  size_t failure() const { return backward_failure == kNoRow ? metrics : backward_failure; }
};

enum class EntryKind : uint8_t {
  kOther,
  kStart,
  kMetrics,
  kBackwardMetrics,
  kReasons,
  kBreak,
  kGuards,
  kShape,
  kGraph,
  kVersion
};

// Of a kind of entry, or of an artifact by its name.
EntryKind KindNamed(std::string_view name);

class Compilations {
 public:
  explicit Compilations(const Model& model);

  const std::vector<Compilation>& all() const { return all_; }
  const Process& ProcessOf(const Compilation& of) const {
    return processes_[static_cast<size_t>(of.process)];
  }
  // A row about its process.
  template <typename Row>
  Row RowFor(const Compilation& of) const {
    return RowLike<Row>(entries_, ProcessOf(of).row);
  }

  // The compilation with this id in a process; kNobody when there is none.
  int32_t Find(int32_t process, std::string_view id) const;

  // The compilation that an entry of another table belongs to.
  template <typename Table>
  int32_t At(const Table& table, size_t row) const {
    return At(table.input[row], table.rank[row], table.compile_id[row], table.entry[row]);
  }

  const CompileMetricsTable& metrics() const { return metrics_; }
  const Model& model() const { return model_; }

 private:
  int32_t At(int32_t input, int32_t rank, StringId compile_id, int64_t entry) const;
  EntryKind KindOf(size_t row);
  int32_t ProcessOfRow(size_t row);
  int32_t CompilationOfRow(int32_t process, size_t row);
  bool BeginsAnew(int32_t at, size_t row);
  int32_t Replace(int32_t old, size_t row);
  void Note(Compilation& to, size_t row);
  void Classify(Compilation& to, size_t row);
  void JoinMetrics();
  void JoinCutLogs();
  void FillIn(Compilation& to);
  void FindEndsOfLogs();
  void AddWithoutId();
  void FillPlaces(Compilation& to);
  Place CallerIn(StackId stack);
  void CheckCallers();
  static void TakePlaces(const Compilation& before, Compilation& to);
  void Chain();
  void Drop();

  const Model& model_;
  const CompileEntryTable& entries_;
  const CompileMetricsTable& metrics_;
  std::vector<Process> processes_;
  std::vector<Compilation> all_;
  std::map<ProcessKey, int32_t> by_key_;
  std::map<std::pair<int32_t, std::string_view>, int32_t> by_id_;   // process and id, no attempt
  std::map<std::pair<int32_t, int64_t>, int32_t> metrics_entries_;  // input, entry -> compilation
  // Where the last lookup ended.
  const decltype(by_key_)::value_type* last_process_ = nullptr;
  const decltype(by_id_)::value_type* last_named_ = nullptr;
  AskOnce<EntryKind> kind_named_{model_.pools, KindNamed};
  AskOnce<bool> is_artifact_{model_.pools,
                             [](std::string_view kind) { return kind == "artifact"; }};
  AskOnce<bool> is_user_file_{model_.pools, IsUserFile};
  AskOnce<bool> is_dynamo_file_{
      model_.pools, [](std::string_view file) { return Contains(file, "torch/_dynamo/"); }};
};

}  // namespace debrief::analyses::compile_recompiles
