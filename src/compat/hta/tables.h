// Rows of the derived tables of profiles as Holistic Trace Analysis (HTA) counts them, definition
// "hta": the analyses call these beside their own. Quirks and rounding are HTA's, so that figures
// agree with its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/launches.h"
#include "model/timeline/view.h"

namespace debrief::hta {

// The rows that Holistic Trace Analysis (HTA) would count as work of a GPU in a timeline, with its
// rounding, its filter and its classes, quirks included: for figures that agree with its own.
//
//   rounding   begins up and ends down to whole microseconds; a short row may end before it begins
//   GPU row    has a stream and a correlation, or is named Event Sync or Context Sync
//   filter     with two ProfilerSteps or more: only rows whose correlation is that of a host row
//              that begins before the last of them
//   classes    by name (TypeOf)
//
// Times are whole microseconds as the file counts them, without the timeline's base.

using timeline::TimelineView;

// Begin and end of what starts at `start_ns`, in whole microseconds, rounded as HTA does.
Interval WholeMicroseconds(int64_t start_ns, int64_t duration_ns);

enum class Type : uint8_t { kComputation, kCommunication, kMemory, kOther };
Type TypeOf(std::string_view name);

// What a name tells.
struct NameFacts {
  Type type = Type::kOther;
  bool is_step = false;
  bool is_sync_row = false;
};
NameFacts FactsOf(std::string_view name);

// Decided once for each distinct name.
class Names : public timeline::OfName<NameFacts> {
 public:
  explicit Names(const Model& model) : OfName(model.pools, FactsOf) {}
};

struct Row {
  Interval time;
  int64_t stream = -1;
  int64_t launch = kNone64;  // when the host called for it; none when no row of the host has its id
  int32_t slice = kNone32;
  Type type = Type::kOther;
  bool is_work = false;  // a kernel, copy or fill, and no synchronisation
};

struct Rows {
  std::vector<Row> rows;  // by begin; of the same begin in the order of slices
  int64_t left_out = 0;   // GPU rows that the filter took away
  int64_t negative = 0;   // of `rows`: they end before they begin, by rounding or by themselves
};
Rows RowsOf(const TimelineView& view, Names& names);

// What the times of a timeline's rows are counted from, in nanoseconds.
int64_t BaseOf(const TimelineView& view);

// Groups of rows that overlap or touch, as HTA merges them. A group of one row that ends before it
// begins has a negative length: it is no IntervalSet.
std::vector<Interval> Merge(std::vector<Interval> intervals);
std::vector<Interval> Merged(const Rows& rows, Type type);

// Half to even of the binary value, as pandas rounds.
double RoundedAsPandas(double value, int digits);

// profile_breakdown.
void AddBreakdown(const TimelineView& view, Names& names, Part& part);

// profile_overlap and profile_kernel_types.
void AddOverlap(const TimelineView& view, Names& names, Part& part);

// profile_idle.
void AddIdle(const TimelineView& view, Names& names, Part& part);

// profile_kernel: the kernel table with HTA's defaults.
//
// For computation and communication: durations by name, longest sum first. With more than ten
// names, those behind the tenth and those whose running sum exceeds the 0.8 quantile of all running
// sums become "others", and everything is summarised once more, over the sums: then smallest,
// largest and mean of a name are all its sum. That is a defect, and here so that figures agree.
void AddKernels(const TimelineView& view, Names& names, Part& part);

// Of what HTA's filter leaves, every piece of work with its call, rounded as HTA does. HTA counts
// fewer functions as launches in its statistics than in its queues.
struct Launches {
  std::vector<timeline::Launch> for_statistics, for_queues;
};
Launches LaunchesOf(const TimelineView& view, Names& names);

}  // namespace debrief::hta
