#include "accel/ingest/fold_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "model/timeline/arrange.h"

namespace debrief::accel {

namespace {

class PairBuilder {
 public:
  PairBuilder(TraceFile& file, Run& run) : file_(file), run_(run) {}

  void Fold() {
    for (size_t i = 0; i < file_.events.size(); ++i) {
      Event& event = file_.events[i];
      last_ = std::max(last_, event.end());
      if (event.phase == 'B') {
        open_[{event.pid, event.tid}].push_back(i);
      } else if (event.phase == 'E') {
        Close(event, i);
      }
    }
    Finish();
    Compact();
  }

 private:
  void Close(Event& end, size_t at) {
    std::vector<size_t>& stack = open_[{end.pid, end.tid}];
    const auto begin = BeginOf(stack, end);
    if (begin == stack.end()) {
      file_.trouble.Add("ends what did not begin", file_.offsets[at]);
    } else {
      Event& slice = file_.events[*begin];
      MakeSlice(slice, end.ts - slice.ts);
      if (!run_.options.compat) TakeArgs(slice, end);
      stack.erase(begin);
    }
    end.phase = 0;
  }

  // acelyzer knows ends of the same name alone, and ends without one.
  std::vector<size_t>::iterator BeginOf(std::vector<size_t>& stack, const Event& end) const {
    const auto has_name = [&](size_t i) {
      return end.name == StringId::kNone || file_.events[i].name == end.name;
    };
    if (!run_.options.compat) return timeline::BeginOf(stack, has_name);
    const auto found = std::find_if(stack.rbegin(), stack.rend(), has_name);
    return found == stack.rend() ? stack.end() : std::next(found).base();
  }

  static void MakeSlice(Event& begin, double dur) {
    begin.phase = 'X';
    begin.dur = dur;
    begin.has_dur = true;
  }

  // What is known only at the end, results for example, stands there.
  void TakeArgs(Event& slice, const Event& end) {
    for (const Arg& arg : end.args()) {
      if (arg.place != ArgPlace::kTop && !slice.Has(arg.key, arg.place))
        run_.args.Append(slice, arg);
    }
  }

  void Finish() {
    int64_t unfinished = 0;
    for (Event& event : file_.events) {
      if (event.phase != 'B') continue;
      if (run_.options.compat) {
        event.phase = 0;
        continue;
      }
      MakeSlice(event, last_ - event.ts);
      run_.args.Set(event, run_.Intern("unfinished"), Value::Bool(true));
      ++unfinished;
    }
    if (unfinished > 0)
      run_.console.Warning(
          fmt::format("{} events begin and never end; they last until the last time of their file",
                      unfinished));
  }

  void Compact() {
    size_t kept = 0;
    for (size_t i = 0; i < file_.events.size(); ++i) {
      if (file_.events[i].phase == 0) continue;
      file_.events[kept] = file_.events[i];
      file_.offsets[kept++] = file_.offsets[i];
    }
    file_.events.resize(kept);
    file_.offsets.resize(kept);
  }

  TraceFile& file_;
  Run& run_;
  std::unordered_map<TrackKey, std::vector<size_t>, TrackHash> open_;
  double last_ = 0;
};

}  // namespace

void FoldPairs(TraceFile& file, Run& run) { PairBuilder(file, run).Fold(); }

}  // namespace debrief::accel
