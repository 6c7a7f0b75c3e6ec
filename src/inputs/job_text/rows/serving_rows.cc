#include "inputs/job_text/rows/serving_rows.h"

#include <algorithm>
#include <utility>

#include "base/text/strings.h"
#include "torch/engine_marks.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kMostServing = size_t{1} << 16;

std::string_view RoleName(EngineRole role) {
  switch (role) {
    case EngineRole::kFrontEnd:
      return "API server";
    case EngineRole::kCore:
      return "engine";
    case EngineRole::kWorker:
      return "worker";
    case EngineRole::kNone:
      return "";
  }
  return "";
}

void KeepFirst(int64_t& first, int64_t line) {
  if (first == 0) first = line;
}

}  // namespace

void ServingRows::Add(const EngineLine& line, int64_t number, int64_t time_ns, const Owner& owner,
                      std::string_view text, Pools& pools) {
  const EnginePlace place = EnginePlace::Unpack(owner.engine);
  switch (line.what) {
    case EngineWhat::kFatal:
      KeepFirst(fatal_, number);
      break;
    case EngineWhat::kDead:
      KeepFirst(dead_, number);
      if (Contains(text, "shutting down client")) left_ = number;
      break;
    case EngineWhat::kLost:
      KeepFirst(dead_, number);
      lost_.push_back({place.data, line.worker, number, time_ns, pools.Intern(text)});
      break;
    case EngineWhat::kTold:
      KeepFirst(told_, number);
      break;
    case EngineWhat::kShutdown:
      KeepFirst(shutdown_, number);
      break;
    default:
      break;
  }
  const bool fails = line.what == EngineWhat::kFatal || line.what == EngineWhat::kDead ||
                     line.what == EngineWhat::kLost;
  if (fails) last_failure_ = std::max(last_failure_, number);
  // An interrupt is no sign of an engine, nor is the end of any web server.
  const bool ends = line.what == EngineWhat::kTold || line.what == EngineWhat::kShutdown;
  if (!ends) KeepFirst(engine_, number);
  if (rows_.size() >= kMostServing) return;
  auto row = Part::RowOf<ServingEventRow>(who_);
  row.input = who_.input;
  row.line = number;
  row.time_ns = time_ns;
  row.pid = owner.pid;
  const std::string_view role = RoleName(place.role);
  if (!role.empty()) row.role = pools.Intern(role);
  row.what = pools.Intern(NameOf(line.what));
  if (!line.phase.empty()) row.phase = pools.Intern(line.phase);
  row.seconds = line.seconds;
  row.text = pools.Intern(text);
  rows_.push_back({row, owner});
}

void ServingRows::AddServed(int64_t number) { served_ = std::exchange(last_served_, number); }

// Workers that get the interrupt of a terminal end before their engine hears of it. A server also
// shuts down after its engine has died. A script that is done leaves its engine, whose client says
// as the last line of all that it died; one whose engine dies under it says more.
int64_t ServingRows::ShutdownLine() const {
  if (engine_ == 0) return 0;
  const bool is_alone = fatal_ == 0 && left_ != 0 && left_ == dead_ && left_ == last_failure_;
  if (is_alone && left_ == end_) return left_;
  const auto is_before = [](int64_t a, int64_t b) { return a != 0 && (b == 0 || a < b); };
  if (is_before(told_, fatal_)) return dead_ == 0 ? told_ : std::min(told_, dead_);
  const bool failed_before = is_before(fatal_, shutdown_) || is_before(dead_, shutdown_);
  return failed_before ? 0 : shutdown_;
}

void ServingRows::Write(const std::function<int32_t(const Owner&)>& rank_of,
                        const std::function<int32_t(int64_t)>& attempt_of, Part& part) {
  if (engine_ == 0) return;
  for (At& each : rows_) {
    each.row.rank = rank_of(each.owner);
    each.row.attempt = attempt_of(each.row.line);
    part.tables.Edit<ServingEventTable>().Add(each.row);
  }
}

}  // namespace debrief::inputs::job_text
