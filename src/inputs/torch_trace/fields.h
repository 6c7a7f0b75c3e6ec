// Reading the value of a kind by a list of its fields:
//
//   constexpr Field<CompileTensorRow> kFields[] = {
//       {"id", FieldType::kUint64, &CompileTensorRow::id, kRequired},
//       {"dtype", FieldType::kText, &CompileTensorRow::dtype, kRequired}, ...};
//   constexpr Kind kKind = {.read = ReadRow<CompileTensorTable, kFields>, ...};
//
// A field of the wrong type is an error, and so is a missing one that is required: such an entry
// was written by something else than the compiler we know, and what it means is not guessed. null
// is the same as absent. Keys that are not listed are skipped.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/json/cursor.h"
#include "inputs/torch_trace/entry.h"

namespace debrief::inputs::torch_trace {

enum class FieldType : uint8_t {
  kUint32,
  kUint64,
  kInt32,
  kDouble,
  kBool,
  kText,       // a string
  kTexts,      // an array of strings, joined by line ends
  kTextMap,    // {"name": "value" or null}, as lines "name: value"
  kAnyText,    // a string, or any other value as its JSON text
  kSizes,      // an array of whole numbers and strings (symbols), as its JSON text
  kNumbers,    // an array of whole numbers, as a list
  kStack,      // frames of the entry
  kUserStack,  // likewise
};

inline constexpr bool kRequired = true;

template <typename Row>
struct Field {
  std::string_view key;
  FieldType type;
  // Where the value goes; nothing for stacks and for what is checked but not kept.
  std::variant<std::monostate, StringId Row::*, int64_t Row::*, int32_t Row::*, double Row::*,
               uint8_t Row::*, ListId Row::*>
      target = {};
  bool required = false;
};

// A value that was read, before it goes to its column.
struct FieldValue {
  std::variant<std::monostate, StringId, int64_t, double, bool, ListId> value;
};

// An error when `value` is not of type `type`.
Result<FieldValue> ReadFieldValue(JsonValue value, FieldType type, Entry& entry);
Status MissingField(std::string_view key);
Status WrongField(std::string_view key, std::string_view what);

// A number may go to a narrower column and a flag to a byte; a value without a column goes nowhere.
template <typename Row>
void StoreField(const FieldValue& read, const Field<Row>& field, Row& row) {
  auto store = [&]<typename Member, typename Value>(Member member, Value value) {
    if constexpr (std::is_member_pointer_v<Member>) {
      using Column = std::remove_cvref_t<decltype(row.*member)>;
      constexpr bool kFits = std::is_same_v<Column, Value> ||
                             (std::is_same_v<Value, int64_t> && std::is_same_v<Column, int32_t>) ||
                             (std::is_same_v<Value, bool> && std::is_same_v<Column, uint8_t>);
      if constexpr (kFits) row.*member = static_cast<Column>(value);
    }
  };
  std::visit(store, field.target, read.value);
}

// `others(key, value)` gets what is not listed.
template <typename Row, typename Others>
Status ReadFields(JsonValue object, std::span<const Field<Row>> fields, Entry& entry, Row& row,
                  Others&& others) {
  uint64_t seen = 0;  // bit i: field i is there
  Status walked = object.ForEachField([&](std::string_view key, JsonValue value) -> Status {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].key != key) continue;
      if (value.IsNull() && !fields[i].required) return {};
      if (seen >> i & 1) return WrongField(key, "comes twice");
      seen |= uint64_t{1} << i;
      auto read = ReadFieldValue(value, fields[i].type, entry);
      if (!read.ok()) return WrongField(key, read.status().message());
      StoreField(read.value(), fields[i], row);
      return {};
    }
    return others(key, value);
  });
  TRY(walked);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].required && !(seen >> i & 1)) return MissingField(fields[i].key);
  }
  return {};
}

template <typename Row>
Status ReadFields(JsonValue object, std::span<const Field<Row>> fields, Entry& entry, Row& row) {
  return ReadFields(object, fields, entry, row,
                    [](std::string_view, JsonValue) { return Status(); });
}

// What a kind that is one row of one table has as its `read`.
template <typename Table, const auto& kFields>
Status ReadRow(JsonValue value, Entry& entry) {
  auto read = [&]<typename Row, size_t kCount>(const Field<Row>(&fields)[kCount]) -> Status {
    Row row = entry.NewRow<Row>();
    TRY(ReadFields<Row>(value, fields, entry, row));
    entry.Add<Table>(row);
    return {};
  };
  return read(kFields);
}

// The same for a kind whose fields go to the entry's own row.
template <const auto& kFields>
Status ReadEntryRow(JsonValue value, Entry& entry) {
  return ReadFields<CompileEntryRow>(value, kFields, entry, entry.row);
}

}  // namespace debrief::inputs::torch_trace
