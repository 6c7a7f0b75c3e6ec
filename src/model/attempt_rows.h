// The rows of a table by the attempt of a job they belong to, so that looking at one attempt after
// the other costs the rows once and not once an attempt.
//
//   const AttemptRows rows(events);                  // any table with columns job and attempt
//   for (size_t row : rows.Of(job, attempt)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace debrief {

class AttemptRows {
 public:
  // Rows that follow each other.
  struct Run {
    size_t begin;
    size_t end;
  };

  // Rows of several runs, for loops.
  class Rows {
   public:
    class Iterator {
     public:
      Iterator(const Run* run, const Run* end) : run_(run), end_(end) {
        if (run_ != end_) row_ = run_->begin;
      }
      size_t operator*() const { return row_; }
      Iterator& operator++() {
        if (++row_ == run_->end) *this = Iterator(run_ + 1, end_);
        return *this;
      }
      bool operator==(const Iterator& other) const {
        return run_ == other.run_ && row_ == other.row_;
      }

     private:
      const Run* run_;
      const Run* end_;
      size_t row_ = 0;
    };

    explicit Rows(std::span<const Run> runs) : runs_(runs) {}
    Iterator begin() const { return {runs_.data(), end_of_runs()}; }
    Iterator end() const { return {end_of_runs(), end_of_runs()}; }

   private:
    const Run* end_of_runs() const { return runs_.data() + runs_.size(); }

    std::span<const Run> runs_;
  };

  template <typename Table>
  explicit AttemptRows(const Table& table) {
    std::vector<Run>* last = nullptr;
    for (size_t i = 0; i < table.size(); ++i) {
      const bool goes_on =
          i > 0 && table.job[i] == table.job[i - 1] && table.attempt[i] == table.attempt[i - 1];
      if (goes_on) {
        last->back().end = i + 1;
      } else {
        last = &runs_[{table.job[i], table.attempt[i]}];
        last->push_back({i, i + 1});
      }
    }
  }

  Rows Of(int32_t job, int32_t attempt) const { return Rows(RunsOf(job, attempt)); }
  std::span<const Run> RunsOf(int32_t job, int32_t attempt) const {
    const auto found = runs_.find({job, attempt});
    return found == runs_.end() ? std::span<const Run>() : found->second;
  }

 private:
  std::map<std::pair<int32_t, int32_t>, std::vector<Run>> runs_;
};

}  // namespace debrief
