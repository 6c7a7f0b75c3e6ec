// {"dynamo_guards": {}}: the guards of a compilation; the payload is a JSON array of
// {"code": "L['x'].size()[0] == 4", "stack": [...], "user_stack": [...]}.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::dynamo_guards {

namespace {

// Every element must have its code: a list that is cut short would hide guards.
Status ReadPayload(std::string_view lines, Entry& entry) {
  (void)entry;
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

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "dynamo_guards",
                             .sentence = "the guards of a compilation",
                             .order = 12,
                             .form = "guards",
                             .file = "dynamo_guards.html",
                             .read_payload = ReadPayload};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::dynamo_guards
