#include "inputs/jobs/assign_jobs.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text/rotated_names.h"
#include "base/text/strings.h"
#include "inputs/jobs/assign_ranks.h"
#include "inputs/jobs/job_folders.h"
#include "inputs/jobs/name_clues.h"
#include "inputs/sniffing.h"
#include "tables/attempt.h"
#include "tables/job.h"
#include "tables/job_reason.h"
#include "tables/rank.h"

namespace debrief {

namespace {

bool IsPlainText(const FoundInput& input) {
  return input.importer != nullptr && input.importer->info.fallback;
}

// A note or a table of results says nothing about jobs; a known format or output of a job does.
EvidenceStrength StrengthOf(const FoundInput& input) {
  // What Kubernetes says of pods is YAML.
  const bool note = input.text.is_pasted && MayBeNote(input.folder + "/" + input.name);
  const bool document = IsNamedAsDocument(input.name) && !input.text.is_pods && !note;
  if (document && (input.importer == nullptr || IsPlainText(input))) return EvidenceStrength::kNone;
  if (input.importer == nullptr)
    return input.bytes == 0 && input.who.rank != kNone32 ? EvidenceStrength::kWeak
                                                         : EvidenceStrength::kNone;
  if (!IsPlainText(input) || input.who.rank != kNone32) return EvidenceStrength::kStrong;
  bool is_output = input.text.is_output || IsNamedAsOutput(input.name);
  return is_output ? EvidenceStrength::kStrong : EvidenceStrength::kWeak;
}

EvidenceClass ClassOf(const FoundInput& input) {
  if (input.importer == nullptr || IsPlainText(input)) return EvidenceClass::kText;
  bool once =
      input.importer->info.one_per_process || input.importer->info.name == "flight_recorder";
  return once ? EvidenceClass::kOnce : EvidenceClass::kProfile;
}

// The compiler of AIUs leaves a folder for each kernel: inductor-spyre/<kernel>/perf.
std::string EvidenceFolder(const std::string& folder) {
  if (folder == "." || folder == "/") return "";
  return folder.substr(0, folder.find("/inductor-spyre/"));
}

// The ranks that a text of several processes names.
std::set<int32_t> ToldRanks(const FoundInput& input) {
  if (input.who.rank != kNone32) return {};
  std::set<int32_t> told(input.text.ranks.begin(), input.text.ranks.end());
  for (auto [pid, rank] : input.text.processes) told.insert(rank);
  return told;
}

InputEvidence EvidenceOf(const FoundInput& input) {
  InputEvidence evidence{
      .folder = EvidenceFolder(input.folder),
      .slot = std::string(input.importer == nullptr ? "nothing" : input.importer->info.name),
      .kind = ClassOf(input),
      .strength = StrengthOf(input),
      .rank = input.who.rank,
      .attempt = input.named_attempt,
      .run = input.named_run,
      .world_size = input.recognition.world_size,  // NCCL's texts tell sizes of groups alone
      .pid = input.recognition.pid,
      .start_ns = input.recognition.start_ns,
      .end_ns = input.recognition.start_ns,
      .is_launcher = input.text.is_launcher};
  if (evidence.kind != EvidenceClass::kText) return evidence;
  evidence.slot = NumberPattern(input.name);
  // Two nodes may both have a local rank 3 whose rank nobody knows.
  if (input.local_rank != kNone32 && input.who.rank == kNone32)
    evidence.slot += " in " + input.folder;
  evidence.start_ns = input.text.start_ns;
  evidence.end_ns = input.text.end_ns;
  evidence.told = ToldRanks(input);
  return evidence;
}

bool IsStrongGroup(const JobGroup& group) { return group.strength() == EvidenceStrength::kStrong; }

// Where nothing else is there, any text is a job.
std::vector<JobGroup> GroupByEvidence(std::vector<InputEvidence> evidence) {
  std::vector<JobGroup> groups = AssembleJobs(evidence);
  if (std::any_of(groups.begin(), groups.end(), IsStrongGroup)) return groups;
  for (InputEvidence& input : evidence) {
    if (input.strength == EvidenceStrength::kWeak) input.strength = EvidenceStrength::kStrong;
  }
  return AssembleJobs(evidence);
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

// Members as indices into all inputs, and a name where the user gave one.
struct ChosenJob {
  std::string name;
  std::string folder;
  std::vector<size_t> inputs;
  std::vector<std::string> reasons;
};

// The inputs that --job names; `rest` gets the others.
std::vector<ChosenJob> NamedJobs(const std::vector<FoundInput>& inputs, const JobChoice& choice,
                                 std::vector<size_t>& rest) {
  std::map<std::string, ChosenJob> jobs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& path = inputs[i].path;
    auto found = std::find_if(choice.named.begin(), choice.named.end(), [&](const auto& named) {
      return fnmatch(named.second.c_str(), path.c_str(), 0) == 0 ||
             path.starts_with(named.second + "/");
    });
    if (found == choice.named.end()) {
      rest.push_back(i);
      continue;
    }
    ChosenJob& job = jobs[found->first];
    job.name = found->first;
    job.reasons = {fmt::format("--job {}={}", found->first, found->second)};
    job.folder = inputs[i].folder;
    job.inputs.push_back(i);
  }
  std::vector<ChosenJob> list;
  for (auto& [name, job] : jobs) list.push_back(std::move(job));
  return list;
}

std::string NameOfGroup(const JobGroup& group, const std::vector<FoundInput>& inputs,
                        const std::vector<size_t>& members) {
  std::string name = group.folder;
  if (name.empty()) {
    const FoundInput& first = inputs[members.front()];
    name = first.folder.empty() ? first.path : first.folder == "/" ? "/" : ".";  // stdin
  }
  if (group.only_run != kNone64) return fmt::format("{} (run {})", name, group.only_run);
  if (group.only_size == kNone32) return name;
  return fmt::format("{} (world size {})", name, group.only_size);
}

std::vector<ChosenJob> ChooseJobs(const std::vector<FoundInput>& inputs, const JobChoice& choice) {
  std::vector<size_t> rest;
  std::vector<ChosenJob> jobs = NamedJobs(inputs, choice, rest);
  std::vector<InputEvidence> evidence;
  for (size_t i : rest) {
    evidence.push_back(EvidenceOf(inputs[i]));
    // Where only the place counts, nothing contradicts.
    if (choice.one_job) evidence.back() = {.folder = evidence.back().folder, .slot = {}};
  }
  for (const JobGroup& group :
       choice.one_job ? AssembleJobs(evidence) : GroupByEvidence(std::move(evidence))) {
    if (!IsStrongGroup(group) && !choice.one_job) continue;  // notes, sources: of no job
    ChosenJob job{.name = {}, .folder = group.folder, .inputs = {}, .reasons = group.reasons};
    for (size_t i : group.inputs()) job.inputs.push_back(rest[i]);
    std::sort(job.inputs.begin(), job.inputs.end());
    job.name = NameOfGroup(group, inputs, job.inputs);
    if (choice.one_job) job.reasons = {"--one-job"};
    jobs.push_back(std::move(job));
  }
  return jobs;
}

int32_t WorldSizeOf(const std::vector<FoundInput*>& inputs) {
  int32_t size = kNone32, last_rank = kNone32;
  for (const FoundInput* input : inputs) {
    size = std::max({size, input->recognition.world_size, input->text.world_size});
    last_rank = std::max(last_rank, input->who.rank);
  }
  return size == kNone32 ? size : std::max(size, last_rank + 1);
}

// Folders beside each other below the job's, each with ranks of its own, are hosts.
void AssignHosts(const std::vector<FoundInput*>& inputs, const std::string& job_folder) {
  auto first_below = [&](const FoundInput& input) -> std::string_view {
    std::string_view folder = input.folder;
    if (!job_folder.empty() && !folder.starts_with(job_folder + "/")) return {};
    folder.remove_prefix(job_folder.empty() ? 0 : job_folder.size() + 1);
    folder = folder.substr(0, folder.find('/'));
    FolderRole role = CluesOfFolder(folder, "").role;
    return role == FolderRole::kPlain || role == FolderRole::kNode ? folder : std::string_view();
  };
  std::map<std::string_view, std::set<int32_t>> folders;
  std::set<int32_t> all;
  size_t ranks = 0;
  for (const FoundInput* input : inputs) {
    std::string_view folder = first_below(*input);
    if (folder.empty() || input->who.rank == kNone32) continue;
    ranks += folders[folder].insert(input->who.rank).second ? 1 : 0;
    all.insert(input->who.rank);
  }
  if (folders.size() < 2 || ranks != all.size()) return;
  for (FoundInput* input : inputs) {
    if (input->host.empty()) input->host = std::string(first_below(*input));
  }
}

// rank3.log beside rank3_attempt1.log is of the attempt before; beside rank3.previous.log, as
// kubectl logs --previous makes it, of the one after.
void NumberOtherAttempts(const std::vector<FoundInput*>& inputs) {
  auto is_text = [](const FoundInput& input) {
    return input.who.rank != kNone32 && (input.importer == nullptr || IsPlainText(input));
  };
  bool previous = false;
  for (FoundInput* input : inputs) {
    bool is_previous = is_text(*input) && input->named_attempt == kNone32 &&
                       input->name.find(".previous") != std::string::npos;
    if (!is_previous) continue;
    previous = true;
    input->named_attempt = 0;
    input->why_attempt = "its name";
  }
  int32_t least = kNone32;
  auto key = [](const FoundInput& input) {
    return std::pair(input.who.rank, NumberPattern(WithoutAttempt(input.name)));
  };
  std::set<std::pair<int32_t, std::string>> numbered;
  for (const FoundInput* input : inputs) {
    if (input->named_attempt == kNone32) continue;
    least = least == kNone32 ? input->named_attempt : std::min(least, input->named_attempt);
    if (is_text(*input)) numbered.insert(key(*input));
  }
  if (least == kNone32 || (least == 0 && !previous)) return;
  for (FoundInput* input : inputs) {
    if (input->named_attempt != kNone32 || !is_text(*input) || !numbered.contains(key(*input)))
      continue;
    input->named_attempt = previous ? 1 : 0;
    input->why_attempt = "another one of its rank has a number";
  }
}

// Parts of one log: named like that, and written by one process.
class RotatedLogs {
 public:
  int32_t Of(const FoundInput& input) {
    if (input.recognition.pid == kNone64) return kNone32;
    const auto next = static_cast<int32_t>(numbers_.size());
    return numbers_
        .try_emplace({std::string(BeforeRotation(input.path)), input.recognition.pid}, next)
        .first->second;
  }

 private:
  std::map<std::pair<std::string, int64_t>, int32_t> numbers_;
};

std::vector<int32_t> AttemptsOf(const std::vector<FoundInput*>& inputs) {
  std::vector<AttemptClue> clues;
  std::vector<int64_t> restarts;
  RotatedLogs rotated;
  for (const FoundInput* input : inputs) {
    bool once = input->importer != nullptr && input->importer->info.one_per_process;
    bool is_text = input->text.start_ns != kNone64;
    clues.push_back({.start_ns = is_text ? input->text.start_ns : input->recognition.start_ns,
                     .named_attempt = input->named_attempt,
                     .rank = input->who.rank,
                     .one_per_process = once,
                     .end_ns = input->text.end_ns,
                     .log = once ? rotated.Of(*input) : kNone32});
    if (input->text.restarts.size() > restarts.size()) restarts = input->text.restarts;
  }
  return TellAttemptsApart(clues, restarts);
}

// Fills the tables for one job after the other.
class JobWriter {
 public:
  explicit JobWriter(Model& model) : model_(model) {}

  void Write(const ChosenJob& job, const std::vector<FoundInput*>& inputs, int32_t attempts) {
    int32_t number = next_++;
    for (FoundInput* input : inputs) input->who.job = number;
    model_.tables.Edit<JobTable>().Add({number, model_.pools.Intern(job.name), WorldSizeOf(inputs),
                                        attempts, static_cast<int32_t>(inputs.size())});
    AddAttempts(number, attempts, inputs);
    AddRanks(inputs);
    AddReasons(number, job);
  }

  // Evidence for each input; those of no job are there, too.
  void AddInputReasons(const std::vector<FoundInput>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const FoundInput& input = inputs[i];
      model_.tables.Edit<JobReasonTable>().Add(
          {input.who.job, input.who.attempt, input.who.rank, static_cast<int32_t>(i),
           model_.pools.Intern(input.path),
           input.who.job == kNone32 ? model_.pools.Intern("no output of a job") : StringId::kNone,
           InternOrNone(input.why_attempt), InternOrNone(input.why_rank)});
    }
  }

 private:
  StringId InternOrNone(const std::string& text) {
    return text.empty() ? StringId::kNone : model_.pools.Intern(text);
  }

  void AddRanks(const std::vector<FoundInput*>& inputs) {
    std::map<std::tuple<int32_t, int32_t>, RankRow> rows;  // by attempt and rank
    for (const FoundInput* input : inputs) {
      if (input->who.rank == kNone32) continue;
      auto [it, is_new] = rows.try_emplace({input->who.attempt, input->who.rank});
      RankRow& row = it->second;
      if (is_new) row = {input->who.job, input->who.attempt, input->who.rank, StringId::kNone, 0};
      if (row.host == StringId::kNone && !input->host.empty())
        row.host = model_.pools.Intern(input->host);
      ++row.inputs;
    }
    for (const auto& [key, row] : rows) model_.tables.Edit<RankTable>().Add(row);
  }

  void AddAttempts(int32_t job, int32_t count, const std::vector<FoundInput*>& inputs) {
    std::vector<AttemptRow> rows;
    for (int32_t attempt = 0; attempt < count; ++attempt)
      rows.push_back({job, attempt, kNone64, 0});
    for (const FoundInput* input : inputs) {
      AttemptRow& row = rows[static_cast<size_t>(input->who.attempt)];
      ++row.inputs;
      int64_t start = input->recognition.start_ns;
      if (start != kNone64 && (row.start_ns == kNone64 || start < row.start_ns))
        row.start_ns = start;
    }
    for (const AttemptRow& row : rows) model_.tables.Edit<AttemptTable>().Add(row);
  }

  void AddReasons(int32_t number, const ChosenJob& job) {
    std::vector<std::string> reasons = job.reasons;
    if (reasons.empty()) reasons.push_back("one job, because nothing says otherwise");
    for (const std::string& reason : reasons) {
      JobReasonRow row{.job = number, .subject = model_.pools.Intern(job.name)};
      row.job_by = model_.pools.Intern(reason);
      model_.tables.Edit<JobReasonTable>().Add(row);
    }
  }

  Model& model_;
  int32_t next_ = 0;
};

// Why an output or a dump has no rank.
void ExplainNoRank(const std::vector<FoundInput*>& inputs) {
  for (FoundInput* input : inputs) {
    if (input->who.rank != kNone32 || StrengthOf(*input) == EvidenceStrength::kNone) continue;
    const bool several = input->text.several || input->text.ranks.size() > 1;
    const bool expected = IsPlainText(*input) || ClassOf(*input) == EvidenceClass::kOnce;
    if (input->text.is_launcher) {
      input->why_rank = several ? "none: a launcher and its ranks" : "none: a launcher";
    } else if (several) {
      input->why_rank = "none: output of several ranks";
    } else if (expected) {
      input->why_rank = "none: neither content nor name says it";
    }
  }
}

void ExplainAttempts(const std::vector<FoundInput*>& inputs, int32_t attempts) {
  for (FoundInput* input : inputs) {
    if (attempts < 2) input->why_attempt.clear();
    if (attempts < 2 || !input->why_attempt.empty()) continue;
    bool timed = std::max(input->recognition.start_ns, input->text.start_ns) != kNone64;
    input->why_attempt = timed ? "its time" : "it has no time: of the last attempt";
  }
}

}  // namespace

void AssignJobs(std::vector<FoundInput>& inputs, Model& model, const JobChoice& choice) {
  GuessUnreadKinds(inputs);
  AssignRanks(inputs);
  JobWriter writer(model);
  for (const ChosenJob& job : ChooseJobs(inputs, choice)) {
    std::vector<FoundInput*> members;
    for (size_t i : job.inputs) members.push_back(&inputs[i]);
    NumberOtherAttempts(members);
    std::vector<int32_t> attempts = AttemptsOf(members);
    for (size_t i = 0; i < members.size(); ++i) members[i]->who.attempt = attempts[i];
    int32_t count = *std::max_element(attempts.begin(), attempts.end()) + 1;
    AssignHosts(members, job.folder);
    ExplainNoRank(members);
    ExplainAttempts(members, count);
    writer.Write(job, members, count);
  }
  writer.AddInputReasons(inputs);
}

}  // namespace debrief
