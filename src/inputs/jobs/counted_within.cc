// Numbers that look like ranks and count within something smaller than the job:
//
//   h0/rank0.log  h1/rank0.log                       each host counts its own processes
//   node0_gpu1.dump  node1_gpu1.dump                 so do names of dumps
//   NCCL INFO ... rank 1 nranks 4, of two processes  the largest communicator is not of all ranks
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "inputs/jobs/assign_ranks.h"
#include "inputs/jobs/name_clues.h"

namespace debrief {

namespace {

bool IsText(const FoundInput& input) {
  return input.importer == nullptr || input.importer->info.fallback;
}

bool IsNamed(const FoundInput& input) {
  return IsText(input) && input.who.rank != kNone32 && input.why_rank == "its name";
}

// A number alone at the end of a dump's name.
bool IsNumbered(const FoundInput& input) {
  return input.recognition.rank_in_name != kNone32 &&
         input.who.rank == input.recognition.rank_in_name && input.why_rank != "its name";
}

// rank_0.log in every host's folder counts within the host when the contents tell other ranks, all
// of them by the same number more.
void ShiftByContents(std::vector<FoundInput>& inputs) {
  struct Shift {
    std::set<int32_t> by;
    int told = 0;
  };
  std::map<std::string_view, Shift> folders;
  for (const FoundInput& input : inputs) {
    int32_t content = ContentRank(input);
    if (input.why_rank != "its name" || input.who.rank == kNone32 || content == kNone32) continue;
    Shift& shift = folders[input.folder];
    shift.by.insert(content - input.who.rank);
    ++shift.told;
  }
  for (FoundInput& input : inputs) {
    auto found = folders.find(input.folder);
    if (!IsNamed(input) || found == folders.end()) continue;
    const Shift& shift = found->second;
    if (shift.told < 2 || shift.by.size() != 1 || *shift.by.begin() <= 0) continue;
    input.local_rank = input.who.rank;
    input.who.rank += *shift.by.begin();
    input.why_rank =
        fmt::format("local rank {}; files beside it name their ranks", input.local_rank);
  }
}

// The folder of a host around the input: the innermost that is named as one.
std::string_view HostFolder(std::string_view folder) {
  constexpr int kLevels = 64;
  for (int level = 0; level < kLevels && !folder.empty(); ++level, folder = ParentPart(folder))
    if (IsNamedAsHost(LastPart(folder))) return folder;
  return {};
}

// Where folders of hosts beside each other have files of the same ranks under the same names, these
// are local ranks.
void CountWithinHosts(std::vector<FoundInput>& inputs) {
  std::map<std::tuple<std::string_view, std::string_view, int32_t>, std::set<std::string_view>>
      holders;  // (above the hosts, name, rank) -> hosts
  auto key = [](const FoundInput& input, std::string_view host) {
    return std::tuple(ParentPart(host), std::string_view(input.name), input.who.rank);
  };
  for (const FoundInput& input : inputs) {
    const bool counted = IsNamed(input) || IsNumbered(input);
    const std::string_view host = counted ? HostFolder(input.folder) : std::string_view();
    if (!host.empty()) holders[key(input, host)].insert(host);
  }
  std::set<std::string_view> counting;  // hosts
  for (const auto& [name, hosts] : holders)
    if (hosts.size() > 1) counting.insert(hosts.begin(), hosts.end());
  for (FoundInput& input : inputs) {
    const bool counted = IsNamed(input) || IsNumbered(input);
    const std::string_view host = counted ? HostFolder(input.folder) : std::string_view();
    if (host.empty() || !counting.contains(host)) continue;
    input.local_rank = input.who.rank;
    input.who.rank = ContentRank(input);
    input.why_rank = input.who.rank == kNone32 ? "" : "its content";
  }
}

// A dump's name ends with its rank, unless two of one folder, or of folders of different ranks, end
// with the same number.
void DropFalseEnds(std::vector<FoundInput>& inputs) {
  using Family = std::pair<std::string_view, const Importer*>;
  using Place = std::pair<std::string_view, std::string_view>;  // folder, name
  std::map<std::pair<Family, int32_t>, std::set<Place>> ends;
  std::set<Family> doubled;
  auto family = [](const FoundInput& input) -> Family {
    const std::string_view folder = input.folder;
    const bool of_rank = CluesOfFolder(LastPart(folder), "").role == FolderRole::kRank;
    return {of_rank ? ParentPart(folder) : folder, input.importer};
  };
  for (const FoundInput& input : inputs) {
    if (input.recognition.rank_in_name == kNone32) continue;
    // A dump as JSON may lie beside the same one as a pickle.
    const std::string_view name = input.name, stem = name.substr(0, name.find('.', 1));
    auto& stems = ends[{family(input), input.recognition.rank_in_name}];
    stems.emplace(input.folder, stem);
    if (stems.size() > 1) doubled.insert(family(input));
  }
  for (FoundInput& input : inputs)
    if (doubled.contains(family(input))) input.recognition.rank_in_name = kNone32;
}

// What a launcher calls the process: its local rank, or the last number of its name or folder.
int64_t OwnNumber(const FoundInput& input) {
  const FolderClues folder =
      CluesOfFolder(LastPart(input.folder), LastPart(ParentPart(input.folder)));
  if (folder.number != kNone32) return folder.number;
  const std::string_view last = LastPart(input.folder);
  const std::vector<int64_t> numbers = NumbersIn(AllDigits(last) ? last : input.name);
  return numbers.empty() ? kNone64 : numbers.back();
}

std::string_view FolderOfAll(const FoundInput& input) {
  const std::string_view parent = ParentPart(input.folder);
  const FolderRole role = CluesOfFolder(LastPart(input.folder), LastPart(parent)).role;
  const bool of_one = role == FolderRole::kRank || role == FolderRole::kLocalRank ||
                      AllDigits(LastPart(input.folder));
  return of_one ? parent : std::string_view(input.folder);
}

// NCCL tells ranks inside its communicators. Where two processes are the same rank of the largest
// one, it is not that of all ranks, and tells nothing here.
void DropRanksOfGroups(std::vector<FoundInput>& inputs) {
  struct Claim {
    int64_t number, pid;
  };
  std::map<std::tuple<std::string_view, int32_t, int32_t>, Claim> claims;
  std::set<std::pair<std::string_view, int32_t>> groups;  // folder, size
  auto is_told = [](const FoundInput& input) {
    return input.text.ranks.empty() && input.text.OnlyRank() != kNone32 &&
           input.text.world_size != kNone32;
  };
  for (const FoundInput& input : inputs) {
    if (!is_told(input)) continue;
    const Claim claim{OwnNumber(input), input.text.pid};
    auto [first, is_new] = claims.try_emplace(
        {FolderOfAll(input), input.text.world_size, input.text.OnlyRank()}, claim);
    const bool differs = first->second.number != claim.number && first->second.pid != claim.pid;
    if (!is_new && differs) groups.emplace(FolderOfAll(input), input.text.world_size);
  }
  for (FoundInput& input : inputs) {
    if (!is_told(input) || !groups.contains({FolderOfAll(input), input.text.world_size})) continue;
    input.text.processes.clear();
    input.text.world_size = kNone32;
  }
}

}  // namespace

void DropFalseRanks(std::vector<FoundInput>& inputs) {
  DropRanksOfGroups(inputs);
  DropFalseEnds(inputs);
}

void CorrectCountedWithin(std::vector<FoundInput>& inputs) {
  ShiftByContents(inputs);
  CountWithinHosts(inputs);
}

}  // namespace debrief
