// --event_filter: `attribute:pattern,...`; a slice that matches one of them is left out.
//
// The attribute is a key of the event, or of its arguments with `args.` before it; its text is
// searched for the pattern, an extended regular expression (POSIX; \d is known, too).
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <vector>

#include "accel/pass.h"

namespace debrief::accel {

class EventFilter {
 public:
  // What is malformed is told and skipped.
  EventFilter(const std::string& text, Run& run);

  bool is_active() const { return !rules_.empty(); }
  bool Matches(const Event& event, const Run& run) const;

 private:
  struct Free {
    void operator()(regex_t* pattern) const {
      regfree(pattern);
      delete pattern;
    }
  };
  struct Rule {
    std::string path;
    StringId key = StringId::kNone;  // the part behind `args.`, or the path itself
    bool in_args = false;
    std::unique_ptr<regex_t, Free> pattern;
  };
  void Add(const std::string& item, Run& run);
  static std::optional<std::string> TextOf(const Rule& rule, const Event& event, const Run& run);

  std::vector<Rule> rules_;
};

}  // namespace debrief::accel
