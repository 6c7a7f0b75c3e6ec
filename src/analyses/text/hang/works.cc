#include "analyses/text/hang/works.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace debrief::analyses::text_hang {

namespace {

// The number behind `key`, as in "NumelIn=131072".
int64_t NumberAfter(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string_view::npos) return kNone64;
  const char* begin = text.data() + at + key.size();
  int64_t number = kNone64;
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
}

Work ToWork(const Model& model, size_t row) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::string_view text = model.pools.Text(events.text[row]);
  Work work{.rank = events.rank[row],
            .row = row,
            .seq = events.seq[row],
            .op = model.pools.Text(events.op[row]),
            .elements_in = NumberAfter(text, "NumelIn="),
            .elements_out = NumberAfter(text, "NumelOut="),
            .last_enqueued = events.last_enqueued[row],
            .last_completed = events.last_completed[row]};
  if (events.time_ns[row] != kNone64 && events.ran_ms[row] != kNone64)
    work.start_ns = events.time_ns[row] - events.ran_ms[row] * 1'000'000;
  return work;
}

}  // namespace

std::vector<GroupWorks> CollectWorks(const Model& model, const Talk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::map<std::pair<std::string_view, std::string_view>, std::map<int32_t, Work>> groups;
  for (const auto& [rank, each] : talk.ranks) {
    for (size_t row : each.timeouts) {
      std::string_view name = model.pools.Text(events.group_name[row]);
      if (name.empty() || events.seq[row] == kNone64) continue;
      auto& works = groups[{model.pools.Text(events.group_desc[row]), name}];
      auto [known, is_new] = works.try_emplace(rank, ToWork(model, row));
      if (!is_new && events.seq[row] < known->second.seq) known->second = ToWork(model, row);
    }
  }
  std::vector<GroupWorks> result;
  for (const auto& [key, works] : groups) {
    GroupWorks& group = result.emplace_back(GroupWorks{key.second, key.first, {}});
    for (const auto& [rank, work] : works) group.works.push_back(work);
  }
  return result;
}

std::string OpInWords(std::string_view op) {
  static const std::map<std::string_view, std::string_view> kNames = {
      {"ALLREDUCE", "all_reduce"}, {"ALLGATHER", "all_gather"}, {"ALLTOALL", "all_to_all"}};
  auto known = kNames.find(op);
  if (known != kNames.end()) return std::string(known->second);
  std::string name(op);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name.empty() ? "work" : name;
}

std::string WorkInWords(const GroupWorks& group, const Work& work) {
  bool named = !group.desc.empty() && group.desc != "undefined";
  return fmt::format("{} {} of {}{}", OpInWords(work.op), work.seq, named ? "" : "group ",
                     named ? group.desc : group.name);
}

GroupRef ToRef(const GroupWorks& group) {
  GroupRef ref{std::string(group.name), std::string(group.desc), {}};
  for (const Work& work : group.works) ref.ranks.push_back(work.rank);
  return ref;
}

}  // namespace debrief::analyses::text_hang
