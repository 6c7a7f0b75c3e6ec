// tb_refinement_lightweight: categories and processes as viewers of torch traces expect them.
//
//   torch   process and thread names that were replaced by numbers come back
//   Flex    a device slice is a kernel, a copy (DmaI, DmaO) or a message (Rdma); slices of the host
//           go to a process of their own, 1000 + rank; both processes get names
//
// The reference calls every collective "gloo:all_reduce". Without --compat collectives keep their
// names except for TensorBoard (--tb).
#include <string>

#include "accel/categories.h"
#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"
#include "accel/passes/process_names.h"

namespace debrief::accel {
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
