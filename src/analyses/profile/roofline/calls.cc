#include "analyses/profile/roofline/calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "base/stats/statistics.h"
#include "base/text/strings.h"
#include "tables/timeline_device.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_op_args.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_roofline {

namespace {

using timeline::TimelineView;

// What a slice of the host says about what runs inside of it.
enum class AroundKind : uint8_t { kNothing, kBackward, kRecompute };

// Activation checkpointing runs the forward once more inside of a backward: in Python, or in the
// node of a checkpoint that is a function of its own.
AroundKind AroundKindOf(std::string_view name) {
  if (Contains(name, "torch/utils/checkpoint.py") && Contains(name, "recompute_fn"))
    return AroundKind::kRecompute;
  if (!name.starts_with("autograd::engine::evaluate_function")) return AroundKind::kNothing;
  return name.ends_with("CheckpointFunctionBackward") ? AroundKind::kRecompute
                                                      : AroundKind::kBackward;
}

struct LaunchedWork {
  int32_t op = kNone32;
  int32_t slice = kNone32;
  Direction direction = Direction::kForward;
  bool is_starved = false;
  int32_t module = kNone32, step = kNone32;
};

class CallFinder {
 public:
  CallFinder(const TimelineView& view, const timeline::DeviceClasses& classes)
      : view_(view), classes_(classes), launches_(view.model.tables.Get<TimelineLaunchTable>()) {}

  DeviceCalls Find() {
    rows_ = timeline::RowsOf(launches_, view_.who.input);
    if (IsOfHostAlone()) {
      GatherHostWorks();
    } else {
      FindStarved();
      GatherWorks();
    }
    SumCalls(everywhere_, false, found_.of_tracelens);
    SumCalls(works_, true, found_.kinds);
    found_.device_busy_ns = Length(Union(std::move(device_busy_)));
    found_.matrix_busy_ns = Length(Union(std::move(matrix_busy_)));
    return std::move(found_);
  }

 private:
  // Work whose launch began when nothing ran on the device any more.
  void FindStarved() {
    is_starved_.resize(rows_.size());
    std::vector<size_t> by_start(rows_.size());
    for (size_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
    auto slice = [&](size_t i) { return launches_.slice[rows_.begin + i]; };
    std::ranges::stable_sort(by_start, {},
                             [&](size_t i) { return view_.start[TimelineView::At(slice(i))]; });
    int64_t busy_until = INT64_MIN;
    for (size_t i : by_start) {
      const int32_t call = launches_.launch[rows_.begin + i];
      is_starved_[i] = call != kNone32 && view_.start[TimelineView::At(call)] >= busy_until ? 1 : 0;
      busy_until = std::max(busy_until, view_.end(slice(i)));
    }
  }

  void NoteModel(int32_t slice, int32_t launcher) {
    const auto at = TimelineView::At(slice);
    if (view_.kind[at] != view_.kinds.op) return;
    const auto kind = models_(view_.name[at]);
    const bool calls_others = !calls_ops_.empty() && calls_ops_[at] != 0;
    if (kind && (!kind->only_own_work || (slice == launcher && !calls_others))) modelled_ = slice;
    if (kind && kind->is_of_tracelens) of_tracelens_.push_back(slice);
  }

  // Sets what is around `op`: the ops with a model, and whether it is a backward.
  void LookAround(int32_t op) {
    modelled_ = kNone32;
    of_tracelens_.clear();
    direction_ = Direction::kForward;
    bool is_decided = false;
    for (int32_t slice = op; slice != kNone32; slice = view_.parent[TimelineView::At(slice)]) {
      NoteModel(slice, op);
      if (is_decided) continue;
      const AroundKind around = around_(view_.name[TimelineView::At(slice)]);
      is_decided = around != AroundKind::kNothing;
      if (around == AroundKind::kBackward) direction_ = Direction::kBackward;
      if (around == AroundKind::kRecompute) direction_ = Direction::kRecompute;
    }
  }

  void GatherWorks() {
    int32_t last_op = kNone32;
    std::vector<int64_t> lengths;
    for (size_t row = rows_.begin; row < rows_.end; ++row) {
      const int32_t slice = launches_.slice[row], op = launches_.op[row];
      if (classes_.Of(view_, slice) == timeline::DeviceClass::kCommunication) continue;
      lengths.push_back(view_.duration[TimelineView::At(slice)]);
      device_busy_.push_back({view_.start[TimelineView::At(slice)], view_.end(slice)});
      if (op == kNone32) continue;
      if (op != last_op) LookAround(op);
      last_op = op;
      const bool is_starved = is_starved_[row - rows_.begin] != 0;
      const int32_t module = launches_.module[row], step = launches_.step[row];
      works_.push_back(
          {modelled_ == kNone32 ? op : modelled_, slice, direction_, is_starved, module, step});
      for (int32_t modelled : of_tracelens_)
        everywhere_.push_back({modelled, slice, Direction::kForward, is_starved, module, step});
    }
    if (!lengths.empty()) found_.floor_ns = Quantile(std::move(lengths), 0.01);
  }

  // No device is named, nothing was launched and no runtime of a device was called: ops compute
  // themselves. Where a device is there, times of ops are those of launching.
  bool IsOfHostAlone() const {
    const auto& devices = view_.model.tables.Get<TimelineDeviceTable>();
    if (rows_.size() > 0 || view_.works.size() > 0) return false;
    if (timeline::RowsOf(devices, view_.who.input).size() > 0) return false;
    return std::ranges::none_of(view_.kind, [&](StringId kind) {
      return kind != StringId::kNone && kind == view_.kinds.runtime;
    });
  }

  bool IsOp(int32_t slice) const {
    return view_.kind[TimelineView::At(slice)] == view_.kinds.op &&
           !view_.NameOf(slice).starts_with("c10d::");
  }

  // The outermost op with a model has all of its time; where there is none, an op that calls no
  // other.
  void GatherHostWorks() {
    calls_ops_.resize(TimelineView::At(view_.slice_count()));
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      const int32_t parent = view_.parent[TimelineView::At(slice)];
      if (parent != kNone32 && IsOp(slice)) calls_ops_[TimelineView::At(parent)] = 1;
    }
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      if (!IsOp(slice)) continue;
      LookAround(slice);
      const bool is_work =
          modelled_ == kNone32 ? calls_ops_[TimelineView::At(slice)] == 0 : modelled_ == slice;
      if (!is_work) continue;
      works_.push_back({slice, slice, direction_, false, ModuleAround(slice), StepOf(slice)});
      device_busy_.push_back({view_.start[TimelineView::At(slice)], view_.end(slice)});
    }
  }

  int32_t ModuleAround(int32_t slice) const {
    while (slice != kNone32 && !view_.NameOf(slice).starts_with("nn.Module: "))
      slice = view_.parent[TimelineView::At(slice)];
    return slice;
  }

  int32_t StepOf(int32_t slice) const {
    const auto& steps = view_.model.tables.Get<TimelineStepTable>();
    const timeline::RowRange rows = timeline::RowsOf(steps, view_.who.input);
    const int64_t start = view_.start[TimelineView::At(slice)];
    const auto first = steps.start_ns.begin() + static_cast<std::ptrdiff_t>(rows.begin);
    const auto last = steps.start_ns.begin() + static_cast<std::ptrdiff_t>(rows.end);
    const auto behind = std::upper_bound(first, last, start);  // steps come in order
    if (behind == first) return kNone32;
    const auto row = static_cast<size_t>(behind - steps.start_ns.begin()) - 1;
    return start < steps.end_ns[row] ? steps.step[row] : kNone32;
  }

  CallKey KeyOf(const LaunchedWork& work) const {
    const auto& args = view_.model.tables.Get<TimelineOpArgsTable>();
    const auto& ops = view_.model.tables.Get<TimelineOpTable>();
    CallKey key = {.op = view_.name[TimelineView::At(work.op)], .direction = work.direction};
    if (const auto row = view_.OpRow(work.op)) {
      key.shapes = ops.shapes[*row];
      key.types = ops.dtypes[*row];
      key.kernel_file = ops.kernel_file[*row];
    }
    const timeline::RowRange rows = timeline::RowsOf(args, view_.who.input);
    const auto begin = args.slice.begin() + static_cast<std::ptrdiff_t>(rows.begin);
    const auto end = args.slice.begin() + static_cast<std::ptrdiff_t>(rows.end);
    const auto found = std::lower_bound(begin, end, work.op);
    if (found == end || *found != work.op) return key;
    const auto row = static_cast<size_t>(found - args.slice.begin());
    key.values = args.concrete[row];
    key.strides = args.strides[row];
    return key;
  }

  // Works of a call lie side by side after sorting.
  void SumCalls(std::vector<LaunchedWork>& works, bool is_own, std::vector<CallKind>& kinds) {
    std::ranges::stable_sort(works, {}, &LaunchedWork::op);
    std::map<CallKey, size_t> numbers;
    for (size_t begin = 0, end = 0; begin < works.size(); begin = end) {
      std::vector<Interval> times;
      const LaunchedWork& first = works[begin];
      for (end = begin; end < works.size() && works[end].op == first.op; ++end) {
        const int32_t slice = works[end].slice;
        times.push_back({view_.start[TimelineView::At(slice)], view_.end(slice)});
      }
      const IntervalSet busy = Union(std::move(times));
      const auto [at, is_new] = numbers.try_emplace(KeyOf(first), kinds.size());
      if (is_new) kinds.push_back({.key = at->first});
      CallKind& kind = kinds[at->second];
      ++kind.count;
      kind.kernels += static_cast<int64_t>(end - begin);
      kind.busy_ns += Length(busy);
      for (size_t i = begin; i < end; ++i) NoteWork(works[i], kind);
      if (is_own) AddCall(first, static_cast<int32_t>(end - begin), busy, at->second);
    }
  }

  void NoteWork(const LaunchedWork& work, CallKind& kind) const {
    const auto at = TimelineView::At(work.slice);
    kind.starved += work.is_starved ? 1 : 0;
    if (view_.kind[at] == view_.kinds.kernel) {
      if (kind.kernel == StringId::kNone) kind.kernel = view_.name[at];
    } else if (view_.kind[at] == view_.kinds.memcpy) {
      const std::string_view name = view_.NameOf(work.slice);
      kind.is_copy = kind.is_copy || Contains(name, "HtoD") || Contains(name, "DtoH");
    }
  }

  void AddCall(const LaunchedWork& work, int32_t kernels, const IntervalSet& busy, size_t kind) {
    found_.calls.push_back({.op = work.op,
                            .module = work.module,
                            .step = work.step,
                            .kernels = kernels,
                            .busy_ns = Length(busy),
                            .kind = kind});
    const auto model = models_(view_.name[TimelineView::At(work.op)]);
    if (model && IsMatrix(model->category))
      matrix_busy_.insert(matrix_busy_.end(), busy.begin(), busy.end());
  }

  const TimelineView& view_;
  const timeline::DeviceClasses& classes_;
  const TimelineLaunchTable& launches_;
  timeline::RowRange rows_;
  timeline::OfName<std::optional<OpKind>> models_{view_.model.pools, ModelOf};
  timeline::OfName<AroundKind> around_{view_.model.pools, AroundKindOf};
  std::vector<uint8_t> calls_ops_;        // by slice, of profiles of the host alone
  std::vector<uint8_t> is_starved_;       // by launch
  std::vector<LaunchedWork> works_;       // each once
  std::vector<LaunchedWork> everywhere_;  // for every op around it that TraceLens has a model of
  int32_t modelled_ = kNone32;            // the outermost op with a model around the last one
  std::vector<int32_t> of_tracelens_;     // all of them that TraceLens has a model of
  Direction direction_ = Direction::kForward;
  std::vector<Interval> device_busy_, matrix_busy_;
  DeviceCalls found_;
};

}  // namespace

DeviceCalls FindCalls(const TimelineView& view, const timeline::DeviceClasses& classes) {
  return CallFinder(view, classes).Find();
}

}  // namespace debrief::analyses::profile_roofline
