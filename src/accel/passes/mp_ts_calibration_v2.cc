// mp_ts_calibration_v2 (-S): device events of all ranks on the device clock of rank 0, by the ends
// of its AllReduces: shifted so that one of them ends together, stretched so that the first and the
// last are as far apart.
//
// The reference leaves events in reverse order and stops when there is one collective only.
#include <algorithm>
#include <limits>

#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

namespace {

struct End {
  double device = -std::numeric_limits<double>::infinity();
  double host = 0;
};

class Calibration {
 public:
  Calibration(EventList& events, Run& run) : events_(events), run_(run) {}

  void Apply() {
    Collect();
    if (!FindReference()) {
      run_.console.Info("MP_SYNC_V2: no collective of all ranks, no action");
      return;
    }
    for (Event& event : events_) Move(event);
  }

 private:
  void Collect() {
    for (const Event& event : events_) {
      const Arg* group = event.Find(key::kCollGroup);
      const Stamps* stamps = run_.StampsOf(event);
      if (group == nullptr || stamps == nullptr || !run_.Traits(event).all_reduce) continue;
      ranks_[event.pid] = true;
      End& end = groups_[group->value()][event.pid];
      if (stamps->dev[4] > end.device) end = {stamps->dev[4], event.end()};
    }
  }

  // The collective of all ranks whose ends are, on average, least behind that of rank 0.
  bool FindReference() {
    double least = std::numeric_limits<double>::infinity();
    for (auto& [name, ends] : groups_) {
      const End* zero = ends.Find(Value::Integer(0));
      if (zero == nullptr || ends.size() != ranks_.size()) continue;
      double sum = 0;
      for (const auto& [pid, end] : ends) sum += end.device - zero->device;
      if (first_ == nullptr) first_ = &ends;
      last_ = &ends;
      if (sum < least) {
        least = sum;
        reference_ = &ends;
      }
    }
    return reference_ != nullptr && ranks_.size() > 1;
  }

  double Dilation(const Value& pid) const {
    const double own = last_->Find(pid)->device - first_->Find(pid)->device;
    const Value zero = Value::Integer(0);
    const double other = last_->Find(zero)->device - first_->Find(zero)->device;
    return own > 0 && other > 0 ? own / other : 1;
  }

  void Move(Event& event) {
    Stamps* stamps = run_.StampsOf(event);
    const End* own = reference_->Find(event.pid);
    if (stamps == nullptr || own == nullptr) return;
    const End& zero = *reference_->Find(Value::Integer(0));
    const double end = (stamps->dev[4] - own->device) / Dilation(event.pid) + zero.device;
    const double ts = end + (zero.host - zero.device) - event.dur;
    for (double& time : stamps->all) time += ts - event.ts;
    event.ts = ts;
  }

  EventList& events_;
  Run& run_;
  ByValue<bool> ranks_;
  ByValue<ByValue<End>> groups_;
  ByValue<End>*reference_ = nullptr, *first_ = nullptr, *last_ = nullptr;
};

}  // namespace

void MpTsCalibrationV2(EventList& events, Run& run) {
  Calibration(events, run).Apply();
  if (run.options.compat) {
    std::reverse(events.begin(), events.end());
  } else {
    SortByStart(events);
  }
}

}  // namespace debrief::accel
