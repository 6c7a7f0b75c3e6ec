// Folding goes from the deepest folders upwards, so that job/node01/attempt_0/3 arrives at job in
// three steps. Each step looks at the children of one parent: which of them does the parent
// swallow?
#include <algorithm>

#include "inputs/assign_jobs.h"
#include "inputs/name_clues.h"

namespace debrief {

namespace {

// Nobody's launcher makes more; a member of an archive may have 500,000 levels, each with a path of
// its own.
constexpr int kMaxLevels = 64;

struct Node {
  FolderContent content;               // own, and that of swallowed children
  std::vector<std::string> swallowed;  // folders that belong to this one
};

// Of "a/b" it is "a", of "a" it is "."; "." and "/" have none.
std::string ParentOf(const std::string& folder) {
  size_t slash = folder.rfind('/');
  if (slash == std::string::npos) return folder == "." ? "" : ".";
  return folder.substr(0, slash);
}

std::string LastPart(const std::string& folder) { return folder.substr(folder.rfind('/') + 1); }

FolderRole RoleOf(const std::string& folder) {
  return CluesOfFolder(LastPart(folder), LastPart(ParentOf(folder))).role;
}

// No rank in two of the folders, none without a rank, and together they start at 0 without a hole.
bool CompleteEachOther(const std::vector<const Node*>& children) {
  std::set<int32_t> all;
  for (const Node* child : children) {
    if (child->content.unranked) return false;
    for (int32_t rank : child->content.ranks) {
      if (!all.insert(rank).second) return false;
    }
  }
  return children.size() > 1 && !all.empty() && *all.begin() == 0 &&
         *all.rbegin() == static_cast<int32_t>(all.size() - 1);
}

bool Disjoint(const std::vector<const Node*>& children) {
  std::set<int32_t> all;
  for (const Node* child : children) {
    if (child->content.unranked || child->content.ranks.empty()) return false;
    for (int32_t rank : child->content.ranks) {
      if (!all.insert(rank).second) return false;
    }
  }
  return children.size() > 1;
}

class Folding {
 public:
  explicit Folding(const std::map<std::string, FolderContent>& folders) {
    for (const auto& [name, content] : folders) {
      nodes_[name].content = content;
      std::string child = name;
      for (int level = 0; level < kMaxLevels; ++level) {
        std::string up = ParentOf(child);
        if (up.empty()) break;
        children_[up].insert(child);
        child = std::move(up);
      }
    }
  }

  void Fold() {
    for (const std::string& parent : ParentsDeepestFirst()) FoldChildren(parent);
  }

  std::map<std::string, std::string> Jobs() const {
    std::map<std::string, std::string> jobs;
    for (const auto& [name, node] : nodes_) {
      jobs.emplace(name, name);
      for (const std::string& folder : node.swallowed) jobs[folder] = name;
    }
    return jobs;
  }

 private:
  std::vector<std::string> ParentsDeepestFirst() const {
    std::vector<std::string> parents;
    for (const auto& [parent, children] : children_) parents.push_back(parent);
    auto depth = [](const std::string& path) {
      return path == "." ? -1 : std::count(path.begin(), path.end(), '/');
    };
    std::stable_sort(
        parents.begin(), parents.end(),
        [&](const std::string& a, const std::string& b) { return depth(a) > depth(b); });
    return parents;
  }

  // Those with evidence that nobody has swallowed yet.
  std::vector<std::string> ChildrenOf(const std::string& parent) const {
    std::vector<std::string> children;
    for (const std::string& child : children_.at(parent)) {
      auto found = nodes_.find(child);
      if (found != nodes_.end() && found->second.content.evidence) children.push_back(child);
    }
    return children;
  }

  void FoldChildren(const std::string& parent) {
    std::vector<std::string> children = ChildrenOf(parent);
    std::vector<std::string> data;
    std::map<std::string, std::vector<std::string>> alike;  // by number pattern
    for (const std::string& child : children) {
      FolderRole role = RoleOf(child);
      if (role == FolderRole::kData) data.push_back(child);
      if (role == FolderRole::kRank || role == FolderRole::kAttempt) Swallow(parent, child);
      if (role == FolderRole::kPlain) alike[NumberPattern(LastPart(child))].push_back(child);
    }
    for (const auto& [pattern, folders] : alike) {
      if (Disjoint(NodesOf(folders))) SwallowAll(parent, folders);
    }
    std::vector<std::string> plain = ChildrenOf(parent);
    if (CompleteEachOther(NodesOf(plain))) SwallowAll(parent, plain);
    bool parent_has = nodes_.contains(parent) && nodes_[parent].content.evidence;
    if (parent_has || data.size() > 1) SwallowAll(parent, data);
  }

  std::vector<const Node*> NodesOf(const std::vector<std::string>& folders) const {
    std::vector<const Node*> nodes;
    for (const std::string& folder : folders) {
      if (auto it = nodes_.find(folder); it != nodes_.end()) nodes.push_back(&it->second);
    }
    return nodes;
  }

  void SwallowAll(const std::string& parent, const std::vector<std::string>& children) {
    for (const std::string& child : children) Swallow(parent, child);
  }

  void Swallow(const std::string& parent, const std::string& child) {
    auto found = nodes_.find(child);
    if (found == nodes_.end()) return;
    Node eaten = std::move(found->second);
    nodes_.erase(found);
    Node& eater = nodes_[parent];
    eater.content.evidence |= eaten.content.evidence;
    eater.content.unranked |= eaten.content.unranked;
    eater.content.ranks.insert(eaten.content.ranks.begin(), eaten.content.ranks.end());
    eater.swallowed.push_back(child);
    std::move(eaten.swallowed.begin(), eaten.swallowed.end(), std::back_inserter(eater.swallowed));
  }

  std::map<std::string, Node> nodes_;
  std::map<std::string, std::set<std::string>> children_;  // every folder above a node, too
};

// The compiler of AIUs leaves a folder for each kernel: inductor-spyre/<kernel>/perf.
std::string RootOf(const std::string& folder) {
  return folder.substr(0, folder.find("/inductor-spyre/"));
}

}  // namespace

std::map<std::string, std::string> FoldFolders(
    const std::map<std::string, FolderContent>& folders) {
  std::map<std::string, FolderContent> roots;
  for (const auto& [name, content] : folders) {
    FolderContent& root = roots[RootOf(name)];
    root.evidence |= content.evidence;
    root.unranked |= content.unranked;
    root.ranks.insert(content.ranks.begin(), content.ranks.end());
  }
  Folding folding(roots);
  folding.Fold();
  std::map<std::string, std::string> jobs = folding.Jobs();
  for (const auto& [name, content] : folders) jobs[name] = jobs[RootOf(name)];
  return jobs;
}

}  // namespace debrief
