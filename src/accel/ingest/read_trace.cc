#include "accel/ingest/read_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "accel/event.h"
#include "base/json/cursor.h"
#include "base/json/event_ranges.h"

namespace debrief::accel {

namespace {

// One JSON object of a trace becomes an Event.
//
//   {"name": "k Cmpt Exec", "ph": "X", "pid": 0, "tid": 1, "ts": 10.0, "dur": 0.1, "attr": {"TS1":
//   "0x64", ...}}
//
// Nothing is judged here but the types: what is missing is missing in the Event as well (name
// kNone, pid and tid kNull, has_ts false; phase 0).

struct Parsed {
  Event event;
  std::string_view trouble;  // empty: a good event; else why it is none, as words after "an event"
};

// Where the parts of events go. One a thread.
struct ParseTarget {
  StringPool strings = MakeStrings();
  ArgStore args;
  std::vector<Arg> scratch;  // arguments of the event that is being read
};

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

// Any value; what is nested is kept as text.
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

// A Status when the text is no JSON.
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

constexpr uint64_t kBatchBytes = uint64_t{2} << 20;

// What a thread made of a range of events.
struct Batch {
  ParseTarget target;
  EventList events;
  std::vector<int64_t> offsets;
  Trouble trouble;
  Status unreadable;
};

class BatchSink {
 public:
  // `cut_at`: where a file that ends early ends; what is broken there is what was cut off.
  BatchSink(Batch& batch, uint64_t cut_at) : batch_(batch), cut_at_(cut_at) {}

  Status Add(JsonValue json, uint64_t begin) {
    const auto offset = static_cast<int64_t>(begin + json.offset());
    ASSIGN_OR_RETURN(Parsed parsed, ParseEvent(json, batch_.target));
    if (!parsed.trouble.empty()) {
      batch_.trouble.Add(parsed.trouble, offset);
    } else {
      batch_.events.push_back(parsed.event);
      batch_.offsets.push_back(offset);
    }
    return {};
  }
  void Restart() { batch_ = Batch(); }
  void Repaired(uint64_t) {}
  void AddBroken(std::string_view text, uint64_t offset) {
    if (offset + text.size() < cut_at_)
      batch_.trouble.Add("is no JSON", static_cast<int64_t>(offset));
  }

 private:
  Batch& batch_;
  uint64_t cut_at_;
};

Batch ParseBatch(const Source& source, ByteRange range, uint64_t cut_at) {
  Batch batch;
  auto bytes = source.View(range.begin, range.size());
  if (!bytes.ok()) {
    batch.unreadable = bytes.status();
    return batch;
  }
  const std::string_view text = bytes.value().text();
  // White space at the end is not what was cut off.
  const bool is_last = range.end == cut_at;
  const size_t behind = is_last ? text.size() - (text.find_last_not_of(" \t\r\n,") + 1) : 0;
  BatchSink sink(batch, cut_at - behind);
  ReadEvents(text, range.begin, sink);
  return batch;
}

// Ids of a batch's own pool become those of the run.
class Joiner {
 public:
  Joiner(TraceFile& file, Run& run) : file_(file), run_(run) {}

  void Join(Batch&& batch) {
    if (!batch.unreadable.ok() && status_.ok()) status_ = batch.unreadable;
    ids_ = run_.strings.Absorb(batch.target.strings);
    for (Event& event : batch.events) Translate(event);
    run_.args.Adopt(std::move(batch.target.args));
    file_.events.insert(file_.events.end(), batch.events.begin(), batch.events.end());
    file_.offsets.insert(file_.offsets.end(), batch.offsets.begin(), batch.offsets.end());
    file_.trouble.Append(batch.trouble);
  }

  const Status& status() const { return status_; }

 private:
  StringId New(StringId id) const { return ids_[static_cast<size_t>(id)]; }

  void Translate(Value& value) const {
    if (value.kind == ValueKind::kText || value.kind == ValueKind::kJson)
      value.text = New(value.text);
  }

  void Translate(Event& event) const {
    event.name = New(event.name);
    event.cat = New(event.cat);
    Translate(event.pid);
    Translate(event.tid);
    for (Arg& arg : event.args()) {
      arg.key = New(arg.key);
      if (arg.kind == ValueKind::kText || arg.kind == ValueKind::kJson) arg.text = New(arg.text);
    }
  }

  TraceFile& file_;
  Run& run_;
  std::vector<StringId> ids_;
  Status status_;
};

Result<EventRanges> FindEvents(const Source& source) {
  ASSIGN_OR_RETURN(ByteView head, source.View(0, 64 * 1024));
  const size_t first = head.text().find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return Status(Code::kTruncated, "the file is empty");
  if (head.text()[first] != '[' && head.text()[first] != '{')
    return Status(Code::kInvalid, "the file is no JSON");
  ASSIGN_OR_RETURN(EventRanges found, FindEventRanges(source, kBatchBytes));
  if (!found.found) {
    return Status(Code::kInvalid, "the file has no list of events (`traceEvents`)")
        .Remedy("Give a trace of a profiler, or a list of events.");
  }
  return found;
}

}  // namespace

void Trouble::Add(std::string_view what, int64_t offset, int64_t count) {
  auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                           [&](const Kind& each) { return each.what == what; });
  if (kind == kinds_.end()) kind = kinds_.insert(kind, {std::string(what), offset, 0});
  kind->count += count;
}

void Trouble::Append(const Trouble& other) {
  for (const Kind& kind : other.kinds_) Add(kind.what, kind.offset, kind.count);
}

bool Trouble::StopsReference() const {
  return std::any_of(kinds_.begin(), kinds_.end(), [](const Kind& kind) {
    return kind.what != kNoName && kind.what != kNoTime && kind.what != kNoDurationNumber;
  });
}

void Trouble::Log(std::string_view file, Console& console) const {
  for (const Kind& kind : kinds_) {
    const std::string place =
        kind.offset < 0 ? "" : fmt::format(" (the first at byte {})", kind.offset);
    console.Error(fmt::format("{}: {} event{} left out, which {}{}", file, kind.count,
                              kind.count == 1 ? "" : "s", kind.what, place));
  }
}

Result<TraceFile> ReadTrace(const Source& source, ThreadPool& threads, Run& run) {
  ASSIGN_OR_RETURN(EventRanges found, FindEvents(source));
  TraceFile file;
  file.is_cut = !found.closed;
  file.members = std::move(found.members);
  const uint64_t cut_at = found.closed ? UINT64_MAX : found.end;
  Joiner joiner(file, run);
  threads.MapInOrder<Batch>(
      found.ranges.size(), [&](size_t i) { return ParseBatch(source, found.ranges[i], cut_at); },
      [&](size_t, Batch&& batch) { joiner.Join(std::move(batch)); });
  TRY(Status(joiner.status()));
  return file;
}

}  // namespace debrief::accel
