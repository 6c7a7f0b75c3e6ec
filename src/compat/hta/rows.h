// The rows that Holistic Trace Analysis (HTA) would count as work of a GPU in a timeline, with its
// rounding, its filter and its classes, quirks included: for figures that agree with its own.
//
//   rounding   begins up and ends down to whole microseconds; a short row may end before it begins
//   GPU row    has a stream and a correlation, or is named Event Sync or Context Sync
//   filter     with two ProfilerSteps or more: only rows whose correlation is that of a host row
//              that begins before the last of them
//   classes    by name (HtaTypeOf)
//
// Times are whole microseconds as the file counts them, without the timeline's base.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

// Begin and end of what starts at `start_ns`, in whole microseconds, rounded as HTA does.
Interval WholeMicroseconds(int64_t start_ns, int64_t duration_ns);

enum class HtaType : uint8_t { kComputation, kCommunication, kMemory, kOther };
HtaType HtaTypeOf(std::string_view name);

// What is told by a name, decided once for each distinct one.
class HtaNames {
 public:
  struct Facts {
    HtaType type = HtaType::kOther;
    bool is_known = false;
    bool is_step = false;
    bool is_sync_row = false;
  };

  explicit HtaNames(const Model& model) : pools_(model.pools), facts_(model.pools.strings.size()) {}

  const Facts& Of(StringId name);

 private:
  const Pools& pools_;
  std::vector<Facts> facts_;  // by name
};

struct HtaRow {
  Interval time;
  int64_t stream = -1;
  int64_t launch = kNone64;  // when the host called for it; none when no row of the host has its id
  int32_t slice = kNone32;
  HtaType type = HtaType::kOther;
  bool is_work = false;  // a kernel, copy or fill, and no synchronisation
};

struct HtaRows {
  std::vector<HtaRow> rows;  // by begin; of the same begin in the order of slices
  int64_t left_out = 0;      // GPU rows that the filter took away
  int64_t negative = 0;      // of `rows`: they end before they begin, by rounding or by themselves
};
HtaRows HtaRowsOf(const TimelineView& view, HtaNames& names);

// Groups of rows that overlap or touch, as HTA merges them. A group of one row that ends before it
// begins has a negative length: it is no IntervalSet.
std::vector<Interval> HtaMerge(std::vector<Interval> intervals);
std::vector<Interval> HtaMerged(const HtaRows& rows, HtaType type);

// Half to even of the binary value, as pandas rounds.
double RoundedAsPandas(double value, int digits);

}  // namespace debrief::timeline
