#include "inputs/nsys/event_rows.h"

#include <fmt/format.h>

#include "inputs/nsys/call_name.h"
#include "inputs/nsys/diagnostics.h"
#include "inputs/nsys/ids.h"
#include "model/timeline/kinds.h"

namespace debrief::inputs::nsys {

namespace {

constexpr int64_t kMostTime = 4'000'000'000'000'000'000;  // with a base of 1970, still int64

bool IsTime(int64_t time) { return time > -kMostTime && time < kMostTime; }

}  // namespace

EventRows::EventRows(const Identity& who, const ExportFacts& facts, int64_t process,
                     SqliteDatabase& database, Part& part)
    : who_(who),
      facts_(facts),
      process_(process),
      texts_(database, "StringIds", "value"),
      writer_(who, part) {
  auto notes = std::make_unique<EventNotes>();
  notes_ = notes.get();
  part.notes = std::move(notes);
}

bool EventRows::Takes(int64_t global_id) const {
  return process_ == kNone64 || PidOf(global_id) == process_;
}

bool EventRows::StartSlice(const SqliteScan& row, TimelineSliceRow& slice) {
  const int64_t start = row.Int(0), end = row.Int(1);
  ++notes_->events;
  if (!IsTime(start) || !IsTime(end) || end < start) {
    ++notes_->lost;
    writer_.part().diagnostics.Add(kBadTime, who_.input,
                                   {.detail = fmt::format("row {}", row.rowid())});
    return false;
  }
  slice = NewRow<TimelineSliceRow>();
  slice.start_ns = start;
  slice.duration_ns = end - start;
  return true;
}

StringId EventRows::Name(int64_t string_id) {
  auto [found, is_new] = names_.try_emplace(string_id);
  if (is_new) found->second = Intern(texts_.Find(string_id));
  return found->second;
}

StringId EventRows::CallName(int64_t string_id) {
  auto [found, is_new] = call_names_.try_emplace(string_id);
  if (is_new) found->second = Intern(WithoutVersion(texts_.Find(string_id)));
  return found->second;
}

std::string_view EventRows::Domain(int64_t global_tid, int64_t domain) const {
  const auto found = facts_.domains.find(DomainKey(global_tid, domain));
  return found == facts_.domains.end() ? std::string_view() : found->second;
}

int32_t EventRows::StreamTrack(int64_t device, int64_t stream) {
  const uint64_t key = static_cast<uint64_t>(device) << 32 ^ static_cast<uint64_t>(stream);
  auto [found, is_new] = streams_.try_emplace(key);
  if (is_new) {
    found->second =
        writer_.Track(std::to_string(device), std::to_string(stream), timeline::kStream);
    writer_.tracks().device[static_cast<size_t>(found->second)] = Narrow(device);
    writer_.tracks().stream[static_cast<size_t>(found->second)] = stream;
  }
  return found->second;
}

int32_t EventRows::ThreadTrack(int64_t global_tid) {
  auto [found, is_new] = threads_.try_emplace(global_tid);
  if (is_new)
    found->second = writer_.Track(std::to_string(PidOf(global_tid)),
                                  std::to_string(TidOf(global_tid)), timeline::kThread);
  return found->second;
}

int32_t EventRows::RangeTrack(int64_t global_tid) {
  auto [found, is_new] = ranges_.try_emplace(global_tid);
  if (is_new)
    found->second = writer_.Track(std::to_string(PidOf(global_tid)),
                                  std::to_string(TidOf(global_tid)), timeline::kAsync);
  return found->second;
}

void EventRows::SetKind(std::string_view category, TimelineSliceRow& slice) {
  if (words_.category != category)
    words_ = {category, Intern(category), Intern(timeline::KindOfCategory(category))};
  slice.category = words_.category_id;
  slice.kind = words_.kind;
}

}  // namespace debrief::inputs::nsys
