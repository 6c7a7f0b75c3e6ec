#include "inputs/text_clues.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text/colours.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/sniffing.h"
#include "torch/glog_time.h"
#include "torch/prefixes/foreign_heads.h"
#include "torch/prefixes/line_prefix.h"
#include "torch/prefixes/line_starts.h"
#include "torch/prefixes/rank_heads.h"
#include "torch/prefixes/wrapped_lines.h"

namespace debrief {

namespace {

constexpr size_t kMostTold = 4096;  // ranks and processes kept of one text

std::optional<int64_t> LeadingNumber(std::string_view text) {
  const int64_t number = debrief::LeadingNumber(text, int64_t{-1});
  return number >= 0 ? std::optional(number) : std::nullopt;
}

// The number behind the first `key` of the line.
std::optional<int64_t> NumberAfter(std::string_view line, std::string_view key) {
  size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return LeadingNumber(line);
}

constexpr int64_t kMostRanks = 1 << 17;

int32_t AsRank(std::optional<int64_t> number) {
  return number && *number < kMostRanks ? static_cast<int32_t>(*number) : kNone32;
}

// "[rank3]:" and "[default3]:" at the start of the line, as torchrun and PyTorch put them.
struct BracketLabel {
  std::string_view word;
  int32_t number = kNone32;
  size_t size = 0;  // 0: none is there
};

BracketLabel BracketLabelOf(std::string_view line) {
  constexpr size_t kLongest = 64;
  if (!line.starts_with('[')) return {};
  size_t close = line.substr(0, kLongest).find("]:");
  if (close == std::string_view::npos) return {};
  std::string_view inside = line.substr(1, close - 1);
  size_t digits = inside.find_last_not_of("0123456789") + 1;
  bool is_word = digits > 0 && digits < inside.size() &&
                 inside.find_first_of(" ,:/") == std::string_view::npos;
  if (!is_word) return {};
  return {inside.substr(0, digits), AsRank(LeadingNumber(inside.substr(digits))), close + 2};
}

// The task of "3: text" (srun -l), "[1,3]<stdout>:text" and "[3]<stderr>: text" (mpirun).
int32_t TaskLabelOf(std::string_view line) {
  if (line.starts_with('[')) {
    size_t close = line.substr(0, 64).find("]<std");
    if (close == std::string_view::npos) return kNone32;
    std::string_view inside = line.substr(1, close - 1);
    inside = inside.substr(0, inside.find(']'));     // [1,3][host:pid]
    constexpr std::string_view kNamed = "mpirank:";  // [1,mpirank:3,algo-2], of SageMaker
    if (size_t named = inside.find(kNamed); named != std::string_view::npos)
      return AsRank(LeadingNumber(inside.substr(named + kNamed.size())));
    return AsRank(LeadingNumber(inside.substr(inside.rfind(',') + 1)));
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  bool is_label = digits > 0 && digits <= 6 && line.substr(digits).starts_with(": ");
  return is_label ? AsRank(LeadingNumber(line)) : kNone32;
}

constexpr std::string_view kLauncherWords[] = {" torch/distributed/elastic/",
                                               "torch/distributed/run.py",
                                               "srun: ",
                                               "slurmstepd: ",
                                               "ChildFailedError",
                                               "PRTE has lost",
                                               "mpirun noticed that",
                                               "[launch.py:",
                                               "MPI_ABORT was invoked",
                                               "Worker group FAILED",
                                               "Rendezvous complete for workers"};

constexpr std::string_view kOutputMarks[] = {"Traceback (most recent call last)",
                                             "NCCL ",
                                             "Error: ",
                                             "CUDA",
                                             "terminate called",
                                             "step ",
                                             "Step ",
                                             "loss",
                                             "iteration",
                                             "Killed",
                                             "Aborted",
                                             "UserWarning",
                                             "Segmentation fault",
                                             "torch",
                                             "Xid",
                                             "oom-kill",
                                             "Out of memory",
                                             "epoch",
                                             "Epoch",
                                             "exit code"};

class TextScanner {
 public:
  explicit TextScanner(int64_t now_ns) : now_ns_(now_ns) {}

  void Scan(std::string_view text) {
    auto has = [&](std::string_view word) { return HasWord(text, word); };
    clues_.is_pods |= has("kind: Pod\n") && has("containerStatuses:");
    clues_.is_launcher |= clues_.is_pods;
    clues_.is_pasted |= HasPastedOutput(text);
    clues_.is_launcher |= std::any_of(std::begin(kLauncherWords), std::end(kLauncherWords), has);
    clues_.is_output |= std::any_of(std::begin(kOutputMarks), std::end(kOutputMarks), has);
    has_nccl_ = has(" NCCL ");
    has_heads_ |= HasRankHeads(text);
    const std::string_view first = text.substr(0, kStyleBytes);
    starts_.stamps |= HasStamps(first);
    starts_.hosts |= HasHosts(first, starts_.stamps);
    if (heads_.empty()) heads_ = FindForeignHeads(text, starts_);
    has_ranks_ = has("rank") || has("Rank") || has("RANK");
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = text.substr(at, end - at);
      at = end + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) ReadLine(line.substr(0, kLongestLine));
    }
  }

  TextClues Finish() {
    // A label counts as one only when nearly every line has it.
    bool labelled = lines_ >= 3 && task_lines_ * 10 >= lines_ * 8;
    if (labelled && tasks_.size() == 1) ranks_.insert(*tasks_.begin());
    clues_.is_labelled =
        local_labels_.size() > 1 || (labelled && tasks_.size() > 1) || containers_.size() > 1;
    clues_.several = clues_.is_labelled || ranks_.size() > 1;
    clues_.ranks.assign(ranks_.begin(), ranks_.end());
    if (said_.size() == 1 && !is_about_ranks_) clues_.said_rank = *said_.begin();
    if (called_.size() == 1) clues_.said_rank = *called_.begin();
    if (pids_.size() == 1) clues_.pid = *pids_.begin();
    if (pids_.size() != 1) clues_.host.clear();
    SettleLauncher();
    SettleGroups();
    clues_.world_size = std::max(clues_.world_size, connected_size_);
    if (connected_.size() == 1) clues_.connected_rank = *connected_.begin();
    SettleRestarts();
    clues_.is_output |= !ranks_.empty() || clues_.is_launcher || clues_.start_ns != kNone64;
    return std::move(clues_);
  }

 private:
  static constexpr size_t kLongestLine = 2000;
  static constexpr size_t kStyleBytes = 8192;  // enough to see what every line begins with

  void ReadLine(std::string_view line) {
    ++lines_;
    line = TakeContainerLabels(TakeStarts(line));
    PeeledLine whole{.text = line};
    if (TakeForeignHead(whole, heads_)) line = whole.text;
    if (int32_t task = TaskLabelOf(line); task != kNone32) {
      ++task_lines_;
      if (tasks_.size() < kMostTold) tasks_.insert(task);
      line.remove_prefix(line.find(line.starts_with('[') ? ">:" : ": ") + 2);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    }
    line = TakeLabels(line);
    if (has_heads_) line = TakeHead(line);
    ReadTime(line);
    if (has_nccl_) ReadNccl(line);
    has_replicas_ |= Contains(line, " - step ") && Contains(line, "quorum_id=");
    if (clues_.is_launcher || has_ranks_) ReadLauncher(line);
    if (has_ranks_) ReadSaidRank(line);
    if (has_ranks_) ReadConnected(line);
  }

  // [2026-11-15 23:22:09,590][rank 5/8][INFO] text                            a logger
  std::string_view TakeHead(std::string_view line) {
    PeeledLine peeled{.text = line};
    if (!TakeRankHead(peeled)) return line;
    if (ranks_.size() < kMostTold) ranks_.insert(peeled.rank);
    AddTime(peeled.time_ns);
    return peeled.text;
  }

  // [2026-11-15 23:22:09] text, worker-0: text                                ts, pdsh
  std::string_view TakeStarts(std::string_view line) {
    PeeledLine peeled{.text = line};
    if (starts_.stamps && TakeStamp(peeled)) AddTime(peeled.time_ns);
    if (starts_.hosts && TakeHost(peeled) && containers_.size() < 2)
      containers_.emplace(peeled.host);
    return peeled.text;
  }

  // Nov 15 23:22:09 gpu07 trainer-rank3[4711]: text                           syslog
  std::string_view TakeSyslogLabel(std::string_view line) {
    PeeledLine peeled{.text = line};
    if (!TakeSyslogMark(peeled)) return line;
    if (containers_.size() < 2)
      containers_.emplace(peeled.host.data(),
                          static_cast<size_t>(peeled.text.data() - peeled.host.data()));
    if (peeled.rank != kNone32 && ranks_.size() < kMostTold) ranks_.insert(peeled.rank);
    if (peeled.kept) AddTime(GuessTime(*peeled.kept, now_ns_));
    AddTime(peeled.time_ns);
    return peeled.text;
  }

  // [pod/trainer-worker-3/pytorch] 2026-11-15T23:22:09.123456789Z text       kubectl logs
  // (RayTrainWorker pid=4711, ip=10.0.0.2) text                               Ray
  std::string_view TakeContainerLabels(std::string_view line) {
    line = TakeSyslogLabel(line);
    bool pod = line.starts_with("[pod/"),
         ray = line.starts_with('(') && Contains(line.substr(0, 80), "pid=");
    size_t end = pod ? line.find("] ") : ray ? line.find(") ") : std::string_view::npos;
    if (end != std::string_view::npos) {
      if (containers_.size() < 2) containers_.emplace(line.substr(0, end));
      line.remove_prefix(end + 2);
    }
    bool stamped = line.size() > 20 && line[10] == 'T' && ParseIsoTime(line) != kNone64;
    size_t blank = stamped ? line.find(' ') : std::string_view::npos;
    if (blank == std::string_view::npos || line[blank - 1] != 'Z') return line;
    ReadTime(line);
    line.remove_prefix(blank + 1);
    // A container's log on its node: "stderr F text", "stdout P the first part of one".
    const bool stream = line.starts_with("stdout ") || line.starts_with("stderr ");
    const bool marked = stream && line.size() > 8 && line[8] == ' ';
    return marked ? line.substr(9) : line;
  }

  // Of several labels the innermost is PyTorch's own and global, the others are torchrun's.
  std::string_view TakeLabels(std::string_view line) {
    for (BracketLabel label = BracketLabelOf(line); label.size != 0;) {
      line.remove_prefix(label.size);
      BracketLabel next = BracketLabelOf(line);
      if (label.word == "rank" && next.size == 0) {
        if (label.number != kNone32 && ranks_.size() < kMostTold) ranks_.insert(label.number);
      } else if (local_labels_.size() < kMostTold) {
        local_labels_.insert(label.number);
      }
      label = next;
    }
    return line;
  }

  void ReadTime(std::string_view line) {
    std::string_view from = line.starts_with('[') ? line.substr(1) : line;
    int64_t time = ParseIsoTime(from);
    bool has_level = from.size() > 12 && Contains("FEWIVCD", from.substr(0, 1));
    if (auto glog = has_level ? ParseGlogTime(from.substr(1)) : std::nullopt)
      time = GuessTime(*glog, now_ns_);
    AddTime(time);
  }

  void AddTime(int64_t time) {
    if (time == kNone64) return;
    last_time_ = time;
    clues_.start_ns = clues_.start_ns == kNone64 ? time : std::min(clues_.start_ns, time);
    clues_.end_ns = std::max(clues_.end_ns, time);
  }

  // host:pid:tid [0] NCCL INFO ncclCommInitRank comm 0x1 rank 3 nranks 8 cudaDev 3 ...
  void ReadNccl(std::string_view line) {
    size_t mark = line.find(" NCCL ");
    if (mark == std::string_view::npos) return;
    std::string_view who = line.substr(0, line.find(' '));
    size_t host_end = who.find(':');
    auto pid =
        host_end == std::string_view::npos ? std::nullopt : LeadingNumber(who.substr(host_end + 1));
    if (!pid || host_end == 0) return;
    if (pids_.size() < kMostTold) pids_.insert(*pid);
    clues_.host = std::string(who.substr(0, host_end));
    int32_t size = AsRank(NumberAfter(line, " nranks "));
    int32_t rank = AsRank(NumberAfter(line, " rank "));
    if (size == kNone32 || rank == kNone32 || rank >= size) return;
    // Ranks inside smaller groups are not global ones.
    if (size > clues_.world_size) {
      clues_.world_size = size;
      nccl_ranks_.clear();
      nccl_doubled_ = false;
    }
    if (size != clues_.world_size) return;
    if (nccl_ranks_.size() >= kMostTold) return;
    nccl_doubled_ |= nccl_ranks_.emplace(rank, *pid).first->second != *pid;
  }

  // [./gloo/transport/tcp/context.cc:243] INFO Rank 1 is connected to 3. Expected number of
  // connected peers is: 3
  void ReadConnected(std::string_view line) {
    const size_t at = line.find("] INFO Rank "), old = line.find("[Gloo] Rank ");
    if (at == std::string_view::npos && old == std::string_view::npos) return;
    if (!Contains(line, " is connected to ")) return;
    const int32_t rank = AsRank(NumberAfter(line, "] INFO Rank "));
    const int32_t peers = AsRank(LeadingNumber(line.substr(line.rfind(' ') + 1)));
    const int32_t known = rank != kNone32 ? rank : AsRank(NumberAfter(line, "[Gloo] Rank "));
    if (known == kNone32 || peers == kNone32 || peers < 1 || known > peers) return;
    if (peers + 1 > connected_size_) {
      connected_size_ = peers + 1;
      connected_.clear();
    }
    if (peers + 1 == connected_size_ && connected_.size() < 2) connected_.insert(known);
  }

  void AddProcess(int64_t pid, int32_t rank) {
    if (rank != kNone32 && clues_.processes.size() < kMostTold)
      clues_.processes.emplace_back(pid, rank);
  }

  void ReadLauncher(std::string_view line) {
    if (Contains(line, "failed (exitcode:")) failures_.push_back(last_time_);
    if (Contains(line, "will restart worker group")) clues_.restarts.push_back(last_time_);
    ReadFailureBlock(line);
    // - (node_id=.., ip=.., pid=4711) world_rank=3, local_rank=3, node_rank=0       Ray Train
    for (std::string_view key : {"Sending process ", "(pid: "})
      if (auto pid = NumberAfter(line, key); pid && launched_.size() < 2) launched_.insert(*pid);
    auto ray_pid = NumberAfter(line, " pid=");
    if (ray_pid) AddProcess(*ray_pid, AsRank(NumberAfter(line, "world_rank=")));
    int32_t first = AsRank(NumberAfter(line, "global_ranks=["));
    if (first != kNone32) clues_.first_rank = first;
  }

  //   rank      : 5 (local_rank: 1)
  //   exitcode  : -9 (pid: 1327)
  void ReadFailureBlock(std::string_view line) {
    std::string_view text = Trimmed(line);
    if (text.starts_with("rank  ")) {
      block_rank_ = AsRank(NumberAfter(text, ": "));
      int32_t local = AsRank(NumberAfter(text, "(local_rank: "));
      bool fits = block_rank_ != kNone32 && local != kNone32 && local <= block_rank_;
      if (fits) clues_.first_rank = block_rank_ - local;
    } else if (text.starts_with("exitcode  ")) {
      if (auto pid = NumberAfter(text, "(pid: ")) AddProcess(*pid, block_rank_);
      block_rank_ = kNone32;
    }
  }

  // "global rank 3", "RANK=3": what a process calls itself when it starts.
  void ReadCalledRank(std::string_view line) {
    for (std::string_view key :
         {"lobal rank ", "lobal rank: ", "lobal_rank=", "lobal_rank: ", "world_rank=", "RANK="}) {
      const size_t at = line.find(key);
      const bool inside = at != std::string_view::npos && at > 0 && key == "RANK=" &&
                          line[at - 1] != ' ' && line[at - 1] != '\t';
      if (at == std::string_view::npos || inside) continue;
      const int32_t rank = AsRank(LeadingNumber(line.substr(at + key.size())));
      if (rank != kNone32 && called_.size() < 2) called_.insert(rank);
    }
  }

  // A program's own words, unless they are about another rank's end.
  void ReadSaidRank(std::string_view line) {
    ReadCalledRank(line);
    if (int32_t rank = AsRank(NumberAfter(line, "GLOBAL_RANK: ")); rank != kNone32)
      ranks_.insert(rank);
    std::string_view text =
        line.substr(0, 5) == "[rank" || line.substr(0, 5) == "[Rank" ? line.substr(1) : line;
    bool begins = text.size() > 5 && (text.starts_with("rank") || text.starts_with("Rank")) &&
                  (text[4] == ' ' || text[4] == ':' || text[4] == '=');
    // What speaks of ranks elsewhere, too, is about the job: a table, an analysis.
    is_about_ranks_ |= Contains(text.substr(begins ? 4 : 0), "ank ") || Contains(text, "ranks");
    if (!begins) return;
    size_t digits = std::min(text.find_first_not_of(" :=", 4), text.size());
    int32_t rank = AsRank(LeadingNumber(text.substr(digits)));
    if (rank == kNone32) return;
    if (said_.size() < 2) said_.insert(rank);
    for (std::string_view word : {"crash", "exit", "fail", "died", "kill", "lost", "timed", "not "})
      is_about_ranks_ |= Contains(text, word);
  }

  // Where no communicator is of all ranks, their numbers are not ranks of the job.
  void SettleGroups() {
    const bool restarted = !failures_.empty() || !clues_.restarts.empty();
    if (nccl_doubled_ && !restarted) {
      clues_.world_size = kNone32;
      return;
    }
    for (auto [rank, pid] : nccl_ranks_) AddProcess(pid, rank);
  }

  // A launcher that speaks of one process has no other, when what it printed is of that rank, too.
  void SettleLauncher() {
    if (launched_.size() != 1 || clues_.first_rank == kNone32 || clues_.several) return;
    const bool is_alone =
        clues_.processes.size() == 1 &&
        clues_.processes.front() == std::pair(*launched_.begin(), clues_.first_rank);
    const bool fits = ranks_.empty() || *ranks_.begin() == clues_.first_rank;
    if (is_alone && fits) clues_.launched_rank = clues_.first_rank;
  }

  // The last failure ended the job, unless the launcher says that it went on.
  void SettleRestarts() {
    if (!failures_.empty()) failures_.pop_back();
    // torchft: a launcher that starts its replica group again does not start the job again.
    if (has_replicas_) failures_.clear(), clues_.restarts.clear();
    std::vector<int64_t>& all = clues_.restarts;
    all.insert(all.end(), failures_.begin(), failures_.end());
    std::erase(all, kNone64);
    std::sort(all.begin(), all.end());
    constexpr int64_t kSame = 60'000'000'000;
    auto is_same = [](int64_t a, int64_t b) { return b - a < kSame; };
    if (clues_.restarts.size() > 1 && failures_.size() < all.size())
      all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  }

  int64_t now_ns_;
  TextClues clues_;
  bool has_nccl_ = false, has_ranks_ = false;  // the text, somewhere
  bool has_heads_ = false;
  PrefixStyle starts_;              // what nearly every line begins with: a time, a host
  std::vector<std::string> heads_;  // forms of what stands before each line
  bool is_about_ranks_ = false;
  bool has_replicas_ = false;  // tags of torchft
  size_t lines_ = 0, task_lines_ = 0;
  std::set<int32_t> ranks_, tasks_, local_labels_, said_, called_;
  std::map<int32_t, int64_t> nccl_ranks_;  // of the largest communicator, and their processes
  int32_t connected_size_ = kNone32;       // of gloo's largest group, and two of its ranks
  std::set<int32_t> connected_;
  bool nccl_doubled_ = false;  // two processes are the same rank
  std::set<int64_t> pids_;
  std::set<int64_t> launched_;  // processes of which the launcher speaks; two are enough
  std::set<std::string> containers_;
  std::vector<int64_t> failures_;
  int64_t last_time_ = kNone64;
  int32_t block_rank_ = kNone32;
};

}  // namespace

int32_t TextClues::OnlyRank() const {
  if (is_launcher && !several) return launched_rank;
  if (several) return kNone32;
  if (ranks.size() == 1) return ranks.front();
  if (pid != kNone64 && processes.size() == 1 && processes.front().first == pid)
    return processes.front().second;
  return kNone32;
}

TextClues CluesOfText(std::string_view head, std::string_view tail, int64_t now_ns) {
  TextScanner scanner(now_ns);
  tail = tail.substr(std::min(tail.find('\n'), tail.size()));
  const bool wrapped = IsWrappedText(head);
  for (const std::string_view part : {head, tail}) {
    const std::string text = wrapped            ? UnwrapText(part)
                             : HasColours(part) ? WithoutColours(part)
                                                : std::string();
    scanner.Scan(wrapped || HasColours(part) ? text : part);
  }
  return scanner.Finish();
}

}  // namespace debrief
