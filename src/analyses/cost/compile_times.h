// When each rank compiled, by its compile log.
//
// Where the log has events of the compiler's phases, the outermost ones; otherwise what the metrics
// of a compilation tell. Times are nanoseconds since 1970, as those of timelines with a base.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/stats/intervals.h"
#include "model/model.h"

namespace debrief::analyses::cost {

struct CompileTime {
  Interval time;
  StringId compile_id = StringId::kNone;
};

// One rank of a job; timelines and logs without a rank share one.
struct RankKey {
  int32_t job = kNone32, attempt = kNone32, rank = kNone32;
  auto operator<=>(const RankKey&) const = default;
};
inline RankKey KeyOf(const Identity& who) { return {who.job, who.attempt, who.rank}; }

class CompileTimes {
 public:
  explicit CompileTimes(const Model& model);

  std::span<const CompileTime> Of(const Identity& who) const;  // by begin

 private:
  std::map<RankKey, std::vector<CompileTime>> times_;
};

}  // namespace debrief::analyses::cost
