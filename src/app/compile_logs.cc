#include "app/compile_logs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "base/text/safe_name.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "tables/compile_life.h"
#include "tables/compile_log.h"
#include "tables/input.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

// dedicated_log_torch_trace_rank_<R>[_anything].log
bool IsNamedAsRankLog(std::string_view name) {
  constexpr std::string_view kBegin = "dedicated_log_torch_trace_rank_";
  if (!TakePrefix(name, kBegin) || !TakeSuffix(name, ".log")) return false;
  std::string_view digits = name.substr(0, name.find('_'));
  return ParseNumber<uint32_t>(digits).has_value();
}

void ReadAsLog(const Importer* log, FoundInput& input) {
  input.importer = log;
  input.state = InputState::kRecognised;
  input.notes.clear();
}

std::string TimeText(int64_t time_ns) {
  if (time_ns == kNone64) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                     fmt::gmtime(static_cast<time_t>(time_ns / 1'000'000'000)));
}

std::string OutcomeText(const CompileAttempt& attempt) {
  std::string text = fmt::format("{} compilations", attempt.compilations);
  if (attempt.failed > 0) text += fmt::format(", {} failed", attempt.failed);
  if (attempt.unfinished > 0) text += fmt::format(", {} never ended", attempt.unfinished);
  return text;
}

// tlparse's choice: files of the folder itself that are named as rank logs, whatever is in them.
// False when there is none.
bool KeepNamed(const std::string& folder, const Importer* log, std::vector<FoundInput>& inputs) {
  std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  auto is_named = [&](const FoundInput& input) {
    return input.path == prefix + input.name && IsNamedAsRankLog(input.name);
  };
  if (std::none_of(inputs.begin(), inputs.end(), is_named)) return false;
  std::erase_if(inputs, [&](const FoundInput& input) { return !is_named(input); });
  for (FoundInput& input : inputs) ReadAsLog(log, input);
  return true;
}

// One life of one log, or a log in which no process left an entry.
struct LogLife {
  outputs::tlparse_tree::TreeScope scope;
  int32_t job = kNone32, attempt = kNone32;
  int64_t start_ns = kNone64, end_ns = kNone64;
  int32_t compilations = 0, failed = 0, unfinished = 0;
};

std::vector<LogLife> FindLives(const Model& model) {
  const auto& lives = model.tables.Get<CompileLifeTable>();
  const auto& logs = model.tables.Get<CompileLogTable>();
  std::vector<LogLife> found;
  std::set<int32_t> with_entries(lives.input.begin(), lives.input.end());
  for (size_t i = 0; i < logs.size(); ++i) {
    if (with_entries.contains(logs.input[i])) continue;
    found.push_back({.scope = {.input = logs.input[i], .rank = logs.rank[i], .life = 0},
                     .job = logs.job[i],
                     .attempt = logs.attempt[i]});
  }
  for (size_t i = 0; i < lives.size(); ++i) {
    found.push_back(
        {.scope = {.input = lives.input[i], .rank = lives.rank[i], .life = lives.life[i]},
         .job = lives.job[i],
         .attempt = lives.attempt[i],
         .start_ns = lives.start_ns[i],
         .end_ns = lives.end_ns[i],
         .compilations = lives.compilations[i],
         .failed = lives.failed[i],
         .unfinished = lives.unfinished[i]});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return found;
}

void AddLife(const LogLife& life, CompileAttempt& attempt) {
  attempt.logs.push_back(life.scope);
  if (life.start_ns != kNone64) {
    attempt.start_ns =
        attempt.start_ns == kNone64 ? life.start_ns : std::min(attempt.start_ns, life.start_ns);
    attempt.end_ns = std::max(attempt.end_ns, life.end_ns);
  }
  attempt.compilations += life.compilations;
  attempt.failed += life.failed;
  attempt.unfinished += life.unfinished;
}

}  // namespace

Result<std::string> NewestFile(const std::string& folder) {
  std::error_code error;
  std::string newest;
  fs::file_time_type newest_time;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    fs::file_time_type time = at->last_write_time(error);
    if (!newest.empty() && time < newest_time) continue;
    newest = at->path().string();
    newest_time = time;
  }
  if (newest.empty())
    return Status(Code::kNotFound, fmt::format("No files found in directory {}", folder));
  return newest;
}

// A summary also takes what TORCH_LOGS printed into the output of ranks.
void KeepLogs(const CompileOptions& options, bool is_folder, std::vector<FoundInput>& inputs) {
  const Importer* log = FindImporter("torch_trace");
  auto is_output = [&](const FoundInput& input) {
    return options.summary && input.importer != nullptr && input.importer->info.fallback;
  };
  if (!is_folder && inputs.size() == 1) {
    if (!is_output(inputs[0])) ReadAsLog(log, inputs[0]);
    return;
  }
  bool named = options.all_ranks && KeepNamed(options.path, log, inputs);
  if (!named) {
    std::erase_if(inputs, [&](const FoundInput& input) {
      return input.importer != log && !is_output(input);
    });
  }
}

// A rank has one life in an attempt: a second one begins another.
std::vector<CompileAttempt> FindAttempts(const Model& model) {
  using Key = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, how many lives came before
  std::map<Key, CompileAttempt> found;
  std::map<Key, int32_t> lives_of;  // of job, attempt, rank
  for (const LogLife& life : FindLives(model)) {
    int32_t before = lives_of[{life.job, life.attempt, life.scope.rank}]++;
    AddLife(life, found[{life.job, life.attempt, before}]);
  }
  std::vector<CompileAttempt> attempts;
  for (auto& [key, attempt] : found) attempts.push_back(std::move(attempt));
  std::stable_sort(attempts.begin(), attempts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.start_ns, a.logs.size()) < std::pair(b.start_ns, b.logs.size());
  });
  int32_t number = 0;
  for (CompileAttempt& attempt : attempts) {
    attempt.number = ++number;
    std::stable_sort(attempt.logs.begin(), attempt.logs.end(),
                     [](const auto& a, const auto& b) { return a.rank < b.rank; });
  }
  return attempts;
}

size_t ChooseAttempt(const std::vector<CompileAttempt>& attempts) {
  for (size_t i = attempts.size(); i-- > 0;) {
    if (attempts[i].WentWrong()) return i;
  }
  return attempts.empty() ? 0 : attempts.size() - 1;
}

std::string DescribeAttempts(const Model& model, const std::vector<CompileAttempt>& attempts,
                             size_t shown) {
  const auto& inputs = model.tables.Get<InputTable>();
  std::string text = fmt::format("{} attempts; --attempt N shows another:", attempts.size());
  auto line = [&](const CompileAttempt& attempt) {
    std::string_view first =
        model.pools.Text(inputs.path[static_cast<size_t>(attempt.logs.front().input)]);
    text += fmt::format("\n  {}{}  {} to {}  {}  {}", attempt.number,
                        &attempt == &attempts[shown] ? " (shown)" : "        ",
                        TimeText(attempt.start_ns), TimeText(attempt.end_ns), OutcomeText(attempt),
                        Printable(first));
    if (attempt.logs.size() > 1) text += fmt::format(" and {} more", attempt.logs.size() - 1);
  };
  if (shown < attempts.size()) line(attempts[shown]);
  for (size_t i = attempts.size(); i-- > 0;) {
    if (i != shown) line(attempts[i]);
  }
  return text;
}

}  // namespace debrief
