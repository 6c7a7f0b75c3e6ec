// Model FLOPs utilisation: what the matrix work of a model would take at the peak of the device, by
// the time of its steps. Recomputation by activation checkpointing does not count; with it, it is
// the utilisation of the hardware (HFU).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "analyses/profile/roofline/rows.h"
#include "tables/profile_mfu.h"
#include "tables/profile_mfu_step.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_roofline {

namespace {

using timeline::TimelineView;

// FLOPs of matrix products and attention, and what they would take at their peaks.
struct MatrixWork {
  double flops = 0, at_peak_ns = 0;
  double recompute_flops = 0, recompute_ns = 0;
  bool is_peak_known = true;

  void Add(const KindFigures& figures, Direction direction) {
    const auto flops_of_call = static_cast<double>(figures.work->model_flops);
    const bool is_again = direction == Direction::kRecompute;
    (is_again ? recompute_flops : flops) += flops_of_call;
    if (figures.peak > 0)
      (is_again ? recompute_ns : at_peak_ns) += flops_of_call / figures.peak / 1e3;
    else
      is_peak_known = false;
  }
};

int64_t WholeFlops(double flops) { return std::llround(std::min(flops, 9e18)); }

Interval WindowOf(const TimelineView& view) {
  const auto& steps = view.model.tables.Get<TimelineStepTable>();
  const auto& timelines = view.model.tables.Get<TimelineTable>();
  const timeline::RowRange rows = timeline::RowsOf(steps, view.who.input);
  Interval window = {timelines.start_ns[view.row], timelines.end_ns[view.row]};
  if (rows.size() > 0) window = {steps.start_ns[rows.begin], steps.end_ns[rows.begin]};
  for (size_t row = rows.begin; row < rows.end; ++row) {
    window.begin = std::min(window.begin, steps.start_ns[row]);
    window.end = std::max(window.end, steps.end_ns[row]);
  }
  return window;
}

void AddSteps(const TimelineView& view, const std::map<int32_t, MatrixWork>& by_step,
              bool has_peaks, Part& part) {
  const auto& steps = view.model.tables.Get<TimelineStepTable>();
  const timeline::RowRange rows = timeline::RowsOf(steps, view.who.input);
  for (size_t i = rows.begin; i < rows.end; ++i) {
    const auto found = by_step.find(steps.step[i]);
    const bool has_next = i + 1 < rows.end && steps.start_ns[i + 1] > steps.start_ns[i];
    const int64_t end = has_next ? steps.start_ns[i + 1] : steps.end_ns[i];
    if (found == by_step.end() || end <= steps.start_ns[i]) continue;
    const MatrixWork& work = found->second;
    auto row = view.NewRow<ProfileMfuStepRow>();
    row.step = steps.step[i];
    row.duration_ns = end - steps.start_ns[i];
    row.model_flops = WholeFlops(work.flops);
    if (has_peaks && work.is_peak_known) {
      row.mfu = work.at_peak_ns / static_cast<double>(row.duration_ns);
      row.hfu = (work.at_peak_ns + work.recompute_ns) / static_cast<double>(row.duration_ns);
    }
    part.tables.Edit<ProfileMfuStepTable>().Add(row);
  }
}

}  // namespace

void AddMfu(const TimelineView& view, const DeviceCalls& calls,
            const std::vector<KindFigures>& figures, const DeviceRoof& roof, Part& part) {
  MatrixWork all;
  std::map<int32_t, MatrixWork> by_step;
  for (const Call& call : calls.calls) {
    const KindFigures& kind = figures[call.kind];
    if (!kind.work || !IsMatrix(kind.model->category)) continue;
    const Direction direction = calls.kinds[call.kind].key.direction;
    all.Add(kind, direction);
    if (call.step != kNone32) by_step[call.step].Add(kind, direction);
  }
  if (all.flops <= 0) return;
  const Interval window = WindowOf(view);
  // Work that runs on behind the last step is of the steps, too.
  const int64_t busy = calls.device_busy_ns, matrix = calls.matrix_busy_ns;
  if (window.length() <= 0 || busy <= 0 || matrix <= 0) return;
  auto row = view.NewRow<ProfileMfuRow>();
  row.device_name = timeline::Copied(view.model, roof.name, part);
  row.window_ns = window.length();
  row.busy_ns = busy;
  row.matrix_ns = matrix;
  row.model_flops = WholeFlops(all.flops);
  row.recompute_flops = WholeFlops(all.recompute_flops);
  row.busy_share = static_cast<double>(busy) / static_cast<double>(window.length());
  row.matrix_share = static_cast<double>(matrix) / static_cast<double>(busy);
  if (roof.peaks && all.is_peak_known) {
    row.matrix_efficiency = all.at_peak_ns / static_cast<double>(matrix);
    row.mfu = all.at_peak_ns / static_cast<double>(window.length());
    row.hfu = (all.at_peak_ns + all.recompute_ns) / static_cast<double>(window.length());
  }
  part.tables.Edit<ProfileMfuTable>().Add(row);
  AddSteps(view, by_step, roof.peaks.has_value(), part);
}

}  // namespace debrief::analyses::profile_roofline
