// Reading the value of a kind by a list of its fields:
//
//   constexpr Field<CompileTensorRow> kFields[] = {
//       {"id", FieldType::kUint64, &CompileTensorRow::id, kRequired},
//       {"dtype", FieldType::kText, &CompileTensorRow::dtype, kRequired}, ...};
//   TRY(ReadFields<CompileTensorRow>(value, kFields, entry, row));
//
// A field of the wrong type is an error, and so is a missing one that is required: such an entry
// was written by something else than the compiler we know, and what it means is not guessed. null
// is the same as absent. Keys that are not listed are skipped.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
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

namespace fields_internal {

template <typename Row>
void Store(const FieldValue& read, const Field<Row>& field, Row& row) {
  auto take = [&](auto member, auto&& as) {
    if (auto target = std::get_if<decltype(member)>(&field.target)) as(row.**target);
  };
  if (auto text = std::get_if<StringId>(&read.value))
    take(static_cast<StringId Row::*>(nullptr), [&](StringId& to) { to = *text; });
  if (auto list = std::get_if<ListId>(&read.value))
    take(static_cast<ListId Row::*>(nullptr), [&](ListId& to) { to = *list; });
  if (auto number = std::get_if<double>(&read.value))
    take(static_cast<double Row::*>(nullptr), [&](double& to) { to = *number; });
  if (auto flag = std::get_if<bool>(&read.value))
    take(static_cast<uint8_t Row::*>(nullptr), [&](uint8_t& to) { to = *flag ? 1 : 0; });
  if (auto number = std::get_if<int64_t>(&read.value)) {
    take(static_cast<int64_t Row::*>(nullptr), [&](int64_t& to) { to = *number; });
    take(static_cast<int32_t Row::*>(nullptr),
         [&](int32_t& to) { to = static_cast<int32_t>(*number); });
  }
}

}  // namespace fields_internal

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
      fields_internal::Store(read.value(), fields[i], row);
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

// The whole of a kind that is one row of one table.
template <typename Table, typename Row>
Status ReadRow(JsonValue value, std::span<const Field<Row>> fields, Entry& entry) {
  Row row = entry.NewRow<Row>();
  TRY(ReadFields<Row>(value, fields, entry, row));
  entry.Add<Table>(row);
  return {};
}

}  // namespace debrief::inputs::torch_trace
