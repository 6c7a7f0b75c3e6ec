#include "redact/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "base/text/strings.h"

namespace debrief::redact {

namespace {

// Not names of people: accounts of systems and images, and folders that stand where a name would.
constexpr std::array<std::string_view, 24> kAccounts = {
    "root",   "user",   "users",     "ubuntu", "ec2-user", "runner", "jovyan", "docker",
    "nobody", "admin",  "conda",     "app",    "work",     "shared", "data",   "public",
    "Public", "Shared", "workspace", "home",   "debian",   "centos", "USER",   "vscode"};

// Names that are words of any log: replaced in paths alone.
constexpr std::array<std::string_view, 80> kWords = {
    "python",      "torch",   "train",    "trainer", "model",    "test",     "tests",
    "rank",        "main",    "node",     "host",    "local",    "worker",   "master",
    "nccl",        "cuda",    "debug",    "info",    "step",     "loss",     "name",
    "none",        "guest",   "dev",      "build",   "run",      "job",      "log",
    "logs",        "output",  "input",    "bench",   "script",   "cluster",  "server",
    "client",      "launch",  "gpu",      "cpu",     "exp",      "cache",    "checkpoint",
    "checkpoints", "dataset", "datasets", "project", "projects", "software", "tmp",
    "scratch",     "storage", "results",  "runs",    "code",     "src",      "repo",
    "venv",        "env",     "lib",      "bin",     "share",    "team",     "group",
    "research",    "pytorch", "triton",   "graph",   "compile",  "error",    "warning",
    "file",        "line",    "time",     "default", "proxy",    "store",    "service",
    "system",      "memory",  "device"};

constexpr std::array<std::string_view, 12> kNoHosts = {
    "localhost", "localdomain", "container", "hostname",      "unknown",      "none",
    "null",      "master",      "worker",    "ip6-localhost", "ip6-loopback", "0"};

bool IsAlnum(char c) { return IsAlphanumeric(c) || static_cast<uint8_t>(c) >= 0x80; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), LowerCase);
  return lower;
}

template <typename List>
bool IsIn(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// "rank3", "gpu0", "cuda:0": labels, which are in every log of every job.
bool IsLabel(std::string_view name) {
  constexpr std::array<std::string_view, 9> kLabels = {
      "rank", "gpu", "cuda", "cpu", "step", "default", "eth", "attempt", "local_rank"};
  const size_t letters = name.find_first_of("0123456789");
  return letters != std::string_view::npos && IsIn(kLabels, name.substr(0, letters)) &&
         name.find_first_not_of("0123456789", letters) == std::string_view::npos;
}

constexpr size_t kLongestHost = 80;  // every length that occurs is looked up at a word

// A bare word is a name only where it must be one: others would be replaced in every sentence.
bool IsHostName(std::string_view name, bool is_certain) {
  const bool has_letter =
      std::ranges::any_of(name, [](char c) { return IsAlnum(c) && !IsDigit(c); });
  const bool is_told_apart = std::ranges::any_of(
      name, [](char c) { return IsDigit(c) || c == '-' || c == '.' || c == '['; });
  const std::string lower = Lower(name);
  return name.size() >= 2 && name.size() <= kLongestHost && has_letter && !IsIn(kNoHosts, lower) &&
         !IsIn(kWords, lower) && (is_certain || !IsLabel(lower)) &&
         (is_told_apart || (is_certain && name.size() >= 4));
}

// node2 before node10.
bool ComesBefore(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (!IsDigit(a[0]) || !IsDigit(b[0])) {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    const auto take = [](std::string_view& text) {
      const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
      std::string_view digits = text.substr(0, end);
      digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
      text.remove_prefix(end);
      return digits;
    };
    const std::string_view left = take(a), right = take(b);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  return a.size() < b.size();
}

std::vector<std::string> Sorted(const std::set<std::string, std::less<>>& names) {
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::stable_sort(sorted, ComesBefore);
  return sorted;
}

std::string Padded(std::string_view word, size_t number, size_t count) {
  return fmt::format("{}-{:0{}}", word, number, std::to_string(count - 1).size());
}

}  // namespace

void Names::AddHost(std::string_view name, bool is_certain) {
  constexpr size_t kMostNames = 1 << 20;
  while (name.ends_with('.')) name.remove_suffix(1);
  if (hosts_.size() >= kMostNames || !IsHostName(name, is_certain)) return;
  hosts_.emplace(name);
  // The short form of a full name is the same machine.
  const size_t dot = name.find('.');
  if (dot != std::string_view::npos && dot > 0) AddHost(name.substr(0, dot));
}

void Names::AddUser(std::string_view name) {
  constexpr size_t kMostNames = 1 << 20;
  if (name.size() < 2 || name.size() > 64 || users_.size() >= kMostNames) return;
  const bool is_number = name.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!is_number && !IsIn(kAccounts, name) && !name.starts_with('$') && !name.starts_with('{'))
    users_.emplace(name);
}

void Names::Put(const std::string& name, Secret kind, std::string replacement) {
  if (!known_.try_emplace(name, Known{kind, std::move(replacement)}).second) return;
  if (starts_.empty()) starts_.resize(1 << 16);
  starts_[size_t{static_cast<uint8_t>(name[0])} << 8 | static_cast<uint8_t>(name[1])] = true;
  lengths_.push_back(name.size());
}

void Names::NumberHosts() {
  const std::vector<std::string> sorted = Sorted(hosts_);
  const auto is_short = [](const std::string& name) { return !Contains(name, "."); };
  std::vector<std::string> machines;
  std::ranges::copy_if(sorted, std::back_inserter(machines), is_short);
  for (size_t i = 0; i < machines.size(); ++i)
    Put(machines[i], Secret::kHost, Padded("host", i, machines.size()));
  size_t others = machines.size();
  for (const std::string& name : sorted) {
    if (is_short(name)) continue;
    auto machine = known_.find(name.substr(0, name.find('.')));
    const std::string replacement =
        machine == known_.end() ? fmt::format("host-{}", others++) : machine->second.replacement;
    Put(name, Secret::kHost, replacement + ".example");
  }
}

void Names::NumberUsers() {
  const std::vector<std::string> sorted = Sorted(users_);
  for (size_t i = 0; i < sorted.size(); ++i) {
    std::string replacement = fmt::format("user-{}", i + 1);
    in_paths_.emplace(sorted[i], replacement);
    if (!IsIn(kWords, Lower(sorted[i])) && sorted[i].size() >= 3)
      Put(sorted[i], Secret::kUser, std::move(replacement));
  }
}

void Names::Settle() {
  NumberHosts();
  NumberUsers();
  std::ranges::sort(lengths_, std::greater());
  const auto repeated = std::ranges::unique(lengths_);
  lengths_.erase(repeated.begin(), repeated.end());
}

Names::Match Names::Find(std::string_view text, size_t at, bool is_bounded) const {
  if (starts_.empty() || at + 2 > text.size()) return {};
  const size_t start =
      size_t{static_cast<uint8_t>(text[at])} << 8 | static_cast<uint8_t>(text[at + 1]);
  if (!starts_[start]) return {};
  std::string name;
  for (const size_t length : lengths_) {
    if (at + length > text.size()) continue;
    if (is_bounded && at + length < text.size() && IsAlnum(text[at + length])) continue;
    name.assign(text, at, length);
    if (auto found = known_.find(name); found != known_.end())
      return {length, found->second.kind, found->second.replacement};
  }
  return {};
}

std::string_view Names::UserInPath(std::string_view name) const {
  auto found = in_paths_.find(name);
  return found == in_paths_.end() ? std::string_view() : found->second;
}

size_t Names::NumberOf(char kind, std::string_view text) {
  constexpr size_t kMostNumbers = 1 << 20;  // further ones share the last number
  std::string key = kind + std::string(text);
  if (auto found = numbered_.find(key); found != numbered_.end()) return found->second;
  size_t& next = next_[kind];
  if (next < kMostNumbers) numbered_.emplace(std::move(key), next++);
  return next - 1;
}

// Of the ranges that are set aside for benchmarks and documentation: no machine has them.
std::string Names::Address(std::string_view text, bool is_v6) {
  const size_t number = NumberOf(is_v6 ? '6' : '4', Lower(text)) + 1;
  if (is_v6) return fmt::format("2001:db8::{:x}:{:x}", number >> 16, number & 0xffff);
  return fmt::format("198.{}.{}.{}", 18 + (number >> 16 & 1), number >> 8 & 0xff, number & 0xff);
}

std::string Names::Email(std::string_view text) {
  return fmt::format("person-{}@example.com", NumberOf('@', Lower(text)) + 1);
}

// 0 and 1 are of any shape. Others stay different from each other.
int64_t Names::Dimension(int64_t number) {
  if (number <= 1) return number;
  return static_cast<int64_t>(NumberOf('#', std::to_string(number))) + 1001;
}

std::string Names::FileName(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view ending = dot == std::string_view::npos || dot == 0 ? "" : name.substr(dot);
  return fmt::format("file-{}{}", NumberOf('f', name) + 1, ending);
}

std::string Names::FolderName(std::string_view name) {
  return fmt::format("folder-{}", NumberOf('d', name) + 1);
}

}  // namespace debrief::redact
