#include "analyses/verdict/older_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyses/verdict/board.h"
#include "base/text/strings.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/process_exit.h"
#include "tables/progress.h"
#include "tables/text_event.h"

namespace debrief::analyses::verdict {

namespace {

struct Times {
  int64_t first_ns = kNone64, last_ns = kNone64;

  bool known() const { return first_ns != kNone64; }
  void Extend(int64_t time_ns) {
    if (time_ns == kNone64) return;
    first_ns = known() ? std::min(first_ns, time_ns) : time_ns;
    last_ns = std::max(last_ns, time_ns);
  }
};

// A job, an attempt of one, or a text of one.
struct Run {
  int32_t number = kNone32;  // of the job, the attempt or the input
  std::string name;
  std::vector<std::string> numbers;  // of its name, without leading zeros
  Times times;
};

// The name with one zero for each number; `numbers` gets these.
std::string PatternOf(std::string_view name, std::vector<std::string>& numbers) {
  std::string pattern;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!IsDigit(name[i])) {
      pattern += name[i];
      continue;
    }
    const size_t end = std::min(name.find_first_not_of("0123456789", i), name.size());
    const size_t begin = std::min(name.find_first_not_of('0', i), end);
    numbers.emplace_back(name.substr(begin, end - begin));
    pattern += '0';
    i = end - 1;
  }
  return pattern;
}

// Do its numbers count runs? Those of a sweep's settings, of nodes or of seeds do not.
bool CountsRuns(std::string_view pattern) {
  const std::string_view last = pattern.substr(pattern.rfind('/') + 1);  // npos + 1 is 0
  for (std::string_view word : {"run0", "run-0", "run_0", "(run 0)", "job0", "job-0", "job_0",
                                "version_0", "try0", "try_0", "0-0-0"}) {
    if (Contains(last, word)) return true;
  }
  return false;
}

// `key`: the column by which times are told apart.
template <typename Table, typename Column>
void AddTimes(const Table& table, Column Table::* key, std::map<int32_t, Times>& times) {
  for (size_t i = 0; i < table.size(); ++i) times[(table.*key)[i]].Extend(table.time_ns[i]);
}

// Did `a` end before `b` began?
bool IsOlder(const Run& a, const Run& b) {
  if (a.times.known() && b.times.known()) return a.times.last_ns <= b.times.first_ns;
  for (size_t i = 0; i < a.numbers.size(); ++i) {
    const std::string &one = a.numbers[i], &other = b.numbers[i];
    if (one != other) return std::pair(one.size(), one) < std::pair(other.size(), other);
  }
  return false;
}

std::string ShortName(std::string_view name) {
  const size_t run = name.rfind(" (run ");
  if (run != std::string_view::npos && name.ends_with(')'))
    return std::string(name.substr(run + 2, name.size() - run - 3));
  return std::string(name.substr(name.rfind('/') + 1));  // npos + 1 is 0
}

void Mark(const Run& newest, bool failed, Finding& finding) {
  constexpr double kMaySinceBeFixed = 0.9;
  const std::string said = fmt::format("{} is newer and {}", ShortName(newest.name),
                                       failed ? "failed, too" : "shows no error");
  if (failed) finding.confidence *= kMaySinceBeFixed;
  finding.why += fmt::format("{}this is an older run: {}", finding.why.empty() ? "" : "; ", said);
  finding.next_step = fmt::format("This is an older run: {}. {}", said, finding.next_step);
}

bool Failed(const Finding& finding) {
  return finding.severity == Severity::kError && finding.role == Role::kCause;
}

// Runs of one series; `is_of`: is the finding about the run?
template <typename IsOf>
void MarkSeries(const std::vector<Run>& runs, const IsOf& is_of, std::vector<Finding>& findings) {
  const Run& newest = *std::ranges::max_element(runs, IsOlder);
  const bool newest_failed = std::ranges::any_of(
      findings, [&](const Finding& finding) { return Failed(finding) && is_of(finding, newest); });
  for (Finding& finding : findings) {
    const bool older =
        Failed(finding) && std::ranges::any_of(runs, [&](const Run& run) {
          return run.number != newest.number && is_of(finding, run) && IsOlder(run, newest);
        });
    if (older) Mark(newest, newest_failed, finding);
  }
}

// ---- jobs beside each other

void MarkOlderJobs(const Model& model, std::vector<Finding>& findings) {
  const auto& jobs = model.tables.Get<JobTable>();
  if (jobs.size() < 2) return;
  std::map<int32_t, Times> times;
  AddTimes(model.tables.Get<TextEventTable>(), &TextEventTable::job, times);
  AddTimes(model.tables.Get<ProgressTable>(), &ProgressTable::job, times);
  std::map<std::string, std::vector<Run>> series;
  for (size_t i = 0; i < jobs.size(); ++i) {
    Run run{jobs.job[i], std::string(model.pools.Text(jobs.name[i])), {}, times[jobs.job[i]]};
    std::string pattern = PatternOf(run.name, run.numbers);
    if (CountsRuns(pattern)) series[std::move(pattern)].push_back(std::move(run));
  }
  auto is_of = [](const Finding& finding, const Run& run) { return finding.job == run.number; };
  for (const auto& [pattern, runs] : series) MarkSeries(runs, is_of, findings);
}

// ---- attempts of one job

// Of those the numbers tell the order. When the last one failed as well, each is told as it is.
void MarkOlderAttempts(const Model& model, std::vector<Finding>& findings) {
  const auto& steps = model.tables.Get<ProgressTable>();
  std::map<int32_t, int32_t> last;  // by job: the newest attempt that took steps
  for (size_t i = 0; i < steps.size(); ++i) {
    int32_t& attempt = last.try_emplace(steps.job[i], kNone32).first->second;
    attempt = std::max(attempt, steps.attempt[i]);
  }
  for (const auto& [job, attempt] : last) {
    const Run newest{attempt, fmt::format("attempt {}", attempt), {}, {}};
    const bool failed = std::ranges::any_of(findings, [&](const Finding& finding) {
      return finding.severity == Severity::kError && finding.job == job &&
             finding.attempt >= attempt;
    });
    for (Finding& finding : findings) {
      const bool older =
          !failed && Failed(finding) && finding.job == job && finding.attempt != kNone32;
      if (!older) continue;
      Mark(newest, false, finding);
      finding.severity = Severity::kWarning;  // the job went on
    }
  }
}

// ---- texts of one job: train_run1.log beside train_run2.log, log_20261114.txt beside ...15.txt

// The inputs whose lines a finding rests on.
std::set<int32_t> InputsOf(const Model& model, const Finding& finding) {
  std::set<int32_t> inputs;
  auto add = [&](const auto& table, std::string_view name) {
    for (const size_t row : RowsOf(finding, name)) {
      if (row < table.size()) inputs.insert(table.input[row]);
    }
  };
  add(model.tables.Get<TextEventTable>(), TextEventTable::kName);
  add(model.tables.Get<ProcessExitTable>(), ProcessExitTable::kName);
  return inputs;
}

// A date, as "20261114", or with the time behind it.
bool IsDate(std::string_view number) {
  return number.starts_with("20") &&
         (number.size() == 8 || number.size() == 12 || number.size() == 14);
}

bool HasDates(const Run& run) { return std::ranges::any_of(run.numbers, IsDate); }

// Where neither the steps nor anything else of the newest text tell that it went on, both may be
// outputs of one run.
void MarkOlderTexts(const Model& model, std::vector<Finding>& findings) {
  const auto& inputs = model.tables.Get<InputTable>();
  std::map<int32_t, Times> times;
  AddTimes(model.tables.Get<TextEventTable>(), &TextEventTable::input, times);
  AddTimes(model.tables.Get<ProgressTable>(), &ProgressTable::input, times);
  const auto& steps = model.tables.Get<ProgressTable>();
  std::set<int32_t> with_steps;
  for (size_t i = 0; i < steps.size(); ++i) with_steps.insert(steps.input[i]);
  using Key = std::tuple<int32_t, int32_t, int32_t, std::string>;
  std::map<Key, std::vector<Run>> series;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs.job[i] == kNone32 || !with_steps.contains(inputs.input[i])) continue;
    Run run{
        inputs.input[i], std::string(model.pools.Text(inputs.path[i])), {}, times[inputs.input[i]]};
    std::string pattern = PatternOf(run.name, run.numbers);
    if (!CountsRuns(pattern) && !HasDates(run)) continue;
    series[{inputs.job[i], inputs.attempt[i], inputs.rank[i], std::move(pattern)}].push_back(
        std::move(run));
  }
  auto is_of = [&](const Finding& finding, const Run& run) {
    return InputsOf(model, finding) == std::set{run.number};
  };
  for (const auto& [key, runs] : series) {
    if (runs.size() > 1) MarkSeries(runs, is_of, findings);
  }
}

}  // namespace

void MarkOlderRuns(const Model& model, std::vector<Finding>& findings) {
  MarkOlderJobs(model, findings);
  MarkOlderAttempts(model, findings);
  MarkOlderTexts(model, findings);
}

}  // namespace debrief::analyses::verdict
