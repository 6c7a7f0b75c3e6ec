#include "accel/event.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace debrief::accel {

StringPool MakeStrings() {
  StringPool strings;
#define DEBRIEF_ACCEL_KEY(name, text) DEBRIEF_CHECK(strings.Intern(text) == key::k##name);
  DEBRIEF_ACCEL_KEYS(DEBRIEF_ACCEL_KEY)
#undef DEBRIEF_ACCEL_KEY
  return strings;
}

Value Arg::value() const {
  Value out;
  out.kind = kind;
  std::memcpy(&out.integer, &integer, sizeof integer);
  return out;
}

void Arg::Set(const Value& value) {
  kind = value.kind;
  std::memcpy(&integer, &value.integer, sizeof integer);
}

void Event::Remove(StringId key, ArgPlace place) {
  Arg* arg = Find(key, place);
  if (arg == nullptr) return;
  std::memmove(static_cast<void*>(arg), arg + 1,
               sizeof(Arg) * static_cast<size_t>(arg_array + arg_count - arg - 1));
  --arg_count;
}

void Event::RemoveAll(ArgPlace place) {
  uint16_t kept = 0;
  for (const Arg& arg : args()) {
    if (arg.place != place) arg_array[kept++] = arg;
  }
  arg_count = kept;
}

void ArgStore::Own(Event& event, uint16_t extra) {
  const size_t capacity = std::min<size_t>(size_t{event.arg_count} + extra, UINT16_MAX);
  Arg* array = reinterpret_cast<Arg*>(arena_.Allocate(capacity * sizeof(Arg), alignof(Arg)));
  if (event.arg_count > 0)
    std::memcpy(static_cast<void*>(array), event.arg_array, event.arg_count * sizeof(Arg));
  event.arg_array = array;
  event.arg_capacity = static_cast<uint16_t>(capacity);
}

void ArgStore::Assign(Event& event, std::span<const Arg> args, uint16_t extra) {
  event.arg_array = const_cast<Arg*>(args.data());  // only read, by Own
  event.arg_count = static_cast<uint16_t>(std::min<size_t>(args.size(), UINT16_MAX));
  Own(event, extra);
}

void ArgStore::Append(Event& event, const Arg& arg) {
  if (event.arg_count == UINT16_MAX) return;  // an event with 65,535 arguments has enough
  if (event.arg_count == event.arg_capacity)
    Own(event, static_cast<uint16_t>(std::min(event.arg_count / 2 + 4, 4096)));
  event.arg_array[event.arg_count++] = arg;
  event.has_args |= arg.place == ArgPlace::kArgs;
}

void ArgStore::Set(Event& event, StringId key, const Value& value, ArgPlace place) {
  if (Arg* arg = event.Find(key, place)) return arg->Set(value);
  Arg arg;
  arg.key = key;
  arg.place = place;
  arg.Set(value);
  Append(event, arg);
}

void Permute(EventList& events, std::span<const uint32_t> order) {
  EventList sorted;
  sorted.reserve(order.size());
  for (uint32_t at : order) sorted.push_back(events[at]);
  events = std::move(sorted);
}

namespace {

// What events are sorted by, side by side: the events themselves are far apart.
struct TimeKey {
  double ts, dur;
  uint32_t index;

  bool operator<(const TimeKey& other) const {
    if (ts != other.ts) return ts < other.ts;
    return dur != other.dur ? dur > other.dur : index < other.index;
  }
};

void SortByKey(EventList& events, bool longest_first) {
  DEBRIEF_CHECK(events.size() < UINT32_MAX);
  std::vector<TimeKey> keys;
  keys.reserve(events.size());
  for (const Event& event : events)
    keys.push_back({event.ts, longest_first ? event.dur : 0, static_cast<uint32_t>(keys.size())});
  if (std::is_sorted(keys.begin(), keys.end())) return;
  std::sort(keys.begin(), keys.end());
  std::vector<uint32_t> order;
  order.reserve(keys.size());
  for (const TimeKey& key : keys) order.push_back(key.index);
  Permute(events, order);
}

}  // namespace

void SortByStart(EventList& events) { SortByKey(events, false); }
void SortByTime(EventList& events) { SortByKey(events, true); }

}  // namespace debrief::accel
