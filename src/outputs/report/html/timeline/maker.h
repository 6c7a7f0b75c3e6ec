// What the sources of the timeline share: what they have to know, and the island they fill.
//
//   profile.cc        profiles
//   logs.cc           phases of compilers, collectives of dumps, lines of output
//   watched_gpus.cc   samples of monitors
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/pools/arena.h"
#include "base/pools/sequence_pool.h"
#include "model/model.h"
#include "model/timeline/view.h"
#include "outputs/pending_ops.h"
#include "outputs/report/html/timeline/island.h"

namespace debrief::outputs::html {

// The outline of the timeline: processes and their lanes, without slices. Island "timeline", JSON
// as web/src/timeline/model.ts declares it (Timeline).

struct TimelineLane {
  std::string id, name;
  std::string_view kind;  // LaneKind
  size_t depths = 1;
  size_t slices = 0;
};

// From a clock of its own to that of the others; `middle` since the base.
struct TimelineShift {
  int64_t offset = 0;
  double drift = 0;
  int64_t middle = 0;

  int64_t Apply(int64_t time) const;
};

// Where a process stands among those of its rank.
enum class ProcessPlace : uint8_t {
  kCompiler,
  kHost,
  kOther,
  kDevice,
  kMonitor,
  kProfiler,
  kCollectives,
  kOutput
};

struct TimelineProcess {
  std::string id;
  std::string what;  // "python (host)": the title without the rank
  Identity who;
  ProcessPlace place = ProcessPlace::kOther;
  std::string_view source;  // Source
  bool own_clock = false;   // its times do not count from 1970 and cannot be compared with others'
  std::vector<TimelineLane> lanes;
  std::string island;
  TimelineShift shift;
  int64_t first = INT64_MAX;  // of its slices and counters, as recorded
  int64_t last = INT64_MIN;
};

struct TimelineOutline {
  std::vector<TimelineProcess> processes;
  int64_t base = 0;
  size_t slices = 0;  // those left out included
  size_t left_out = 0;
};

// Sorts the processes, gives them titles that differ and writes all.
std::string OutlineJson(const Model& model, TimelineOutline& outline);

// Rows of a table by input; rows of one input stay in order.
using RowsByInput = std::map<int32_t, std::vector<uint32_t>>;

// How much a page gets. A slice is some 4 bytes of it, and 32 of a browser's memory.
struct TimelineLimits {
  size_t slices = 6'000'000;
  size_t points = 2'000'000;          // of counters
  size_t text_bytes = 64'000'000;     // names and notes
  size_t moments_of_output = 10'000;  // of one input
};

struct TimelineContext {
  const Model& model;
  TimelineLimits limits;
  int64_t base = 0;   // nanoseconds since 1970 of time 0
  size_t slices = 0;  // of all sources
  size_t points = 0;
  std::vector<SliceKind> kind_of;  // by StringId of a word of model/timeline/kinds.h
  RowsByInput compilations;        // of table compilation
  RowsByInput progress;            // of table progress, those with a time
  AttemptEnds ends;

  // What a lane of so many slices, a series of so many points may keep.
  size_t SlicesOf(size_t count) const { return Part(count, slices, limits.slices); }
  size_t PointsOf(size_t count) const { return Part(count, points, limits.points); }
  // Of an island of so many slices.
  size_t TextBytesOf(size_t count) const;

 private:
  static size_t Part(size_t count, size_t all, size_t most);
};

// Times before the year 2000 count from the boot of a machine, or from nowhere: taken as dates they
// would stretch the timeline over decades.
bool CountsFrom1970(int64_t earliest_ns);

// Times since `zero`; false for what cannot be shown: null, before it, or 100 years after it.
bool SetTimes(int64_t zero, int64_t start_ns, int64_t duration_ns, Slice& slice);

// Notes of collectives by what makes them: ranks do the same, so that most are made once, also for
// the islands that follow, and after a note the one is tried that came after it the last time.
// Their numbers are of the island.
class OpNotes {
 public:
  // Sequence number, sizes and types of inputs and outputs, state, stack.
  using Key = std::array<uint32_t, 7>;

  // A new island begins.
  void Begin();

  // `make` gives the text of a note that is new.
  template <typename Make>
  uint32_t Number(const Key& key, TimelineTexts& texts, const Make& make) {
    uint32_t at = notes_[last_].next;
    if (at == 0 || notes_[at].key != key) at = static_cast<uint32_t>(keys_.Intern(key));
    if (at == notes_.size()) notes_.push_back({.key = key, .text = made_.Copy(make())});
    notes_[last_].next = at;
    last_ = at;
    Note& note = notes_[at];
    if (note.number == 0) note.number = texts.Number(note.text);
    return note.number;
  }

 private:
  struct Note {
    Key key = {};
    std::string_view text;
    uint32_t number = 0;  // 0: none yet
    uint32_t next = 0;    // the note that came after it; 0: none yet
  };

  SequencePool<uint32_t, ListId> keys_;
  std::vector<Note> notes_ = std::vector<Note>(1);  // by number in keys_, which begins with 1
  uint32_t last_ = 0;
  Arena made_;
};

// The processes of one island. Buffers are kept from one island to the next.
class TimelineMaker {
 public:
  explicit TimelineMaker(const TimelineContext& context)
      : context(context), texts(context.model.pools) {}

  // `slices`: how many its sources have.
  void Begin(std::string name, size_t slices);

  // The process that lanes are added to from now on; one that gets none is dropped.
  TimelineProcess& AddProcess(const Identity& who, std::string id, std::string what);

  // The time that is 0 for this process, whose earliest is known: the base, or its own.
  int64_t SetZero(int64_t earliest_ns);

  // Adds `slices` (by start, then falling duration) as a lane, when there are any.
  void AddLane(std::string id, std::string name, std::string_view kind);
  void AddCounters(std::string id, std::string name, std::vector<CounterSeries> series);

  // Sorts `slices`, keeps the longest if there are more than a lane may have, and adds them.
  void AddUnsortedLane(std::string id, std::string name, std::string_view kind);

  // The processes, and the bytes of the island; none and "" when it is empty.
  std::vector<TimelineProcess> TakeProcesses();
  std::string TakeBytes();

  const TimelineContext& context;
  TimelineTexts texts;
  IslandWriter writer;
  std::vector<Slice> slices;  // of the lane that is being made
  std::vector<bool> kept;     // by number: whether an arrow may name it
  // "train.py:52 step" by stack: ranks share their stacks, and finding the user's frame costs.
  std::unordered_map<StackId, std::string> places;
  OpNotes op_notes;

 private:
  void Stretch(int64_t first, int64_t last);

  std::string name_;
  std::vector<TimelineProcess> processes_;
};

// The source makers; each adds the processes of one input.
void AddProfile(const timeline::TimelineView& view, TimelineMaker& maker);
void AddCompilePhases(std::span<const uint32_t> rows, TimelineMaker& maker);
void AddCollectives(std::span<const uint32_t> rows, TimelineMaker& maker);
void AddOutputLines(std::span<const uint32_t> rows, TimelineMaker& maker);
void AddStepLines(std::span<const uint32_t> rows, TimelineMaker& maker);  // of table progress

// The earliest slice or value of a timeline; kNone64 when it has none.
int64_t EarliestOf(const timeline::TimelineView& view);

// The clock of the profile of this rank, for its logs; the drift is not known so far from it.
TimelineShift ShiftOfRank(const Model& model, const Identity& who);

}  // namespace debrief::outputs::html
