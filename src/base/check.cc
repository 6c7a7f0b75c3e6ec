#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace debrief {

// The one place below app/ that prints and ends the process: a bug of ours has no caller to tell.
void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "debrief: internal error: %s does not hold at %s:%d\n", condition, file,
               line);
  std::abort();
}

}  // namespace debrief
