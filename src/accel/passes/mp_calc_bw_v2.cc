// mp_calc_bw_v2 (-R): the counter Coll_Bandwidth, what a collective moves over the time that it
// takes all ranks together.
#include <algorithm>
#include <map>

#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"
#include "model/accel/python_float.h"

namespace debrief::accel {
namespace {

struct Span {
  size_t ranks = 0;
  double begin = 0, end = 0;
};

size_t RanksIn(const Event& slice, const Run& run, StringId peers) {
  const Arg* arg = slice.Find(peers);
  if (arg == nullptr) return 0;
  const std::string text = arg->value().AsText(run.strings);
  return static_cast<size_t>(std::count(text.begin(), text.end(), ',')) + 1;
}

class Bandwidth {
 public:
  explicit Bandwidth(Run& run)
      : run_(run), peers_(run.Intern("peers")), counter_{key::kCollBandwidth, {}, key::kGBps} {}

  void Add(const Event& slice, EventList& out) {
    const Arg* group = slice.Find(key::kCollGroup);
    const auto size = IntegerArg(slice, key::kCollDataSize, run_);
    if (group == nullptr || !size) return;
    Span& span = spans_[group->text];
    span.begin = span.ranks == 0 ? slice.ts : std::min(span.begin, slice.ts);
    span.end = span.ranks == 0 ? slice.end() : std::max(span.end, slice.end());
    if (++span.ranks < RanksIn(slice, run_, peers_)) return;
    Emit(span, static_cast<double>(*size), out);
    spans_.erase(group->text);
  }

  void Finish(EventList& out) {
    if (any_) Counter(last_end_, 0, out);
  }

 private:
  void Emit(const Span& span, double size, EventList& out) {
    if (any_ && span.begin > last_end_) Counter(last_end_, 0, out);
    const double length = span.end - span.begin;
    Counter(span.begin, length > 0 ? PythonRound(size / length / 1000, 3) : 0, out);
    last_end_ = any_ ? std::max(last_end_, span.end) : span.end;
    any_ = true;
  }

  void Counter(double ts, double value, EventList& out) {
    out.push_back(MakeCounter(counter_, Value::Integer(-1), ts, value, run_));
  }

  Run& run_;
  StringId peers_;
  CounterName counter_;
  std::map<StringId, Span> spans_;
  double last_end_ = 0;
  bool any_ = false;
};

}  // namespace

void MpCalcBwV2(EventList& events, Run& run) {
  Bandwidth bandwidth(run);
  EventList counters;
  for (const Event& event : events) {
    if (event.phase == 'X' && run.Traits(event).all_reduce_full) bandwidth.Add(event, counters);
  }
  bandwidth.Finish(counters);
  events.insert(events.end(), counters.begin(), counters.end());
}

}  // namespace debrief::accel
