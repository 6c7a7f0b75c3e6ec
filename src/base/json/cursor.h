// Reading JSON: simdjson On-Demand with its error handling done once.
//
//   JsonReader reader;                                   // one a thread, reused for all documents
//   TRY(reader.Open(view.text()));
//   TRY(reader.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
//     if (key == "rank") rank = value.Int();             // std::optional: none of what is no
//     integer if (key == "entries") return value.ForEachElement([&](JsonValue entry) { ... });
//     return {};
//   }));
//
// On-Demand is a cursor that moves forward through the text and parses nothing that is not asked
// for. Its rules, and what happens here when they are broken:
//   - Values are read in order: inside the callback that got them. A JsonValue that is kept
//     points to where the cursor no longer is, and reads nonsense.
//   - A container is walked once. Scalars may be read again.
//   - What a callback leaves unread is skipped: that is fast, and not checked. Broken text in
//     skipped values goes unnoticed; a document may turn out broken only after many callbacks.
//   - After an error inside of a document nothing more comes out of it.
//
// Keys come in the order of the text; a key that stands there twice comes twice.
//
// Keys and strings without a backslash are views into the text itself: nothing is copied, they live
// as long as the text. Those with escapes live until the next Open.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/pools/arena.h"
#include "base/status.h"

namespace debrief {

class JsonReader;

enum class JsonKind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject, kOther };

// A value the cursor stands at. Small; pass it by value.
class JsonValue {
 public:
  // By its first byte. kOther is what JSON has not: NaN, Infinity, garbage.
  JsonKind kind() const;
  bool IsNull() const { return kind() == JsonKind::kNull; }

  // 3, 3.0 and 3e2; not "3", not 3.5, nothing outside of the type's range.
  std::optional<int64_t> Int();
  // As Int(), and "3" as well: writers differ about numbers in strings.
  std::optional<int64_t> IntOrText();
  // Not NaN, Infinity or 1e400; who wants the first two asks Raw().
  std::optional<double> Double();
  std::optional<bool> Bool();
  // Unescaped. A lone surrogate, which Python writes for undecodable file names, becomes U+FFFD.
  std::optional<std::string_view> String();

  // The text of the value as it stands: `{"a": [1]}`, `"x\n"`, `3.50`. Walks a container.
  std::optional<std::string_view> Raw();

  // Calls `callback(std::string_view key, JsonValue value)` for each field; it returns nothing, or
  // a bool (false stops here, the rest is skipped), or a Status (an error stops the whole
  // document). kInvalid when the value is no object or the text is broken, kLimit when it is nested
  // too deeply.
  template <typename Callback>
  Status ForEachField(Callback&& callback);

  // The same for arrays, with `callback(JsonValue element)`.
  template <typename Callback>
  Status ForEachElement(Callback&& callback);

  // Of the value's first byte, counted from the beginning of the opened text.
  uint64_t offset() const;

 private:
  friend class JsonReader;
  JsonValue(JsonReader* reader, simdjson::ondemand::value value) : reader_(reader), value_(value) {}
  explicit JsonValue(JsonReader* reader) : reader_(reader), is_root_(true) {}

  std::string_view Token() const;  // a scalar with the white space behind it, or a bracket
  Status Error(simdjson::error_code code) const;
  Status CheckDepth() const;
  simdjson::simdjson_result<simdjson::ondemand::object> Object();
  simdjson::simdjson_result<simdjson::ondemand::array> Array();

  JsonReader* reader_;
  mutable simdjson::ondemand::value value_;  // simdjson's own getters are not const
  // simdjson checks more of a root that is taken from the document: that its last bracket is there.
  bool is_root_ = false;
};

class JsonReader {
 public:
  static constexpr int kMaxDepth = 256;  // importers recurse with the document

  JsonReader() = default;
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  // `text` is one document, an object or an array, with kPadding readable bytes behind it (ByteView
  // has them). It must outlive the values. Bytes that are not UTF-8 and bare control characters in
  // strings make a repaired copy rather than an error (see repaired()): jobs log names of any
  // bytes.
  Status Open(std::string_view text);

  // As Open, for a text without room behind it: it is copied. Views live until the next Open.
  Status OpenCopy(std::string_view text);

  // `text` is elements with commas between them, a batch of JsonArraySplit; root() is the array of
  // them. Needs no padding: it is copied, which costs about 5 % of reading it.
  Status OpenElements(std::string_view text);

  // Only after an Open that was ok, and walked only once.
  JsonValue root() { return JsonValue(this); }

  // The text had to be repaired; offsets are those of the text that was opened all the same.
  bool repaired() const { return repaired_; }

 private:
  friend class JsonValue;

  // `text_` is set and padded.
  Status Iterate();
  void Repair(simdjson::error_code why);
  std::string RepairUtf8();
  // An error when text is left behind the root ("[1] 2").
  Status CheckEnd();
  Status Error(simdjson::error_code code, const char* at) const;
  int64_t OffsetOf(const char* at) const;
  // The contents of the string whose opening quote stands before `begin`.
  std::string_view Unquote(const char* begin);
  std::string_view Unescape(std::string_view raw);

  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  std::string copy_;       // of elements, or repaired
  std::string_view text_;  // what the parser reads
  int64_t shift_ = 0;      // from offsets in text_ to those in what the caller opened
  // Replacements are longer than what they replace: from byte `from` of text_ on, offsets are `by`
  // too large, all replacements before it included.
  struct Growth {
    int64_t from, by;
  };
  std::vector<Growth> growths_;
  bool repaired_ = false;
  Arena unescaped_;
};

namespace json_internal {

// Calls `callback` whatever it returns. False: stop; `status` says whether because of an error.
template <typename Callback, typename... Args>
bool Call(Status& status, Callback& callback, Args&&... args) {
  using Returned = std::invoke_result_t<Callback&, Args...>;
  if constexpr (std::is_void_v<Returned>) {
    callback(std::forward<Args>(args)...);
    return true;
  } else if constexpr (std::is_same_v<Returned, bool>) {
    return callback(std::forward<Args>(args)...);
  } else {
    status = callback(std::forward<Args>(args)...);
    return status.ok();
  }
}

}  // namespace json_internal

template <typename Callback>
Status JsonValue::ForEachField(Callback&& callback) {
  TRY(CheckDepth());
  simdjson::ondemand::object object;
  if (auto error = Object().get(object)) return Error(error);
  Status status;
  for (auto result : object) {
    simdjson::ondemand::field field;
    if (auto error = std::move(result).get(field)) return Error(error);
    std::string_view key = reader_->Unquote(field.key().raw());
    JsonValue value(reader_, std::move(field).value());
    if (!json_internal::Call(status, callback, key, value)) return status;
  }
  return is_root_ ? reader_->CheckEnd() : Status();
}

template <typename Callback>
Status JsonValue::ForEachElement(Callback&& callback) {
  TRY(CheckDepth());
  simdjson::ondemand::array array;
  if (auto error = Array().get(array)) return Error(error);
  Status status;
  for (auto result : array) {
    simdjson::ondemand::value element;
    if (auto error = std::move(result).get(element)) return Error(error);
    if (!json_internal::Call(status, callback, JsonValue(reader_, element))) return status;
  }
  return is_root_ ? reader_->CheckEnd() : Status();
}

}  // namespace debrief
