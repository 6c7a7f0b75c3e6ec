#include "inputs/jobs/name_clues.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/text/strings.h"

namespace debrief {

namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The number at text[at], if digits start there and they fit a rank.
std::optional<int32_t> DigitsAt(std::string_view text, size_t at) {
  int32_t number = 0;
  if (at >= text.size() || !IsDigit(text[at])) return std::nullopt;
  auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool IsJoint(char c) { return c == '_' || c == '-' || c == '=' || c == '.'; }

// Whose rank "rank" at name[at] is: "node_rank", "localrank" and the like are not the global one.
enum class RankWord : uint8_t { kNone, kGlobal, kLocal, kNode };

RankWord RankWordAt(std::string_view name, size_t at) {
  std::string_view before = name.substr(0, at);
  if (!before.empty() && (before.back() == '_' || before.back() == '-')) before.remove_suffix(1);
  if (before.ends_with("local")) return RankWord::kLocal;
  if (before.ends_with("node") || before.ends_with("group")) return RankWord::kNode;
  if (before.ends_with("global") || before.ends_with("world")) return RankWord::kGlobal;
  return at > 0 && IsLetter(name[at - 1]) ? RankWord::kNone : RankWord::kGlobal;
}

// In "rank_container-node02_5" what stands between "rank_" and the last number is the host.
NameClues HostAndRank(std::string_view rest) {
  rest = rest.substr(0, rest.find('.'));
  size_t last = rest.rfind('_');
  if (last == std::string_view::npos || last == 0) return {};
  auto rank = DigitsAt(rest, last + 1);
  if (!rank || !AllDigits(rest.substr(last + 1))) return {};
  return {.rank = *rank, .host = std::string(rest.substr(0, last))};
}

// TensorBoard's profiler plug-in: <host>_<pid>.<milliseconds>.pt.trace.json
std::string TensorBoardHost(std::string_view name) {
  size_t suffix = name.find(".pt.trace.json");
  if (suffix == std::string_view::npos) return {};
  std::string_view stem = name.substr(0, suffix);
  size_t dot = stem.rfind('.');
  size_t underscore = dot == std::string_view::npos ? dot : stem.rfind('_', dot);
  if (underscore == std::string_view::npos || underscore == 0) return {};
  std::string_view pid = stem.substr(underscore + 1, dot - underscore - 1);
  bool is_its_form = AllDigits(pid) && AllDigits(stem.substr(dot + 1));
  return is_its_form ? std::string(stem.substr(0, underscore)) : std::string();
}

// Ray: worker-<hex id>-<hex job>-<pid>.out, also .err and python-core-worker-<hex id>_<pid>.log.
int64_t RayPid(std::string_view name) {
  size_t worker = name.find("worker-");
  if (worker == std::string_view::npos) return kNone64;
  std::string_view stem = name.substr(worker + 7, name.rfind('.') - worker - 7);
  size_t joint = stem.find_last_of("-_");
  constexpr size_t kIdDigits = 32;  // at least; a pod is called worker-3
  if (joint == std::string_view::npos || joint < kIdDigits) return kNone64;
  std::string_view id = stem.substr(0, kIdDigits);
  bool is_hex = std::all_of(id.begin(), id.end(), [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
  });
  auto pid = DigitsAt(stem, joint + 1);
  return is_hex && pid && AllDigits(stem.substr(joint + 1)) ? *pid : kNone64;
}

// The number behind a word of its own, with at most one joint between: attempt1, restart_2.
std::optional<int32_t> NumberBehind(std::string_view name, std::string_view word) {
  for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    if (at > 0 && IsLetter(name[at - 1])) continue;
    size_t digits = at + word.size();
    if (digits < name.size() && IsJoint(name[digits])) ++digits;
    if (auto number = DigitsAt(name, digits)) return number;
  }
  return std::nullopt;
}

constexpr std::string_view kAttemptWords[] = {"attempt", "restart", "retry",
                                              "cycle",   "requeue", "try"};

int32_t AttemptIn(std::string_view lower) {
  for (std::string_view word : kAttemptWords) {
    if (auto number = NumberBehind(lower, word)) return *number;
  }
  return kNone32;
}

void ReadRankWords(std::string_view name, std::string_view lower, NameClues& clues) {
  for (size_t at = lower.find("rank"); at != std::string_view::npos;
       at = lower.find("rank", at + 1)) {
    RankWord word = RankWordAt(lower, at);
    if (word == RankWord::kNone || word == RankWord::kNode) continue;
    size_t digits = at + 4;
    if (digits < name.size() && IsJoint(name[digits])) ++digits;
    auto number = DigitsAt(name, digits);
    int32_t& to = word == RankWord::kLocal ? clues.local_rank : clues.rank;
    if (number && to == kNone32) to = *number;
    if (number || word == RankWord::kLocal || clues.rank != kNone32 || digits == at + 4) continue;
    NameClues with_host = HostAndRank(name.substr(digits));
    clues.rank = with_host.rank;
    clues.host = with_host.host;
  }
}

// Folders that launchers and people name after their content.
constexpr std::string_view kDataFolders[] = {
    "torch_trace", "torch_traces", "trace",      "traces",      "tlparse",      "compile_logs",
    "log",         "logs",         "stdout",     "stderr",      "profile",      "profiles",
    "profiler",    "prof",         "nccl",       "nccl_trace",  "nccl_traces",  "comm_traces",
    "comm_trace",  "fr",           "fr_dumps",   "dump",        "dumps",        "flight_recorder",
    "memory",      "snapshots",    "et",         "debug",       "kineto",       "execution_traces",
    "out",         "err",          "output",     "stacks",      "faulthandler", "pyspy",
    "py-spy",      "nccl_logs",    "nccl_debug", "ras",         "launcher",     "console",
    "kernel",      "dmesg",        "profiling",  "tensorboard", "tb",           "metrics"};

constexpr std::string_view kDocumentEndings[] = {
    ".md",   ".rst",  ".py",   ".c",   ".cc", ".cpp", ".h",   ".cu",    ".sh",  ".yml",
    ".yaml", ".toml", ".html", ".css", ".js", ".csv", ".tsv", ".ipynb", ".cfg", ".ini"};

// Before the number or the letter of a machine, a word of its name.
constexpr std::string_view kHostWords[] = {
    "node", "host",    "machine", "server", "worker",   "vm",      "gpu", "dgx", "hgx", "algo",
    "pod",  "trainer", "master",  "leader", "instance", "compute", "ip",  "h",   "n",   "nid"};

constexpr std::string_view kDomains[] = {".local", ".internal", ".lan", ".com", ".net", ".edu"};

constexpr std::string_view kOutputWords[] = {"stdout",  "stderr", "slurm", "torchrun", "launcher",
                                             "console", "dmesg",  "kern",  "syslog",   "journal",
                                             "srun",    "mpirun", "nohup", "output",   "log"};

}  // namespace

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

NameClues CluesOfFile(std::string_view name) {
  std::string lower = Lower(name);
  NameClues clues;
  ReadRankWords(name, lower, clues);
  clues.attempt = AttemptIn(lower);
  clues.pid = RayPid(lower);
  if (clues.rank == kNone32) clues.host = TensorBoardHost(name);
  return clues;
}

std::string WithoutAttempt(std::string_view name) {
  std::string rest = Lower(name);
  if (size_t at = rest.find(".previous"); at != std::string::npos) rest.erase(at, 9);
  for (std::string_view word : kAttemptWords) {
    size_t at = rest.find(word);
    if (at == std::string::npos || !NumberBehind(rest, word)) continue;
    size_t end = at + word.size();
    while (end < rest.size() && (IsJoint(rest[end]) || IsDigit(rest[end])) &&
           !(IsJoint(rest[end]) && IsDigit(rest[end - 1]))) {
      ++end;
    }
    size_t begin = at > 0 && IsJoint(rest[at - 1]) ? at - 1 : at;
    rest.erase(begin, end - begin);
  }
  return rest;
}

FolderClues CluesOfFolder(std::string_view name, std::string_view parent) {
  std::string lower = Lower(name);
  if (std::find(std::begin(kDataFolders), std::end(kDataFolders), lower) != std::end(kDataFolders))
    return {FolderRole::kData, kNone32};
  if (auto number = NumberBehind(lower, "node_rank")) return {FolderRole::kNode, *number};
  NameClues clues = CluesOfFile(lower);
  bool names_only_rank = clues.rank != kNone32 && clues.host.empty() &&
                         (lower.starts_with("rank") || lower.starts_with("global"));
  if (names_only_rank) return {FolderRole::kRank, clues.rank};
  if (lower.starts_with("local") && clues.local_rank != kNone32)
    return {FolderRole::kLocalRank, clues.local_rank};
  for (std::string_view word : kAttemptWords) {
    if (lower.starts_with(word) && clues.attempt != kNone32)
      return {FolderRole::kAttempt, clues.attempt};
  }
  // torchrun writes attempt_0/3/stdout.log; elsewhere a bare number may mean anything.
  if (parent.starts_with("attempt_") && AllDigits(lower)) {
    if (auto number = DigitsAt(lower, 0)) return {FolderRole::kLocalRank, *number};
  }
  return {};
}

std::vector<int64_t> NumbersIn(std::string_view name) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at < name.size(); ++at) {
    bool begins = IsDigit(name[at]) && (at == 0 || !IsDigit(name[at - 1]));
    if (auto number = begins ? DigitsAt(name, at) : std::nullopt) numbers.push_back(*number);
  }
  return numbers;
}

std::string NumberPattern(std::string_view name) {
  std::string pattern;
  for (char c : name) {
    if (!IsDigit(c)) {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '#') {
      pattern += '#';
    }
  }
  return pattern;
}

bool IsNamedAsOutput(std::string_view name) {
  std::string lower = Lower(name);
  return lower.ends_with(".out") || lower.ends_with(".err") ||
         std::any_of(std::begin(kOutputWords), std::end(kOutputWords),
                     [&](std::string_view word) { return Contains(lower, word); });
}

bool IsNamedAsHost(std::string_view name) {
  const std::string lower = Lower(name.substr(0, name.find('!')));  // node0.tar.gz!/tmp
  const bool address = std::count(lower.begin(), lower.end(), '.') == 3 &&
                       lower.find_first_not_of("0123456789.") == std::string::npos;
  const bool domain = std::ranges::any_of(kDomains, [&](auto end) { return lower.ends_with(end); });
  if (address || domain) return true;
  for (size_t at = 0; at < lower.size();) {
    size_t end = at;
    while (end < lower.size() && IsLetter(lower[end])) ++end;
    std::string_view word = std::string_view(lower).substr(at, end - at);
    const bool lettered = word.size() > 3 && (end == lower.size() || lower[end] == '.');  // hosta
    if (lettered) word.remove_suffix(1);
    const size_t number = end < lower.size() && IsJoint(lower[end]) ? end + 1 : end;
    const bool counted = lettered || (number < lower.size() && IsDigit(lower[number]));
    if (counted && std::ranges::find(kHostWords, word) != std::end(kHostWords)) return true;
    at = end + 1;
  }
  return false;
}

bool IsNamedAsDocument(std::string_view name) {
  std::string lower = Lower(name);
  return lower.starts_with("readme") || lower.starts_with("license") ||
         std::any_of(std::begin(kDocumentEndings), std::end(kDocumentEndings),
                     [&](std::string_view ending) { return lower.ends_with(ending); });
}

std::string_view LastPart(std::string_view folder) { return folder.substr(folder.rfind('/') + 1); }

std::string_view ParentPart(std::string_view folder) {
  size_t slash = folder.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : folder.substr(0, slash);
}

}  // namespace debrief
