// Ranks grouped by what they compiled. A signature is the whole of it as text: two ranks agree when
// their texts are equal.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyses/compile/ranks/verdicts.h"

namespace debrief::analyses::compile_ranks {

namespace {

using Groups = std::map<std::string, Agreement>;

// Ops are compared by their ids in the pool, which are the same for the same text.
void AppendOps(const std::vector<StringId>& ops, std::string& signature) {
  for (StringId op : ops) fmt::format_to(std::back_inserter(signature), "{},", uint32_t(op));
}

void Join(std::string signature, int32_t rank, std::string detail, Groups& groups) {
  auto [at, is_new] = groups.try_emplace(std::move(signature));
  at->second.ranks.push_back(rank);
  if (is_new) at->second.detail = std::move(detail);
}

// "without 0/1, 1/0; besides 2/0", as against `first`.
std::string IdsInWords(const std::set<std::string_view>& ids,
                       const std::set<std::string_view>& first) {
  constexpr size_t kMost = 8;
  auto list = [](const auto& from, const auto& others) {
    std::string text;
    size_t count = 0;
    for (std::string_view id : from) {
      if (others.contains(id) || ++count > kMost) continue;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", id);
    }
    if (count > kMost) text += fmt::format(" and {} more", count - kMost);
    return text;
  };
  std::string text = fmt::format("{} compile ids", ids.size());
  if (std::string absent = list(first, ids); !absent.empty()) text += "; without " + absent;
  if (std::string extra = list(ids, first); !extra.empty()) text += "; besides " + extra;
  return text;
}

void CompareIds(const RankLogs& logs, Verdicts& verdicts) {
  Groups groups;
  for (const auto& [rank, log] : logs) {
    std::string signature;
    for (std::string_view id : log.compile_ids) (signature += id) += ' ';
    Join(std::move(signature), rank, IdsInWords(log.compile_ids, logs.begin()->second.compile_ids),
         groups);
  }
  verdicts.Compare("compile_ids", groups, "");
}

void CompareCaches(const RankLogs& logs, Verdicts& verdicts) {
  Groups groups;
  for (const auto& [rank, log] : logs) {
    auto count = [&](char answer) {
      return std::count(log.caches.begin(), log.caches.end(), answer);
    };
    Join(log.caches, rank,
         fmt::format("{} hit, {} miss, {} bypass", count('h'), count('m'), count('b')), groups);
  }
  verdicts.Compare("cache", groups, "");
}

// What a rank has for a graph, for comparing and in words.
struct GraphValue {
  std::string value;
  std::string words;
};
using GraphValues = std::map<std::string_view, std::map<int32_t, GraphValue>>;  // by graph and rank

bool HasConflict(const std::map<int32_t, GraphValue>& of_graph) {
  return std::any_of(of_graph.begin(), of_graph.end(), [&](const auto& rank) {
    return rank.second.value != of_graph.begin()->second.value;
  });
}

// Graph by graph, among the ranks that have it: that others have not is the business of
// compile_ids. Ranks are grouped by what they have of the graphs that differ.
void CompareByGraph(std::string_view what, const GraphValues& graphs, size_t ranks,
                    std::string_view why_unavailable, Verdicts& verdicts) {
  constexpr size_t kMostWords = 200;
  if (ranks == 0) return verdicts.Check(what, "unavailable", why_unavailable);
  std::map<int32_t, std::pair<std::string, std::string>> signatures;  // and in words, by rank
  for (const auto& [graph, of_graph] : graphs) {
    if (!HasConflict(of_graph)) continue;
    for (const auto& [rank, value] : of_graph) {
      auto& [signature, words] = signatures[rank];
      signature += fmt::format("{}={} ", graph, value.value);
      if (words.size() > kMostWords) continue;
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", graph, value.words);
      if (words.size() > kMostWords) words += " ...";
    }
  }
  if (signatures.empty()) return verdicts.Check(what, ranks > 1 ? "consistent" : "unavailable", "");
  Groups groups;
  for (auto& [rank, signature] : signatures)
    Join(std::move(signature.first), rank, std::move(signature.second), groups);
  verdicts.Compare(what, groups, "");
}

void CompareCollectives(const RankLogs& logs, Verdicts& verdicts) {
  constexpr std::string_view kNone = "no rank has a schedule of collectives";
  Groups joined;  // as tlparse does: all ops one after the other
  GraphValues by_graph;
  size_t ranks = 0;
  for (const auto& [rank, log] : logs) {
    std::string ops;
    size_t count = 0;
    for (const auto& [graph, schedule] : log.schedules) {
      std::string of_graph;
      AppendOps(schedule, of_graph);
      ops += of_graph;
      count += schedule.size();
      by_graph[graph][rank] = {std::move(of_graph), fmt::format("with {} ops", schedule.size())};
    }
    if (count > 0) ++ranks;
    Join(std::move(ops), rank, fmt::format("{} ops in {} graphs", count, log.schedules.size()),
         joined);
  }
  if (ranks == 0) joined.clear();
  verdicts.Compare("collectives", joined, kNone);
  CompareByGraph("collectives_by_graph", by_graph, ranks, kNone, verdicts);
}

void CompareTensors(const RankLogs& logs, Verdicts& verdicts) {
  constexpr std::string_view kNone = "no rank has inductor_runtime_and_tensor_meta";
  Groups whole;
  GraphValues shapes;
  size_t ranks = 0;
  for (const auto& [rank, log] : logs) {
    if (log.tensor_meta.empty()) continue;
    ++ranks;
    std::string all;
    for (const auto& [graph, prints] : log.tensor_meta) {
      (all += prints.first) += ',';
      shapes[graph][rank] = {std::string(prints.second),
                             fmt::format("as {}", prints.second.substr(0, 8))};
    }
    Join(std::move(all), rank, fmt::format("{} graphs", log.tensor_meta.size()), whole);
  }
  verdicts.Compare("tensor_meta", whole, kNone);
  CompareByGraph("tensor_shapes", shapes, ranks, kNone, verdicts);
}

}  // namespace

void CompareContents(const RankLogs& logs, Verdicts& verdicts) {
  CompareIds(logs, verdicts);
  CompareCaches(logs, verdicts);
  CompareCollectives(logs, verdicts);
  CompareTensors(logs, verdicts);
}

}  // namespace debrief::analyses::compile_ranks
