// event_categorizer_update: transfers of a device between the first and the last kernel of its job
// are messages to other devices, and transfers with a known bandwidth become the counter
// TransferBW.
//
// A single device has no one to talk to: without --compat its transfers stay what they are.
#include <fmt/format.h>

#include "accel/categories.h"
#include "accel/passes/event_classes.h"
#include "accel/passes/passes.h"

namespace debrief::accel {
namespace {

constexpr int64_t kSignalBytes = 128;  // a message this long is a signal, not data

class Updater {
 public:
  explicit Updater(Run& run)
      : run_(run),
        classes_(run.Shared<EventClasses>()),
        counter_{key::kTransferBw, StringId::kNone, key::kGBs} {}

  // Counters go behind the event they come from.
  void Update(Event& event, EventList& counters) {
    const auto event_class = event.phase == 'X' ? classes_.ClassOf(event) : std::nullopt;
    if (!event_class) return;
    const EventClass updated = IsMessage(event) ? Message(event, *event_class) : *event_class;
    if (updated != *event_class) {
      run_.args.Set(event, key::kClass, Value::Text(classes_.names[static_cast<size_t>(updated)]));
    }
    if (IsTransfer(updated)) EmitBandwidth(event, counters);
  }

 private:
  bool IsMessage(const Event& event) const {
    if (!run_.options.compat && classes_.ranks_with_kernels < 2) return false;
    if (run_.DialectOf(event) != Dialect::kFlex || !IsDeviceEvent(event, run_)) return false;
    const auto at = classes_.kernels.find(KernelContext(event, run_));
    return at != classes_.kernels.end() && at->second.first < event.ts &&
           event.ts < at->second.last;
  }

  // The reference compares a string with 128, which never is equal.
  bool IsSignal(const Event& event) const {
    return !run_.options.compat && IntegerArg(event, key::kBytes, run_) == kSignalBytes;
  }

  EventClass Message(const Event& event, EventClass plain) const {
    using enum EventClass;
    if (plain == kDataOut) return IsSignal(event) ? kProtocolSignalData : kProtocolSendData;
    if (plain == kDataIn) return IsSignal(event) ? kProtocolSignalAck : kProtocolRecvData;
    return plain;
  }

  static bool IsTransfer(EventClass event_class) {
    using enum EventClass;
    return event_class == kDataIn || event_class == kDataOut || event_class == kProtocolSendData ||
           event_class == kProtocolRecvData;
  }

  void EmitBandwidth(const Event& event, EventList& out) {
    const Arg* arg = event.Find(key::kMemoryBandwidth);
    const auto rate = arg == nullptr ? std::nullopt : arg->value().AsNumber(run_.strings);
    if (!rate || *rate <= 0) return;
    out.push_back(MakeCounter(counter_, event.pid, event.ts, *rate, run_));
    out.push_back(MakeCounter(counter_, event.pid, event.end(), 0, run_));
  }

  Run& run_;
  EventClasses& classes_;
  CounterName counter_;
};

// Few traces know their bandwidth; the others are not copied.
void Insert(EventList& events, const EventList& counters, const std::vector<uint32_t>& sources) {
  if (counters.empty()) return;
  EventList out;
  out.reserve(events.size() + counters.size());
  size_t next = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    out.push_back(events[i]);
    for (; next < counters.size() && sources[next] == i; ++next) out.push_back(counters[next]);
  }
  events = std::move(out);
}

}  // namespace

void EventCategorizerUpdate(EventList& events, Run& run) {
  Updater updater(run);
  EventList counters;
  std::vector<uint32_t> sources;  // beside counters: the event each comes from
  for (size_t i = 0; i < events.size(); ++i) {
    updater.Update(events[i], counters);
    sources.resize(counters.size(), static_cast<uint32_t>(i));
  }
  Insert(events, counters, sources);
  const size_t flex_events = run.Shared<EventClasses>().flex_events;
  if (run.options.compat && flex_events > 0) {
    run.console.Warning(fmt::format(
        "CAT: Found {} categorization mismatches compared to FLEX src classifier.", flex_events));
  }
}

}  // namespace debrief::accel
