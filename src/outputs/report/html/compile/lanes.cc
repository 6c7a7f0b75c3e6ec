// Island "lanes": the stretches of time in which a compilation was worked on, the forward and the
// backward graph of one apart.
//
//   {"base_ns": 1794714812584000000,
//    "job": [0], "input": [0], "rank": [3], "life": [0], "id": ["0/0"], "phase": ["dynamo"],
//    "start_us": [0], "us": [1131609], "open": [false],
//    "left_out": 0}
//
// Stretches are the outermost phases of a thread; of a compilation without phases the time that its
// metrics tell. web/src/compile/lanes.ts reads it. Cost: one pass over compile_phase and
// compile_span.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/json/writer.h"
#include "model/compile/frames.h"
#include "outputs/report/html/compile/compile_islands.h"
#include "tables/compile_phase.h"
#include "tables/compile_span.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostStretches = 40'000;  // the longest
constexpr size_t kLongestLaneText = 100;

struct Stretch {
  int32_t job = kNone32;
  int32_t input = kNone32;
  int32_t rank = kNone32;
  int32_t life = kNone32;
  StringId compile_id = StringId::kNone;
  StringId phase = StringId::kNone;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool open = false;
};

template <typename Table>
Stretch StretchOf(const Table& table, size_t row, int64_t end_ns) {
  return {.job = table.job[row],
          .input = table.input[row],
          .rank = table.rank[row],
          .life = table.life[row],
          .compile_id = table.compile_id[row],
          .start_ns = table.start_ns[row],
          .end_ns = std::max(end_ns, table.start_ns[row])};
}

std::vector<Stretch> Collect(const Model& model) {
  std::vector<Stretch> all;
  const auto& phases = model.tables.Get<CompilePhaseTable>();
  for (size_t row = 0; row < phases.size(); ++row) {
    const bool is_outermost = phases.depth[row] == 0 && phases.start_ns[row] != kNone64;
    if (!is_outermost || phases.compile_id[row] == StringId::kNone) continue;
    Stretch one = StretchOf(phases, row, phases.end_ns[row]);
    one.phase = phases.name[row];
    one.open = phases.open[row] != 0;
    all.push_back(one);
  }
  const auto& spans = model.tables.Get<CompileSpanTable>();
  for (size_t row = 0; row < spans.size(); ++row) {
    if (model.pools.Text(spans.told_by[row]) == "events" || spans.start_ns[row] == kNone64)
      continue;
    const double seconds = std::isfinite(spans.seconds[row]) ? spans.seconds[row] : 0;
    const auto ns = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e9);
    Stretch one = StretchOf(spans, row, spans.start_ns[row] + ns);
    one.open = spans.ended[row] == 0;
    all.push_back(one);
  }
  return all;
}

// The longest of them, in order of time.
size_t KeepLongest(std::vector<Stretch>& all) {
  size_t left_out = 0;
  const auto length = [](const Stretch& one) { return one.end_ns - one.start_ns; };
  if (all.size() > kMostStretches) {
    left_out = all.size() - kMostStretches;
    std::stable_sort(all.begin(), all.end(),
                     [&](const Stretch& a, const Stretch& b) { return length(a) > length(b); });
    all.resize(kMostStretches);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Stretch& a, const Stretch& b) { return a.start_ns < b.start_ns; });
  return left_out;
}

}  // namespace

std::string LanesJson(const Model& model) {
  std::vector<Stretch> all = Collect(model);
  std::string out;
  if (all.empty() && model.tables.Get<CompileSpanTable>().size() == 0) return out;
  const size_t left_out = KeepLongest(all);
  const int64_t base_ns = all.empty() ? 0 : all.front().start_ns;
  const auto text = [&](StringId id) { return model.pools.Text(id).substr(0, kLongestLaneText); };
  JsonWriter json(&out);
  json.BeginObject().Field("base_ns", base_ns);
  const auto column = [&](std::string_view key, auto value) {
    json.Array(key, all, [&](const Stretch& one) { json.Value(std::invoke(value, one)); });
  };
  column("job", &Stretch::job);
  column("input", &Stretch::input);
  column("rank", &Stretch::rank);
  column("life", &Stretch::life);
  column("id", [&](const Stretch& one) { return WithoutAttempt(text(one.compile_id)); });
  column("phase", [&](const Stretch& one) { return text(one.phase); });
  column("start_us", [&](const Stretch& one) { return (one.start_ns - base_ns) / 1000; });
  column("us", [](const Stretch& one) { return (one.end_ns - one.start_ns) / 1000; });
  column("open", &Stretch::open);
  json.Field("left_out", left_out).EndObject();
  return out;
}

}  // namespace debrief::outputs::html
