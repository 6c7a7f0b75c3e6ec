#include "op_trace/flatten.h"

#include <map>

namespace debrief::op_trace {

void Flatten(std::span<Entry> entries) {
  std::map<uint64_t, Entry*> last;  // of each thread
  for (Entry& entry : entries) {
    Entry*& before = last[entry.thread];
    // A difference of starts, since their sum with a duration may not fit.
    const bool is_cut = before != nullptr && before->start_ns && entry.start_ns &&
                        *entry.start_ns - *before->start_ns < before->duration_ns.value_or(0);
    if (is_cut) {
      before->WithDuration(*entry.start_ns - *before->start_ns);
      before->WithInputShapes({}).WithOutputShape({}, Dtype::kUnknown, Corners::kCompat);
    }
    before = &entry;
  }
}

}  // namespace debrief::op_trace
