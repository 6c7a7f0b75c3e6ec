// Graph breaks that are being gathered: those with the same reason at the same user line of one
// input and rank are one row of compile_break.
#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyses/compile/break_text.h"
#include "analyses/compile/rows.h"
#include "tables/compile_break.h"

namespace debrief {

// One break as one compilation met it.
struct BreakHit {
  CompileBreakRow process;                // job, attempt, rank, input
  std::string_view kind;                  // graph_break, restart, failure
  std::string_view compile_id, function;  // that outlive the rows
  Frame otherwise;  // of the result's pools: where it is when its text does not tell
};

class BreakRows {
 public:
  explicit BreakRows(Pools& pools) : pools_(pools) {}

  // The number of the row that it belongs to.
  size_t Add(const BreakHit& hit, const BreakText& text);
  CompileBreakRow& row(size_t number) { return found_[number].row; }
  const CompileBreakRow& row(size_t number) const { return found_[number].row; }

  void Write(CompileBreakTable& table);

 private:
  struct Break {
    CompileBreakRow row;
    FirstNames ids, functions;
  };

  StringId Text(std::string_view text) const {
    return text.empty() ? StringId::kNone : pools_.Intern(text);
  }
  Break NewBreak(const BreakHit& hit, const BreakText& text, const Frame& frame,
                 StackId stack) const;

  Pools& pools_;
  std::vector<Break> found_;
  std::map<std::tuple<int32_t, int32_t, StringId, StringId, int32_t>, size_t> numbers_;
};

}  // namespace debrief
