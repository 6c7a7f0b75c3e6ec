// Clocks of ranks brought together, on the collectives that they ran together.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "base/stats/statistics.h"

namespace debrief::accel {

// mp_sync_tight_v1: ranks on one clock, by the collectives they ran together.
//
// All ranks leave a synchronising collective (not a broadcast, a send) together, so the ends of one
// collective on two ranks, which lie on the two clocks, are the same moment: the shift between the
// clocks is the median of their distances over all collectives that the two have in common. A rank
// without one in common with the first rank is reached over another rank, or stays.
//
// Clocks that agree are left alone: nobody leaves such a collective before all have come, so on one
// clock its slices on two ranks overlap. Only where more than a tenth of those of two ranks lie
// apart are their clocks different ones, and are shifted. Everything of a rank moves, host and
// device.
//
// Collectives are matched by `CollGroup` (Flex) or by process group, operation and sequence
// (Kineto), else by their order. Linear in events; ranks times collectives of memory.

namespace {

// One in ten may be matched wrongly.
constexpr size_t kToleratedShare = 10;

// Operations that no rank leaves before all have come.
bool Synchronises(std::string name) {
  std::erase(name, '_');
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  for (std::string_view word : {"allreduce", "allgather", "reducescatter", "alltoall", "barrier"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

class Alignment {
 public:
  Alignment(EventList& events, Run& run) : events_(events), run_(run) {}

  void Apply() {
    Collect();
    if (ranks_.size() < 2 || collectives_.empty()) {
      run_.console.Info("MP SYNC: no collective group detected or single process, no action");
      return;
    }
    FindShifts();
    if (Agrees()) {
      run_.console.Info("MP SYNC: the clocks of the ranks agree, no action");
      return;
    }
    for (Event& event : events_) Move(event);
    LogShifts();
  }

 private:
  // The rank whose clock an event is on.
  Value ClockOf(const Event& event) const {
    const bool is_torch = run_.DialectOf(event) == Dialect::kTorch;
    return is_torch ? Value::Integer(run_.jobs[event.job].rank) : event.pid;
  }

  // A name that the same collective has on all ranks; empty when it is none.
  std::string CollectiveOf(const Event& event, const Value& rank) {
    if (const Arg* group = event.Find(key::kCollGroup)) return group->value().AsText(run_.strings);
    const Arg* op = event.Find(collective_name_);
    if (op == nullptr || !IsDeviceEvent(event, run_)) return "";
    std::string name = op->value().AsText(run_.strings);
    if (!Synchronises(name)) return "";
    if (const Arg* group = event.Find(process_group_))
      name += "/" + group->value().AsText(run_.strings);
    if (const Arg* sequence = event.Find(sequence_))
      return name + "#" + sequence->value().AsText(run_.strings);
    return fmt::format("{}@{}", name, ++ordinals_[{rank.integer, name}]);
  }

  void Collect() {
    for (const Event& event : events_) {
      if (event.phase != 'X' && event.phase != 'b') continue;
      const Value rank = ClockOf(event);
      const std::string name = CollectiveOf(event, rank);
      if (name.empty()) continue;
      ranks_[rank] = true;
      collectives_[name][rank].Add(event);
    }
  }

  // Breadth first from the lowest rank, over ranks with collectives in common.
  void FindShifts() {
    const auto lowest = std::min_element(
        ranks_.begin(), ranks_.end(),
        [&](const auto& a, const auto& b) { return PidBefore(a.first, b.first, run_.strings); });
    std::vector<Value> reached = {lowest->first};
    shifts_[reached[0]] = 0;
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const auto& [rank, unused] : ranks_) {
        if (shifts_.Find(rank) != nullptr) continue;
        const auto distance = Distance(reached[i], rank);
        if (!distance) continue;
        const double known = shifts_[reached[i]];
        shifts_[rank] = known - *distance;
        reached.push_back(rank);
      }
    }
    if (reached.size() < ranks_.size())
      run_.console.Warning(fmt::format(
          "MP SYNC: {} of {} ranks have no collective in common with the others; they stay",
          ranks_.size() - reached.size(), ranks_.size()));
  }

  // How far the clock of `to` is ahead; 0 when the two agree, null when they share no collective.
  std::optional<double> Distance(const Value& from, const Value& to) {
    std::vector<double> distances;
    size_t apart = 0;
    for (auto& [name, spans] : collectives_) {
      const TimeSpan *a = spans.Find(from), *b = spans.Find(to);
      if (a == nullptr || b == nullptr) continue;
      distances.push_back(b->end - a->end);
      apart += a->end < b->begin || b->end < a->begin ? 1 : 0;
    }
    if (distances.empty()) return std::nullopt;
    return apart * kToleratedShare > distances.size() ? Median(std::move(distances)) : 0;
  }

  bool Agrees() const {
    return std::all_of(shifts_.begin(), shifts_.end(),
                       [](const auto& each) { return each.second == 0; });
  }

  void Move(Event& event) {
    const double* shift = shifts_.Find(ClockOf(event));
    if (shift == nullptr || *shift == 0 || !event.has_ts) return;
    event.ts += *shift;
    event.ts_is_integer = false;
    if (Stamps* stamps = run_.StampsOf(event)) {
      for (double& time : stamps->all) time += *shift;
    }
  }

  void LogShifts() const {
    std::string text;
    for (const auto& [rank, shift] : shifts_)
      text +=
          fmt::format("{}{}: {:.3f}", text.empty() ? "" : ", ", rank.AsText(run_.strings), shift);
    run_.console.Info(fmt::format("MP SYNC: ranks shifted by us ({})", text));
  }

  EventList& events_;
  Run& run_;
  const StringId collective_name_ = run_.Intern("Collective name");
  const StringId process_group_ = run_.Intern("Process Group Name");
  const StringId sequence_ = run_.Intern("Seq");
  ByValue<bool> ranks_;
  std::map<std::string, ByValue<TimeSpan>> collectives_;
  std::map<std::pair<int64_t, std::string>, int64_t> ordinals_;
  ByValue<double> shifts_;
};

}  // namespace

void MpSyncTightV1(EventList& events, Run& run) {
  Alignment(events, run).Apply();
  SortByStart(events);
}

// mp_ts_calibration_v2 (-S): device events of all ranks on the device clock of rank 0, by the ends
// of its AllReduces: shifted so that one of them ends together, stretched so that the first and the
// last are as far apart.

namespace {

struct CollectiveEnd {
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
      CollectiveEnd& end = groups_[group->value()][event.pid];
      if (stamps->dev[4] > end.device) end = {stamps->dev[4], event.end()};
    }
  }

  // The collective of all ranks whose ends are, on average, least behind that of rank 0.
  bool FindReference() {
    double least = std::numeric_limits<double>::infinity();
    for (auto& [name, ends] : groups_) {
      const CollectiveEnd* zero = ends.Find(Value::Integer(0));
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
    const CollectiveEnd* own = reference_->Find(event.pid);
    if (stamps == nullptr || own == nullptr) return;
    const CollectiveEnd& zero = *reference_->Find(Value::Integer(0));
    const double end = (stamps->dev[4] - own->device) / Dilation(event.pid) + zero.device;
    const double ts = end + (zero.host - zero.device) - event.dur;
    for (double& time : stamps->all) time += ts - event.ts;
    event.ts = ts;
  }

  EventList& events_;
  Run& run_;
  ByValue<bool> ranks_;
  ByValue<ByValue<CollectiveEnd>> groups_;
  ByValue<CollectiveEnd>*reference_ = nullptr, *first_ = nullptr, *last_ = nullptr;
};

}  // namespace

void CalibrateRanks(EventList& events, Run& run) { Calibration(events, run).Apply(); }

void MpTsCalibrationV2(EventList& events, Run& run) {
  CalibrateRanks(events, run);
  SortByStart(events);
}

}  // namespace debrief::accel
