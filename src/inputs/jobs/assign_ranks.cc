#include "inputs/jobs/assign_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "inputs/input_diagnostics.h"
#include "inputs/jobs/name_clues.h"
#include "inputs/jobs/number_names.h"

namespace debrief {

namespace {

constexpr int kMostLevels = 64;  // of folders that are looked at; an archive may have any number

void SetRank(FoundInput& input, int32_t rank, std::string why) {
  if (input.who.rank != kNone32 || rank == kNone32) return;
  input.who.rank = rank;
  input.why_rank = std::move(why);
}

// What the folders around the input tell, the innermost of each role.
void ReadFolders(FoundInput& input) {
  std::string_view folder = input.folder, child;
  int32_t start = kNone32;
  for (int level = 0; level < kMostLevels && !folder.empty(); ++level) {
    std::string_view parent = ParentPart(folder);
    FolderClues clues = CluesOfFolder(LastPart(folder), LastPart(parent));
    // mpirun writes output/1/rank.03/stdout; a second start into the same folder is output/2.
    if (child.starts_with("rank.") && AllDigits(LastPart(folder)) && LastPart(folder).size() < 4)
      start = std::stoi(std::string(LastPart(folder)));
    child = LastPart(folder);
    std::string why = fmt::format("folder {}", LastPart(folder));
    if (clues.role == FolderRole::kRank) SetRank(input, clues.number, why);
    if (clues.role == FolderRole::kLocalRank && input.local_rank == kNone32)
      input.local_rank = clues.number;
    if (clues.role == FolderRole::kAttempt && input.named_attempt == kNone32) {
      input.named_attempt = clues.number;
      input.why_attempt = why;
    }
    folder = parent;
  }
  if (input.named_attempt != kNone32 || start == kNone32) return;
  input.named_attempt = std::max(0, start - 1);
  input.why_attempt = fmt::format("folder {} of mpirun", start);
}

// A dump's name ends with its rank, or with a date or the number of a job.
int32_t RankAtEndOfName(const FoundInput& input) {
  const int32_t number = input.recognition.rank_in_name, size = input.recognition.world_size;
  return size != kNone32 && number >= size ? kNone32 : number;
}

void ReadOwnClues(FoundInput& input) {
  NameClues clues = CluesOfFile(input.name);
  int32_t content = ContentRank(input);
  input.host = clues.host.empty() ? input.recognition.host : clues.host;
  if (input.host.empty()) input.host = input.text.host;
  input.local_rank = clues.local_rank == kNone32 ? input.recognition.local_rank : clues.local_rank;
  if (clues.attempt != kNone32) {
    input.named_attempt = clues.attempt;
    input.why_attempt = "its name";
  }
  if (clues.pid != kNone64 && input.recognition.pid == kNone64) input.recognition.pid = clues.pid;
  if (input.recognition.pid == kNone64) input.recognition.pid = input.text.pid;
  if (!input.text.is_labelled) SetRank(input, clues.rank, "its name");
  SetRank(input, content, "its content");
  SetRank(input, RankAtEndOfName(input), "the number at the end of its name");
  if (!input.text.is_labelled) ReadFolders(input);
}

void NoteDisagreement(FoundInput& input) {
  int32_t content = ContentRank(input);
  if (input.why_rank != "its name" || content == kNone32 || content == input.who.rank) return;
  input.notes.push_back(
      {&kInputRankDisagrees,
       {.detail = fmt::format("name: rank {}, content: rank {}", input.who.rank, content)}});
}

void RankByFileNumbers(std::vector<FoundInput>& inputs) {
  std::map<std::string_view, std::vector<size_t>> folders;
  std::set<std::pair<std::string_view, std::string>> outputs;  // folder and pattern of names
  auto is_text = [](const FoundInput& input) {
    return input.importer == nullptr || input.importer->info.fallback;
  };
  // Ranked texts stay in the family: they confirm what the number counts.
  auto belongs = [&](const FoundInput& input) {
    return MayBeNumbered(input) || (is_text(input) && input.why_rank == "its content");
  };
  for (const FoundInput& input : inputs)
    if (belongs(input)) outputs.emplace(input.folder, NumberPattern(input.name));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const FoundInput& input = inputs[i];
    // Among outputs, a text that is empty or says nothing known is an output, too.
    const bool silent = is_text(input) && input.who.rank == kNone32 &&
                        input.local_rank == kNone32 && !input.text.is_launcher &&
                        !IsNamedAsDocument(input.name) &&
                        outputs.contains({input.folder, NumberPattern(input.name)});
    if (belongs(input) || silent) folders[input.folder].push_back(i);
  }
  for (const auto& [folder, members] : folders) {
    std::vector<NumberedName> names;
    for (size_t i : members)
      names.push_back({inputs[i].name, ContentRank(inputs[i]), inputs[i].text.several});
    std::vector<CountedNumbers> counted = RanksOfNames(names);
    for (size_t m = 0; m < members.size(); ++m) {
      FoundInput& input = inputs[members[m]];
      SetRank(input, counted[m].rank, "the number in its name, which counts from 0");
      if (counted[m].run != kNone64) input.named_run = counted[m].run;
      if (input.named_attempt != kNone32 || counted[m].attempt == kNone32) continue;
      input.named_attempt = counted[m].attempt;
      input.why_attempt = "the second number in its name";
    }
  }
}

// Runs 0, 1, 2 of a sweep, not ranks: each begins when the one before has ended.
bool FollowEachOther(std::vector<std::pair<int64_t, int64_t>> times) {
  constexpr int64_t kShortestRun = 5'000'000'000;  // a rank may say a single thing
  std::sort(times.begin(), times.end());
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].second - times[i].first < kShortestRun) return false;
    if (i > 0 && times[i].first <= times[i - 1].second) return false;
  }
  return times.size() > 1;
}

// slurm-4711.out beside slurm-4712.out, and whatever else has the number of a run that names of its
// folder tell apart.
void ReadRuns(std::vector<FoundInput>& inputs) {
  std::map<std::string_view, std::set<int64_t>> folders;
  auto slurm_run = [](const FoundInput& input) {
    std::string_view name = input.name;
    if (!name.starts_with("slurm-")) return kNone64;
    std::string_view digits = name.substr(6, name.find_first_not_of("0123456789", 6) - 6);
    bool is_run =
        digits.size() < 10 && AllDigits(digits) && name.substr(6 + digits.size()).starts_with('.');
    return is_run ? static_cast<int64_t>(std::stoll(std::string(digits))) : kNone64;
  };
  for (FoundInput& input : inputs) {
    if (input.named_run == kNone64) input.named_run = slurm_run(input);
    if (input.named_run != kNone64) folders[input.folder].insert(input.named_run);
  }
  for (FoundInput& input : inputs) {
    auto runs = folders.find(input.folder);
    if (input.named_run != kNone64 || runs == folders.end()) continue;
    for (int64_t number : NumbersIn(input.name))
      if (runs->second.contains(number)) input.named_run = number;
  }
}

// The same for folders: task-0/ task-1/, out/0/ out/1/, pods.
void RankByFolderNumbers(std::vector<FoundInput>& inputs) {
  struct Child {
    std::vector<size_t> inputs;
    NumberedName name;
    int64_t start_ns = kNone64, end_ns = kNone64;
  };
  std::map<std::string_view, std::map<std::string_view, Child>> parents;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool confirms = inputs[i].why_rank == "its content";
    if (!MayBeNumbered(inputs[i]) && !confirms) continue;
    std::string_view folder = inputs[i].folder;
    std::string_view last = LastPart(folder);
    if (CluesOfFolder(last, "").role == FolderRole::kData) folder = ParentPart(folder);
    Child& child = parents[ParentPart(folder)][LastPart(folder)];
    child.inputs.push_back(i);
    child.name.several |= inputs[i].text.several;
    int64_t start = inputs[i].text.start_ns;
    if (start != kNone64)
      child.start_ns = child.start_ns == kNone64 ? start : std::min(child.start_ns, start);
    child.end_ns = std::max(child.end_ns, inputs[i].text.end_ns);
    int32_t content = ContentRank(inputs[i]);
    bool differs = child.name.content_rank != kNone32 && content != kNone32 &&
                   content != child.name.content_rank;
    child.name.several |= differs;
    if (content != kNone32) child.name.content_rank = content;
  }
  for (auto& [parent, children] : parents) {
    std::vector<std::pair<int64_t, int64_t>> times;
    for (const auto& [name, child] : children)
      if (child.start_ns != kNone64) times.emplace_back(child.start_ns, child.end_ns);
    if (FollowEachOther(std::move(times))) continue;
    std::vector<NumberedName> names;
    for (auto& [name, child] : children) {
      child.name.name = std::string(name);
      names.push_back(child.name);
    }
    std::vector<CountedNumbers> counted = RanksOfNames(names);
    size_t at = 0;
    for (auto& [name, child] : children) {
      for (size_t i : child.inputs)
        SetRank(inputs[i], counted[at].rank, fmt::format("folder {}, which counts from 0", name));
      ++at;
    }
  }
}

size_t CommonLength(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

// A process that another input names is the same rank here.
class ProcessRanks {
 public:
  explicit ProcessRanks(const std::vector<FoundInput>& inputs) {
    for (const FoundInput& input : inputs) {
      if (input.who.rank != kNone32 && input.recognition.pid != kNone64)
        known_[input.recognition.pid].push_back({&input, input.who.rank});
      for (auto [pid, rank] : input.text.processes) known_[pid].push_back({&input, rank});
    }
  }

  // By the input that lies nearest: jobs beside each other may have used the same numbers.
  void Apply(FoundInput& input) const {
    auto found = known_.find(input.recognition.pid);
    if (input.recognition.pid == kNone64 || found == known_.end()) return;
    const Known* best = nullptr;
    for (const Known& known : found->second) {
      bool nearer = best == nullptr || CommonLength(known.input->path, input.path) >
                                           CommonLength(best->input->path, input.path);
      if (nearer) best = &known;
    }
    SetRank(input, best->rank,
            fmt::format("process {}, which {} names", input.recognition.pid, best->input->path));
  }

 private:
  struct Known {
    const FoundInput* input;
    int32_t rank;
  };
  std::map<int64_t, std::vector<Known>> known_;
};

// Compile logs and profiles of distributed processes name their rank themselves.
bool MayBeOfAProcess(const FoundInput& input) {
  if (input.importer == nullptr || input.text.several || input.text.is_launcher) return false;
  return input.importer->info.fallback || input.importer->info.name == "execution_trace";
}

// Gloo numbers the processes of a group. Where every text has another number of the same group,
// that is the group of all; groups of a part of the job have the same numbers.
void RankByConnections(std::vector<FoundInput>& inputs) {
  auto is_open = [](const FoundInput& input) {
    return input.who.rank == kNone32 && MayBeOfAProcess(input) &&
           input.text.connected_rank != kNone32;
  };
  std::set<std::pair<int32_t, int32_t>> told;  // size of the group, rank
  for (const FoundInput& input : inputs) {
    if (input.who.rank != kNone32) told.emplace(input.text.world_size, input.who.rank);
  }
  std::set<int32_t> sizes;
  for (const FoundInput& input : inputs) {
    if (!is_open(input)) continue;
    if (!told.emplace(input.text.world_size, input.text.connected_rank).second) return;
    sizes.insert(input.text.world_size);
  }
  if (sizes.size() != 1) return;
  for (FoundInput& input : inputs) {
    if (is_open(input)) SetRank(input, input.text.connected_rank, "its number in gloo's group");
  }
}

}  // namespace

bool MayBeNumbered(const FoundInput& input) {
  if (input.who.rank != kNone32 || input.local_rank != kNone32) return false;
  if (input.importer == nullptr) return input.bytes == 0 && IsNamedAsOutput(input.name);
  std::string_view kind = input.importer->info.name;
  for (std::string_view numbered :
       {"execution_trace", "memory_snapshot", "nsys", "flight_recorder"})
    if (kind == numbered) return true;
  bool is_text = input.importer->info.fallback && !IsNamedAsDocument(input.name);
  return is_text && !input.text.is_launcher &&
         (input.text.is_output || IsNamedAsOutput(input.name));
}

int32_t ContentRank(const FoundInput& input) {
  return input.recognition.rank != kNone32 ? input.recognition.rank : input.text.OnlyRank();
}

void AssignRanks(std::vector<FoundInput>& inputs) {
  DropFalseRanks(inputs);
  for (FoundInput& input : inputs) ReadOwnClues(input);
  CorrectCountedWithin(inputs);
  ResolveLocalRanks(inputs);
  for (FoundInput& input : inputs) NoteDisagreement(input);
  RankByFileNumbers(inputs);
  ReadRuns(inputs);
  RankByFolderNumbers(inputs);
  ProcessRanks processes(inputs);
  for (FoundInput& input : inputs) {
    if (!MayBeOfAProcess(input)) continue;
    processes.Apply(input);
    SetRank(input, input.text.said_rank, "its program's own lines");
  }
  RankByConnections(inputs);
  RankByNeighbours(inputs);
}

}  // namespace debrief
