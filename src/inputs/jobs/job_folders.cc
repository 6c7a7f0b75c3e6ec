// The tree of folders is never built: folders are visited in an order in which what lies below a
// folder follows it, and a stack holds the folders from the root to the current one that have
// inputs or branch. So an archive with 500,000 levels costs what its names cost.
#include "inputs/jobs/job_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "inputs/jobs/name_clues.h"

namespace debrief {

namespace {

// "a" < "a/b" < "a.x": what lies below a folder follows it at once.
bool FolderLess(std::string_view a, std::string_view b) {
  auto key = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return key(x) < key(y); });
}

bool IsBelow(std::string_view folder, std::string_view above) {
  return above.empty() || folder == above ||
         (folder.starts_with(above) && folder[above.size()] == '/');
}

// The deepest folder around both.
std::string_view CommonFolder(std::string_view a, std::string_view b) {
  if (IsBelow(b, a)) return a;
  if (IsBelow(a, b)) return b;
  auto same =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  return ParentPart(a.substr(0, same));
}

// The first part of `folder` below `above`.
std::string_view ChildBelow(std::string_view folder, std::string_view above) {
  if (folder.size() <= above.size()) return {};
  folder.remove_prefix(above.empty() ? 0 : above.size() + 1);
  return folder.substr(0, folder.find('/'));
}

bool IsNamedByContent(const JobGroup& group, std::string_view above) {
  std::string_view child = ChildBelow(group.folder, above);
  return CluesOfFolder(child, LastPart(above)).role == FolderRole::kData;
}

// Folders that say nothing but rank or attempt are no names of jobs.
std::string NameOfJob(std::string_view folder) {
  while (true) {
    std::string_view parent = ParentPart(folder);
    FolderRole role = CluesOfFolder(LastPart(folder), LastPart(parent)).role;
    bool is_part =
        role == FolderRole::kRank || role == FolderRole::kLocalRank || role == FolderRole::kAttempt;
    if (!is_part) return std::string(folder);
    folder = parent;
  }
}

bool IsStrong(const JobGroup& group) { return group.strength() == EvidenceStrength::kStrong; }

// The parts of one folder that may be joined although others contradict each other.
class PartLinks {
 public:
  PartLinks(std::string_view above, std::vector<JobGroup>& parts) : above_(above), parts_(parts) {
    roots_.resize(parts.size());
    std::iota(roots_.begin(), roots_.end(), 0);
  }

  void Link() {
    LinkNodes();
    LinkProcesses();
    LinkNames();
    std::vector<JobGroup> joined;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (roots_[i] == i) joined.push_back(std::move(parts_[i]));
    parts_ = std::move(joined);
  }

 private:
  size_t RootOf(size_t i) const {
    while (roots_[i] != i) i = roots_[i];
    return i;
  }

  bool Join(size_t a, size_t b, const std::string& why) {
    a = RootOf(a), b = RootOf(b);
    if (a == b || !IsStrong(parts_[a]) || !IsStrong(parts_[b])) return false;
    bool named = IsNamedByContent(parts_[a], above_) || IsNamedByContent(parts_[b], above_);
    if (Contradiction(parts_[a], parts_[b], named)) return false;
    parts_[a].folder = std::string(CommonFolder(parts_[a].folder, parts_[b].folder));
    parts_[a].Merge(std::move(parts_[b]));
    parts_[a].reasons.push_back(why);
    roots_[b] = a;
    return true;
  }

  // node01, node02: alike but for a number, and no rank in two of them.
  void LinkNodes() {
    std::map<std::string, std::vector<size_t>> alike;
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::string pattern = NumberPattern(ChildBelow(parts_[i].folder, above_));
      if (pattern.find('#') != std::string::npos && parts_[i].HasRanks())
        alike[pattern].push_back(i);
    }
    for (const auto& [pattern, members] : alike) {
      for (size_t m = 1; m < members.size(); ++m) {
        size_t first = RootOf(members[0]);
        if (!ShareRanks(parts_[first], parts_[members[m]]))
          Join(first, members[m],
               fmt::format("one job, because folders {} have different ranks", pattern));
      }
    }
  }

  void LinkProcesses() {
    std::map<int64_t, size_t> first;
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::vector<int64_t> pids(parts_[i].pids().begin(), parts_[i].pids().end());
      for (int64_t pid : pids) {
        auto [it, is_new] = first.emplace(pid, i);
        size_t other = RootOf(it->second), own = RootOf(i);
        if (!is_new && other != own && !ShareKinds(parts_[other], parts_[own]))
          Join(other, own,
               fmt::format("one job, because process {} left files of both kinds", pid));
      }
    }
  }

  void LinkNames() {
    std::map<std::string, size_t> first;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (roots_[i] != i || !IsNamedByContent(parts_[i], above_)) continue;
      std::string_view below = parts_[i].folder;
      std::string_view child = ChildBelow(below, above_);
      below.remove_prefix(
          std::min(below.size(), (above_.empty() ? 0 : above_.size() + 1) + child.size() + 1));
      if (below.empty()) continue;
      std::string name(below);
      auto [it, is_new] = first.emplace(name, i);
      if (is_new || ChildBelow(parts_[it->second].folder, above_) == child) continue;
      if (!Join(it->second, i,
                fmt::format("one job, because folders {} hold different kinds of files", name)))
        continue;
      parts_[RootOf(i)].folder = above_.empty() ? name : fmt::format("{}/{}", above_, name);
    }
  }

  std::string_view above_;
  std::vector<JobGroup>& parts_;
  std::vector<size_t> roots_;
};

// One folder on the way from the root to the current one.
struct OpenFolder {
  std::string folder;
  std::vector<JobGroup> parts;  // own files, and what the folders below it turned out to be
  bool holds_several = false;
};

class Assembly {
 public:
  explicit Assembly(const std::vector<InputEvidence>& inputs) : inputs_(inputs) {}

  std::vector<JobGroup> Run() {
    std::vector<size_t> order(inputs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return FolderLess(inputs_[a].folder, inputs_[b].folder);
    });
    stack_.push_back({});
    for (size_t at = 0; at < order.size();) {
      const std::string& folder = inputs_[order[at]].folder;
      size_t end = at;
      while (end < order.size() && inputs_[order[end]].folder == folder) ++end;
      Enter(folder);
      AddOwn({order.begin() + static_cast<std::ptrdiff_t>(at),
              order.begin() + static_cast<std::ptrdiff_t>(end)});
      at = end;
    }
    while (stack_.size() > 1) Leave();
    JoinParts(stack_.back());
    return std::move(stack_.back().parts);
  }

 private:
  // Makes `folder` the top of the stack.
  void Enter(const std::string& folder) {
    while (!IsBelow(folder, stack_.back().folder)) {
      std::string common(CommonFolder(stack_.back().folder, folder));
      bool branches = !IsBelow(stack_[stack_.size() - 2].folder, common);
      if (branches) stack_.insert(stack_.end() - 1, OpenFolder{.folder = common, .parts = {}});
      Leave();
    }
    if (stack_.back().folder != folder) stack_.push_back({.folder = folder, .parts = {}});
  }

  void Leave() {
    OpenFolder done = std::move(stack_.back());
    stack_.pop_back();
    JoinParts(done);
    OpenFolder& above = stack_.back();
    size_t strong =
        static_cast<size_t>(std::count_if(done.parts.begin(), done.parts.end(), IsStrong));
    above.holds_several |= strong > 1;
    std::move(done.parts.begin(), done.parts.end(), std::back_inserter(above.parts));
  }

  // World sizes and runs of a scheduler tell jobs apart that share a folder.
  void AddOwn(const std::vector<size_t>& own) {
    std::set<int32_t> sizes;
    std::set<int64_t> runs;
    for (size_t i : own) {
      if (inputs_[i].world_size != kNone32) sizes.insert(inputs_[i].world_size);
      if (inputs_[i].run != kNone64) runs.insert(inputs_[i].run);
    }
    std::map<std::pair<int32_t, int64_t>, JobGroup> groups;
    for (size_t i : own) {
      int32_t size = sizes.size() > 1 && runs.size() < 2 ? inputs_[i].world_size : kNone32;
      int64_t run = runs.size() > 1 ? inputs_[i].run : kNone64;
      groups[{size, run}].Add(i, inputs_[i]);
    }
    OpenFolder& top = stack_.back();
    for (auto& [key, group] : groups) {
      group.folder = top.folder;
      std::tie(group.only_size, group.only_run) = key;
      if (groups.size() > 1)
        group.reasons.push_back(runs.size() > 1
                                    ? "one of several jobs here: names have numbers of several runs"
                                    : "one of several jobs here: the world sizes differ");
      top.parts.push_back(std::move(group));
    }
    top.holds_several |= groups.size() > 1;
  }

  // All of a folder into one group, or the groups that it holds.
  void JoinParts(OpenFolder& open) const {
    std::vector<JobGroup>& parts = open.parts;
    if (parts.size() < 2) return;
    std::string why = open.holds_several ? "" : JoinAll(open);
    bool is_one = !open.holds_several && why.empty();
    if (is_one) return;
    PartLinks(open.folder, parts).Link();
    for (JobGroup& part : parts) {
      if (!why.empty() && IsStrong(part))
        part.reasons.push_back(
            fmt::format("not one job with the rest of {}: {}", Shown(open.folder), why));
    }
  }

  // Why they are not one; empty when they are, and then they are joined. The smaller are compared
  // with the largest and put into it, so that a part is copied seldom however deep it lies.
  static std::string JoinAll(OpenFolder& open) {
    std::vector<JobGroup>& parts = open.parts;
    auto largest = std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
      return a.inputs().size() < b.inputs().size();
    });
    bool largest_named = IsNamedByContent(*largest, open.folder), rest_named = false;
    JobGroup rest;
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (part == largest) continue;
      bool named = IsNamedByContent(*part, open.folder);
      if (auto why = Contradiction(*largest, *part, largest_named || named)) return *why;
      if (auto why = Contradiction(rest, *part, rest_named || named)) return *why;
      rest_named |= named;
      rest.Merge(JobGroup(*part));
    }
    auto [folder, reason] = DescribeJoined(open);
    std::string joined = JoinedBefore(parts);
    JobGroup whole = std::move(*largest);
    whole.Merge(std::move(rest));
    whole.joined = std::move(joined);
    whole.folder = std::move(folder);
    if (!reason.empty()) whole.joined = std::move(reason);
    parts.clear();
    parts.push_back(std::move(whole));
    return {};
  }

  static std::string JoinedBefore(const std::vector<JobGroup>& parts) {
    auto strong = std::find_if(parts.begin(), parts.end(), IsStrong);
    return strong == parts.end() ? std::string() : strong->joined;
  }

  // The folder of what is joined, and the reason when more than one part is evidence.
  static std::pair<std::string, std::string> DescribeJoined(const OpenFolder& open) {
    constexpr size_t kMostNamed = 6;
    std::string names;
    std::string_view only;
    size_t strong = 0;
    for (const JobGroup& part : open.parts) {
      if (!IsStrong(part)) continue;
      only = part.folder;
      std::string_view child = ChildBelow(part.folder, open.folder);
      if (++strong <= kMostNamed)
        names +=
            fmt::format("{}{}", names.empty() ? "" : ", ", child.empty() ? "own files" : child);
    }
    if (strong == 1) return {std::string(only), ""};
    return {open.folder,
            fmt::format("one job, because {}{} in {} do not contradict each other", names,
                        strong > kMostNamed ? ", ..." : "", Shown(open.folder))};
  }

  static std::string_view Shown(std::string_view folder) { return folder.empty() ? "." : folder; }

  const std::vector<InputEvidence>& inputs_;
  std::vector<OpenFolder> stack_;
};

}  // namespace

std::vector<JobGroup> AssembleJobs(const std::vector<InputEvidence>& inputs) {
  std::vector<JobGroup> jobs = Assembly(inputs).Run();
  for (JobGroup& job : jobs) {
    job.folder = NameOfJob(job.folder);
    if (!job.joined.empty()) job.reasons.insert(job.reasons.begin(), job.joined);
  }
  std::sort(jobs.begin(), jobs.end(), [](const JobGroup& a, const JobGroup& b) {
    return std::tie(a.folder, a.only_size, a.only_run) <
           std::tie(b.folder, b.only_size, b.only_run);
  });
  return jobs;
}

}  // namespace debrief
