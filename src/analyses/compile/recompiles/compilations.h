// The compilations of all logs: which entries belong to one, in one pass over the entries.
//
// A compilation is a compile id without its attempt, in one process (input, rank, life). It counts
// when its begin (dynamo_start) or its end (compilation_metrics) was logged. Entries of the id
// "-/-" belong to none. Cost: one hash lookup for an entry whose id differs from that of the entry
// before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/compile/rows.h"
#include "model/model.h"
#include "tables/compile_entry.h"
#include "tables/compile_metrics.h"
#include "torch/user_frames.h"

namespace debrief::analyses::compile_recompiles {

inline constexpr int32_t kNobody = -1;

struct Process {
  int32_t job, attempt, rank, input, life;
  int64_t first_entry = kNone64, last_entry = kNone64;
  int32_t last = kNobody;  // compilation that the last entry with an id belongs to
};

template <typename Row>
Row RowOf(const Process& process) {
  Row row;
  row.job = process.job;
  row.attempt = process.attempt;
  row.rank = process.rank;
  row.input = process.input;
  row.life = process.life;
  return row;
}

// Where a thing of the user's program lies.
struct Place {
  StringId file = StringId::kNone;  // of the model's pools
  int32_t line = kNone32;
};

struct Compilation {
  int32_t process = 0;
  std::string_view id;  // without attempt
  int64_t frame_id = kNone64;
  size_t start = kNoRow, reasons = kNoRow, guards = kNoRow;  // rows of compile_entry
  std::vector<size_t> breaks;                                // likewise
  size_t metrics = kNoRow;                                   // row of compile_metrics
  int64_t first_entry = kNone64, last_entry = kNone64;
  int64_t start_ns = kNone64, end_ns = kNone64;
  int64_t last_attempt = 0;
  bool ended = false;        // it has metrics
  bool begins_anew = false;  // an earlier one of the process has the same id

  // Filled in when all is known.
  StringId function = StringId::kNone;
  Place code, user, caller;
  int32_t number = 0;
  int32_t previous = kNobody;
  std::string_view outcome;
  int32_t restarts = 0;

  bool counts() const { return start != kNoRow || metrics != kNoRow; }
};

class Compilations {
 public:
  explicit Compilations(const Model& model);

  const std::vector<Compilation>& all() const { return all_; }
  const Process& ProcessOf(const Compilation& of) const {
    return processes_[static_cast<size_t>(of.process)];
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
  enum class Kind : uint8_t { kOther, kStart, kMetrics, kReasons, kBreak, kGuards };

  int32_t At(int32_t input, int32_t rank, StringId compile_id, int64_t entry) const;
  Kind KindOf(size_t row);
  int32_t ProcessOfRow(size_t row);
  int32_t CompilationOfRow(int32_t process, size_t row);
  bool BeginsAnew(int32_t at, size_t row);
  int32_t Replace(int32_t old, size_t row);
  void Note(Compilation& to, size_t row);
  void Classify(Compilation& to, size_t row);
  void JoinMetrics();
  void FillIn(Compilation& to);
  void FillPlaces(Compilation& to);
  void Chain();
  void Drop();

  const Model& model_;
  const CompileEntryTable& entries_;
  const CompileMetricsTable& metrics_;
  std::vector<Process> processes_;
  std::vector<Compilation> all_;
  std::unordered_map<uint64_t, Kind> kinds_;                   // kind and name of an entry
  std::unordered_map<uint64_t, int32_t> by_id_;                // process and id with attempt
  std::unordered_map<std::string, int32_t> by_name_;           // process and id without attempt
  std::unordered_map<uint64_t, std::vector<int32_t>> of_log_;  // input and rank -> processes
  std::unordered_map<uint64_t, int32_t> metrics_entries_;      // input and entry -> compilation
  AskOnce<bool> is_user_file_{model_.pools, IsUserFile};
};

}  // namespace debrief::analyses::compile_recompiles
