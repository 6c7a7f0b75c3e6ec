// Which passes a run may use. A profile is a list of passes with on or off:
//
//   {"stages": [{"normalize_phase1": true}, {"pipeline_barrier#2": false}, ...]}
//
// Where it names every occurrence of the passes that occur several times, it is read beside the
// master list, entry by entry; otherwise it is sparse: a name without number means all occurrences,
// `name#2` the second. What it does not name is off. An empty object is everything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace debrief::accel {

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

}  // namespace debrief::accel
