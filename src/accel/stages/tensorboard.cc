// Names, categories and processes as TensorBoard and viewers of torch traces expect them.
#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "accel/names.h"
#include "accel/run.h"
#include "accel/stages/stages.h"
#include "base/text/strings.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel {

// Names of the two processes of a rank of Flex, its host and its device.
//
// The reference names one that is not there "cpu_default" or "acc_default", with pid 0, and so
// renames rank 0; without
// --compat only processes that are met are named. It gives the names away when
// tb_refinement_intrusive is drained, which shares their list with tb_refinement_lightweight.

namespace {

// Host slices of rank r go to process 1000 + r.
constexpr int64_t kHostPids = 1000;

// A process of a rank: when it was first met.
struct NamedProcess {
  bool met = false;
  double ts = 0;
};

struct NamedRank {
  NamedProcess host, device;
};

struct NamedProcesses {
  bool done = false;
};

class ProcessNamer {
 public:
  explicit ProcessNamer(Run& run) : run_(run) {}

  void Take(const Event& event) {
    if (event.phase != 'X' || run_.DialectOf(event) == Dialect::kTorch) return;
    if (!event.pid.IsInteger()) return;
    NamedRank& rank = ranks_[event.pid];
    NamedProcess& process = IsDeviceEvent(event, run_) ? rank.device : rank.host;
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
  void Name(const NamedProcess& process, int64_t pid, const std::string& name, int64_t index,
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

// Metadata events for the processes of `events`, before their pids are changed; none when they were
// given away before.
EventList NamesOfProcesses(const EventList& events, Run& run) {
  bool& done = run.Shared<NamedProcesses>().done;
  if (std::exchange(done, true)) return {};
  ProcessNamer names(run);
  for (const Event& event : events) names.Take(event);
  if (!run.options.compat) names.NameCollectives(events);
  return names.Make();
}

}  // namespace

// tb_refinement_intrusive: TensorBoard groups by name, so slices of a device lose their numbers.
//
// The reference cuts digits out of names and keeps the name in args.orig_name. Without --compat
// names stay what they are, and the one to group by stands in args.group_name.
//
// Cost: linear; every distinct name is looked at once.

namespace {

constexpr int64_t kFirstCollectiveTid = 10'000;

// "coll<n>", which collectives.cc gives.
void NumberTrack(Event& event, const Run& run) {
  if (event.tid.kind != ValueKind::kText) return;
  const std::string_view tid = run.Text(event.tid.text);
  if (!tid.starts_with("coll")) return;
  if (const auto rank = ParseNumber<int64_t>(tid.substr(4)))
    event.tid = Value::Integer(kFirstCollectiveTid + *rank);
}

class Renamer {
 public:
  explicit Renamer(Run& run) : run_(run), group_name_(run.Intern("group_name")) {}

  void Rename(Event& event) {
    const StringId short_name = ShortName(event.name);
    if (short_name == event.name) return;
    if (run_.options.compat) {
      run_.args.Set(event, key::kOrigName, Value::Text(event.name));
      event.name = short_name;
    } else {
      run_.args.Set(event, group_name_, Value::Text(short_name));
    }
  }

 private:
  StringId ShortName(StringId name) {
    const auto [at, is_new] = names_.try_emplace(name, name);
    if (is_new) {
      const std::string_view text = run_.Text(name);
      at->second = run_.Intern(run_.options.compat ? reference::WithoutDigits(text)
                                                   : WithPlaceholders(text));
    }
    return at->second;
  }

  Run& run_;
  StringId group_name_;
  std::unordered_map<StringId, StringId> names_;
};

}  // namespace

void TbRefinementIntrusive(EventList& events, Run& run) {
  Renamer renamer(run);
  for (Event& event : events) {
    if (event.phase != 'X') continue;
    const bool device = IsDeviceEvent(event, run);
    if (device || !run.options.compat) NumberTrack(event, run);
    if (device && !run.options.keep_names) renamer.Rename(event);
  }
  if (!run.options.compat) return;
  const EventList names = NamesOfProcesses(events, run);
  events.insert(events.end(), names.begin(), names.end());
}

// tb_refinement_lightweight: categories and processes as viewers of torch traces expect them.
//
//   torch   process and thread names that were replaced by numbers come back
//   Flex    a device slice is a kernel, a copy (DmaI, DmaO) or a message (Rdma); slices of the host
//           go to a process of their own, 1000 + rank; both processes get names
//
// The reference calls every collective "gloo:all_reduce". Without --compat collectives keep their
// names except for TensorBoard (--tb).

namespace {

class Refiner {
 public:
  explicit Refiner(Run& run) : run_(run) {}

  void Refine(Event& event) {
    if (run_.DialectOf(event) == Dialect::kTorch) return Restore(event);
    const bool is_async = event.phase == 'b' || event.phase == 'e';
    if (event.phase != 'X' && (run_.options.compat || !is_async)) return;
    if (IsDeviceEvent(event, run_)) {
      RefineDevice(event);
    } else {
      RefineHost(event);
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
  }

  void RefineHost(Event& event) {
    if (!event.pid.IsInteger()) return;
    if (event.Has(key::kCollDataSize)) {
      RefineCollective(event);
    } else if (event.cat == StringId::kNone) {
      event.cat = key::kCpuOp;
    }
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

  Run& run_;
};

}  // namespace

void TbRefinementLightweight(EventList& events, Run& run) {
  const EventList names = NamesOfProcesses(events, run);
  Refiner refiner(run);
  for (Event& event : events) refiner.Refine(event);
  events.insert(events.end(), names.begin(), names.end());
}

}  // namespace debrief::accel
