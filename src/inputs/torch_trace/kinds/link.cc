// {"link": {"name": "profile", "url": "https://..."}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::link {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
    {"url", FieldType::kText, &CompileEntryRow::detail, kRequired},
};

Status Read(JsonValue value, Entry& entry) {
  TRY(ReadFields<CompileEntryRow>(value, kFields, entry, entry.row));
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "link",
                             .sentence = "an address that belongs to the compilation",
                             .order = 17,
                             .form = "link",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::link
