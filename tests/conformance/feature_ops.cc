// Uses every call of debrief/op_trace.hpp once and prints what it gave, a line each, for
// features.tsv. With a path it records a hundred ops there instead, copies the recording to
// snapshot.dbr, and is killed inside of another op.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "debrief/op_trace.hpp"
#include "debrief/recorder.hpp"

namespace {

using namespace debrief::op_trace;

int64_t g_now = 0;
int64_t Now() { return g_now += 1000; }

Entry Op(uint64_t step, const char* name, const char* device, double us, uint64_t elements) {
  return Entry(step, name).WithDevice(device).WithOutputShape({elements}).WithDurationUs(us);
}

void PrintEntry() {
  const Entry empty(7, "relu");
  std::printf("new %zu %s %d %zu %llu\n", size_t{empty.step}, empty.operation.c_str(),
              empty.device.has_value(), empty.input_shapes.size(),
              static_cast<unsigned long long>(empty.memory_bytes));
  Entry conv(0, "conv2d");
  conv.WithDevice("gpu:0").WithInputShapes({{1, 3, 32, 32}, {16, 3, 3, 3}}).WithDuration(500'000);
  conv.WithOutputShape({1, 16, 30, 30}, Dtype::kFloat32);
  std::printf("device %s\ninputs %zu %zu\n", conv.device->c_str(), conv.input_shapes.size(),
              size_t{conv.input_shapes[1][0]});
  std::printf("output %zu %zu\n", size_t{conv.output_elements}, size_t{conv.memory_bytes});
  std::printf("duration %g\nthroughput %g %g\n", conv.DurationUs(), conv.ElementsPerUs(),
              empty.ElementsPerUs());
}

void PrintTrace(const Trace& trace) {
  std::printf("total %lld\nsteps %zu\n", static_cast<long long>(trace.TotalDurationNs()),
              trace.StepCount());
  std::printf("memory %zu\nlargest %zu\n", size_t{trace.TotalMemoryBytes()},
              size_t{trace.LargestOutputBytes()});
  std::printf("metadata %s\n", trace.metadata().at("model").c_str());
  for (const Entry* entry : trace.SlowestOps(2))
    std::printf("slowest %s\n", entry->operation.c_str());
}

void PrintJson(const Trace& trace) {
  const std::string text = trace.ToJson();
  const Loaded back = FromJson(text);
  std::printf("to_json %d\n", text.find("\"all_reduce\"") != std::string::npos);
  std::printf("from_json %zu %d\n", back.trace->StepCount(), back.trace->ToJson() == text);
  const char* with_null =
      R"({"entries": [{"step": 0, "operation": "a", "device_id": null, "input_shapes": [], "output_shape": [],
      "duration_us": null, "output_elements": 0, "memory_bytes": 0}], "total_duration_us": null, "metadata": {}})";
  std::printf("null %d\n", FromJson(with_null, Behaviour::kReference).trace.has_value());
}

void PrintAnalyses(const Trace& trace) {
  for (const OpSummary& op : SummariseOps(trace)) {
    std::printf("op %s %zu %lld %lld %zu\n", op.operation.c_str(), size_t{op.count},
                static_cast<long long>(op.duration_ns), static_cast<long long>(op.mean_ns),
                size_t{op.bytes});
  }
  std::printf("hotspots %zu %zu\n", MemoryHotspots(trace, 500).size(),
              MemoryHotspots(trace, 1000).size());
  for (const DeviceSummary& device : SummariseDevices(trace)) {
    std::printf("device_sum %s %zu %lld\n", device.device.c_str(), size_t{device.count},
                static_cast<long long>(device.duration_ns));
  }
  const auto balance = BalanceOfDevices(trace);
  std::printf("balance %lld %lld %g %d\n", static_cast<long long>(balance->ideal_ns),
              static_cast<long long>(balance->max_ns), balance->imbalance,
              BalanceOfDevices(Trace()).has_value());
  for (const CommunicationShare& share : CommunicationBottlenecks(trace, 0.2)) {
    std::printf("communication %s %zu %g\n", share.operation.c_str(), size_t{share.count},
                share.of_op_time);
  }
  std::printf("names %d %d\n", IsCommunication("all_reduce"),
              IsCommunication("aten::broadcast_tensors"));
  std::printf("names_reference %d %d\n", IsCommunication("all_reduce", Behaviour::kReference),
              IsCommunication("aten::broadcast_tensors", Behaviour::kReference));
  std::printf("stacks %s", CollapsedStacks(trace).c_str());
  const OpSummary none;
  std::printf("defaults %zu %lld %zu\n", size_t{none.count},
              static_cast<long long>(none.duration_ns), size_t{none.bytes});
}

void PrintRecorder(const char* title, Behaviour behaviour) {
  Recorder recorder(behaviour, Now);
  recorder.BeginOp("outer");
  recorder.BeginOp("inner");
  recorder.EndOpWithShapes({{2, 2}}, {2, 4}, Dtype::kFloat32);
  recorder.EndOp();
  const size_t so_far = recorder.CurrentTrace().StepCount();
  recorder.BeginOp("left_open");
  const Trace trace = recorder.Finish();
  std::printf("%s %zu %zu", title, so_far, trace.StepCount());
  for (const Entry& entry : trace.entries())
    std::printf(" %s:%zu", entry.operation.c_str(), size_t{entry.output_elements});
  std::printf("\n");
}

[[noreturn]] void RecordAndDie(const char* path) {
  dbr_recording* recording = nullptr;
  if (dbr_open(path, nullptr, &recording) != DBR_OK) std::abort();
  for (int i = 0; i < 100; ++i) {
    DEBRIEF_SCOPE("mm");
  }
  dbr_begin(dbr_name("dies_here", 9));
  if (dbr_snapshot(recording, "snapshot.dbr") != DBR_OK) std::abort();
  std::raise(SIGKILL);
  std::abort();
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) RecordAndDie(arguments[1]);
  PrintEntry();
  Trace trace;
  trace.Add(Op(0, "matmul", "gpu:0", 100, 100));
  trace.Add(Op(1, "matmul", "gpu:0", 200, 50));
  trace.Add(Op(2, "all_reduce", "gpu:1", 100, 200));
  trace.SetMetadata("model", "tiny");
  PrintTrace(trace);
  PrintJson(trace);
  PrintAnalyses(trace);
  PrintRecorder("recorder", Behaviour::kCorrect);
  PrintRecorder("recorder_reference", Behaviour::kReference);
  return 0;
}
