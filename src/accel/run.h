// What the stages of one run share: options, console, strings and files of the run; and what
// several of them ask of an event: its rank, its arguments, what kind of work it is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accel/event.h"
#include "accel/names.h"
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

// `<stem>_<purpose>.<extension>` beside the main output.
std::string SidePath(const Options& options, std::string_view purpose, std::string_view extension);

// A T for each key, in the order of first sight.
template <typename T>
class ByValue {
 public:
  T& operator[](const Value& key) {
    if (last_ < entries_.size() && entries_[last_].first == key) return entries_[last_].second;
    const auto [at, is_new] = index_.try_emplace(key, entries_.size());
    if (is_new) entries_.emplace_back(key, T());
    last_ = at->second;
    return entries_[last_].second;
  }
  T* Find(const Value& key) { return const_cast<T*>(std::as_const(*this).Find(key)); }
  const T* Find(const Value& key) const {
    const auto at = index_.find(key);
    return at == index_.end() ? nullptr : &entries_[at->second].second;
  }

  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<std::pair<Value, T>> entries_;
  std::unordered_map<Value, size_t, ValueHash> index_;
  size_t last_ = SIZE_MAX;  // events of a rank come in runs
};

// Which counter, and the name of its one value.
struct CounterName {
  StringId name = StringId::kNone;
  StringId cat = StringId::kNone;
  StringId value = StringId::kNone;
};

Event MakeCounter(const CounterName& counter, const Value& pid, double ts, double value, Run& run);

// A flow of two events, `s` and `f`, is drawn as an arrow between two slices.
Event MakeFlowEnd(char phase, StringId name, const Value& id, const Event& slice, double ts,
                  Run& run);

// Integer argument, also when it is written as a string.
std::optional<int64_t> IntegerArg(const Event& event, StringId key, const Run& run,
                                  ArgPlace place = ArgPlace::kArgs);

// The rank that recorded the event: args.rank, and where there is none the pid.
Value RankOf(const Event& event);

// Numbers first, in their order; then texts.
bool PidBefore(const Value& a, const Value& b, const StringPool& strings);

// Which of the abstract categories an event belongs to, by the dialect of its file.
bool IsDeviceEvent(const Event& event, Run& run);  // acc_event_cat
bool IsKernel(const Event& event, Run& run);       // acc_kernel
bool IsPrep(const Event& event, Run& run);         // acc_compute_prep
bool IsCollective(const Event& event, Run& run);   // acc_collective
bool IsCopyIn(const Event& event, Run& run);       // acc_datatransfer_HtoD
bool IsCopyOut(const Event& event, Run& run);      // acc_datatransfer_DtoH

// X, on a device, a kernel.
bool IsDeviceKernel(const Event& event, Run& run);

// The kernel that an event runs, as tables of ideal cycles know it: without " Cmpt Exec", and with
// the number in args.fn_idx for "[N]".
std::string KernelName(const Event& event, const Run& run);
std::string_view WithoutExec(std::string_view name);

}  // namespace debrief::accel
