#include "accel/ingest/read_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "accel/ingest/parse_event.h"
#include "base/json/event_ranges.h"

namespace debrief::accel {

namespace {

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
