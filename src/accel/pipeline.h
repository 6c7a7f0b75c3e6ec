// The passes in their order, and a run through those that options and profile ask for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accel/run.h"
#include "base/status.h"

namespace debrief::accel {

// Which passes a run may use. A profile is a list of passes with on or off:
//
//   {"stages": [{"normalize_phase1": true}, {"pipeline_barrier#2": false}, ...]}
//
// Where it names every occurrence of the passes that occur several times, it is read beside the
// master list, entry by entry; otherwise it is sparse: a name without number means all occurrences,
// `name#2` the second. What it does not name is off. An empty object is everything.
class Profile {
 public:
  // Of the text of a profile's file, over the identifiers of all passes.
  static Result<Profile> Parse(std::string_view text, const std::vector<std::string_view>& master);
  // "default", "everything", "torch_minimal", "verification", with or without ".json"; kNotFound
  // for others.
  static Result<Profile> BuiltIn(std::string_view name,
                                 const std::vector<std::string_view>& master);

  bool IsOn(size_t pass) const { return on_[pass]; }

 private:
  std::vector<bool> on_;  // beside the master list
};

// A pass changes the whole list of events. acelyzer feeds events one by one and drains its stages
// at the end; a pass that first makes the outputs of every event in order and then what is left
// gives the same list. Its barriers are therefore nothing here.
struct Pass {
  std::string_view identifier;
  // Whether the options ask for it; a profile can only switch off.
  bool (*is_wanted)(const Options& options);
  // Null: a barrier, or what ingestion has done already.
  void (*run)(EventList& events, Run& run);
  // With --compat; null: the same.
  void (*reference)(EventList& events, Run& run) = nullptr;
};

// All passes, in the order of registration.
std::span<const Pass> AllPasses();

// Those that options and profile ask for, one after the other. With -I the list is written after
// each.
Status RunPasses(EventList& events, const Profile& profile, Run& run);

}  // namespace debrief::accel
