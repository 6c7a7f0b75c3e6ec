#include "diff/json.h"

#include "base/json/writer.h"

namespace debrief::diff {

namespace {

void WriteChange(const Change& change, JsonWriter& json) {
  json.Field("a", change.a)
      .Field("b", change.b)
      .Field("difference", change.difference())
      .Field("noise", change.noise)
      .Field("beyond_noise", change.is_real);
}

void WriteStepChange(const StepChange& change, JsonWriter& json) {
  json.Key("total").BeginObject();
  WriteChange(change.total, json);
  json.EndObject().Key("parts").BeginArray();
  for (size_t part = 0; part < kStepParts; ++part) {
    json.BeginObject().Field("part", PartName(static_cast<StepPart>(part)));
    WriteChange(change.parts[part], json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteBlame(const Blame& blame, JsonWriter& json) {
  json.Key("blame")
      .BeginObject()
      .Field("part", PartName(blame.part))
      .ListField("ranks", blame.ranks);
  WriteChange(blame.change, json);
  json.Field("others_wait", blame.others_wait_ns).EndObject();
}

void WriteSteps(const StepDiff& steps, JsonWriter& json) {
  json.Key("steps").BeginObject();
  json.Field("steps_a", steps.steps_a).Field("steps_b", steps.steps_b);
  json.Field("left_out_a", steps.left_out_a).Field("left_out_b", steps.left_out_b);
  WriteStepChange(steps.job, json);
  if (steps.blame) WriteBlame(*steps.blame, json);
  json.Key("ranks").BeginArray();
  for (const auto& [rank, change] : steps.ranks) {
    json.BeginObject().Field("rank", rank);
    WriteStepChange(change, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void WriteRow(const Row& row, JsonWriter& json) {
  json.BeginObject().Field("change", row.change).Field("name", row.name);
  if (row.unit != Unit::kNone) {
    json.Field("unit", UnitName(row.unit));
    WriteChange(row.value, json);
  }
  json.ListField("ranks", row.ranks);
  if (!row.note.empty()) json.Field("note", row.note);
  json.EndObject();
}

void WriteMetrics(const RunDiff& diff, JsonWriter& json) {
  json.Key("metrics").BeginArray();
  for (const Metric& metric : diff.metrics) {
    json.BeginObject().Field("metric", metric.name).Field("unit", UnitName(metric.unit));
    WriteChange(metric.value, json);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string DiffJson(const RunDiff& diff, std::span<const GateOutcome> gates) {
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginObject().Field("schema", kSchema).Field("a", diff.name_a).Field("b", diff.name_b);
  json.Field("empty", diff.is_empty()).Field("headline", diff.headline);
  json.ListField("notes", diff.notes);
  if (diff.steps) WriteSteps(*diff.steps, json);
  json.Key("sections").BeginArray();
  for (const Section& section : diff.sections) {
    json.BeginObject().Field("section", section.id).Key("rows").BeginArray();
    for (const Row& row : section.rows) WriteRow(row, json);
    json.EndArray().EndObject();
  }
  json.EndArray();
  WriteMetrics(diff, json);
  json.Key("gates").BeginArray();
  for (const GateOutcome& gate : gates)
    json.BeginObject().Field("failed", gate.failed).Field("sentence", gate.sentence).EndObject();
  json.EndArray().EndObject();
  out += '\n';
  return out;
}

}  // namespace debrief::diff
