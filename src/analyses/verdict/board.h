// The findings of one attempt of a job, and the few things a rule may do with them: find, add, say
// that one follows from another, lower what is not a cause. Circles cannot arise: `Fold` refuses
// what would close one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/attempt_rows.h"
#include "model/model.h"

namespace debrief::analyses::verdict {

// Which kinds of data an attempt left.
struct Data {
  bool dumps = false;
  bool text = false;
  bool compile_logs = false;
  bool profiles = false;
};

// What boards of all attempts have in common, found out when the first of them asks.
class AllAttempts {
 public:
  AllAttempts(const Model& model, const std::vector<Finding>& findings);

  const std::vector<size_t>& FindingsOf(int32_t job, int32_t attempt) {
    return findings_[{job, attempt}];
  }
  template <typename Table>
  AttemptRows::Rows RowsOf(const Table& table, int32_t job, int32_t attempt) {
    auto found = rows_.find(&table);
    if (found == rows_.end()) found = rows_.emplace(&table, AttemptRows(table)).first;
    return found->second.Of(job, attempt);
  }
  // As debrief::NewestParts.
  const std::map<int32_t, int32_t>& NewestParts();

 private:
  const Model& model_;
  std::map<std::pair<int32_t, int32_t>, std::vector<size_t>> findings_;  // their positions
  std::map<const void*, AttemptRows> rows_;                              // by table
  std::optional<std::map<int32_t, int32_t>> newest_parts_;
};

class Board {
 public:
  // Of one attempt alone.
  Board(const Model& model, std::vector<Finding>& findings, int32_t job, int32_t attempt);
  Board(const Model& model, std::vector<Finding>& findings, int32_t job, int32_t attempt,
        std::shared_ptr<AllAttempts> all);

  const Model& model() const { return model_; }
  int32_t job() const { return job_; }
  int32_t attempt() const { return attempt_; }
  const Data& data() const { return data_; }
  Finding& At(size_t position) { return findings_[position]; }
  const Finding& At(size_t position) const { return findings_[position]; }

  // The rows of this attempt, of a table of the model.
  template <typename Table>
  AttemptRows::Rows OwnRows(const Table& table) const {
    return all_->RowsOf(table, job_, attempt_);
  }
  const std::map<int32_t, int32_t>& NewestParts() const { return all_->NewestParts(); }

  // Positions of the findings of this attempt whose rule is `rule` or, where that ends in a dot,
  // begins with it; in the order in which they were made.
  std::vector<size_t> Find(std::string_view rule) const;

  // Those of them that are causes still.
  std::vector<size_t> FindCauses(std::string_view rule = "") const;

  // Causes of this attempt, the most serious and surest first.
  std::vector<size_t> RankedCauses() const;

  size_t Add(Finding finding);

  // `effect` follows from `cause`. False, and nothing is done, when `cause` follows from `effect`.
  bool Fold(size_t cause, size_t effect);

  // It is no cause after all; `why` is added to its reasons.
  void Lower(size_t position, std::string_view why);

  // `position` is surer because another finding, told with `confidence`, says the same.
  void Support(size_t position, double confidence, std::string_view because);

 private:
  bool Reaches(size_t from, size_t to) const;

  const Model& model_;
  std::vector<Finding>& findings_;
  int32_t job_;
  int32_t attempt_;
  std::shared_ptr<AllAttempts> all_;
  std::vector<size_t> own_;  // positions of its findings
  Data data_;
};

// Rows of `table` that a finding rests on, in the order of its evidence.
std::vector<size_t> RowsOf(const Finding& finding, std::string_view table);

// How sure one may be when two that do not know of each other agree. The second counts for six
// tenths: it may rest on the same mistake.
double Agree(double confidence, double other);

// Does `ranks` contain all of `some`? Both sorted.
bool ContainsAll(const std::vector<int32_t>& ranks, const std::vector<int32_t>& some);

}  // namespace debrief::analyses::verdict
