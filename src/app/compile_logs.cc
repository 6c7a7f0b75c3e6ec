#include "app/compile_logs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>

#include "tables/compile_life.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

const Importer* LogImporter() {
  for (const Importer* importer : AllImporters()) {
    if (importer->info.name == "torch_trace") return importer;
  }
  return nullptr;
}

// dedicated_log_torch_trace_rank_<R>[_anything].log
bool IsNamedAsRankLog(std::string_view name) {
  constexpr std::string_view kBegin = "dedicated_log_torch_trace_rank_";
  if (!name.starts_with(kBegin) || !name.ends_with(".log")) return false;
  name.remove_prefix(kBegin.size());
  name.remove_suffix(4);
  std::string_view digits = name.substr(0, name.find('_'));
  uint32_t rank = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  return error == std::errc() && end == digits.data() + digits.size();
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

void KeepLogs(const CompileOptions& options, bool is_folder, std::vector<FoundInput>& inputs) {
  const Importer* log = LogImporter();
  if (!is_folder && inputs.size() == 1) {
    inputs[0].importer = log;
    inputs[0].state = InputState::kRecognised;
    inputs[0].notes.clear();
    return;
  }
  std::erase_if(inputs, [&](const FoundInput& input) { return input.importer != log; });
  bool named = std::any_of(inputs.begin(), inputs.end(),
                           [](const FoundInput& input) { return IsNamedAsRankLog(input.name); });
  if (!options.all_ranks || !named) return;
  std::erase_if(inputs, [&](const FoundInput& input) { return !IsNamedAsRankLog(input.name); });
}

std::vector<CompileAttempt> FindAttempts(const Model& model) {
  const auto& lives = model.tables.Get<CompileLifeTable>();
  std::map<std::tuple<int32_t, int32_t, int32_t>, CompileAttempt> found;
  for (size_t i = 0; i < lives.size(); ++i) {
    CompileAttempt& attempt = found[{lives.job[i], lives.attempt[i], lives.life[i]}];
    attempt.logs.push_back({.input = lives.input[i],
                            .rank_asked = true,
                            .rank = lives.rank[i],
                            .life = lives.life[i]});
    if (lives.start_ns[i] != kNone64) {
      attempt.start_ns = attempt.start_ns == kNone64
                             ? lives.start_ns[i]
                             : std::min(attempt.start_ns, lives.start_ns[i]);
      attempt.end_ns = std::max(attempt.end_ns, lives.end_ns[i]);
    }
    attempt.compilations += lives.compilations[i];
    attempt.failed += lives.failed[i];
    attempt.unfinished += lives.unfinished[i];
  }
  std::vector<CompileAttempt> attempts;
  for (auto& [key, attempt] : found) attempts.push_back(std::move(attempt));
  std::stable_sort(attempts.begin(), attempts.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
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

std::string DescribeAttempts(const std::vector<CompileAttempt>& attempts, size_t shown) {
  std::string text = fmt::format("{} attempts; --attempt N shows another:\n", attempts.size());
  auto line = [&](const CompileAttempt& attempt) {
    text += fmt::format("  {}{}  {} to {}  {} {}  {}\n", attempt.number,
                        &attempt == &attempts[shown] ? " (shown)" : "        ",
                        TimeText(attempt.start_ns), TimeText(attempt.end_ns), attempt.logs.size(),
                        attempt.logs.size() == 1 ? "log" : "logs", OutcomeText(attempt));
  };
  if (shown < attempts.size()) line(attempts[shown]);
  for (size_t i = attempts.size(); i-- > 0;) {
    if (i != shown) line(attempts[i]);
  }
  return text;
}

}  // namespace debrief
