// A launcher counts the processes of its own node: logs/none_x1y2/attempt_0/3 is local rank 3. The
// files of one launcher are a unit; its first rank comes from a file of it that names its rank,
// from the ranks of what else lies in the node's folder, from the launcher's own text, or from the
// node's number. Units beside each other are nodes of one job when their ranks say so or when
// together they have as many processes as the job has ranks; else they are runs after each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "inputs/jobs/assign_ranks.h"
#include "inputs/jobs/name_clues.h"

namespace debrief {

namespace {

struct LaunchUnit {
  std::string path;
  std::vector<FoundInput*> inputs;
  std::set<int32_t> offsets;  // rank - local rank, where a file tells its rank
  int32_t locals = 0;         // processes
  int32_t attempts = 1;
  int64_t start_ns = kNone64;
  int64_t end_ns = kNone64;
  int32_t offset = kNone32;
  std::string why;
  std::string home;  // the topmost folder around it that holds no other unit
};

// The folder that one start of a launcher wrote, of an input that has a local rank.
std::string_view UnitFolder(const FoundInput& input) {
  std::string_view folder = input.folder;
  while (!folder.empty()) {
    FolderClues clues = CluesOfFolder(LastPart(folder), LastPart(ParentPart(folder)));
    bool inside = clues.role == FolderRole::kLocalRank || clues.role == FolderRole::kAttempt;
    if (!inside) break;
    folder = ParentPart(folder);
  }
  return folder;
}

// What is known below a folder that holds units.
struct HomeContent {
  int units = 0;
  int32_t least_rank = kNone32;  // of what is in no unit
  int32_t most_rank = kNone32;
  int32_t first_rank = kNone32;  // as a launcher's text tells
  int32_t world_size = kNone32;
};

template <typename Visit>
void ForEachFolderAbove(std::string_view folder, const Visit& visit) {
  constexpr int kLevels = 64;
  for (int level = 0; level < kLevels; ++level) {
    visit(folder);
    if (folder.empty()) return;
    folder = ParentPart(folder);
  }
}

class LocalRanks {
 public:
  explicit LocalRanks(std::vector<FoundInput>& inputs) : inputs_(inputs) {}

  void Resolve() {
    GatherUnits();
    if (units_.empty()) return;
    GatherHomes();
    std::map<std::string, std::vector<LaunchUnit*>> neighbours;
    for (auto& [path, unit] : units_) {
      FindHome(unit);
      FindOffset(unit);
      neighbours[std::string(ParentPart(unit.home))].push_back(&unit);
    }
    for (auto& [folder, units] : neighbours) Settle(homes_[folder], units);
    for (auto& [path, unit] : units_) Apply(unit);
  }

 private:
  void GatherUnits() {
    for (FoundInput& input : inputs_) {
      if (input.local_rank == kNone32) continue;
      LaunchUnit& unit = units_[std::string(UnitFolder(input))];
      unit.inputs.push_back(&input);
      unit.locals = std::max(unit.locals, input.local_rank + 1);
      if (input.named_attempt != kNone32)
        unit.attempts = std::max(unit.attempts, input.named_attempt + 1);
      int32_t rank = input.who.rank == kNone32 ? input.text.said_rank : input.who.rank;
      if (rank >= input.local_rank && rank != kNone32) unit.offsets.insert(rank - input.local_rank);
      int64_t start = input.text.start_ns;
      if (start != kNone64 && (unit.start_ns == kNone64 || start < unit.start_ns))
        unit.start_ns = start;
      unit.end_ns = std::max(unit.end_ns, input.text.end_ns);
    }
    for (auto& [path, unit] : units_) unit.path = path;
  }

  void GatherHomes() {
    for (auto& [path, unit] : units_)
      ForEachFolderAbove(path, [&](std::string_view f) { ++homes_[std::string(f)].units; });
    for (const FoundInput& input : inputs_) {
      if (input.local_rank != kNone32) continue;
      ForEachFolderAbove(input.folder, [&](std::string_view f) {
        auto home = homes_.find(f);
        if (home != homes_.end()) AddContent(input, home->second);
      });
    }
  }

  static void AddContent(const FoundInput& input, HomeContent& home) {
    int32_t rank = input.who.rank;
    if (rank != kNone32 && (home.least_rank == kNone32 || rank < home.least_rank))
      home.least_rank = rank;
    home.most_rank = std::max(home.most_rank, rank);
    if (input.text.first_rank != kNone32) home.first_rank = input.text.first_rank;
    home.world_size =
        std::max({home.world_size, input.recognition.world_size, input.text.world_size});
  }

  void FindHome(LaunchUnit& unit) {
    unit.home = unit.path;
    ForEachFolderAbove(unit.path, [&](std::string_view folder) {
      if (homes_.find(folder)->second.units == 1) unit.home = std::string(folder);
    });
  }

  void FindOffset(LaunchUnit& unit) const {
    const HomeContent& home = homes_.find(unit.home)->second;
    if (unit.offsets.size() == 1) {
      unit.offset = *unit.offsets.begin();
      unit.why = "a file of its node names its rank";
    } else if (home.first_rank != kNone32) {
      unit.offset = home.first_rank;
      unit.why = "the launcher names the ranks of the node";
    } else if (int32_t first = FirstOfNeighbours(unit, home); first != kNone32) {
      unit.offset = first;
      unit.why = "ranks of the other files of its node";
    } else if (int32_t node = NodeOf(unit); node != kNone32) {
      unit.offset = node * unit.locals;
      unit.why = "the node's number";
    }
  }

  // Of the ranks that other files of the node's folder have: all of them are there, or nodes of one
  // size make the place of any of them known.
  static int32_t FirstOfNeighbours(const LaunchUnit& unit, const HomeContent& home) {
    if (home.least_rank == kNone32) return kNone32;
    if (home.most_rank - home.least_rank + 1 == unit.locals) return home.least_rank;
    bool equal_nodes = home.world_size == kNone32 || home.world_size % unit.locals == 0;
    bool one_node = home.least_rank / unit.locals == home.most_rank / unit.locals;
    return equal_nodes && one_node ? home.least_rank / unit.locals * unit.locals : kNone32;
  }

  static int32_t NodeOf(const LaunchUnit& unit) {
    int32_t node = kNone32;
    ForEachFolderAbove(unit.path, [&](std::string_view folder) {
      FolderClues clues = CluesOfFolder(LastPart(folder), LastPart(ParentPart(folder)));
      if (clues.role == FolderRole::kNode && node == kNone32) node = clues.number;
    });
    return node;
  }

  static void Settle(const HomeContent& home, std::vector<LaunchUnit*>& units) {
    int64_t processes = 0;
    int first_nodes = 0;
    bool any_later = false;  // not the first node
    std::set<std::string_view> parents;
    for (const LaunchUnit* unit : units) {
      processes += unit->locals;
      first_nodes += unit->offset == 0 ? 1 : 0;
      any_later |= unit->offset != kNone32 && unit->offset > 0;
      parents.insert(ParentPart(unit->path));
    }
    if (!any_later && first_nodes < 2) any_later = NumberNodes(units);
    bool are_nodes = units.size() > 1 && (any_later || processes == home.world_size);
    if (are_nodes) {
      FillTheGap(units);
      return;
    }
    // Silent units in folders of their own may be nodes or jobs: nobody knows their ranks, unless
    // two of their neighbours begin with rank 0 and so are jobs.
    const bool hosts = std::all_of(units.begin(), units.end(), [](const LaunchUnit* unit) {
      return IsNamedAsHost(LastPart(unit->home));
    });
    bool are_runs = (parents.size() == 1 && !hosts && !AtOnce(units)) || first_nodes > 1;
    if (!are_runs) return;
    for (LaunchUnit* unit : units) {
      if (unit->offset == kNone32) unit->offset = 0;
    }
    NumberRuns(units);
  }

  // Two of them ran at the same time for longer than a launcher needs to give up.
  static bool AtOnce(std::vector<LaunchUnit*> units) {
    constexpr int64_t kOverlap = 10'000'000'000;
    std::erase_if(units, [](const LaunchUnit* unit) { return unit->start_ns == kNone64; });
    std::ranges::sort(units, {}, &LaunchUnit::start_ns);
    for (size_t i = 1; i < units.size(); ++i)
      if (std::min(units[i - 1]->end_ns, units[i]->end_ns) - units[i]->start_ns > kOverlap)
        return true;
    return false;
  }

  // The number at the end of the folder's name, -1 when there is none. An address is no number.
  static int32_t FolderNumber(const LaunchUnit& unit) {
    std::string_view name = LastPart(unit.home);
    name = name.substr(0, name.find('!'));
    name = name.substr(0, name.find('.'));
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    const bool is_number = digits > 0 && digits < name.size() && name.size() - digits < 6;
    if (!is_number || !IsNamedAsHost(name)) return -1;
    return std::stoi(std::string(name.substr(digits)));
  }

  // node0, node1, ...: all numbers from 0 or 1 in folders alike, and no rank says otherwise.
  static bool NumberNodes(std::vector<LaunchUnit*>& units) {
    std::sort(units.begin(), units.end(), [](const LaunchUnit* a, const LaunchUnit* b) {
      return std::pair(FolderNumber(*a), a->path) < std::pair(FolderNumber(*b), b->path);
    });
    std::set<std::string> patterns;
    int32_t next = 0, index = FolderNumber(*units.front()) == 1 ? 1 : 0;
    for (const LaunchUnit* unit : units) {
      patterns.insert(NumberPattern(LastPart(unit->home)));
      bool fits = unit->offset == kNone32 || unit->offset == next;
      if (FolderNumber(*unit) != index++ || !fits || patterns.size() > 1) return false;
      next += unit->locals;
    }
    next = 0;
    for (LaunchUnit* unit : units) {
      if (unit->offset == kNone32) unit->why = "the number of its folder";
      unit->offset = next;
      next += unit->locals;
    }
    return units.size() > 1;
  }

  // One node without evidence has the ranks that are left.
  static void FillTheGap(const std::vector<LaunchUnit*>& units) {
    LaunchUnit* unknown = nullptr;
    std::map<int32_t, int32_t> taken;  // first rank -> ranks
    for (LaunchUnit* unit : units) {
      if (unit->offset != kNone32) {
        taken[unit->offset] = std::max(1, unit->locals);
      } else if (unknown != nullptr) {
        return;
      } else {
        unknown = unit;
      }
    }
    if (unknown == nullptr) return;
    int32_t free = 0;
    for (auto next = taken.find(free); next != taken.end(); next = taken.find(free))
      free += next->second;
    unknown->offset = free;
    unknown->why = "the ranks that its neighbours leave";
  }

  // logs/none_x1/attempt_0 and logs/none_y2/attempt_0 of the same command are two attempts.
  static void NumberRuns(const std::vector<LaunchUnit*>& units) {
    std::map<std::string, std::vector<LaunchUnit*>> by_name;
    for (LaunchUnit* unit : units) {
      std::string_view name = LastPart(unit->path);
      constexpr size_t kRandom = 9;  // "_" and eight characters
      bool is_run = name.size() > kRandom && name[name.size() - kRandom] == '_';
      if (is_run)
        by_name[fmt::format("{}/{}", ParentPart(unit->path), name.substr(0, name.size() - kRandom))]
            .push_back(unit);
    }
    for (auto& [name, runs] : by_name) {
      std::stable_sort(runs.begin(), runs.end(), [](const LaunchUnit* a, const LaunchUnit* b) {
        return a->start_ns < b->start_ns;
      });
      int32_t before = 0;
      for (LaunchUnit* run : runs) {
        for (FoundInput* input : run->inputs) {
          if (before > 0) input->why_attempt = "a later run into the same folder of the launcher";
          input->named_attempt = before + std::max(0, input->named_attempt);
        }
        before += run->attempts;
      }
    }
  }

  static void Apply(const LaunchUnit& unit) {
    for (FoundInput* input : unit.inputs) {
      if (input->who.rank != kNone32 || unit.offset == kNone32 || input->text.several) continue;
      input->who.rank = unit.offset + input->local_rank;
      input->why_rank = fmt::format("local rank {}{}{}", input->local_rank,
                                    unit.why.empty() ? "" : "; ", unit.why);
    }
  }

  std::vector<FoundInput>& inputs_;
  std::map<std::string, LaunchUnit> units_;
  std::map<std::string, HomeContent, std::less<>> homes_;
};

}  // namespace

void ResolveLocalRanks(std::vector<FoundInput>& inputs) { LocalRanks(inputs).Resolve(); }

}  // namespace debrief
