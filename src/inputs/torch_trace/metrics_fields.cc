// {"compilation_metrics": {"co_name": "forward", "graph_op_count": 17, "restart_reasons": [], ...}}
//
// PyTorch writes some sixty fields more, and others with every release: those that we keep beyond
// the first table are taken when they have the expected type and ignored when not.
#include "inputs/torch_trace/metrics_fields.h"

#include <array>

#include "inputs/torch_trace/fields.h"
#include "tables/compile_metrics.h"
#include "tables/compile_restart.h"

namespace debrief::inputs::torch_trace {

namespace {

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

}  // namespace

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

}  // namespace debrief::inputs::torch_trace
