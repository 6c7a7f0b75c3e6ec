// Scopes for C++ over recorder.h.
//
//   DEBRIEF_SCOPE("load batch");                    // a span from here to the end of the block
//   DEBRIEF_OP("aten::mm", [&] { return info; });   // likewise, with shapes: called at the end,
//   only when on
//
// With DEBRIEF_RECORDER_DISABLED defined both are nothing at all. Off at run time they are one
// relaxed load and one branch; everything else is out of line and cold. The destructors are always
// inlined, also into the path of an exception: otherwise the scope, and what a description
// captures, would have to live in memory.
#pragma once

#ifdef DEBRIEF_RECORDER_DISABLED

#define DEBRIEF_SCOPE(text) static_cast<void>(0)
#define DEBRIEF_OP(text, ...) static_cast<void>(0)

#else

#include <utility>

#include "debrief/recorder.h"

namespace debrief {

// The same functions as in recorder.h under names that say more to the compiler: they throw
// nothing, and the code around a call of them is not worth a register or a line of the hot path.
extern "C" {
[[gnu::cold]] uint64_t debrief_start() noexcept __asm__("dbr_now");
[[gnu::cold]] void debrief_finish_span(dbr_site*, uint64_t) noexcept __asm__("dbr_site_span");
[[gnu::cold]] void debrief_finish_op(dbr_site*, uint64_t, const dbr_op_info*) noexcept
    __asm__("dbr_site_op");
}

inline bool RecorderOn() noexcept {
  return __builtin_expect(__atomic_load_n(&dbr_on, __ATOMIC_RELAXED), 0);
}

class RecordedScope {
 public:
  [[gnu::always_inline]] explicit RecordedScope(dbr_site& site) noexcept : site_(site) {
    if (RecorderOn()) start_ = debrief_start();
  }
  [[gnu::always_inline]] ~RecordedScope() {
    if (__builtin_expect(start_ != 0, 0)) debrief_finish_span(&site_, start_);
  }
  RecordedScope(const RecordedScope&) = delete;
  RecordedScope& operator=(const RecordedScope&) = delete;

 private:
  dbr_site& site_;
  uint64_t start_ = 0;  // 0: it was off
};

// `describe` returns a dbr_op_info whose pointers are valid until the statement that called it
// ends.
template <typename Describe>
class RecordedOp {
 public:
  [[gnu::always_inline]] RecordedOp(dbr_site& site, Describe describe)
      : site_(site), describe_(std::move(describe)) {
    if (RecorderOn()) start_ = debrief_start();
  }
  [[gnu::always_inline]] ~RecordedOp() {
    if (__builtin_expect(start_ == 0, 1)) return;
    const dbr_op_info info = describe_();
    debrief_finish_op(&site_, start_, &info);
  }
  RecordedOp(const RecordedOp&) = delete;
  RecordedOp& operator=(const RecordedOp&) = delete;

 private:
  dbr_site& site_;
  Describe describe_;
  uint64_t start_ = 0;
};

}  // namespace debrief

#define DEBRIEF_JOIN_(a, b) a##b
#define DEBRIEF_JOIN(a, b) DEBRIEF_JOIN_(a, b)
#define DEBRIEF_SCOPE(text)                                                    \
  static constinit dbr_site DEBRIEF_JOIN(debrief_site_, __LINE__) = {text, 0}; \
  const ::debrief::RecordedScope DEBRIEF_JOIN(debrief_scope_,                  \
                                              __LINE__)(DEBRIEF_JOIN(debrief_site_, __LINE__))
#define DEBRIEF_OP(text, ...)                                                  \
  static constinit dbr_site DEBRIEF_JOIN(debrief_site_, __LINE__) = {text, 0}; \
  const ::debrief::RecordedOp DEBRIEF_JOIN(debrief_scope_, __LINE__)(          \
      DEBRIEF_JOIN(debrief_site_, __LINE__), __VA_ARGS__)

#endif
