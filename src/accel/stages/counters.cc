// Counters: how many Preps run at a time, what transfers and collectives move.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {

// queueing_counter (prep_queue): slices of Prep become a counter of how many run at a time, a
// counter a rank.
//
//   [0,100) [10,20) [30,40)   ->   1 at 0, 2 at 10, 1 at 20, 2 at 30, 1 at 40, 0 at 100

namespace {

struct PrepChange {
  double ts = 0;
  int64_t count = 0;
};

// Starts and ends in the order of time; of equal times ends first, so that neighbours do not count
// twice.
void Sweep(const Value& pid, std::vector<PrepChange>& changes, Run& run, EventList& out) {
  std::stable_sort(changes.begin(), changes.end(), [](const PrepChange& a, const PrepChange& b) {
    return a.ts != b.ts ? a.ts < b.ts : a.count < b.count;
  });
  int64_t count = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    count += changes[i].count;
    if (i + 1 == changes.size() || changes[i + 1].ts != changes[i].ts)
      out.push_back(MakePrepCount(pid, changes[i].ts, count, run));
  }
}

}  // namespace

Event MakePrepCount(const Value& pid, double ts, int64_t count, Run& run) {
  constexpr CounterName kCounter = {key::kConcurrentPreps, key::kPendingPreps, key::kConcurrency};
  Event event = MakeCounter(kCounter, pid, ts, 0, run);
  run.args.Set(event, key::kConcurrency, Value::Integer(count));
  return event;
}

void QueueingCounter(EventList& events, Run& run) {
  ByValue<std::vector<PrepChange>> ranks;
  std::erase_if(events, [&](const Event& event) {
    if (event.phase != 'X' || !IsPrep(event, run)) return false;
    std::vector<PrepChange>& changes = ranks[event.pid];
    changes.push_back({event.ts, 1});
    changes.push_back({event.end(), -1});
    return !run.options.keep_prep;
  });
  for (auto& [pid, changes] : ranks) Sweep(pid, changes, run, events);
}

// Transfers that extract_data_transfer_event found, for compute_bandwidth.

namespace {

struct Transfer {
  double start = 0, end = 0;
  double gigabytes_per_second = 0;
  bool to_device = false;
};

struct Transfers {
  ByValue<std::vector<Transfer>> by_rank;
};

}  // namespace

// extract_data_transfer_event (-C bandwidth): transfers between host and device with their bytes.

void ExtractDataTransferEvent(EventList& events, Run& run) {
  auto& transfers = run.Shared<Transfers>();
  for (const Event& event : events) {
    if (event.phase != 'X' || event.dur <= 0 || !IsDeviceEvent(event, run)) continue;
    const bool in = IsCopyIn(event, run);
    if (!in && !IsCopyOut(event, run)) continue;
    const auto bytes = IntegerArg(event, key::kBytes, run);
    if (!bytes || *bytes <= 0) continue;
    transfers.by_rank[event.pid].push_back(
        {event.ts, event.end(), static_cast<double>(*bytes) / event.dur / 1e3, in});
  }
}

// compute_bandwidth (-C bandwidth): counters "BW DmaI" and "BW DmaO" of each rank, the sum of all
// transfers that run at a time.
//
// Cost: sorts the ends of transfers; linear else.

namespace {

struct RateEdge {
  double ts = 0;
  double change = 0;
  int opened = 0;
};

std::vector<RateEdge> EdgesOf(const std::vector<Transfer>& transfers, bool to_device) {
  std::vector<RateEdge> edges;
  for (const Transfer& transfer : transfers) {
    if (transfer.to_device != to_device) continue;
    edges.push_back({transfer.start, transfer.gigabytes_per_second, 1});
    edges.push_back({transfer.end, -transfer.gigabytes_per_second, -1});
  }
  std::sort(edges.begin(), edges.end(),
            [](const RateEdge& a, const RateEdge& b) { return a.ts < b.ts; });
  return edges;
}

}  // namespace

void ComputeBandwidth(EventList& events, Run& run) {
  size_t emitted = 0, transfers = 0;
  for (const auto& [pid, of_rank] : run.Shared<Transfers>().by_rank) {
    transfers += of_rank.size();
    for (const bool to_device : {true, false}) {
      const CounterName counter{run.Intern(to_device ? "BW DmaI" : "BW DmaO"),
                                run.Intern("DataTransfer"), key::kGBs};
      const std::vector<RateEdge> edges = EdgesOf(of_rank, to_device);
      double rate = 0;
      int open = 0;
      for (size_t i = 0; i < edges.size(); ++i) {
        rate += edges[i].change;
        open += edges[i].opened;
        if (i + 1 < edges.size() && edges[i + 1].ts == edges[i].ts) continue;
        // Sums of doubles do not come back to 0 by themselves.
        events.push_back(MakeCounter(counter, pid, edges[i].ts, open == 0 ? 0 : rate, run));
        ++emitted;
      }
    }
  }
  run.console.Info(fmt::format("DTC event stats o/i: {} / {}", emitted, transfers));
}

// mp_calc_bw (without -R): the counters "BW allreduce" and "BW all-pcie" of collectives, by the
// bytes that their slices carry.
//
// A collective begins when the last rank has come and ends when the last one is done.
// Cost: linear.

namespace {

struct CollectiveUse {
  ByValue<double> starts;  // first slice of each rank
  double end = 0;
  int64_t bytes = 0;
};

std::map<StringId, CollectiveUse> CollectivesOf(const EventList& events, const Run& run) {
  std::map<StringId, CollectiveUse> collectives;
  for (const Event& event : events) {
    const Arg* group = event.phase == 'X' ? event.Find(key::kCollGroup) : nullptr;
    if (group == nullptr || group->kind != ValueKind::kText) continue;
    CollectiveUse& collective = collectives[group->text];
    const bool is_new = collective.starts.Find(event.pid) == nullptr;
    double& start = collective.starts[event.pid];
    start = is_new ? event.ts : std::min(start, event.ts);
    collective.end = std::max(collective.end, event.end());
    collective.bytes = std::max(collective.bytes, IntegerArg(event, key::kBytes, run).value_or(0));
  }
  return collectives;
}

void EmitRates(const CollectiveUse& collective, Run& run, EventList& out) {
  const auto ranks = static_cast<double>(collective.starts.size());
  if (ranks < 2 || collective.bytes <= 0) return;
  double begin = 0;
  for (const auto& [rank, start] : collective.starts) begin = std::max(begin, start);
  if (collective.end <= begin) return;
  const double rate = static_cast<double>(collective.bytes) / (collective.end - begin) / 1000;
  const auto counter = [&](std::string_view name, double ts, double value) {
    out.push_back(
        MakeCounter({run.Intern(name), {}, key::kGBps}, Value::Integer(-1), ts, value, run));
  };
  counter("BW allreduce", begin, rate);
  counter("BW all-pcie", begin, 2 * (ranks - 1) * rate);
  counter("BW allreduce", collective.end, 0);
  counter("BW all-pcie", collective.end, 0);
}

}  // namespace

void MpCalcBw(EventList& events, Run& run) {
  EventList counters;
  for (const auto& [name, collective] : CollectivesOf(events, run))
    EmitRates(collective, run, counters);
  events.insert(events.end(), counters.begin(), counters.end());
}

// mp_calc_bw_v2 (-R): the counter Coll_Bandwidth, what a collective moves over the time that it
// takes all ranks together.

namespace {

struct GroupSpan : TimeSpan {
  size_t ranks = 0;
};

size_t RanksIn(const Event& slice, const Run& run, StringId peers) {
  const Arg* arg = slice.Find(peers);
  if (arg == nullptr) return 0;
  const std::string text = arg->value().AsText(run.strings);
  return static_cast<size_t>(std::count(text.begin(), text.end(), ',')) + 1;
}

class CollectiveBandwidth {
 public:
  explicit CollectiveBandwidth(Run& run)
      : run_(run), peers_(run.Intern("peers")), counter_{key::kCollBandwidth, {}, key::kGBps} {}

  void Add(const Event& slice, EventList& out) {
    const Arg* group = slice.Find(key::kCollGroup);
    const auto size = IntegerArg(slice, key::kCollDataSize, run_);
    if (group == nullptr || !size) return;
    GroupSpan& span = spans_[group->text];
    span.Add(slice);
    if (++span.ranks < RanksIn(slice, run_, peers_)) return;
    Emit(span, static_cast<double>(*size), out);
    spans_.erase(group->text);
  }

  void Finish(EventList& out) {
    if (any_) Counter(last_end_, 0, out);
  }

 private:
  void Emit(const GroupSpan& span, double size, EventList& out) {
    if (any_ && span.begin > last_end_) Counter(last_end_, 0, out);
    const double length = span.length();
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
  std::map<StringId, GroupSpan> spans_;
  double last_end_ = 0;
  bool any_ = false;
};

}  // namespace

void MpCalcBwV2(EventList& events, Run& run) {
  CollectiveBandwidth bandwidth(run);
  EventList counters;
  for (const Event& event : events) {
    if (event.phase == 'X' && run.Traits(event).all_reduce_full) bandwidth.Add(event, counters);
  }
  bandwidth.Finish(counters);
  events.insert(events.end(), counters.begin(), counters.end());
}

}  // namespace debrief::accel
