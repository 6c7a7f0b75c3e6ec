#include "accel/passes/process_names.h"

#include <fmt/format.h>

#include "accel/categories.h"
#include "accel/passes/helpers.h"

namespace debrief::accel {
namespace {

// A process of a rank: when it was first met.
struct Process {
  bool met = false;
  double ts = 0;
};

struct NamedRank {
  Process host, device;
};

struct NamedProcesses {
  bool done = false;
};

class Names {
 public:
  explicit Names(Run& run) : run_(run) {}

  void Take(const Event& event) {
    if (event.phase != 'X' || run_.DialectOf(event) == Dialect::kTorch) return;
    if (!event.pid.IsInteger()) return;
    NamedRank& rank = ranks_[event.pid];
    Process& process = IsDeviceEvent(event, run_) ? rank.device : rank.host;
    if (!process.met) process = {true, event.ts};
  }

  EventList Make() {
    for (const auto& [pid, rank] : ranks_) {
      const int64_t number = pid.integer;
      Name(rank.host, number + kHostPids, fmt::format("Host{}", number), 3 * number, "cpu_default");
      Name(rank.device, number, fmt::format("AIU Device{}", number), 3 * number + 1, "acc_default");
    }
    return std::move(out_);
  }

  // Counters of all ranks together have a process of their own.
  void NameCollectives(const EventList& events) {
    const Value pid = Value::Integer(-1);
    for (const Event& event : events) {
      if (event.phase != 'C' || !(event.pid == pid)) continue;
      return Add("process_name", pid, event.ts, key::kName,
                 Value::Text(run_.Intern("CollectiveBW")));
    }
  }

 private:
  void Name(const Process& process, int64_t pid, const std::string& name, int64_t index,
            std::string_view unmet_name) {
    if (!process.met && !run_.options.compat) return;
    const Value text = Value::Text(run_.Intern(process.met ? std::string_view(name) : unmet_name));
    const Value number = Value::Integer(process.met ? pid : 0);
    const bool compat = run_.options.compat;
    Add("process_name", number, process.ts, key::kName, text);
    Add(compat ? "process_label" : "process_labels", number, process.ts,
        compat ? key::kName : key::kLabels, text);
    Add("process_sort_index", number, process.ts, key::kSortIndex,
        Value::Integer(process.met ? index : 0));
  }

  void Add(std::string_view name, const Value& pid, double ts, StringId key, const Value& value) {
    Event event;
    event.phase = 'M';
    event.name = run_.Intern(name);
    event.pid = pid;
    event.ts = ts;
    run_.args.Own(event, 1);
    run_.args.Set(event, key, value);
    out_.push_back(event);
  }

  Run& run_;
  ByValue<NamedRank> ranks_;
  EventList out_;
};

}  // namespace

EventList NamesOfProcesses(const EventList& events, Run& run) {
  bool& done = run.Shared<NamedProcesses>().done;
  if (std::exchange(done, true)) return {};
  Names names(run);
  for (const Event& event : events) names.Take(event);
  if (!run.options.compat) names.NameCollectives(events);
  return names.Make();
}

}  // namespace debrief::accel
