#include "base/json/writer.h"
#include "diff/gates.h"

namespace debrief::diff {

namespace {

void WriteChange(const Change& change, JsonWriter& json) {
  json.Field("a", change.a).Field("b", change.b).Field("difference", change.difference());
  json.Field("noise", change.noise).Field("beyond_noise", change.is_real);
}

void WriteStepChange(const StepChange& change, JsonWriter& json) {
  json.Key("total").BeginObject();
  WriteChange(change.total, json);
  json.EndObject();
  size_t part = 0;
  json.Objects("parts", change.parts, [&](const Change& of_part) {
    json.Field("part", PartName(static_cast<StepPart>(part++)));
    WriteChange(of_part, json);
  });
}

void WriteSteps(const StepDiff& steps, JsonWriter& json) {
  json.Key("steps").BeginObject();
  json.Field("steps_a", steps.steps_a).Field("steps_b", steps.steps_b);
  json.Field("left_out_a", steps.left_out_a).Field("left_out_b", steps.left_out_b);
  WriteStepChange(steps.job, json);
  if (const auto& blame = steps.blame) {
    json.Key("blame").BeginObject().Field("part", PartName(blame->part));
    json.ListField("ranks", blame->ranks);
    WriteChange(blame->change, json);
    json.Field("others_wait", blame->others_wait_ns).EndObject();
  }
  json.Objects("ranks", steps.ranks, [&](const auto& rank) {
    json.Field("rank", rank.first);
    WriteStepChange(rank.second, json);
  });
  json.EndObject();
}

void WriteRow(const Row& row, JsonWriter& json) {
  json.Field("change", row.change).Field("name", row.name);
  if (row.unit != Unit::kNone) {
    json.Field("unit", UnitName(row.unit));
    WriteChange(row.value, json);
  }
  json.ListField("ranks", row.ranks);
  if (!row.note.empty()) json.Field("note", row.note);
}

}  // namespace

std::string DiffJson(const RunDiff& diff, std::span<const GateOutcome> gates) {
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginObject().Field("schema", kSchema).Field("a", diff.name_a).Field("b", diff.name_b);
  json.Field("empty", diff.is_empty()).Field("headline", diff.headline);
  json.ListField("notes", diff.notes);
  if (diff.steps) WriteSteps(*diff.steps, json);
  json.Objects("sections", diff.sections, [&](const Section& section) {
    json.Field("section", section.id);
    json.Objects("rows", section.rows, [&](const Row& row) { WriteRow(row, json); });
  });
  json.Objects("metrics", diff.metrics, [&](const Metric& metric) {
    json.Field("metric", metric.name).Field("unit", UnitName(metric.unit));
    WriteChange(metric.value, json);
  });
  json.Objects("gates", gates, [&](const GateOutcome& gate) {
    json.Field("failed", gate.failed).Field("sentence", gate.sentence);
  });
  json.EndObject();
  out += '\n';
  return out;
}

}  // namespace debrief::diff
