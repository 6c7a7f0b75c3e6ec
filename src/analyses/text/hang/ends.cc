// Joins what launchers, schedulers and the kernel say of processes to ranks: by the rank that the
// line names, else by the process id that another line gives a rank.
#include <algorithm>
#include <set>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"
#include "tables/input.h"
#include "tables/process_identity.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr int32_t kSigkill = -9;

struct Life {
  int32_t attempt = kNone32;
  int32_t rank = kNone32;
};

// Ids may be used again on another host: then they say nothing.
class Lives {
 public:
  explicit Lives(const Model& model) {
    AddTable(model.tables.Get<ProcessExitTable>());
    AddTable(model.tables.Get<ProcessIdentityTable>());
  }

  Life Find(int32_t job, int64_t pid) const {
    auto found = by_pid_.find({job, pid});
    return found == by_pid_.end() ? Life{} : found->second;
  }

 private:
  template <typename Table>
  void AddTable(const Table& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.pid[row] == kNone64 || table.rank[row] == kNone32) continue;
      Life life{table.attempt[row], table.rank[row]};
      auto [known, is_new] = by_pid_.try_emplace({table.job[row], table.pid[row]}, life);
      if (!is_new && known->second.rank != life.rank) known->second.rank = kNone32;
    }
  }

  std::map<std::pair<int32_t, int64_t>, Life> by_pid_;
};

// A pod's log has the name of the pod, and its lines tell the rank.
class Pods {
 public:
  explicit Pods(const Model& model) {
    const auto& events = model.tables.Get<TextEventTable>();
    std::map<int32_t, int32_t> rank_of_input;
    for (size_t row = 0; row < events.size(); ++row) {
      if (events.rank[row] == kNone32) continue;
      auto [known, is_new] = rank_of_input.try_emplace(events.input[row], events.rank[row]);
      if (!is_new && known->second != events.rank[row]) known->second = kNone32;
    }
    const auto& inputs = model.tables.Get<InputTable>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto rank = rank_of_input.find(inputs.input[i]);
      if (rank == rank_of_input.end() || rank->second == kNone32) continue;
      std::string_view name = FileName(model.pools.Text(inputs.path[i]));
      Add(inputs.job[i], name.substr(0, name.find('.')), rank->second);
    }
  }

  int32_t Find(int32_t job, std::string_view pod) const {
    if (pod.empty()) return kNone32;
    if (auto found = ranks_.find({job, pod}); found != ranks_.end()) return found->second;
    // Pods of one job are numbered. When each that tells its rank has the number of its name, at
    // one distance, one that printed nothing has its number's, too.
    auto [stem, number] = NumberOf(pod);
    auto numbered = distances_.find({job, stem});
    bool even = numbered != distances_.end() && numbered->second.told > 1 &&
                numbered->second.values.size() == 1 && number != kNone32;
    return even ? number + *numbered->second.values.begin() : kNone32;
  }

 private:
  struct Distances {
    size_t told = 0;
    std::set<int32_t> values;  // rank minus number
  };

  static std::pair<std::string_view, int32_t> NumberOf(std::string_view pod) {
    constexpr int64_t kMost = 1 << 20;
    size_t digits = pod.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
    int64_t number = digits == pod.size() ? kNone64 : NumberAfter(pod.substr(digits), "");
    bool small = number >= 0 && number < kMost;
    return {pod.substr(0, digits), small ? static_cast<int32_t>(number) : kNone32};
  }

  void Add(int32_t job, std::string_view pod, int32_t rank) {
    if (!ranks_.try_emplace({job, pod}, rank).second) return;
    auto [stem, number] = NumberOf(pod);
    if (number == kNone32) return;
    Distances& distances = distances_[{job, stem}];
    ++distances.told;
    distances.values.insert(rank - number);
  }

  std::map<std::pair<int32_t, std::string_view>, int32_t> ranks_;
  std::map<std::pair<int32_t, std::string_view>, Distances> distances_;
};

void AddStatement(const Model& model, size_t row, End& end) {
  const auto& exits = model.tables.Get<ProcessExitTable>();
  std::string_view by = model.pools.Text(exits.said_by[row]);
  bool stopped = model.pools.Text(exits.how[row]) == "stopped";
  bool signal_only = stopped && exits.exit_code[row] == kNone32;
  end.rows.push_back(row);
  end.stopped |= stopped;
  end.first |= exits.first[row] != 0;
  end.by_kernel |= by == "kernel";
  end.lost |= by == "vllm" && exits.exit_code[row] == kNone32;
  std::string_view text = model.pools.Text(exits.text[row]);
  end.by_memory |= Contains(text, "OOMKilled") || Contains(text, "Out Of Memory");
  if (end.host.empty()) end.host = model.pools.Text(exits.host[row]);
  if (by == "rank" && exits.exit_code[row] == 1)
    end.raised.emplace(exits.input[row], exits.line[row]);
  bool forced = stopped && by == "torchrun" && exits.exit_code[row] == -9;
  end.forced |= forced;
  if (end.time_ns == kNone64) end.time_ns = exits.time_ns[row];
  bool says_more = end.exit_code == kNone32 || end.exit_code == 0 ||
                   (IsTold(end.exit_code) && !IsTold(exits.exit_code[row]));
  if (!signal_only && says_more && exits.exit_code[row] != kNone32) {
    end.exit_code = exits.exit_code[row];
    end.said_by = by;
  }
  // Who watched a process tells its end better than its own last words.
  if (end.said_by == "rank" && end.exit_code == exits.exit_code[row]) end.said_by = by;
}

// Lightning ends all others with SIGKILL when one of its children has ended. What stands before its
// line in the same text, or was earlier, is no doing of Lightning's.
void StopAllButTheFirst(const Model& model, Talk& talk) {
  const auto& exits = model.tables.Get<ProcessExitTable>();
  size_t said = RankTalk::kNoRow;
  for (const auto& [rank, each] : talk.ranks) {
    for (size_t row : each.end.rows) {
      if (exits.first[row] != 0 && model.pools.Text(exits.said_by[row]) == "lightning") said = row;
    }
  }
  if (said == RankTalk::kNoRow) return;
  auto is_before = [&](size_t row) {
    const bool told = exits.time_ns[row] != kNone64 && exits.time_ns[said] != kNone64;
    return (exits.input[row] == exits.input[said] && exits.line[row] < exits.line[said]) ||
           (told && exits.time_ns[row] < exits.time_ns[said]);
  };
  for (auto& [rank, each] : talk.ranks) {
    End& end = each.end;
    if (end.first || end.exit_code != kSigkill || std::ranges::any_of(end.rows, is_before))
      continue;
    // In its own text it has been decided, by what stands between.
    const bool elsewhere = std::ranges::none_of(
        end.rows, [&](size_t row) { return exits.input[row] == exits.input[said]; });
    end.stopped |= elsewhere;
  }
}

// Slurm tells a cgroup's lack of memory without the process, and the kernel names a process of a
// container by another id: who was killed in such a job, and by nobody who is known, was killed for
// that.
void ExplainKills(const Model& model, Talk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  const bool by_slurm = std::ranges::any_of(talk.nobody.troubles, [&](size_t row) {
    const std::string_view text = model.pools.Text(events.text[row]);
    return text.starts_with("slurmstepd: error: Detected ") && Contains(text, "kill event");
  });
  auto by_kernel = [](const End& end) { return end.by_kernel && end.exit_code == kSigkill; };
  const auto kernels = std::ranges::count_if(talk.nameless, by_kernel);
  std::vector<End*> killed;
  auto add = [&](End& end) {
    const bool open = end.exit_code == kSigkill && !end.stopped && !end.forced && !end.by_kernel;
    if (open && !end.by_memory) killed.push_back(&end);
  };
  for (auto& [rank, each] : talk.ranks) add(each.end);
  const bool named = !killed.empty();
  if (!named) std::ranges::for_each(talk.nameless, add);
  for (End* end : killed) {
    if (by_slurm) end->said_by = "slurm";
    end->by_memory = by_slurm;
    end->by_kernel = !by_slurm && kernels == 1 && named && killed.size() == 1;
  }
}

// Whoever went on did not end with what it seemed to.
void DropEndsOfLiving(Talk& talk) {
  for (auto& [rank, each] : talk.ranks) {
    const End& end = each.end;
    const bool lives = end.said_by == "rank" && !end.raised.empty() &&
                       std::all_of(end.raised.begin(), end.raised.end(), [&](const auto& raised) {
                         return each.WentOn(raised.first, raised.second);
                       });
    if (lives) each.end = {};
  }
}

// What srun says behind the line that the step is cancelled follows from that.
void StopAfterCancel(const Model& model, const Talk& talk, size_t row, End& end) {
  const auto& exits = model.tables.Get<ProcessExitTable>();
  const auto& events = model.tables.Get<TextEventTable>();
  bool killed = exits.exit_code[row] == -9 || IsTold(exits.exit_code[row]);
  if (!killed || model.pools.Text(exits.said_by[row]) != "srun") return;
  for (size_t event : talk.scheduler) {
    if (events.input[event] == exits.input[row] && events.line[event] < exits.line[row])
      end.stopped = true;
  }
}

// srun names tasks as they end: the first line that it writes is of the first.
void MarkFirstOfSrun(const Model& model, Talk& talk) {
  const auto& exits = model.tables.Get<ProcessExitTable>();
  End* first = nullptr;
  auto order = [&](size_t row) { return std::pair(exits.input[row], exits.line[row]); };
  for (auto& [rank, each] : talk.ranks) {
    bool srun = !each.end.rows.empty() && each.end.said_by == "srun";
    if (srun && (first == nullptr || order(each.end.rows.front()) < order(first->rows.front())))
      first = &each.end;
  }
  const bool told = first != nullptr && IsTold(first->exit_code) && !first->stopped;
  if (told) first->first = true;
  for (auto& [rank, each] : talk.ranks) {
    bool follows = &each.end != first && each.end.said_by == "srun" && IsTold(each.end.exit_code);
    if (follows) each.end.stopped = true;
  }
}

// torchrun lists who failed and whom it stopped, not who ended well. Where one number is missing
// from a list that begins with rank 0, that rank exists, also when it printed nothing.
void AddRankOfGap(Talk& talk) {
  const auto count = static_cast<int32_t>(talk.listed.size());
  if (count < 2 || talk.listed.front() != 0 || talk.listed.back() != count) return;
  int32_t gap = 0;
  while (talk.listed[static_cast<size_t>(gap)] == gap) ++gap;
  talk.ranks.try_emplace(gap);
}

// Two statements of one process whose rank is not known are one end.
End& NamelessEnd(std::map<int64_t, size_t>& by_pid, int64_t pid, Talk& talk) {
  auto [known, is_new] = by_pid.try_emplace(pid, talk.nameless.size());
  if (pid == kNone64 || is_new) {
    known->second = talk.nameless.size();
    talk.nameless.emplace_back();
  }
  return talk.nameless[known->second];
}

void AddIdentities(const Model& model,
                   const std::map<std::pair<int32_t, int32_t>, Talk*>& by_attempt) {
  const auto& identities = model.tables.Get<ProcessIdentityTable>();
  std::map<std::pair<Talk*, std::string_view>, int32_t> buses;
  for (size_t row = 0; row < identities.size(); ++row) {
    auto talk = by_attempt.find({identities.job[row], identities.attempt[row]});
    if (talk == by_attempt.end() || identities.rank[row] == kNone32) continue;
    int32_t rank = identities.rank[row];
    if (identities.pid[row] != kNone64) talk->second->rank_of_pid[identities.pid[row]] = rank;
    std::string_view bus = model.pools.Text(identities.bus_id[row]);
    if (bus.empty()) continue;
    const std::string_view host = model.pools.Text(identities.host[row]);
    if (!host.empty()) talk->second->rank_of_bus[BusOnHost(host, bus)] = rank;
    // Hosts of a job have the same addresses; one that two ranks share says nothing.
    auto [known, is_new] = buses.try_emplace({talk->second, bus}, rank);
    if (!is_new && known->second != rank) known->second = kNone32;
  }
  for (const auto& [key, rank] : buses) {
    if (rank != kNone32) key.first->rank_of_bus[std::string(key.second)] = rank;
  }
}

}  // namespace

void AddEnds(const Model& model, std::vector<Talk>& talks) {
  const auto& exits = model.tables.Get<ProcessExitTable>();
  Lives lives(model);
  Pods pods(model);
  std::map<std::pair<int32_t, int32_t>, Talk*> by_attempt;
  for (Talk& talk : talks) by_attempt[{talk.job, talk.attempt}] = &talk;
  std::map<Talk*, std::map<int64_t, size_t>> nameless;
  for (size_t row = 0; row < exits.size(); ++row) {
    int32_t rank = exits.rank[row];
    int32_t attempt = exits.attempt[row];
    if (rank == kNone32 && exits.pid[row] != kNone64) {
      Life life = lives.Find(exits.job[row], exits.pid[row]);
      rank = life.rank;
      if (rank != kNone32) attempt = life.attempt;
    }
    if (rank == kNone32) rank = pods.Find(exits.job[row], model.pools.Text(exits.host[row]));
    auto talk = by_attempt.find({exits.job[row], attempt});
    if (talk == by_attempt.end()) continue;
    Talk& of = *talk->second;
    bool listed = rank != kNone32 && model.pools.Text(exits.said_by[row]) == "torchrun" &&
                  exits.exit_code[row] != kNone32;
    if (listed) of.listed.push_back(rank);
    End& end =
        rank != kNone32 ? of.ranks[rank].end : NamelessEnd(nameless[&of], exits.pid[row], of);
    AddStatement(model, row, end);
    StopAfterCancel(model, of, row, end);
    if (rank != kNone32 && exits.pid[row] != kNone64) of.rank_of_pid[exits.pid[row]] = rank;
  }
  AddIdentities(model, by_attempt);
  for (Talk& talk : talks) {
    std::sort(talk.listed.begin(), talk.listed.end());
    talk.listed.erase(std::unique(talk.listed.begin(), talk.listed.end()), talk.listed.end());
    AddRankOfGap(talk);
    DropEndsOfLiving(talk);
    StopAllButTheFirst(model, talk);
    ExplainKills(model, talk);
    MarkFirstOfSrun(model, talk);
  }
}

}  // namespace debrief::analyses::text_hang
