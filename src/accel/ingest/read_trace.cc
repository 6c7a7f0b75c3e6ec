#include "accel/ingest/read_trace.h"

#include <fmt/format.h>

#include "accel/ingest/parse_event.h"
#include "base/json/array_splitter.h"
#include "base/json/cursor.h"

namespace debrief::accel {

namespace {

constexpr uint64_t kBatchBytes = uint64_t{2} << 20;

// What a thread made of a batch.
struct Batch {
  ParseTarget target;
  EventList events;
  std::vector<int64_t> offsets;
  Trouble trouble;
  Status unreadable;
};

void Keep(Batch& batch, Parsed&& parsed, int64_t offset) {
  if (!parsed.trouble.empty()) return batch.trouble.Add(parsed.trouble, offset);
  batch.events.push_back(parsed.event);
  batch.offsets.push_back(offset);
}

Status ParseElements(std::string_view text, uint64_t begin, Batch& batch) {
  JsonReader reader;
  TRY(reader.OpenElements(text));
  return reader.root().ForEachElement([&](JsonValue element) -> Status {
    const auto offset = static_cast<int64_t>(begin + element.offset());
    ASSIGN_OR_RETURN(Parsed parsed, ParseEvent(element, batch.target));
    Keep(batch, std::move(parsed), offset);
    return {};
  });
}

// Something in `text` is broken: every element is a document of its own.
void ParseOneByOne(std::string_view text, uint64_t begin, Batch& batch) {
  const auto source = MakeMemorySource("[" + std::string(text) + "]");
  const auto split = SplitJsonArray(*source, "", 1);
  if (!split.ok()) return batch.trouble.Add("cannot be read", static_cast<int64_t>(begin));
  for (const ByteRange& range : split.value().batches) {
    const std::string_view element = text.substr(range.begin - 1, range.size());
    const uint64_t offset = begin + range.begin - 1;
    Batch one;
    if (ParseElements(element, offset, one).ok() && ParseElements(element, offset, batch).ok())
      continue;
    batch.trouble.Add("is no JSON", static_cast<int64_t>(offset));
  }
}

Batch ParseBatch(const Source& source, ByteRange range) {
  Batch batch;
  auto bytes = source.View(range.begin, range.size());
  if (!bytes.ok()) {
    batch.unreadable = bytes.status();
    return batch;
  }
  const std::string_view text = bytes.value().text();
  if (ParseElements(text, range.begin, batch).ok()) return batch;
  batch = Batch();
  ParseOneByOne(text, range.begin, batch);
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

// The first byte that is not white space; 0 when there is none.
Result<char> FirstByte(const Source& source) {
  ASSIGN_OR_RETURN(ByteView head, source.View(0, 64 * 1024));
  const size_t at = head.text().find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return at == std::string_view::npos ? '\0' : head.text()[at];
}

Result<JsonArraySplit> FindEvents(const Source& source) {
  ASSIGN_OR_RETURN(char first, FirstByte(source));
  if (first == 0) return Status(Code::kTruncated, "the file is empty");
  if (first != '[' && first != '{') return Status(Code::kInvalid, "the file is no JSON");
  ASSIGN_OR_RETURN(JsonArraySplit split,
                   SplitJsonArray(source, first == '[' ? "" : "traceEvents", kBatchBytes));
  if (!split.found) {
    return Status(Code::kInvalid, "the file has no list of events (`traceEvents`)")
        .Remedy("Give a trace of a profiler, or a list of events.");
  }
  return split;
}

}  // namespace

Result<TraceFile> ReadTrace(const Source& source, ThreadPool& threads, Run& run) {
  ASSIGN_OR_RETURN(JsonArraySplit split, FindEvents(source));
  TraceFile file;
  file.is_cut = !split.closed;
  for (const JsonArraySplit::Member& member : split.others) {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(member.value.begin, member.value.size()));
    file.members.emplace_back(member.key, std::string(bytes.text()));
  }
  file.events.reserve(split.elements);
  file.offsets.reserve(split.elements);
  Joiner joiner(file, run);
  threads.MapInOrder<Batch>(
      split.batches.size(), [&](size_t i) { return ParseBatch(source, split.batches[i]); },
      [&](size_t, Batch&& batch) { joiner.Join(std::move(batch)); });
  TRY(Status(joiner.status()));
  return file;
}

}  // namespace debrief::accel
