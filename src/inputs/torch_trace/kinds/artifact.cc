// {"artifact": {"name": "fx_graph_cache_hit", "encoding": "json"}}; the payload is text or JSON.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::artifact {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
    {"encoding", FieldType::kText, &CompileEntryRow::detail, kRequired},
};

Status Read(JsonValue value, Entry& entry) {
  TRY(ReadFields<CompileEntryRow>(value, kFields, entry, entry.row));
  std::string encoding = entry.TextOf(entry.row.detail);
  if (encoding != "string" && encoding != "json") {
    entry.row.state = entry.Intern("unusable");
    return {};
  }
  bool is_json = encoding == "json";
  entry.row.form = entry.Intern(is_json ? "json" : "text");
  entry.row.file = entry.Intern(entry.TextOf(entry.row.name) + (is_json ? ".json" : ".txt"));
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {
      .key = "artifact",
      .sentence = "anything that a part of the compiler wants to keep under a name",
      .order = 18,
      .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::artifact
