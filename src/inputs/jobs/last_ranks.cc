// A process that fails before its process group exists prints no rank, and its file may have a name
// that tells none. Its neighbours do:
//
//   runs/6f1c4e1a/{env.txt,stderr.log}     env.txt says RANK=3: so is stderr.log
//   h0/worker_0.log .. h1/worker_3.log     seven of eight say [rank0] to [rank7]; the last is rank
//   4
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/text/strings.h"
#include "inputs/jobs/assign_ranks.h"
#include "inputs/jobs/name_clues.h"
#include "torch/prefixes/line_prefix.h"

namespace debrief {

namespace {

bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

// A name that a machine made: the id of a container or of a run.
bool IsMadeUp(std::string_view word) {
  constexpr size_t kShortestId = 12;
  const auto digits = std::ranges::count_if(word, IsHex);
  const auto dashes = std::ranges::count(word, '-');
  return word.size() >= kShortestId && digits + dashes == static_cast<int64_t>(word.size());
}

// What siblings share: the path with '#' for numbers and '*' for made-up names.
std::string FamilyOf(std::string_view path) {
  std::string family;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    const std::string_view stem = part.substr(0, part.find('.'));
    const size_t dash = stem.rfind('-');
    const bool is_pod = dash != std::string_view::npos && IsPodSuffix(stem.substr(dash + 1));
    family += IsMadeUp(stem) ? "*" : NumberPattern(is_pod ? stem.substr(0, dash) : part);
    family += '/';
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return family;
}

bool IsOneOutput(const FoundInput& input) {
  const bool is_text = input.importer == nullptr || input.importer->info.fallback;
  return is_text && !input.text.several && !input.text.is_launcher;
}

void SetLastRank(FoundInput& input, int32_t rank, std::string why) {
  input.who.rank = rank;
  input.why_rank = std::move(why);
}

// A folder whose ranked inputs are all of one rank is that rank's, where another folder beside it
// is another's.
void RankByFolderMates(std::vector<FoundInput>& inputs) {
  std::map<std::string_view, std::set<int32_t>> ranks;  // of a folder
  for (const FoundInput& input : inputs)
    if (input.who.rank != kNone32) ranks[input.folder].insert(input.who.rank);
  std::map<std::string_view, std::set<int32_t>> beside;  // of the folders in a folder
  for (const auto& [folder, told] : ranks)
    if (told.size() == 1) beside[ParentPart(folder)].insert(*told.begin());
  for (FoundInput& input : inputs) {
    const auto told = ranks.find(input.folder);
    const bool one = told != ranks.end() && told->second.size() == 1;
    if (!one || !MayBeNumbered(input) || input.text.several) continue;
    if (beside[ParentPart(input.folder)].size() > 1)
      SetLastRank(input, *told->second.begin(), "all ranked files beside it are of this rank");
  }
}

struct Siblings {
  std::set<int32_t> ranks;
  size_t members = 0;
  FoundInput* unknown = nullptr;
  size_t unknowns = 0;
  int32_t world_size = kNone32;
  bool doubled = false;  // two are of one rank
};

void RankTheLast(std::vector<FoundInput>& inputs) {
  constexpr size_t kFewest = 3;
  std::map<std::string, Siblings> families;
  for (FoundInput& input : inputs) {
    if (!IsOneOutput(input)) continue;
    const bool known = input.who.rank != kNone32;
    if (!known && !MayBeNumbered(input)) continue;
    Siblings& family = families[FamilyOf(input.path)];
    ++family.members;
    family.world_size = std::max(family.world_size, input.text.world_size);
    if (known) family.doubled |= !family.ranks.insert(input.who.rank).second;
    if (known) continue;
    ++family.unknowns;
    family.unknown = &input;
  }
  for (const auto& [name, family] : families) {
    const auto count = static_cast<int32_t>(family.members);
    const bool one_left = family.unknowns == 1 && !family.doubled && family.members >= kFewest &&
                          *family.ranks.rbegin() < count;
    if (!one_left || (family.world_size != kNone32 && family.world_size != count)) continue;
    int32_t missing = 0;
    while (family.ranks.contains(missing)) ++missing;
    SetLastRank(*family.unknown, missing, "the only rank that files alike leave");
  }
}

}  // namespace

void RankByNeighbours(std::vector<FoundInput>& inputs) {
  RankByFolderMates(inputs);
  RankTheLast(inputs);
}

}  // namespace debrief
