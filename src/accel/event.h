// One event of a trace, as the passes of `debrief accel` see it: 104 bytes, and 16 for each
// argument.
//
// An event is a row of one vector (EventList). Its arguments are an array in the arena of the run:
// in the order in which they were met or added, no key twice in one place. A copy of an event
// shares the array with the original until ArgStore::Own().
//
// What Python's events hold as `args.ts_all`, `args.ts_dev` and `args.time_adjust` is in a row of
// Run::stamps, and `args.jobhash` is `job`: an index of Run::jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "accel/keys.h"
#include "accel/value.h"
#include "base/pools/arena.h"

namespace debrief::accel {

// Where in the object of the event an argument stands.
enum class ArgPlace : uint8_t {
  kArgs,
  kTop,   // beside name and ts: whatever else the input has there, `id`, `bp`, `s`, `comment` ...
  kAttr,  // in `attr`, until normalize_phase1 moves it
};

struct Arg {
  StringId key = StringId::kNone;
  ValueKind kind = ValueKind::kNull;
  ArgPlace place = ArgPlace::kArgs;
  union {
    int64_t integer = 0;
    double number;
    StringId text;
  };

  Value value() const;
  void Set(const Value& value);
};
static_assert(sizeof(Arg) == 16);

inline constexpr uint32_t kNoJob = UINT32_MAX;
inline constexpr uint32_t kNoStamps = UINT32_MAX;

struct Event {
  double ts = 0;   // microseconds
  double dur = 0;  // microseconds; 0 when there is none
  Value pid;       // kNull: none
  Value tid;       // kNull: none
  StringId name = StringId::kNone;
  StringId cat = StringId::kNone;
  uint32_t job = kNoJob;
  uint32_t stamps = kNoStamps;  // row of Run::stamps
  Arg* arg_array = nullptr;
  uint16_t arg_count = 0;
  uint16_t arg_capacity = 0;
  char phase = 'X';
  bool has_ts = true;
  bool ts_is_integer = false;  // as the input wrote it, for events whose time is passed through
  bool has_dur = false;
  bool has_args = false;  // an `args` object, maybe an empty one

  std::span<Arg> args() { return {arg_array, arg_count}; }
  std::span<const Arg> args() const { return {arg_array, arg_count}; }
  double end() const { return ts + dur; }

  // Of `args`, or of another place; null when there is none.
  const Arg* Find(StringId key, ArgPlace place = ArgPlace::kArgs) const {
    for (const Arg& arg : args()) {
      if (arg.key == key && arg.place == place) return &arg;
    }
    return nullptr;
  }
  Arg* Find(StringId key, ArgPlace place = ArgPlace::kArgs) {
    return const_cast<Arg*>(std::as_const(*this).Find(key, place));
  }
  bool Has(StringId key, ArgPlace place = ArgPlace::kArgs) const {
    return Find(key, place) != nullptr;
  }
  void Remove(StringId key, ArgPlace place = ArgPlace::kArgs);
  void RemoveAll(ArgPlace place);
};

using EventList = std::vector<Event>;

// From the first begin to the last end of what was added, microseconds.
struct TimeSpan {
  double begin = std::numeric_limits<double>::infinity();
  double end = -std::numeric_limits<double>::infinity();

  void Add(const Event& event) {
    begin = std::min(begin, event.ts);
    end = std::max(end, event.end());
  }
  bool empty() const { return begin > end; }
  double length() const { return end - begin; }
};

// The memory of all arguments.
class ArgStore {
 public:
  // Sets or adds; has_args becomes true when `place` is kArgs.
  void Set(Event& event, StringId key, const Value& value, ArgPlace place = ArgPlace::kArgs);
  // Makes the array of a copied event its own, with room for `extra` more.
  void Own(Event& event, uint16_t extra = 2);
  // All arguments at once, with room for `extra` more.
  void Assign(Event& event, std::span<const Arg> args, uint16_t extra);
  // Without looking whether the key is there.
  void Append(Event& event, const Arg& arg);
  // Takes over arrays that were filled elsewhere.
  void Adopt(ArgStore&& other) { adopted_.push_back(std::move(other.arena_)); }

 private:
  Arena arena_;
  std::vector<Arena> adopted_;
};

// The hardware's clock at one device event, as cycle_count_to_wallclock and its successors found
// it.
struct Stamps {
  double all[5] = {};  // `ts_all`: TS1..TS5 on the host's clock, microseconds
  double dev[5] = {};  // `ts_dev`: TS1..TS5 on the device's clock, microseconds
  double adjust_ts = 0;
  double adjust_dur = 0;
  bool has_all = false;
  bool has_dev = false;
  bool has_adjust = false;  // `time_adjust`
};

// Same track: equal pid and tid.
struct TrackKey {
  Value pid, tid;
  bool operator==(const TrackKey&) const = default;
};
struct TrackHash {
  size_t operator()(const TrackKey& key) const {
    return ValueHash()(key.pid) * 31 + ValueHash()(key.tid);
  }
};

// Puts events[order[i]] at place i.
void Permute(EventList& events, std::span<const uint32_t> order);
// By ts, ties as they came.
void SortByStart(EventList& events);
// By (ts, -dur), ties as they came.
void SortByTime(EventList& events);

}  // namespace debrief::accel
