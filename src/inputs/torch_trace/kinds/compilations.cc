// How a compilation went: where it began, its phases, its guards, what it cost.
#include <array>
#include <cmath>

#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_event.h"
#include "tables/compile_metrics.h"
#include "tables/compile_restart.h"

namespace debrief::inputs::torch_trace {

namespace {

// {"dynamo_start": {"stack": [{"line": 43, "name": "f", "filename": 1, "loc": "f(x)"}]}}
constexpr Field<CompileEntryRow> kStart[] = {
    {"stack", FieldType::kStack},
};

// {"chromium_event": {}}; the payload is one trace event:
//
//   {"name": "dynamo", "ts": 1794709992158846.8, "args": {...}, "ph": "B", "cat": "dynamo_timed",
//    "tid": 0, "pid": 0}
//
// Its time is in microseconds since 1970, which also tells the year and zone of the log.
int64_t MicrosToNs(std::optional<double> micros) {
  if (!micros || std::abs(*micros) > 9e15) return kNone64;
  double whole = std::floor(*micros);
  return static_cast<int64_t>(whole) * 1000 + std::llround((*micros - whole) * 1000);
}

Status ReadEvent(std::string_view lines, Entry& entry) {
  thread_local JsonReader reader;
  TRY(reader.Open(lines));
  auto row = entry.NewRow<CompileEventRow>();
  TRY(reader.root().ForEachField([&](std::string_view key, JsonValue value) {
    auto text = [&] { return entry.Intern(value.String().value_or("")); };
    if (key == "name") row.name = text();
    if (key == "cat") row.category = text();
    if (key == "ph") row.phase = text();
    if (key == "ts") row.time_ns = MicrosToNs(value.Double());
    if (key == "dur") row.duration_ns = MicrosToNs(value.Double());
    if (key == "pid") row.pid = value.Int().value_or(kNone64);
    if (key == "tid") row.tid = value.Int().value_or(kNone64);
  }));
  constexpr int64_t kYear2001 = 1'000'000'000'000'000'000;  // smaller ones are no unix times
  if (row.time_ns != kNone64 && row.time_ns > kYear2001) entry.SetUnixTime(row.time_ns);
  entry.Add<CompileEventTable>(row);
  return {};
}

// {"dynamo_guards": {}}; the payload is a JSON array of
// {"code": "L['x'].size()[0] == 4", "stack": [...], "user_stack": [...]}.
// Every element must have its code: a list that is cut short would hide guards.
Status CheckGuards(std::string_view lines, Entry&) {
  JsonReader reader;
  TRY(reader.Open(lines));
  return reader.root().ForEachElement([](JsonValue guard) -> Status {
    bool has_code = false;
    TRY(guard.ForEachField([&](std::string_view key, JsonValue value) {
      if (key == "code") has_code = value.String().has_value();
    }));
    return has_code ? Status() : Status(Code::kInvalid, "missing field `code`");
  });
}

// {"compilation_metrics": {"co_name": "forward", "graph_op_count": 17, "restart_reasons": [], ...}}
//
// PyTorch writes some sixty fields more, and others with every release: those that we keep beyond
// the first table are taken when they have the expected type and ignored when not.
constexpr Field<CompileMetricsRow> kMetricsFields[] = {
    {"co_name", FieldType::kText, &CompileMetricsRow::co_name},
    {"co_filename", FieldType::kText, &CompileMetricsRow::co_filename},
    {"co_firstlineno", FieldType::kInt32, &CompileMetricsRow::co_firstlineno},
    {"cache_size", FieldType::kUint64, &CompileMetricsRow::cache_size},
    {"accumulated_cache_size", FieldType::kUint64, &CompileMetricsRow::accumulated_cache_size},
    {"guard_count", FieldType::kUint64, &CompileMetricsRow::guard_count},
    {"shape_env_guard_count", FieldType::kUint64, &CompileMetricsRow::shape_env_guard_count},
    {"graph_op_count", FieldType::kUint64, &CompileMetricsRow::graph_op_count},
    {"graph_node_count", FieldType::kUint64, &CompileMetricsRow::graph_node_count},
    {"graph_input_count", FieldType::kUint64, &CompileMetricsRow::graph_input_count},
    {"start_time", FieldType::kDouble, &CompileMetricsRow::start_time},
    {"elapsed_time", FieldType::kDouble, &CompileMetricsRow::elapsed_time},
    {"entire_frame_compile_time_s", FieldType::kDouble,
     &CompileMetricsRow::entire_frame_compile_time_s},
    {"backend_compile_time_s", FieldType::kDouble, &CompileMetricsRow::backend_compile_time_s},
    {"inductor_compile_time_s", FieldType::kDouble, &CompileMetricsRow::inductor_compile_time_s},
    {"code_gen_time_s", FieldType::kDouble, &CompileMetricsRow::code_gen_time_s},
    {"dynamo_time_before_restart_s", FieldType::kDouble,
     &CompileMetricsRow::dynamo_time_before_restart_s},
    {"fail_type", FieldType::kText, &CompileMetricsRow::fail_type},
    {"fail_reason", FieldType::kText, &CompileMetricsRow::fail_reason},
    {"fail_user_frame_filename", FieldType::kText, &CompileMetricsRow::fail_user_frame_filename},
    {"fail_user_frame_lineno", FieldType::kUint32, &CompileMetricsRow::fail_user_frame_lineno},
    {"non_compliant_ops", FieldType::kTexts, &CompileMetricsRow::non_compliant_ops},
    {"compliant_custom_ops", FieldType::kTexts, &CompileMetricsRow::compliant_custom_ops},
};

struct Extra {
  std::string_view key;
  int64_t CompileMetricsRow::* number = nullptr;
  StringId CompileMetricsRow::* text = nullptr;
};

constexpr auto kExtras = std::to_array<Extra>({
    {.key = "duration_us", .number = &CompileMetricsRow::duration_us},
    {.key = "start_time_us", .number = &CompileMetricsRow::start_time_us},
    {.key = "end_time_us", .number = &CompileMetricsRow::end_time_us},
    {.key = "num_graph_breaks", .number = &CompileMetricsRow::num_graph_breaks},
    {.key = "recompile_reason", .text = &CompileMetricsRow::recompile_reason},
    {.key = "cudagraph_skip_reason", .text = &CompileMetricsRow::cudagraph_skip_reason},
});

void ReadExtra(std::string_view key, JsonValue value, Entry& entry, CompileMetricsRow& row) {
  for (const Extra& extra : kExtras) {
    if (extra.key != key) continue;
    if (extra.number != nullptr) row.*extra.number = value.Int().value_or(kNone64);
    if (extra.text != nullptr && value.kind() == JsonKind::kString)
      row.*extra.text = entry.Intern(value.String().value_or(""));
  }
  if (key == "is_forward") row.is_forward = value.Bool().value_or(false) ? 1 : 0;
  if (key == "config_suppress_errors") row.suppress_errors = value.Bool().value_or(false) ? 1 : 0;
}

Status ReadRestarts(JsonValue value, Entry& entry, CompileMetricsRow& row) {
  row.restart_reasons = 0;
  return value.ForEachElement([&](JsonValue reason) -> Status {
    auto text = reason.kind() == JsonKind::kString ? reason.String() : std::nullopt;
    if (!text) return WrongField("restart_reasons", "has an element that is no string");
    ++row.restart_reasons;
    auto restart = entry.NewRow<CompileRestartRow>();
    restart.reason = entry.Intern(*text);
    entry.Add<CompileRestartTable>(restart);
    return {};
  });
}

Status ReadMetrics(JsonValue value, Entry& entry) {
  auto row = entry.NewRow<CompileMetricsRow>();
  auto others = [&](std::string_view key, JsonValue field) -> Status {
    if (key == "restart_reasons" && !field.IsNull()) return ReadRestarts(field, entry, row);
    ReadExtra(key, field, entry, row);
    return {};
  };
  TRY(ReadFields<CompileMetricsRow>(value, kMetricsFields, entry, row, others));
  entry.Add<CompileMetricsTable>(row);
  return {};
}

constexpr Kind kCompilations[] = {
    {"dynamo_start", "a compilation begins; the stack is where it was called",
     ReadEntryRow<kStart>},
    {.key = "chromium_event",
     .sentence = "a phase of the compiler begins or ends",
     .forgets_checksum = true,
     .read_payload = ReadEvent},
    {.key = "dynamo_cpp_guards_str",
     .sentence = "the tree of guards as C++ checks it",
     .order = 9,
     .form = "text"},
    {.key = "dynamo_guards",
     .sentence = "the guards of a compilation",
     .order = 12,
     .form = "guards",
     .read_payload = CheckGuards},
    {"aot_autograd_backward_compilation_metrics", "how long AOTAutograd took for a backward graph",
     ReadMetrics, 15, "metrics"},
    {"bwd_compilation_metrics", "what the compilation of a backward graph cost and how it ended",
     ReadMetrics, 16, "metrics"},
    {"compilation_metrics", "what the compilation of a frame cost and how it ended", ReadMetrics,
     20, "metrics"},
    {"bwd_compilation_metrics_runtime",
     "metrics of a backward graph that were complete only when it first ran", ReadMetrics},
    {"compilation_metrics_runtime",
     "metrics that were complete only when the compiled code first ran", ReadMetrics},
};

}  // namespace

std::span<const Kind> CompilationKinds() { return kCompilations; }

}  // namespace debrief::inputs::torch_trace
