// The class of an event: what the runtime was doing (args.class).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "base/text/strings.h"

namespace debrief::accel {

// event_categorizer: every slice gets args.class, by its name and category.
//
// Cost: a few searches a slice of a collective; none else, as names are looked at once.

namespace {

enum class EventClass : uint8_t {
  kComputePrep,
  kComputeExec,
  kDataIn,
  kDataOut,
  kOther,
  kDataConvert,
  kWireup,
  kBarrier,
  kRoundtripFlex,
  kRoundtripAiu,
  kHdmaWaitData,
  kHdmaWaitAck,
  kHdmaSignalAck,
  kHdmaSignalData,
  kHdmaMonitorNotice,
  kHdmaSendData,
  kHdmaRecvData,
  kP2pSendData,
  kP2pRecvData,
  kProtocolSerial,
  kProtocolSendData,
  kProtocolRecvData,
  kProtocolSignalData,
  kProtocolSignalAck,
};

// When the kernels of a job (torch: of a correlation) began and ended.
struct KernelTime {
  double first = 0, last = 0;
};

constexpr std::string_view kClassNames[] = {"COMPUTE_PREP",
                                            "COMPUTE_EXEC",
                                            "DATA_IN",
                                            "DATA_OUT",
                                            "OTHER",
                                            "SEN_DATA_CONVERT",
                                            "MAIU_WIREUP",
                                            "MAIU_BARRIER",
                                            "ROUNDTRIP_FLEX",
                                            "ROUNDTRIP_AIU",
                                            "MAIU_HDMA_PROTOCOL_WAIT_DATA",
                                            "MAIU_HDMA_PROTOCOL_WAIT_ACK",
                                            "MAIU_HDMA_PROTOCOL_SIGNAL_ACK",
                                            "MAIU_HDMA_PROTOCOL_SIGNAL_DATA",
                                            "MAIU_HDMA_PROTOCOL_MONITOR_NOTICE",
                                            "MAIU_HDMA_PROTOCOL_SEND_DATA",
                                            "MAIU_HDMA_PROTOCOL_RECV_DATA",
                                            "MAIU_P2PRDMA_PROTOCOL_SEND_DATA",
                                            "MAIU_P2PRDMA_PROTOCOL_RECV_DATA",
                                            "MAIU_PROTOCOL_SERIAL",
                                            "MAIU_PROTOCOL_SEND_DATA",
                                            "MAIU_PROTOCOL_RECV_DATA",
                                            "MAIU_PROTOCOL_SIGNAL_DATA",
                                            "MAIU_PROTOCOL_SIGNAL_ACK"};

struct EventClasses {
  std::map<std::pair<uint32_t, int64_t>, KernelTime> kernels;
  std::vector<StringId> names;  // by EventClass
  size_t flex_events = 0;
  size_t ranks_with_kernels = 0;

  void Intern(Run& run) {
    names.clear();
    for (std::string_view name : kClassNames) names.push_back(run.Intern(name));
  }

  std::optional<EventClass> ClassOf(const Event& event) const {
    const Arg* arg = event.Find(key::kClass);
    if (arg == nullptr || arg->kind != ValueKind::kText) return std::nullopt;
    const auto at = std::find(names.begin(), names.end(), arg->text);
    if (at == names.end()) return std::nullopt;
    return static_cast<EventClass>(at - names.begin());
  }
};

// A job of Flex is a file; a trace of torch holds many launches.
std::pair<uint32_t, int64_t> KernelContext(const Event& event, const Run& run) {
  if (run.DialectOf(event) == Dialect::kFlex) return {event.job, -1};
  const uint32_t job = run.options.compat ? 0 : event.job;
  return {job, IntegerArg(event, key::kCorrelation, run).value_or(-1)};
}

// Transfers through the memory of the host. The first rule that fits counts: "Wait for Notice
// (gather notifications)" waits for data, other notices are watched.
EventClass HostDmaClass(std::string_view name, EventClass plain) {
  using enum EventClass;
  if (ContainsAny(name, {"Wdone DmaI", "Wait for Data Avail Notice",
                         "Wait for Notice (gather notifications)", "R5 Wait DATA"})) {
    return kHdmaWaitData;
  }
  if (ContainsAny(name, {"Wait for ACK", "R5 Wait ACK"})) return kHdmaWaitAck;
  if (ContainsAny(name, {"Send ACK Instruction", "R5 Send ACK"})) return kHdmaSignalAck;
  if (ContainsAny(name, {"Send Instruction", "HCOLL Signal", "R5 Send DATA"}))
    return kHdmaSignalData;
  if (ContainsAny(name, {"Wait for Notice", "Wait for Delivery Notice"})) return kHdmaMonitorNotice;
  if (plain == kDataOut) return kHdmaSendData;
  if (plain == kDataIn) return kHdmaRecvData;
  return plain;
}

EventClass CollectiveClass(std::string_view name, EventClass plain) {
  using enum EventClass;
  if (ContainsAny(name, {"Host DMA", "HCOLL"})) return HostDmaClass(name, plain);
  if (ContainsAny(name, {"DLM Wait"})) return kHdmaWaitData;
  if (ContainsAny(name, {"Set BcList", "Xseg to rank"})) return kProtocolSerial;
  if (plain == kDataOut) return kP2pSendData;
  if (plain == kDataIn) return kP2pRecvData;
  return plain;
}

class Classifier {
 public:
  explicit Classifier(Run& run) : run_(run) {}

  EventClass Classify(const Event& event) {
    const EventClass plain = Plain(event);
    const EventClass by_runtime = ByRuntime(event, plain);
    if (!IsCollective(event, run_)) return by_runtime;
    return CollectiveClass(run_.Text(event.name), by_runtime);
  }

 private:
  EventClass Plain(const Event& event) const {
    if (IsPrep(event, run_)) return EventClass::kComputePrep;
    if (IsKernel(event, run_)) return EventClass::kComputeExec;
    if (IsCopyIn(event, run_)) return EventClass::kDataIn;
    if (IsCopyOut(event, run_)) return EventClass::kDataOut;
    return EventClass::kOther;
  }

  EventClass ByRuntime(const Event& event, EventClass plain) {
    const uint32_t bits = BitsOf(event.name);
    const Dialect dialect = run_.DialectOf(event);
    if (bits & kNameRoundtrip) return EventClass::kRoundtripAiu;
    if (IsSuperNode(bits, dialect)) return EventClass::kRoundtripFlex;
    if (bits & kNameBarrier) return EventClass::kBarrier;
    if (IsRdmaPrepSync(bits, dialect)) return EventClass::kWireup;
    if (IsDataConvert(bits, dialect)) return EventClass::kDataConvert;
    return plain;
  }

  uint32_t BitsOf(StringId name) {
    const auto at = static_cast<size_t>(name);
    if (at >= bits_.size()) bits_.resize(std::max(run_.strings.size(), at + 1), kUnknown);
    if (bits_[at] == kUnknown) bits_[at] = NameBits(run_.Text(name));
    return bits_[at];
  }

  static constexpr uint32_t kUnknown = UINT32_MAX;
  Run& run_;
  std::vector<uint32_t> bits_;
};

void NoteKernel(const Event& event, EventClasses& classes, Run& run) {
  const auto [at, is_new] =
      classes.kernels.try_emplace(KernelContext(event, run), KernelTime{event.ts, event.ts});
  if (is_new) return;
  at->second.first = std::min(at->second.first, event.ts);
  at->second.last = std::max(at->second.last, event.ts);
}

}  // namespace

void EventCategorizer(EventList& events, Run& run) {
  auto& classes = run.Shared<EventClasses>();
  classes.Intern(run);
  Classifier classifier(run);
  ByValue<bool> ranks;
  for (Event& event : events) {
    if (event.phase != 'X') continue;
    const EventClass event_class = classifier.Classify(event);
    run.args.Set(event, key::kClass, Value::Text(classes.names[static_cast<size_t>(event_class)]));
    if (event_class == EventClass::kComputeExec) {
      NoteKernel(event, classes, run);
      ranks[RankOf(event)] = true;
    }
    classes.flex_events += run.DialectOf(event) == Dialect::kFlex;
  }
  classes.ranks_with_kernels = ranks.size();
}

// event_categorizer_update: transfers of a device between the first and the last kernel of its job
// are messages to other devices, and transfers with a known bandwidth become the counter
// TransferBW.
//
// A single device has no one to talk to: without --compat its transfers stay what they are.

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
void InsertBehind(EventList& events, const EventList& counters,
                  const std::vector<uint32_t>& sources) {
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
  InsertBehind(events, counters, sources);
  const size_t flex_events = run.Shared<EventClasses>().flex_events;
  if (run.options.compat && flex_events > 0) {
    run.console.Warning(fmt::format(
        "CAT: Found {} categorization mismatches compared to FLEX src classifier.", flex_events));
  }
}

}  // namespace debrief::accel
