// Ranks grouped by what they compiled. A signature is the whole of it as text: two ranks agree when
// their texts are equal.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyses/compile_ranks/verdicts.h"

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
  std::string text = fmt::format("{} compilations", ids.size());
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

void CompareCollectives(const RankLogs& logs, Verdicts& verdicts) {
  Groups joined;    // as tlparse does: all ops one after the other
  Groups by_graph;  // and with the graphs they belong to
  bool any = false;
  for (const auto& [rank, log] : logs) {
    std::string ops, graphs;
    size_t count = 0;
    for (const auto& [graph, schedule] : log.schedules) {
      AppendOps(schedule, ops);
      AppendOps(schedule, (graphs += graph) += ':');
      count += schedule.size();
    }
    any = any || count > 0;
    std::string detail = fmt::format("{} ops in {} graphs", count, log.schedules.size());
    Join(std::move(ops), rank, detail, joined);
    Join(std::move(graphs), rank, std::move(detail), by_graph);
  }
  if (!any) joined.clear(), by_graph.clear();
  verdicts.Compare("collectives", joined, "no rank has a schedule of collectives");
  verdicts.Compare("collectives_by_graph", by_graph, "no rank has a schedule of collectives");
}

void CompareTensors(const RankLogs& logs, Verdicts& verdicts) {
  Groups whole;
  Groups shapes;
  for (const auto& [rank, log] : logs) {
    if (log.tensor_meta.empty()) continue;
    std::string all, without_times;
    for (const auto& [graph, prints] : log.tensor_meta) {
      (all += prints.first) += ',';
      without_times += fmt::format("{}:{},", graph, prints.second);
    }
    std::string detail = fmt::format("{} graphs", log.tensor_meta.size());
    Join(std::move(all), rank, detail, whole);
    Join(std::move(without_times), rank, std::move(detail), shapes);
  }
  verdicts.Compare("tensor_meta", whole, "no rank has inductor_runtime_and_tensor_meta");
  verdicts.Compare("tensor_shapes", shapes, "no rank has inductor_runtime_and_tensor_meta");
}

}  // namespace

void CompareContents(const RankLogs& logs, Verdicts& verdicts) {
  CompareIds(logs, verdicts);
  CompareCaches(logs, verdicts);
  CompareCollectives(logs, verdicts);
  CompareTensors(logs, verdicts);
}

}  // namespace debrief::analyses::compile_ranks
