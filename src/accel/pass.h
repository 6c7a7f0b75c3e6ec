// A pass changes the whole list of events; the pipeline (pipeline.cc) runs passes in their order.
//
// The reference feeds events one by one and drains its stages at the end; a pass that first makes
// the outputs of every event in order and then what is left gives the same list. Its barriers are
// therefore nothing here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "accel/event.h"
#include "accel/name_traits.h"
#include "accel/options.h"
#include "base/threads/thread_pool.h"
#include "model/accel/dialect.h"

namespace debrief::accel {

// Lines for people. The command owns the terminal and decides what is shown.
class Console {
 public:
  virtual ~Console() = default;
  virtual void Line(Level level, std::string_view text) = 0;

  void Error(std::string_view text) { Line(Level::kError, text); }
  void Warning(std::string_view text) { Line(Level::kWarning, text); }
  void Info(std::string_view text) { Line(Level::kInfo, text); }
  void Debug(std::string_view text) { Line(Level::kDebug, text); }
};

// One input file.
struct Job {
  std::string path;
  std::string base_name;
  StringId name = StringId::kNone;  // base_name
  Dialect dialect = Dialect::kFlex;
  int64_t rank = 0;    // of a torch trace; Flex has it in each event's pid
  int64_t number = 0;  // what `jobhash` says: distinct for each file
};

// A file beside the main output.
struct SideFile {
  std::string path;
  std::string text;
};

// What passes share during one run.
struct Run {
  Run(const Options& given, Console& sink, ThreadPool& pool)
      : options(given), console(sink), threads(pool), strings(MakeStrings()), names(strings) {}

  const Options& options;
  Console& console;
  ThreadPool& threads;
  StringPool strings;
  NameTraitsCache names;
  ArgStore args;
  std::vector<Stamps> stamps;
  std::vector<Job> jobs;
  bool has_first_barrier = true;     // the profile has it: normalize_phase2 sees the whole run
  bool jobs_are_named = false;       // `jobname` has the number, `jobhash` is gone
  std::vector<SideFile> side_files;  // written by the command at the end

  // State that several passes share: one T a run, made when first asked for.
  template <typename T>
  T& Shared() {
    std::shared_ptr<void>& slot = shared_[&kTag<T>];
    if (slot == nullptr) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

  std::string_view Text(StringId id) const { return strings.Get(id); }
  StringId Intern(std::string_view text) { return strings.Intern(text); }
  NameTraits Traits(const Event& event) { return names.Of(event.name); }
  Stamps* StampsOf(const Event& event) {
    return event.stamps == kNoStamps ? nullptr : &stamps[event.stamps];
  }
  Dialect DialectOf(const Event& event) const {
    return event.job < jobs.size() ? jobs[event.job].dialect : Dialect::kFlex;
  }

 private:
  template <typename T>
  static constexpr char kTag = 0;
  std::unordered_map<const void*, std::shared_ptr<void>> shared_;
};

// TS1..TS5 of an event. False when one is missing or no number.
bool ReadCycles(const Event& event, const StringPool& strings, int64_t (&cycles)[5]);

struct Pass {
  std::string_view identifier;
  // Whether the options ask for it; a profile can only switch off.
  bool (*is_wanted)(const Options& options);
  // Null: a barrier.
  void (*run)(EventList& events, Run& run);
};

// `<stem>_<purpose>.<extension>` beside the main output.
std::string SidePath(const Options& options, std::string_view purpose, std::string_view extension);

}  // namespace debrief::accel
