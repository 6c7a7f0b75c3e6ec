// tb_refinement_lightweight: categories and processes as viewers of torch traces expect them.
//
//   torch   process and thread names that were replaced by numbers come back
//   Flex    a device slice is a kernel, a copy (DmaI, DmaO) or a message (Rdma); slices of the host
//           go to a process of their own, 1000 + rank; both processes get names
//
// The reference names processes that are not there "cpu_default", and so renames rank 0; and it
// calls every collective "gloo:all_reduce". Without --compat only processes that are met are named,
// and collectives keep their names except for TensorBoard (--tb).
#include <fmt/format.h>

#include <string>

#include "accel/categories.h"
#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"

namespace debrief::accel {
namespace {

constexpr int64_t kHostPids = 1000;

// A process of a rank: when it was first met.
struct Process {
  bool met = false;
  double ts = 0;
};

struct Rank {
  Process host, device;
};

class Refiner {
 public:
  explicit Refiner(Run& run) : run_(run) {}

  void Refine(Event& event) {
    if (run_.DialectOf(event) == Dialect::kTorch) return Restore(event);
    if (event.phase != 'X') return;
    if (IsDeviceEvent(event, run_)) {
      RefineDevice(event);
    } else {
      RefineHost(event);
    }
  }

  void Finish(EventList& out) {
    for (const auto& [pid, rank] : ranks_) {
      const int64_t number = pid.integer;
      Name(rank.host, number + kHostPids, fmt::format("Host{}", number), 3 * number, "cpu_default",
           out);
      Name(rank.device, number, fmt::format("AIU Device{}", number), 3 * number + 1, "acc_default",
           out);
    }
  }

 private:
  // Where a pass has moved the slice to another lane, the lane stays.
  void Restore(Event& event) {
    if (const Arg* pid = event.Find(key::kOPid)) {
      event.pid = pid->value();
      event.Remove(key::kOPid);
    }
    if (const Arg* tid = event.Find(key::kOTid)) {
      event.tid = tid->value();
      event.Remove(key::kOTid);
    }
  }

  void RefineDevice(Event& event) {
    const NameTraits traits = run_.Traits(event);
    const bool copies = traits.sp_dma_in || traits.sp_dma_out;
    const bool message = traits.rdma && copies;
    const bool collective = traits.all_reduce_full && traits.cmpt_exec;
    event.cat = message || collective ? key::kUserAnnotation
                : copies              ? key::kGpuMemcpy
                                      : key::kKernel;
    run_.args.Set(event, key::kDevice, RankOf(event));
    Meet(ranks_[event.pid].device, event);
  }

  void RefineHost(Event& event) {
    if (!event.pid.IsInteger()) return;
    if (event.Has(key::kCollDataSize)) {
      RefineCollective(event);
    } else if (event.cat == StringId::kNone) {
      event.cat = key::kCpuOp;
    }
    Meet(ranks_[event.pid].host, event);
    event.pid = Value::Integer(event.pid.integer + kHostPids);
    const bool from_python = event.Has(key::kExternalId) || event.Has(key::kPythonId);
    if (from_python && event.tid.IsInteger()) {
      event.tid = Value::Integer(event.tid.integer / 10 + event.tid.integer % 10);
    }
  }

  void RefineCollective(Event& event) {
    const std::string_view name = run_.Text(event.name);
    const size_t at = name.find_last_not_of("0123456789");
    const std::string_view number = at == std::string_view::npos ? name : name.substr(at + 1);
    event.cat = key::kUserAnnotation;
    run_.args.Set(event, key::kExternalIdSmall, Value::Of(number, run_.strings));
    if (!run_.options.compat && !run_.options.tb) return;
    run_.args.Set(event, key::kOrigName, Value::Text(event.name));
    event.name = run_.Intern("gloo:all_reduce");
  }

  static void Meet(Process& process, const Event& event) {
    if (!process.met) process = {true, event.ts};
  }

  void Name(const Process& process, int64_t pid, const std::string& name, int64_t index,
            std::string_view unmet_name, EventList& out) {
    if (!process.met && !run_.options.compat) return;
    const Value text = Value::Text(run_.Intern(process.met ? std::string_view(name) : unmet_name));
    const Value number = Value::Integer(process.met ? pid : 0);
    const bool compat = run_.options.compat;
    Add("process_name", number, process.ts, key::kName, text, out);
    Add(compat ? "process_label" : "process_labels", number, process.ts,
        compat ? key::kName : key::kLabels, text, out);
    Add("process_sort_index", number, process.ts, key::kSortIndex,
        Value::Integer(process.met ? index : 0), out);
  }

  void Add(std::string_view name, const Value& pid, double ts, StringId key, const Value& value,
           EventList& out) {
    Event event;
    event.phase = 'M';
    event.name = run_.Intern(name);
    event.pid = pid;
    event.ts = ts;
    run_.args.Own(event, 1);
    run_.args.Set(event, key, value);
    out.push_back(event);
  }

  Run& run_;
  ByValue<Rank> ranks_;
};

// Counters of all ranks together have a process of their own.
void NameCollectives(EventList& events, Run& run) {
  const Value pid = Value::Integer(-1);
  for (const Event& event : events) {
    if (event.phase != 'C' || !(event.pid == pid)) continue;
    Event named;
    named.phase = 'M';
    named.name = run.Intern("process_name");
    named.pid = pid;
    named.ts = event.ts;
    run.args.Set(named, key::kName, Value::Text(run.Intern("CollectiveBW")));
    events.push_back(named);
    return;
  }
}

}  // namespace

void TbRefinementLightweight(EventList& events, Run& run) {
  Refiner refiner(run);
  for (Event& event : events) refiner.Refine(event);
  EventList metadata;
  refiner.Finish(metadata);
  events.insert(events.end(), metadata.begin(), metadata.end());
  if (!run.options.compat) NameCollectives(events, run);
}

}  // namespace debrief::accel
