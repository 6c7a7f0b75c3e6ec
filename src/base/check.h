// Assertions for bugs of ours. Input, however broken, must never reach one.
#pragma once

namespace debrief {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace debrief

#define DEBRIEF_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::debrief::CheckFailed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define DEBRIEF_DCHECK(condition) static_cast<void>(0)
#else
#define DEBRIEF_DCHECK(condition) DEBRIEF_CHECK(condition)
#endif
