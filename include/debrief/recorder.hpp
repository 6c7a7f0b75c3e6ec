// Scopes for C++ over recorder.h.
//
//   DEBRIEF_SCOPE("load batch");                    // a span from here to the end of the block
//   DEBRIEF_OP("aten::mm", [&] { return info; });   // likewise, with shapes: called at the end,
//   only when on
//
// With DEBRIEF_RECORDER_DISABLED defined both are nothing at all. Off at run time they are one
// relaxed load and one branch; everything else is out of line and cold.
#pragma once

#ifdef DEBRIEF_RECORDER_DISABLED

#define DEBRIEF_SCOPE(text) static_cast<void>(0)
#define DEBRIEF_OP(text, ...) static_cast<void>(0)

#else

#include <utility>

#include "debrief/recorder.h"

namespace debrief {

inline bool RecorderOn() { return __builtin_expect(__atomic_load_n(&dbr_on, __ATOMIC_RELAXED), 0); }

class RecordedScope {
 public:
  explicit RecordedScope(dbr_site& site) : site_(site), start_(RecorderOn() ? dbr_now() : 0) {}
  ~RecordedScope() {
    if (__builtin_expect(start_ != 0, 0)) dbr_site_span(&site_, start_);
  }
  RecordedScope(const RecordedScope&) = delete;
  RecordedScope& operator=(const RecordedScope&) = delete;

 private:
  dbr_site& site_;
  uint64_t start_;
};

// `describe` returns a dbr_op_info whose pointers are valid until the statement that called it
// ends.
template <typename Describe>
class RecordedOp {
 public:
  RecordedOp(dbr_site& site, Describe describe)
      : site_(site), describe_(std::move(describe)), start_(RecorderOn() ? dbr_now() : 0) {}
  ~RecordedOp() {
    if (__builtin_expect(start_ != 0, 0)) Emit();
  }
  RecordedOp(const RecordedOp&) = delete;
  RecordedOp& operator=(const RecordedOp&) = delete;

 private:
  [[gnu::noinline, gnu::cold]] void Emit() {
    const dbr_op_info info = describe_();
    dbr_site_op(&site_, start_, &info);
  }
  dbr_site& site_;
  Describe describe_;
  uint64_t start_;
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
