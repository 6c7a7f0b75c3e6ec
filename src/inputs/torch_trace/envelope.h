// The JSON of an entry, but for the contents of its kinds:
//
//   {"artifact": {...}, "rank": 0, "frame_id": 0, "frame_compile_id": 0, "attempt": 0,
//    "has_payload": "<md5>"}
//
// It is checked as a whole, what nobody reads included: a log line with NaN or half a character in
// it is broken, and where the damage ends nobody knows.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::inputs::torch_trace {

struct Kind;

// Which compilation: all absent means none in particular, broken that one has a wrong type.
struct LoggedId {
  int64_t autograd = kNone64;
  int64_t frame = kNone64;
  int64_t frame_compile = kNone64;
  int64_t attempt = kNone64;
  bool broken = false;

  // "0/0", "0/0_1", "!3/1/2", "-/-"; empty when broken.
  std::string Text() const;
};

struct Envelope {
  enum class State : uint8_t {
    kOk,
    kNotJson,     // broken, or no object
    kWrongField,  // an object, but not an envelope
  };
  State state = State::kOk;
  std::string trouble;  // in words, unless kOk
  LoggedId id;
  int64_t rank = kNone64;
  std::optional<std::string_view> payload_md5;
  std::optional<std::pair<std::string_view, uint32_t>> string;  // {"str": ["text", 7]}
  bool has_stack = false;
  std::vector<const Kind*> kinds;         // in their order
  std::vector<std::string_view> unknown;  // keys that no kind reads
};

// Views in the envelope live until the next Parse.
class EnvelopeParser {
 public:
  // `json` has kPadding readable bytes behind it.
  const Envelope& Parse(std::string_view json);

 private:
  using Value = simdjson::dom::element;

  void Take(std::string_view key, Value value);
  bool TakeNumber(std::string_view key, Value value, int64_t& to);
  void TakeId(Value value, std::string_view key, int64_t& to);
  void TakeString(Value value);
  void TakeKind(std::string_view key, Value value);
  void Fail(std::string trouble);

  simdjson::dom::parser parser_;
  Envelope envelope_;
};

}  // namespace debrief::inputs::torch_trace
