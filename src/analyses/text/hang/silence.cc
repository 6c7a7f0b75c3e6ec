// Who says nothing? A rank that ran into no time limit while all others did is the one they waited
// for: its host was elsewhere, or it was gone. It was gone when nobody heard of it again, neither a
// dump that all others were asked for nor a last word, and its peers lost a connection before
// anybody's time was up.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "torch/code_words.h"

namespace debrief::analyses::text_hang {

namespace {

struct FirstWork {
  const GroupWorks* group = nullptr;
  const Work* work = nullptr;
};

bool IsEarlier(const Work& a, const Work& b) {
  if (a.start_ns != b.start_ns)
    return b.start_ns == kNone64 || (a.start_ns != kNone64 && a.start_ns < b.start_ns);
  return a.rank < b.rank;
}

// Where others waited for the silent ones. A group in which fewer members speak than in others of
// its description lacks one of them: the first to wait there; otherwise the first of all.
FirstWork FirstToWait(const Scene& scene) {
  std::map<std::string_view, size_t> usual;
  for (const GroupWorks& group : scene.groups)
    usual[group.desc] = std::max(usual[group.desc], group.works.size());
  FirstWork first, lacking;
  for (const GroupWorks& group : scene.groups) {
    for (const Work& work : group.works) {
      bool lacks = group.works.size() < usual[group.desc];
      for (FirstWork* best : {&first, lacks ? &lacking : &first}) {
        if (best->work == nullptr || IsEarlier(work, *best->work)) *best = {&group, &work};
      }
    }
  }
  return lacking.work != nullptr ? lacking : first;
}

std::vector<int32_t> SilentRanks(const Talk& talk) {
  std::vector<int32_t> silent;
  for (const auto& [rank, each] : talk.ranks) {
    if (each.timeouts.empty()) silent.push_back(rank);
  }
  return silent;
}

void AddLastWords(const Scene& scene, int32_t rank, Finding& finding) {
  const RankTalk& talk = scene.talk.ranks.at(rank);
  if (talk.last_line == RankTalk::kNoRow) return;
  Evidence evidence = LineAsEvidence(scene, talk.last_line);
  evidence.text = "end of the " + evidence.text;
  finding.evidence.push_back(std::move(evidence));
}

void AddTimedOut(const Scene& scene, const FirstWork& first, Finding& finding) {
  if (first.work == nullptr) return;
  finding.groups = {ToRef(*first.group)};
  finding.op = OpInWords(first.work->op);
  finding.seq = first.work->seq;
  finding.evidence.push_back(LineAsEvidence(scene, first.work->row));
}

// The first loss of a connection, before anybody's time limit had passed: later ones come from
// watchdogs that take their processes down.
std::optional<size_t> FirstLoss(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::optional<size_t> first;
  for (const auto& [peer, talk] : scene.talk.ranks) {
    for (size_t row : talk.remote_errors) {
      int64_t when = events.time_ns[row];
      if (when == kNone64) continue;
      if (scene.talk.first_timeout_ns != kNone64 && when >= scene.talk.first_timeout_ns) continue;
      if (!first || when < events.time_ns[*first]) first = row;
    }
  }
  return first;
}

bool AllOthersWereAsked(const Talk& talk, int32_t rank) {
  return std::all_of(talk.ranks.begin(), talk.ranks.end(), [&](const auto& each) {
    return each.first == rank || !each.second.dump_signals.empty();
  });
}

// Every rank up to the highest that is known left an output.
bool AllOthersSpeak(const Talk& talk, int32_t silent) {
  int32_t next = 0;
  for (const auto& [rank, each] : talk.ranks) {
    if (rank != silent && !each.has_text) return false;
    if (rank != next++) return false;
  }
  return true;
}

// Did `rank` say anything after `when`? PyTorch's C++ logs take the seconds from one clock and
// their fraction from another, so a second is no difference.
bool SpeaksAfter(const RankTalk& talk, int64_t when) {
  constexpr int64_t kSecond = 1'000'000'000;
  return talk.last_ns != kNone64 && talk.last_ns > when + kSecond;
}

// The rank that says that it ends without having closed its groups, before the first connection was
// lost, and has no error to tell: it left while the others went on. Null when it is not one alone.
int32_t RankThatLeft(const Scene& scene, int64_t loss_ns) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  constexpr int64_t kSecond = 1'000'000'000;
  int32_t found = kNone32;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    bool quiet = talk.troubles.empty() && talk.aftermaths.empty() && talk.remote_errors.empty() &&
                 talk.timeouts.empty();
    if (!quiet || talk.left == RankTalk::kNoRow) continue;
    int64_t when = events.time_ns[talk.left];
    if (when == kNone64 || when > loss_ns + kSecond) continue;
    if (found != kNone32) return kNone32;
    found = rank;
  }
  return found;
}

Finding ExitFinding(const Scene& scene, int32_t rank, size_t loss, size_t losers) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const RankTalk& talk = scene.talk.ranks.at(rank);
  Finding finding = NewFinding(scene, "text_hang.exited");
  finding.ranks = {rank};
  bool asked = AllOthersWereAsked(scene.talk, rank) && talk.dump_signals.empty();
  finding.headline = fmt::format(
      "Rank {} exited at about {} and printed no error; rank {} lost its connection then", rank,
      TimeOfDay(events.time_ns[loss]), events.rank[loss]);
  finding.evidence.push_back(LineAsEvidence(scene, loss));
  AddLastWords(scene, rank, finding);
  AddTimedOut(scene, FirstToWait(scene), finding);
  finding.confidence = asked ? 0.8 : 0.6;
  finding.why = fmt::format(
      "its output ends before the connection was lost, without traceback or timeout; {} other "
      "rank{} lost a connection before any timeout; no exit code is reported{}",
      losers, losers == 1 ? "" : "s",
      asked ? "; of all ranks it alone does not answer the call for a dump" : "");
  finding.next_step =
      "Look for its exit code in the launcher's log and for a kill in the kernel log of its "
      "machine "
      "(dmesg: out of memory), and at calls that end a process (sys.exit, os._exit).";
  return finding;
}

// A rank without an output says nothing for another reason. False when all are such; then one may
// be left: the only rank of the job that has no output.
bool KeepThoseWithText(const Talk& talk, std::vector<int32_t>& silent) {
  auto with_text = silent;
  std::erase_if(with_text, [&](int32_t rank) { return !talk.ranks.at(rank).has_text; });
  bool any = !with_text.empty();
  if (any || silent.size() > 1) silent = std::move(with_text);
  return any;
}

// A silent rank that tells, asked for a dump or when its heart stopped, how far it came in a group
// in which others wait for more.
struct Behind {
  int32_t rank = kNone32;
  size_t row = 0;
  int64_t last_enqueued = kNone64;
  FirstWork waits;
};

std::vector<Behind> FindBehind(const Scene& scene, const std::vector<int32_t>& silent) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::vector<Behind> behind;
  for (int32_t rank : silent) {
    Behind found;
    for (size_t row : scene.talk.ranks.at(rank).counters) {
      std::string_view name = scene.model.pools.Text(events.group_name[row]);
      for (const GroupWorks& group : scene.groups) {
        bool lacks = group.name == name && !group.works.empty() &&
                     group.works.front().seq > events.last_enqueued[row];
        if (lacks && found.rank == kNone32)
          found = {rank, row, events.last_enqueued[row], {&group, &group.works.front()}};
      }
    }
    if (found.rank != kNone32) behind.push_back(found);
  }
  return behind;
}

std::string TimeoutsInWords(const std::vector<int32_t>& ranks, const FirstWork& first) {
  std::string text = RanksInWords(ranks) + " timed out";
  if (first.work == nullptr) return text;
  return text + fmt::format(", first rank {} in {}", first.work->rank,
                            WorkInWords(*first.group, *first.work));
}

// A launcher lists every process that failed or that it had to stop. Who is not in the list had
// ended before, without an error, while the others still waited for it.
bool FindUnlisted(const Scene& scene, std::vector<Finding>& findings) {
  const Talk& talk = scene.talk;
  if (talk.listed.size() < 2) return false;
  std::vector<int32_t> unlisted;
  for (const auto& [rank, each] : talk.ranks) {
    bool inside = rank < talk.listed.back() + 2;  // ranks of other nodes have lists of their own
    bool listed = std::binary_search(talk.listed.begin(), talk.listed.end(), rank);
    if (!listed && inside && !each.end.stopped && each.timeouts.empty()) unlisted.push_back(rank);
  }
  if (unlisted.empty() || unlisted.size() * 2 >= talk.listed.size()) return false;
  Finding finding = NewFinding(scene, "text_hang.exited");
  finding.ranks = unlisted;
  finding.headline =
      fmt::format("{} ended early without an error; the launcher lists all others as failed",
                  RanksAsSubject(unlisted));
  for (int32_t rank : talk.listed) {
    const Rows& rows = talk.ranks.at(rank).end.rows;
    if (!rows.empty() && finding.evidence.size() < 2)
      finding.evidence.push_back(ExitAsEvidence(scene, rows.back()));
  }
  AddLastWords(scene, unlisted.front(), finding);
  AddTimedOut(scene, FirstToWait(scene), finding);
  AddContext(scene, unlisted.front(), finding);
  finding.confidence = 0.7;
  finding.why = "a launcher does not list a process that ended with code 0 as failed";
  finding.next_step =
      "Look for what makes this rank leave its loop before the others: fewer batches, a return, "
      "sys.exit(0).";
  findings.push_back(std::move(finding));
  return true;
}

}  // namespace

void FindExit(const Scene& scene, std::vector<Finding>& findings) {
  if (FindUnlisted(scene, findings)) return;
  std::vector<int32_t> silent = SilentRanks(scene.talk);
  std::erase_if(silent, [&](int32_t rank) {
    const RankTalk& talk = scene.talk.ranks.at(rank);
    bool unknown = !talk.has_text && !scene.talk.with_errors.contains(rank);
    return unknown || !talk.remote_errors.empty() || !talk.troubles.empty() || talk.teardown ||
           !talk.suspicions.empty() || talk.end.stopped;
  });
  std::optional<size_t> loss = FirstLoss(scene);
  if (!loss) return;
  int64_t when = scene.model.tables.Get<TextEventTable>().time_ns[*loss];
  auto losers = std::count_if(scene.talk.ranks.begin(), scene.talk.ranks.end(),
                              [](const auto& each) { return !each.second.remote_errors.empty(); });
  if (int32_t left = RankThatLeft(scene, when); left != kNone32) {
    findings.push_back(ExitFinding(scene, left, *loss, static_cast<size_t>(losers)));
    findings.back().evidence.push_back(LineAsEvidence(scene, scene.talk.ranks.at(left).left));
    return;
  }
  std::erase_if(silent, [&](int32_t rank) { return SpeaksAfter(scene.talk.ranks.at(rank), when); });
  if (FindLostNode(scene, silent, *loss, findings)) return;
  // Several that say nothing more, or ranks without an output: any of them may be the one.
  if (silent.size() != 1 || !AllOthersSpeak(scene.talk, silent.front())) return;
  findings.push_back(ExitFinding(scene, silent.front(), *loss, static_cast<size_t>(losers)));
}

namespace {

// Who ran into no time limit while more others did: those that are behind, if any says so.
struct Silence {
  std::vector<int32_t> ranks;
  std::vector<int32_t> timed_out;
  std::vector<Behind> behind;
  bool has_text = false;
};

// A rank that speaks of a lost connection was there. When one alone says nothing of the kind, it is
// the one that was not.
void KeepTheOnlyQuiet(const Talk& talk, std::vector<int32_t>& silent) {
  std::vector<int32_t> quiet = silent;
  std::erase_if(quiet, [&](int32_t rank) {
    const RankTalk& each = talk.ranks.at(rank);
    return !each.remote_errors.empty() || !each.aftermaths.empty() || each.teardown;
  });
  if (quiet.size() == 1) silent = std::move(quiet);
}

// Of two ranks the one that gave up a call of gloo waited for the other one, which was there: it
// left a text, or the launcher had to stop it. Works of NCCL are compared elsewhere.
bool IsTheOtherOfTwo(const Scene& scene, const Silence& silence) {
  const bool of_two = scene.groups.empty() && scene.talk.ranks.size() == 2 &&
                      silence.ranks.size() == 1 && silence.timed_out.size() == 1;
  if (!of_two) return false;
  const RankTalk& other = scene.talk.ranks.at(silence.ranks.front());
  return other.remote_errors.empty() && other.aftermaths.empty() &&
         (other.has_text || other.end.stopped);
}

Silence FindSilence(const Scene& scene) {
  Silence silence{
      .ranks = SilentRanks(scene.talk), .timed_out = scene.talk.RanksThatTimedOut(), .behind = {}};
  silence.has_text = KeepThoseWithText(scene.talk, silence.ranks);
  KeepTheOnlyQuiet(scene.talk, silence.ranks);
  const bool more_wait = silence.ranks.size() < silence.timed_out.size();
  if (silence.timed_out.empty() || (!more_wait && !IsTheOtherOfTwo(scene, silence)))
    silence.ranks.clear();
  silence.behind = FindBehind(scene, silence.ranks);
  if (silence.behind.empty()) return silence;
  silence.ranks.clear();
  for (const Behind& each : silence.behind) silence.ranks.push_back(each.rank);
  return silence;
}

// " (train.py:53)": where the call stands that gave up.
std::string SiteOfTimeout(const Scene& scene, int32_t rank) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  size_t row = scene.talk.ranks.at(rank).timeouts.front();
  std::string_view file = scene.model.pools.Text(events.file[row]);
  if (file.empty()) return {};
  return fmt::format(" ({})", debrief::CodeInWords("", file, events.file_line[row]));
}

void AddFirstTimeout(const Scene& scene, int32_t rank, Finding& finding) {
  finding.evidence.push_back(LineAsEvidence(scene, scene.talk.ranks.at(rank).timeouts.front()));
}

Finding SilentFinding(const Scene& scene, const Silence& silence) {
  const std::vector<int32_t>& silent = silence.ranks;
  FirstWork first = silence.behind.empty() ? FirstToWait(scene) : silence.behind.front().waits;
  Finding finding = NewFinding(scene, "text_hang.silent");
  if (silence.behind.empty() && first.work == nullptr) {  // of gloo
    finding.headline =
        fmt::format("{} {}did not take part where {} timed out", RanksAsSubject(silent),
                    silence.has_text ? "" : "left no output and ", RanksInWords(silence.timed_out));
    finding.headline += SiteOfTimeout(scene, silence.timed_out.front());
    AddFirstTimeout(scene, silence.timed_out.front(), finding);
  } else if (silence.behind.empty()) {
    finding.headline = fmt::format("{} {}; {}", RanksAsSubject(silent),
                                   silence.has_text ? "reported no timeout" : "left no output",
                                   TimeoutsInWords(silence.timed_out, first));
  } else {
    const Behind& behind = silence.behind.front();
    finding.headline =
        fmt::format("{} did not join {} ({} last there is {}); {} timed out, rank {} first",
                    RanksAsSubject(silent), WorkInWords(*first.group, *first.work),
                    silent.size() == 1 ? "its" : "their", behind.last_enqueued,
                    RanksInWords(silence.timed_out), first.work->rank);
    finding.evidence.push_back(LineAsEvidence(scene, behind.row));
  }
  AddTimedOut(scene, first, finding);
  constexpr size_t kMostTold = 4;
  for (size_t i = 0; i < silent.size() && i < kMostTold; ++i)
    AddLastWords(scene, silent[i], finding);
  return finding;
}

}  // namespace

void FindSilent(const Scene& scene, std::vector<Finding>& findings) {
  Silence silence = FindSilence(scene);
  if (silence.ranks.size() != 1) return;
  Finding finding = SilentFinding(scene, silence);
  finding.ranks = silence.ranks;
  AddContext(scene, silence.ranks.front(), finding);
  const bool of_two = scene.talk.ranks.size() == 2;
  finding.confidence = !silence.has_text         ? 0.4
                       : !silence.behind.empty() ? 0.75
                       : of_two                  ? 0.55
                                                 : 0.65;
  finding.why = "a rank that waits reports a timeout, and one that did not join has none to report";
  finding.next_step =
      "Look at what its host was doing while the others waited: a compilation, a data loader, a "
      "checkpoint; Flight Recorder dumps would show where it was.";
  findings.push_back(std::move(finding));
}

void FindSeveralSilent(const Scene& scene, std::vector<Finding>& findings) {
  Silence silence = FindSilence(scene);
  if (silence.ranks.size() < 2) return;
  Finding finding = SilentFinding(scene, silence);
  finding.confidence = 0.5;
  finding.why =
      "several ranks did not join, and no watchdog reports what they did: they may wait for "
      "another "
      "one, for example in the set-up of a communicator";
  finding.next_step =
      "Look at the stacks of these ranks (py-spy, torch.distributed.debug) and at Flight Recorder "
      "dumps: they show for whom these ranks wait.";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang
