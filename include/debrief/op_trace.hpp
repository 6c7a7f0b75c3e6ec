// Ops that a program ran, with shapes, bytes and times: kept, added up, written and read.
//
//   using namespace debrief::op_trace;
//   Recorder recorder;
//   recorder.BeginOp("matmul");
//   recorder.EndOpWithShapes({{64, 128}, {128, 10}}, {64, 10}, Dtype::kFloat32);
//   const Trace trace = recorder.Finish();
//   for (const OpSummary& op : SummariseOps(trace)) ...
//
// Standard library alone; nothing throws but what the allocator throws. A trace costs some 200
// bytes an op; to record a program for longer, use recorder.h and load its file with
// LoadRecording(). Times are whole nanoseconds. Order never depends on hashes: equal input gives
// equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief::op_trace {

// kReference does exactly what the first op traces did, mistakes included, for those who compare
// with them; docs/compat.md lists each difference.
enum class Behaviour : uint8_t { kCorrect, kReference };

// Numbered as dbr_dtype in recorder.h.
enum class Dtype : uint8_t {
  kUnknown = 0,
  kBool,
  kUint8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kFloat8E4m3,
  kFloat8E5m2
};
std::string_view DtypeName(Dtype dtype);  // as PyTorch spells it; empty when unknown
unsigned DtypeBytes(Dtype dtype);         // of an element; 0 when unknown

using Shape = std::vector<uint64_t>;  // {} is a scalar

// What an output of some shape takes.
struct OutputSize {
  uint64_t elements = 0;
  uint64_t bytes = 0;
  bool assumed = false;    // eight bytes an element, for lack of a type
  bool saturated = false;  // more than 2^64 - 1; that is told instead
};
// `shape` is null when none was told: nothing is known, so nothing is counted.
OutputSize SizeOfOutput(const Shape* shape, Dtype dtype, Behaviour behaviour);

struct Entry {
  Entry() = default;
  Entry(uint64_t step_number, std::string name) : step(step_number), operation(std::move(name)) {}

  Entry& WithDevice(std::string name);
  Entry& WithInputShapes(std::vector<Shape> shapes);
  // Also counts elements and bytes.
  Entry& WithOutputShape(Shape shape, Dtype type = Dtype::kUnknown,
                         Behaviour behaviour = Behaviour::kCorrect);
  Entry& WithDuration(int64_t ns);
  Entry& WithDurationUs(double us);  // NaN and infinity: not known

  double DurationUs() const;  // NaN when not known
  // 0 where there is no duration to divide by.
  double ElementsPerUs(Behaviour behaviour = Behaviour::kCorrect) const;

  uint64_t step = 0;
  std::string operation;
  std::optional<std::string> device;
  std::vector<Shape> input_shapes;
  std::optional<Shape> output_shape;       // none: not told
  Dtype dtype = Dtype::kUnknown;           // of the output
  std::optional<int64_t> duration_ns = 0;  // none: not known
  uint64_t output_elements = 0;
  uint64_t memory_bytes = 0;  // of the output
  bool memory_assumed = false;
  std::optional<int64_t> start_ns;  // since 1970; none: not told
  uint64_t thread = 0;
  bool open = false;  // had not ended when the recording did
};

class Trace {
 public:
  explicit Trace(Behaviour behaviour = Behaviour::kCorrect) : behaviour_(behaviour) {}

  void Add(Entry entry) { entries_.push_back(std::move(entry)); }
  void SetMetadata(std::string key, std::string value);  // the last one counts

  Behaviour behaviour() const { return behaviour_; }
  std::span<const Entry> entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  size_t StepCount() const { return entries_.size(); }
  // Of each entry without what was recorded inside of it on the same thread. kReference knows no
  // inside: the whole duration.
  std::vector<int64_t> SelfTimes() const;
  // Time in recorded ops, each moment of a thread counted once. kReference: durations added up.
  int64_t TotalDurationNs() const;
  uint64_t TotalMemoryBytes() const;    // ever produced, not alive at once
  uint64_t LargestOutputBytes() const;  // of one op; no peak of memory
  // Longest first; ties in the order of the trace.
  std::vector<const Entry*> SlowestOps(size_t count) const;

  // Sorted keys, exact times, null for what is not known. kReference: keys and layout of the first
  // op traces.
  std::string ToJson() const;

 private:
  Behaviour behaviour_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

// A trace, or why there is none.
struct Loaded {
  std::optional<Trace> trace;
  std::string problem;                // why not
  std::vector<std::string> warnings;  // what was left out, with its place
};
Loaded FromJson(std::string_view text, Behaviour behaviour = Behaviour::kCorrect);
// The bytes of a .dbr file. kReference flattens: an op that begins inside of another ends it.
Loaded LoadRecording(std::span<const std::byte> bytes, Behaviour behaviour = Behaviour::kCorrect);

struct OpSummary {
  std::string operation;
  uint64_t count = 0;
  int64_t duration_ns = 0;
  int64_t self_ns = 0;
  double mean_ns = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t longest_ns = 0;
  uint64_t bytes = 0;
};
// By exact name, in order of name.
std::vector<OpSummary> SummariseOps(const Trace& trace);

// Entries whose output is larger than `threshold`, in the order of the trace.
std::vector<const Entry*> MemoryHotspots(const Trace& trace, uint64_t threshold);

struct DeviceSummary {
  std::string device;
  uint64_t count = 0;
  int64_t duration_ns = 0;  // added up, what is inside of another op counted once
  int64_t busy_ns = 0;      // moments in which at least one op ran; needs start times, else 0
  uint64_t bytes = 0;
};
// Entries that name a device, devices in the order that people count in (gpu:2 before gpu:10).
std::vector<DeviceSummary> SummariseDevices(const Trace& trace);

struct LoadBalance {
  int64_t total_ns = 0;
  double ideal_ns = 0;  // total / devices
  int64_t max_ns = 0;
  double imbalance = 0;  // (max - ideal) / ideal, at least 0
  std::vector<std::pair<std::string, int64_t>> devices;
};
// None for fewer than two devices.
std::optional<LoadBalance> BalanceOfDevices(const Trace& trace);

struct CommunicationShare {
  std::string operation;
  uint64_t count = 0;
  int64_t duration_ns = 0;
  double of_op_time = 0;  // duration / time in recorded ops
};
// Collectives and transfers by name that take at least `min_ratio` of the op time, longest first.
std::vector<CommunicationShare> CommunicationBottlenecks(const Trace& trace, double min_ratio);
bool IsCommunication(std::string_view operation, Behaviour behaviour = Behaviour::kCorrect);

// Summaries as JSON: an array with an object a row, keys in alphabetical order, times in
// nanoseconds. Of a balance that there is none of: null.
std::string ToJson(std::span<const OpSummary> ops);
std::string ToJson(std::span<const DeviceSummary> devices);
std::string ToJson(std::span<const CommunicationShare> shares);
std::string ToJson(const std::optional<LoadBalance>& balance);

// Collapsed stacks for flame graphs: `device;outer;inner 1500`, nanoseconds without what is inside,
// one line a stack. kReference: `trace;device;op 2`, microseconds, at least one an op.
std::string CollapsedStacks(const Trace& trace);

// Keeps a trace in memory while a program runs. One thread.
class Recorder {
 public:
  using Clock = int64_t (*)();  // nanoseconds that never fall
  explicit Recorder(Behaviour behaviour = Behaviour::kCorrect, Clock now = SteadyNow)
      : trace_(behaviour), now_(now) {}

  // Ops nest; kReference: an op that begins ends the one before.
  void BeginOp(std::string operation);
  // Ends the innermost op; does nothing when none is open.
  void EndOpWithShapes(std::vector<Shape> inputs, Shape output, Dtype dtype = Dtype::kUnknown);
  void EndOp();
  void SetDevice(std::optional<std::string> device) { device_ = std::move(device); }

  const Trace& CurrentTrace() const { return trace_; }  // what has ended
  // Ends what is open.
  Trace Finish();

 private:
  struct OpenOp {
    uint64_t step;
    std::string operation;
    int64_t start_ns;
  };
  static int64_t SteadyNow();
  Entry Close(int64_t end_ns);

  Trace trace_;
  Clock now_;
  std::vector<OpenOp> open_;
  std::optional<std::string> device_;
  uint64_t next_step_ = 0;
};

}  // namespace debrief::op_trace
