// A folder for what one output file is made of, beside it and removed with the object; a run that
// is interrupted or killed has it removed as every unfinished output.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes/unfinished.h"
#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

class Workshop {
 public:
  Workshop() = default;
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop();

  // For the output file `result`.
  Status Open(const std::string& result);
  // A path in it.
  std::string File(std::string_view name) const;

 private:
  Unfinished folder_;
  UniqueFd lock_;
};

}  // namespace debrief
