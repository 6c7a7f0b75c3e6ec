#include "analyses/text/hang/talk.h"

#include <algorithm>
#include <tuple>

#include "tables/input.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief::analyses::text_hang {

namespace {

using Key = std::pair<int32_t, int32_t>;

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// SIGABRT is how a watchdog ends its own process, SIGTERM and SIGINT how a launcher ends the rest.
bool IsEndedByOthers(int32_t exit_code, bool teardown) {
  constexpr int32_t kAbort = -6, kInterrupt = -2, kTerminate = -15;
  if (exit_code == kTerminate || exit_code == kInterrupt) return true;
  return exit_code == kAbort && teardown;
}

void AddRow(const Model& model, size_t row, RankTalk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::string_view kind = model.pools.Text(events.kind[row]);
  std::string_view text = model.pools.Text(events.text[row]);
  talk.has_text = true;
  if (events.time_ns[row] != kNone64) talk.last_ns = std::max(talk.last_ns, events.time_ns[row]);
  if (kind == "watchdog_timeout") talk.timeouts.push_back(row);
  if (kind == "dump_signal") talk.dump_signals.push_back(row);
  if (events.last_enqueued[row] != kNone64 && events.group_name[row] != StringId::kNone)
    talk.counters.push_back(row);
  if (kind == "teardown") talk.teardown = true;
  if (kind == "last_line") talk.last_line = row;
  if (kind == "nccl_error" && BlamesARemote(text)) talk.remote_errors.push_back(row);
  bool trouble = kind == "out_of_memory" || kind == "signal" || kind == "exit" ||
                 (kind == "traceback" && !IsAftermath(text));
  if (trouble) talk.troubles.push_back(row);
}

void DropEndsByOthers(const Model& model, RankTalk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::erase_if(talk.troubles, [&](size_t row) {
    std::string_view kind = model.pools.Text(events.kind[row]);
    if (kind != "exit" && kind != "signal") return false;
    return events.exit_code[row] == 0 || IsEndedByOthers(events.exit_code[row], talk.teardown);
  });
}

void AddKnownRanks(const Model& model, std::map<Key, Talk>& talks) {
  const auto& ranks = model.tables.Get<RankTable>();
  for (size_t i = 0; i < ranks.size(); ++i) {
    auto talk = talks.find({ranks.job[i], ranks.attempt[i]});
    if (talk != talks.end()) talk->second.ranks.try_emplace(ranks.rank[i]);
  }
  const auto& jobs = model.tables.Get<JobTable>();
  for (auto& [key, talk] : talks) {
    if (key.first < 0 || static_cast<size_t>(key.first) >= jobs.size()) continue;
    int32_t world_size = jobs.world_size[static_cast<size_t>(key.first)];
    for (int32_t rank = 0; rank < world_size; ++rank) talk.ranks.try_emplace(rank);
  }
}

}  // namespace

bool BlamesARemote(std::string_view text) {
  return ContainsAny(text, {"ncclRemoteError", "remote process exited", "closed by remote peer",
                            "onnection reset by peer", "onnection closed by peer"});
}

bool IsAftermath(std::string_view text) {
  return BlamesARemote(text) ||
         ContainsAny(text, {"DistBackendError", "DistNetworkError", "DistStoreError",
                            "communicator was aborted", "Broken pipe", "ChildFailedError",
                            "SignalException", "KeyboardInterrupt"});
}

std::vector<int32_t> Talk::RanksThatTimedOut() const {
  std::vector<int32_t> timed_out;
  for (const auto& [rank, talk] : ranks) {
    if (!talk.timeouts.empty()) timed_out.push_back(rank);
  }
  return timed_out;
}

std::vector<Talk> CollectTalks(const Model& model) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::map<Key, Talk> talks;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.rank[row] == kNone32 || events.job[row] == kNone32) continue;
    Talk& talk = talks[{events.job[row], events.attempt[row]}];
    AddRow(model, row, talk.ranks[events.rank[row]]);
    bool timeout = model.pools.Text(events.kind[row]) == "watchdog_timeout";
    if (!timeout || events.time_ns[row] == kNone64) continue;
    if (talk.first_timeout_ns == kNone64 || events.time_ns[row] < talk.first_timeout_ns)
      talk.first_timeout_ns = events.time_ns[row];
  }
  AddKnownRanks(model, talks);
  std::vector<Talk> result;
  for (auto& [key, talk] : talks) {
    std::tie(talk.job, talk.attempt) = key;
    for (auto& [rank, each] : talk.ranks) DropEndsByOthers(model, each);
    result.push_back(std::move(talk));
  }
  return result;
}

}  // namespace debrief::analyses::text_hang
