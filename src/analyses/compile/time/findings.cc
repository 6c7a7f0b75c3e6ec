// One function that takes most of the compile time is where to begin: its name is the finding.
#include "analyses/compile/time/findings.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/text/rank_list.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_time {

namespace {

// Half: whatever else is made faster, less is won. Ten seconds on one rank is a choice;
// compilations that reach Inductor take 0.2 to 9 s each in the recorded log of mixed cases.
constexpr double kDominantShare = 0.5;
constexpr double kLongSeconds = 10;
constexpr size_t kMostIds = 8;

struct Function {
  double seconds = 0;
  std::map<int32_t, double> by_rank;
  std::vector<size_t> rows;
};

struct Attempt {
  double seconds = 0;
  std::map<std::tuple<std::string_view, std::string_view, int32_t>, Function> functions;
};

std::map<std::pair<int32_t, int32_t>, Attempt> Gather(const Part& part) {
  const auto& spans = part.tables.Get<CompileSpanTable>();
  std::map<std::pair<int32_t, int32_t>, Attempt> attempts;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!std::isfinite(spans.seconds[i])) continue;
    Attempt& attempt = attempts[{spans.job[i], spans.attempt[i]}];
    Function& function = attempt.functions[{part.pools.Text(spans.function[i]),
                                            part.pools.Text(spans.file[i]), spans.line[i]}];
    attempt.seconds += spans.seconds[i];
    function.seconds += spans.seconds[i];
    function.by_rank[spans.rank[i]] += spans.seconds[i];
    function.rows.push_back(i);
  }
  return attempts;
}

// The longest of its compilations, and what it did most of the time.
std::string LongestInWords(const Part& part, const Function& function) {
  const auto& spans = part.tables.Get<CompileSpanTable>();
  size_t longest = function.rows.front();
  for (size_t row : function.rows) {
    if (spans.seconds[row] > spans.seconds[longest]) longest = row;
  }
  return fmt::format(
      "the longest, {}, took {:.1f} s: dynamo {:.1f}, AOT {:.1f}, inductor {:.1f}, "
      "code generation {:.1f}, kernels {:.1f}",
      part.pools.Text(spans.compile_id[longest]), spans.seconds[longest], spans.dynamo_s[longest],
      spans.aot_s[longest], spans.inductor_s[longest], spans.codegen_s[longest],
      spans.triton_s[longest]);
}

}  // namespace

void AddFindings(const Part& part, std::vector<Finding>& findings) {
  const auto& spans = part.tables.Get<CompileSpanTable>();
  for (const auto& [who, attempt] : Gather(part)) {
    if (attempt.functions.size() < 2) continue;  // alone it dominates nothing
    for (const auto& [key, function] : attempt.functions) {
      const auto& [name, file, line] = key;
      double longest = 0;
      for (const auto& [rank, seconds] : function.by_rank) longest = std::max(longest, seconds);
      const double share = function.seconds / attempt.seconds;
      if (name.empty() || share < kDominantShare || longest < kLongSeconds) continue;
      Finding finding;
      finding.rule = "compile.one_frame_dominates";
      finding.job = who.first;
      finding.attempt = who.second;
      finding.headline = fmt::format(
          "{} ({}:{}) takes {:.0f} % of the compile time: {:.1f} s{} in {} compilation{}", name,
          file.substr(file.rfind('/') + 1), line, 100 * share, longest,
          function.by_rank.size() > 1 ? " on the slowest rank" : "", function.rows.size(),
          function.rows.size() == 1 ? "" : "s");
      std::set<std::string_view> ids;
      for (size_t row : function.rows) {
        if (ids.size() < kMostIds) ids.insert(part.pools.Text(spans.compile_id[row]));
      }
      finding.compile_ids.assign(ids.begin(), ids.end());
      finding.source.push_back({function.by_rank.begin()->first, std::string(file), line});
      finding.evidence.push_back({.text = LongestInWords(part, function),
                                  .table = "compile_span",
                                  .rows = {function.rows.begin(), function.rows.end()}});
      finding.why = "sum over all compilations of the attempt, by the compiler's own events";
      finding.next_step =
          "See its phases: debrief query OUT \"SELECT name, sum(self_ns) / 1e9 AS seconds FROM "
          "compile_phase GROUP BY name ORDER BY seconds DESC\"";
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace debrief::analyses::compile_time
