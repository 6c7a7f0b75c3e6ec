#include "inputs/assign_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text/strings.h"
#include "inputs/input_diagnostics.h"
#include "inputs/name_clues.h"
#include "tables/attempt.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief {

namespace {

std::vector<std::string_view> PartsOf(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return parts;
}

// The number that the innermost folder of a role tells.
int32_t FolderNumber(const FoundInput& input, FolderRole role) {
  std::vector<std::string_view> parts = PartsOf(input.folder);
  for (size_t i = parts.size(); i-- > 0;) {
    FolderClues clues = CluesOfFolder(parts[i], i > 0 ? parts[i - 1] : "");
    if (clues.role == role) return clues.number;
  }
  return kNone32;
}

void AssignRank(FoundInput& input) {
  NameClues clues = CluesOfFile(input.name);
  int32_t content = input.recognition.rank;
  input.host = clues.host.empty() ? input.recognition.host : clues.host;
  for (int32_t rank : {clues.rank, content, input.recognition.rank_in_name,
                       FolderNumber(input, FolderRole::kRank)}) {
    if (input.who.rank == kNone32) input.who.rank = rank;
  }
  if (clues.rank != kNone32 && content != kNone32 && clues.rank != content) {
    input.notes.push_back(
        {&kInputRankDisagrees,
         {.detail = fmt::format("name: rank {}, content: rank {}", clues.rank, content)}});
  }
}

// The number that a name ends with, as dumps have it (nccl_trace_17).
int32_t NumberAtEnd(std::string_view name) {
  constexpr size_t kMostDigits = 7;
  size_t begin = name.size();
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  if (begin == name.size() || name.size() - begin > kMostDigits) return kNone32;
  return static_cast<int32_t>(std::stol(std::string(name.substr(begin))));
}

// A file that could not be opened has no content to know it by. Where the files beside it are
// numbered as it is and all of one kind, it is one of them: its rank left something, although we
// cannot read it.
void GuessUnreadKinds(std::vector<FoundInput>& inputs) {
  auto is_unread = [](const FoundInput& input) {
    return input.state == InputState::kFailed && input.importer == nullptr;
  };
  if (std::none_of(inputs.begin(), inputs.end(), is_unread)) return;
  std::map<std::pair<std::string, std::string>, std::vector<const FoundInput*>> known;
  auto key = [](const FoundInput& input) {
    return std::pair(input.folder, NumberPattern(input.name));
  };
  for (const FoundInput& input : inputs) {
    if (input.importer == nullptr) continue;
    auto& kinds = known[key(input)];
    if (kinds.empty() || kinds.back()->importer != input.importer) kinds.push_back(&input);
  }
  for (FoundInput& input : inputs) {
    if (!is_unread(input) || !known.contains(key(input))) continue;
    const auto& kinds = known[key(input)];
    if (kinds.size() != 1 || NumberPattern(input.name) == input.name) continue;
    input.importer = kinds.front()->importer;
    if (kinds.front()->recognition.rank_in_name != kNone32)
      input.recognition.rank_in_name = NumberAtEnd(input.name);
  }
}

// One folder per host below the job's folder: its name is the host's.
void AssignHost(FoundInput& input, const std::string& job_folder) {
  if (!input.host.empty() || !input.folder.starts_with(job_folder + "/")) return;
  std::string_view below = std::string_view(input.folder).substr(job_folder.size() + 1);
  std::string_view first = below.substr(0, below.find('/'));
  if (CluesOfFolder(first, "").role == FolderRole::kPlain) input.host = std::string(first);
}

// A note or a table of results says nothing about jobs; a known format or a ranked file does.
bool IsEvidence(const FoundInput& input) {
  if (input.importer == nullptr) return false;
  return !input.importer->info.fallback || input.who.rank != kNone32;
}

std::map<std::string, std::string> JobFolders(const std::vector<FoundInput>& inputs) {
  std::map<std::string, FolderContent> folders;
  for (const FoundInput& input : inputs) {
    FolderContent& content = folders[input.folder];
    if (!IsEvidence(input)) continue;
    content.evidence = true;
    if (input.who.rank == kNone32) {
      content.unranked = true;
    } else {
      content.ranks.insert(input.who.rank);
    }
  }
  return FoldFolders(folders);
}

struct JobKey {
  std::string folder;
  int32_t world_size;  // kNone32 unless the folder holds jobs of several sizes
  auto operator<=>(const JobKey&) const = default;
};

using Jobs = std::map<JobKey, std::vector<FoundInput*>>;

Jobs GroupByJob(std::vector<FoundInput>& inputs) {
  std::map<std::string, std::string> folders = JobFolders(inputs);
  std::map<std::string, std::set<int32_t>> sizes;
  for (const FoundInput& input : inputs) {
    int32_t size = input.recognition.world_size;
    if (size != kNone32) sizes[folders[input.folder]].insert(size);
  }
  Jobs jobs;
  for (FoundInput& input : inputs) {
    const std::string& folder = folders[input.folder];
    int32_t size = sizes[folder].size() > 1 ? input.recognition.world_size : kNone32;
    jobs[{folder, size}].push_back(&input);
  }
  return jobs;
}

std::string JobName(const JobKey& key, const std::vector<FoundInput*>& inputs) {
  if (key.folder.empty()) return inputs.empty() ? "" : inputs.front()->path;  // stdin
  if (key.world_size == kNone32) return key.folder;
  return fmt::format("{} (world size {})", key.folder, key.world_size);
}

int32_t WorldSizeOf(const std::vector<FoundInput*>& inputs) {
  int32_t size = kNone32;
  for (const FoundInput* input : inputs) size = std::max(size, input->recognition.world_size);
  return size;
}

void AddRanks(const std::vector<FoundInput*>& inputs, Model& model) {
  std::map<std::tuple<int32_t, int32_t>, RankRow> rows;  // by attempt and rank
  for (const FoundInput* input : inputs) {
    if (input->who.rank == kNone32) continue;
    auto [it, is_new] = rows.try_emplace({input->who.attempt, input->who.rank});
    RankRow& row = it->second;
    if (is_new) row = {input->who.job, input->who.attempt, input->who.rank, StringId::kNone, 0};
    if (row.host == StringId::kNone && !input->host.empty())
      row.host = model.pools.Intern(input->host);
    ++row.inputs;
  }
  for (const auto& [key, row] : rows) model.tables.Edit<RankTable>().Add(row);
}

void AddAttempts(int32_t job, int32_t count, const std::vector<FoundInput*>& inputs, Model& model) {
  for (int32_t attempt = 0; attempt < count; ++attempt) {
    AttemptRow row{job, attempt, kNone64, 0};
    for (const FoundInput* input : inputs) {
      if (input->who.attempt != attempt) continue;
      ++row.inputs;
      int64_t start = input->recognition.start_ns;
      if (start != kNone64 && (row.start_ns == kNone64 || start < row.start_ns))
        row.start_ns = start;
    }
    model.tables.Edit<AttemptTable>().Add(row);
  }
}

std::vector<AttemptClue> AttemptClues(const std::vector<FoundInput*>& inputs) {
  std::vector<AttemptClue> clues;
  for (const FoundInput* input : inputs) {
    clues.push_back(
        {.start_ns = input->recognition.start_ns,
         .folder_attempt = FolderNumber(*input, FolderRole::kAttempt),
         .rank = input->who.rank,
         .one_per_process = input->importer != nullptr && input->importer->info.one_per_process});
  }
  return clues;
}

}  // namespace

void AssignJobs(std::vector<FoundInput>& inputs, Model& model) {
  GuessUnreadKinds(inputs);
  for (FoundInput& input : inputs) AssignRank(input);
  int32_t job = 0;
  for (auto& [key, members] : GroupByJob(inputs)) {
    bool evidence = std::any_of(members.begin(), members.end(),
                                [](const FoundInput* i) { return IsEvidence(*i); });
    if (!evidence) continue;  // notes, sources, unknown files: of no job
    std::vector<int32_t> attempts = TellAttemptsApart(AttemptClues(members));
    for (size_t i = 0; i < members.size(); ++i) {
      AssignHost(*members[i], key.folder);
      members[i]->who.job = job;
      members[i]->who.attempt = attempts[i];
    }
    int32_t count = *std::max_element(attempts.begin(), attempts.end()) + 1;
    model.tables.Edit<JobTable>().Add({job, model.pools.Intern(JobName(key, members)),
                                       WorldSizeOf(members), count,
                                       static_cast<int32_t>(members.size())});
    AddAttempts(job, count, members, model);
    AddRanks(members, model);
    ++job;
  }
}

}  // namespace debrief
