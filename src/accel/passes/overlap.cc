#include "accel/passes/overlap.h"

#include <algorithm>

namespace debrief::accel {

Value FreeTids::Next(const Value& pid, const Value& tid) {
  uint64_t number = tid.IsInteger() ? static_cast<uint64_t>(tid.integer) : 0;
  Value next;
  do {
    next = Value::Unsigned(++number);
  } while (!used_.insert({pid, next}).second);
  return next;
}

bool OpenEnds::Conflicts(double start, double end) const {
  return std::any_of(ends_.begin(), ends_.end(),
                     [&](double open) { return start < open && open < end; });
}

double OpenEnds::Overlap(double start, double end) const {
  double overlap = 0;
  for (double open : ends_) {
    if (open <= end) overlap = std::max(overlap, open - start);
  }
  return overlap;
}

void OpenEnds::CloseBefore(double start) {
  std::erase_if(ends_, [&](double open) { return open < start; });
}

}  // namespace debrief::accel
