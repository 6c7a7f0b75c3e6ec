#include "accel/ingest/parse_event.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "accel/ingest/read_trace.h"

namespace debrief::accel {

namespace {

// Rank, job, wraps, class, device and name of the group: what passes add to most events.
constexpr uint16_t kRoomForPasses = 6;

Value ParseNumber(std::string_view text, StringPool& strings) {
  const char* end = text.data() + text.size();
  if (text.find_first_of(".eE") == std::string_view::npos) {
    int64_t integer = 0;
    if (std::from_chars(text.data(), end, integer).ec == std::errc())
      return Value::Integer(integer);
    uint64_t large = 0;
    if (std::from_chars(text.data(), end, large).ec == std::errc()) return Value::Unsigned(large);
    return Value::Json(strings.Intern(text));
  }
  double number = 0;
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc::result_out_of_range)
    number = text.find("e-") == std::string_view::npos && text.find("E-") == std::string_view::npos
                 ? std::copysign(std::numeric_limits<double>::infinity(), text[0] == '-' ? -1 : 1)
                 : 0.0;
  return Value::Number(number);
}

// NaN and infinities, which Python writes and JSON has not.
Value ParseOther(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return Value::Number(std::numeric_limits<double>::quiet_NaN());
  if (text == "Infinity") return Value::Number(kInfinity);
  if (text == "-Infinity") return Value::Number(-kInfinity);
  return {};
}

StringId NameOf(JsonValue json, StringPool& strings) {
  if (auto text = json.String()) return strings.Intern(*text);
  return strings.Intern(ParseValue(json, strings).AsText(strings));
}

// Fills one event, field by field.
class Fields {
 public:
  Fields(Parsed& out, ParseTarget& target) : out_(out), event_(out.event), target_(target) {}

  Status Take(std::string_view key, JsonValue value) {
    if (key == "name") {
      event_.name = NameOf(value, target_.strings);
    } else if (key == "ph") {
      TakePhase(value);
    } else if (key == "ts") {
      TakeTime(value);
    } else if (key == "dur") {
      TakeDuration(value);
    } else if (key == "pid") {
      event_.pid = ParseValue(value, target_.strings);
    } else if (key == "tid") {
      event_.tid = ParseValue(value, target_.strings);
    } else if (key == "cat") {
      event_.cat = NameOf(value, target_.strings);
    } else if ((key == "args" || key == "attr") && value.kind() == JsonKind::kObject) {
      return TakeArgs(value, key == "args" ? ArgPlace::kArgs : ArgPlace::kAttr);
    } else {
      Add(key, value, ArgPlace::kTop);
    }
    return {};
  }

 private:
  void TakePhase(JsonValue value) {
    const auto text = value.String();
    if (text && text->size() == 1) {
      event_.phase = (*text)[0];
    } else {
      out_.trouble = "has a phase (`ph`) that is not one letter";
    }
  }

  void TakeTime(JsonValue value) {
    const Value parsed = ParseValue(value, target_.strings);
    const auto number = parsed.AsNumber(target_.strings);
    if (!number || !std::isfinite(*number)) {
      out_.trouble = "has a time (`ts`) that is no number";
      return;
    }
    event_.ts = *number;
    event_.ts_is_integer = parsed.IsInteger();
    event_.has_ts = true;
  }

  void TakeDuration(JsonValue value) {
    const auto number = ParseValue(value, target_.strings).AsNumber(target_.strings);
    if (!number || !std::isfinite(*number)) {
      out_.trouble = kNoDurationNumber;
      return;
    }
    event_.dur = *number;
    event_.has_dur = true;
  }

  Status TakeArgs(JsonValue value, ArgPlace place) {
    if (place == ArgPlace::kArgs) event_.has_args = true;
    return value.ForEachField(
        [&](std::string_view key, JsonValue field) { Add(key, field, place); });
  }

  void Add(std::string_view key, JsonValue value, ArgPlace place) {
    Arg arg;
    arg.key = target_.strings.Intern(key);
    arg.place = place;
    arg.Set(ParseValue(value, target_.strings));
    for (Arg& old : target_.scratch) {  // of a key that comes twice the last counts
      if (old.key == arg.key && old.place == place) {
        old = arg;
        return;
      }
    }
    target_.scratch.push_back(arg);
  }

  Parsed& out_;
  Event& event_;
  ParseTarget& target_;
};

}  // namespace

Value ParseValue(JsonValue json, StringPool& strings) {
  switch (json.kind()) {
    case JsonKind::kNull:
      return {};
    case JsonKind::kBool:
      return Value::Bool(json.Bool().value_or(false));
    case JsonKind::kNumber: {
      const std::string_view text = json.Raw().value_or("0");
      return text.starts_with("-I") ? ParseOther(text) : ParseNumber(text, strings);
    }
    case JsonKind::kString:
      if (auto text = json.String()) return Value::Of(*text, strings);
      return {};
    case JsonKind::kOther:
      return ParseOther(json.Raw().value_or(""));
    default:
      return Value::Json(strings.Intern(json.Raw().value_or("null")));
  }
}

Result<Parsed> ParseEvent(JsonValue json, ParseTarget& target) {
  Parsed out;
  out.event.phase = 0;
  out.event.has_ts = false;
  if (json.kind() != JsonKind::kObject) {
    out.trouble = "is no object";
    return out;
  }
  target.scratch.clear();
  Fields fields(out, target);
  TRY(json.ForEachField(
      [&](std::string_view key, JsonValue value) { return fields.Take(key, value); }));
  if (out.event.phase != 'E' || !target.scratch.empty())
    target.args.Assign(out.event, target.scratch, out.event.phase == 'E' ? 0 : kRoomForPasses);
  if (out.trouble.empty() && out.event.phase == 0) out.trouble = "has no phase (`ph`)";
  return out;
}

}  // namespace debrief::accel
