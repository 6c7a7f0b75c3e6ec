// What did ops have to do, and how far is that from what the device could do?
//
//   op_args.h     arguments as the profiler wrote them
//   op_models.h   floating point operations and bytes of an op
//   peaks.h       what the device can do
//
// Work on a device belongs to the outermost op around its launch that has a model, else to the
// innermost op; communication is left out. Time of a call is the union of its work.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/profile/roofline/op_models.h"
#include "analyses/profile/roofline/peaks.h"
#include "base/stats/intervals.h"
#include "base/stats/statistics.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/profile_mfu.h"
#include "tables/profile_roofline.h"
#include "tables/timeline_device.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_op_args.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_roofline {

namespace {

using timeline::TimelineView;

constexpr double kGoodCompute = 0.8, kGoodMemory = 0.85;  // shares of the roof that code reaches
constexpr int64_t kFloorNs = 1500;                        // of the shortest kernel

// Calls with the same arguments.
struct CallKey {
  StringId op = StringId::kNone, shapes = StringId::kNone, types = StringId::kNone;
  StringId values = StringId::kNone, strides = StringId::kNone;
  auto operator<=>(const CallKey&) const = default;
};

struct Calls {
  int64_t count = 0, kernels = 0, busy_ns = 0;
  StringId kernel = StringId::kNone;  // one of them
  bool is_copy = false;               // between host and device
};

struct LaunchedWork {
  int32_t op = kNone32;
  int32_t slice = kNone32;
};

class Rooflines {
 public:
  Rooflines(const TimelineView& view, const timeline::DeviceClasses& classes, Part& part)
      : view_(view), classes_(classes), part_(part) {}

  void Run() {
    FindDevice();
    GatherWorks();
    if (works_.empty()) return;
    const std::map<CallKey, Calls> calls = SumCalls(works_);
    for (const auto& [key, each] : calls) busy_ns_ += each.busy_ns;
    for (const auto& [key, each] : calls) AddRow(key, each, Definition::kDebrief);
    AddMfu();
    for (const auto& [key, each] : SumCalls(everywhere_)) AddRow(key, each, Definition::kTraceLens);
  }

 private:
  void FindDevice() {
    const auto& devices = view_.model.tables.Get<TimelineDeviceTable>();
    const timeline::RowRange rows = timeline::RowsOf(devices, view_.who.input);
    for (size_t row = rows.begin; row < rows.end && peaks_ == nullptr; ++row) {
      device_ = devices.name[row];
      peaks_ = PeaksOf(view_.model.pools.Text(device_), devices.memory_bytes[row]);
    }
  }

  bool IsModelled(int32_t slice) {
    const auto at = TimelineView::At(slice);
    return view_.kind[at] == view_.kinds.op && models_(view_.name[at]).has_value();
  }

  // The outermost op with a model around `op`; none when there is none. TraceLens gives the work to
  // all of them.
  int32_t ModelledAround(int32_t op) {
    int32_t found = kNone32;
    for (int32_t slice = op; slice != kNone32; slice = view_.parent[TimelineView::At(slice)]) {
      if (!IsModelled(slice)) continue;
      found = slice;
      modelled_.push_back(slice);
    }
    return found;
  }

  void GatherWorks() {
    const auto& launches = view_.model.tables.Get<TimelineLaunchTable>();
    const timeline::RowRange rows = timeline::RowsOf(launches, view_.who.input);
    int32_t last_op = kNone32, last_found = kNone32;
    std::vector<int64_t> lengths;
    for (size_t row = rows.begin; row < rows.end; ++row) {
      const int32_t slice = launches.slice[row], op = launches.op[row];
      if (classes_.Of(view_, slice) == timeline::DeviceClass::kCommunication) continue;
      lengths.push_back(view_.duration[TimelineView::At(slice)]);
      device_busy_.push_back({view_.start[TimelineView::At(slice)], view_.end(slice)});
      if (op == kNone32) continue;
      if (op != last_op) {
        last_op = op;
        modelled_.clear();
        const int32_t modelled = ModelledAround(op);
        last_found = modelled == kNone32 ? op : modelled;
      }
      works_.push_back({last_found, slice});
      for (int32_t modelled : modelled_) everywhere_.push_back({modelled, slice});
    }
    floor_ns_ = std::min(kFloorNs, Quantile(std::move(lengths), 0.01));
  }

  CallKey KeyOf(int32_t op) const {
    const auto& args = view_.model.tables.Get<TimelineOpArgsTable>();
    const auto& ops = view_.model.tables.Get<TimelineOpTable>();
    CallKey key = {.op = view_.name[TimelineView::At(op)]};
    if (const auto row = view_.OpRow(op)) {
      key.shapes = ops.shapes[*row];
      key.types = ops.dtypes[*row];
    }
    const timeline::RowRange rows = timeline::RowsOf(args, view_.who.input);
    const auto begin = args.slice.begin() + static_cast<std::ptrdiff_t>(rows.begin);
    const auto end = args.slice.begin() + static_cast<std::ptrdiff_t>(rows.end);
    const auto found = std::lower_bound(begin, end, op);
    if (found == end || *found != op) return key;
    const auto row = static_cast<size_t>(found - args.slice.begin());
    key.values = args.concrete[row];
    key.strides = args.strides[row];
    return key;
  }

  // Works of a call lie side by side after sorting.
  std::map<CallKey, Calls> SumCalls(std::vector<LaunchedWork>& works) {
    std::map<CallKey, Calls> by_key;
    std::ranges::stable_sort(works, {}, &LaunchedWork::op);
    for (size_t begin = 0, end = 0; begin < works.size(); begin = end) {
      std::vector<Interval> times;
      const int32_t op = works[begin].op;
      for (end = begin; end < works.size() && works[end].op == op; ++end) {
        const int32_t slice = works[end].slice;
        times.push_back({view_.start[TimelineView::At(slice)], view_.end(slice)});
      }
      const IntervalSet busy = Union(std::move(times));
      Calls& calls = by_key[KeyOf(op)];
      ++calls.count;
      calls.kernels += static_cast<int64_t>(end - begin);
      calls.busy_ns += Length(busy);
      for (size_t i = begin; i < end; ++i) NoteKernel(works[i].slice, calls);
      const auto category = models_(view_.name[TimelineView::At(op)]);
      if (category && IsMatrix(*category))
        matrix_busy_.insert(matrix_busy_.end(), busy.begin(), busy.end());
    }
    return by_key;
  }

  void NoteKernel(int32_t slice, Calls& calls) const {
    const auto at = TimelineView::At(slice);
    if (view_.kind[at] == view_.kinds.kernel) {
      if (calls.kernel == StringId::kNone) calls.kernel = view_.name[at];
    } else if (view_.kind[at] == view_.kinds.memcpy) {
      const std::string_view name = view_.NameOf(slice);
      calls.is_copy = calls.is_copy || name.find("HtoD") != std::string_view::npos ||
                      name.find("DtoH") != std::string_view::npos;
    }
  }

  void AddRow(const CallKey& key, const Calls& calls, Definition definition) {
    const Pools& pools = view_.model.pools;
    const std::string_view op = pools.Text(key.op);
    const auto category = ModelOf(op);
    OpArgs args;
    if (category && key.shapes != StringId::kNone)
      args = ParseArgs(pools.Text(key.shapes), pools.Text(key.types), pools.Text(key.values),
                       pools.Text(key.strides));
    const auto work = category ? WorkOf(op, args, definition) : std::nullopt;
    const bool is_own = definition == Definition::kDebrief;
    if (!is_own && !work) return;
    auto row = view_.NewRow<ProfileRooflineRow>();
    row.definition = part_.pools.Intern(is_own ? "debrief" : "tracelens");
    row.op = timeline::Copied(view_.model, key.op, part_);
    row.category = part_.pools.Intern(category ? CategoryName(*category) : "other");
    row.shapes = timeline::Copied(view_.model, key.shapes, part_);
    row.dtypes = timeline::Copied(view_.model, key.types, part_);
    row.count = calls.count;
    row.kernels = calls.kernels;
    row.busy_ns = calls.busy_ns;
    if (busy_ns_ > 0)
      row.share = static_cast<double>(calls.busy_ns) / static_cast<double>(busy_ns_);
    if (calls.is_copy) row.bound = part_.pools.Intern("transfer");
    if (work) SetWork(*work, *category, TypeOfWork(op, args), calls, row);
    part_.tables.Edit<ProfileRooflineTable>().Add(row);
    if (work && is_own && IsMatrix(*category)) CountMatrix(*work, TypeOfWork(op, args), calls);
  }

  void SetWork(const OpWork& work, Category category, std::string_view type, const Calls& calls,
               ProfileRooflineRow& row) {
    row.flops = work.flops;
    row.bytes = work.bytes;
    const auto seconds = static_cast<double>(calls.busy_ns) / 1e9;
    const auto times = static_cast<double>(calls.count);
    if (calls.busy_ns > 0) {
      row.tflops = static_cast<double>(work.flops) * times / seconds / 1e12;
      row.gbps = static_cast<double>(work.bytes) * times / seconds / 1e9;
    }
    const std::string_view precision =
        IsMatrix(category) ? PrecisionOf(type, view_.model.pools.Text(calls.kernel)) : "vector";
    row.precision = part_.pools.Intern(precision);
    if (peaks_ == nullptr || calls.is_copy || calls.busy_ns <= 0) return;
    const double peak = PeakOf(*peaks_, precision);
    if (peak <= 0 || peaks_->memory <= 0) return;
    const double compute = static_cast<double>(work.flops) / peak / 1e3;  // ns
    const double memory = static_cast<double>(work.bytes) / peaks_->memory;
    const double roof = std::max(compute, memory);
    row.compute_ns = std::llround(compute);
    row.memory_ns = std::llround(memory);
    row.roof_ns = std::llround(roof);
    row.efficiency = roof * times / static_cast<double>(calls.busy_ns);
    const bool is_launch = static_cast<double>(calls.kernels * floor_ns_) > roof * times;
    row.bound = part_.pools.Intern(is_launch ? "launch" : compute >= memory ? "compute" : "memory");
    const double reachable = roof * times / (compute >= memory ? kGoodCompute : kGoodMemory);
    row.save_ns = std::max<int64_t>(0, calls.busy_ns - std::llround(reachable));
  }

  void CountMatrix(const OpWork& work, std::string_view type, const Calls& calls) {
    const double flops = static_cast<double>(work.model_flops) * static_cast<double>(calls.count);
    model_flops_ += flops;
    const double peak =
        peaks_ == nullptr
            ? 0
            : PeakOf(*peaks_, PrecisionOf(type, view_.model.pools.Text(calls.kernel)));
    if (peak > 0)
      at_peak_ns_ += flops / peak / 1e3;
    else
      is_peak_known_ = false;
  }

  Interval Window() const {
    const auto& steps = view_.model.tables.Get<TimelineStepTable>();
    const auto& timelines = view_.model.tables.Get<TimelineTable>();
    const timeline::RowRange rows = timeline::RowsOf(steps, view_.who.input);
    Interval window = {timelines.start_ns[view_.row], timelines.end_ns[view_.row]};
    if (rows.size() > 0) window = {steps.start_ns[rows.begin], steps.end_ns[rows.begin]};
    for (size_t row = rows.begin; row < rows.end; ++row) {
      window.begin = std::min(window.begin, steps.start_ns[row]);
      window.end = std::max(window.end, steps.end_ns[row]);
    }
    return window;
  }

  void AddMfu() {
    if (model_flops_ <= 0) return;
    const Interval window = Window();
    // Work that runs on behind the last step is of the steps, too.
    const int64_t busy = Length(Union(std::move(device_busy_)));
    const int64_t matrix = Length(Union(std::move(matrix_busy_)));
    if (window.length() <= 0 || busy <= 0 || matrix <= 0) return;
    auto row = view_.NewRow<ProfileMfuRow>();
    row.device_name = timeline::Copied(view_.model, device_, part_);
    row.window_ns = window.length();
    row.busy_ns = busy;
    row.matrix_ns = matrix;
    row.model_flops = std::llround(std::min(model_flops_, 9e18));
    row.busy_share = static_cast<double>(busy) / static_cast<double>(window.length());
    row.matrix_share = static_cast<double>(matrix) / static_cast<double>(busy);
    if (peaks_ != nullptr && is_peak_known_) {
      row.matrix_efficiency = at_peak_ns_ / static_cast<double>(matrix);
      row.mfu = at_peak_ns_ / static_cast<double>(window.length());
    }
    part_.tables.Edit<ProfileMfuTable>().Add(row);
  }

  const TimelineView& view_;
  const timeline::DeviceClasses& classes_;
  Part& part_;
  timeline::OfName<std::optional<Category>> models_{view_.model.pools, ModelOf};
  StringId device_ = StringId::kNone;
  const Peaks* peaks_ = nullptr;
  std::vector<LaunchedWork> works_;       // each once
  std::vector<LaunchedWork> everywhere_;  // for every op with a model around it
  std::vector<int32_t> modelled_;         // ops with a model around the last one
  std::vector<Interval> device_busy_, matrix_busy_;
  int64_t floor_ns_ = kFloorNs;
  int64_t busy_ns_ = 0;
  double model_flops_ = 0, at_peak_ns_ = 0;
  bool is_peak_known_ = true;
};

Status Run(const Model& model, AnalysisResult& result) {
  const timeline::DeviceClasses classes(model);
  for (const TimelineView& view : timeline::Timelines(model))
    Rooflines(view, classes, result.part).Run();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_roofline",
               .scope = AnalysisScope::kRank,
               .sentence = "How far are ops from what the device could do?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineLaunchTable>,
               .makes = kTableNames<ProfileRooflineTable, ProfileMfuTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineOpArgsTable, TimelineDeviceTable,
                                   TimelineStepTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_roofline
