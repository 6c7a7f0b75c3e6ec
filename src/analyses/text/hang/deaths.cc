// Who died, and of what? The kernel, a launcher, an exit code or a signal says so; a traceback or a
// fault does when the output of its rank ends there. One that the program caught and went on from
// is none. A rank that was stopped because another had ended, or that its own watchdog took down,
// did not die of itself.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyses/text/hang/hang.h"
#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "model/headline.h"
#include "tables/input.h"
#include "torch/code_words.h"
#include "torch/remedies.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr size_t kMostDeaths = 3;    // different ones that are told
constexpr size_t kLeastText = 40;    // of an exception, in a headline
constexpr size_t kMostEvidence = 4;  // lines of one rank
constexpr int32_t kAbort = -6, kBusError = -7, kKilled = -9;

struct Death {
  bool may_follow = false;  // from the end of a peer, whose memory it used
  bool is_cut = false;      // its text ends inside of the traceback
  std::vector<int32_t> ranks;
  size_t row = RankTalk::kNoRow;      // of text_event: what tells the reason best
  size_t wrapper = RankTalk::kNoRow;  // the exception that was raised for it
  int64_t when_ns = kNone64;          // earliest
  End end;
};

// The more a kind of line says of the reason, the smaller.
int Telling(std::string_view kind) {
  constexpr std::string_view kOrder[] = {"device_assert", "out_of_memory", "traceback",
                                         "cuda_error",    "terminate",     "no_start",
                                         "signal"};
  const auto* at = std::find(std::begin(kOrder), std::end(kOrder), kind);
  return static_cast<int>(at - std::begin(kOrder));
}

std::string_view KindAt(const Scene& scene, size_t row) {
  return scene.model.pools.Text(scene.model.tables.Get<TextEventTable>().kind[row]);
}

bool IsEnd(std::string_view kind) { return kind == "exit" || kind == "signal"; }

// Its own watchdog or the end of a peer explains a code that is no fault.
bool HasAftermath(const RankTalk& talk) {
  return talk.teardown || !talk.timeouts.empty() || !talk.remote_errors.empty() ||
         !talk.aftermaths.empty() || !talk.dump_signals.empty();
}

// SIGTERM that the launcher did not send: it calls the process the first failure and stopped the
// others after it, and no scheduler ended the job.
bool WasToldAlone(const Scene& scene, const End& end) {
  const Talk& talk = scene.talk;
  if (!end.first || end.stopped || end.rows.empty()) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const auto& exits = scene.model.tables.Get<ProcessExitTable>();
  const size_t said = end.rows.front();
  const bool cancelled = std::any_of(talk.scheduler.begin(), talk.scheduler.end(), [&](size_t row) {
    return events.input[row] != exits.input[said] || events.line[row] < exits.line[said];
  });
  if (cancelled) return false;
  const auto told = std::count_if(talk.ranks.begin(), talk.ranks.end(), [](const auto& each) {
    const End& other = each.second.end;
    return other.known() && IsTold(other.exit_code) && !other.stopped;
  });
  return told == 1;
}

// The scheduler had ended the job before the launcher told of this end.
bool WasEndedFromOutside(const Scene& scene, const End& end) {
  if (end.rows.empty()) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const auto& exits = scene.model.tables.Get<ProcessExitTable>();
  const size_t said = end.rows.front();
  return std::ranges::any_of(scene.talk.scheduler, [&](size_t row) {
    const std::string_view text = scene.model.pools.Text(events.text[row]);
    return events.input[row] == exits.input[said] && events.line[row] < exits.line[said] &&
           Contains(text, " DUE TO ") && !Contains(text, "DUE TO TASK FAILURE");
  });
}

// Did a process that ended with this code do so by itself? `talk` is what its rank printed.
bool EndedByItself(const Scene& scene, int32_t rank, const RankTalk& each, const End& end) {
  const Talk& talk = scene.talk;
  int32_t code = end.exit_code;
  if (end.by_kernel) return true;
  if (!end.known() || code == 0) return false;
  if (IsTold(code)) return WasToldAlone(scene, end);
  if (code == kAbort) return !HasAftermath(each) && talk.OutputIsKnown(rank);
  // Ray sees that a process is gone, not what ended it: that may be its own watchdog.
  if (code == kKilled) return !end.stopped && (end.said_by != "ray" || !HasAftermath(each));
  if (code < 0) return true;
  if (WasEndedFromOutside(scene, end)) return false;
  const bool in_setup = code == 1 && !talk.OutputIsKnown(rank) && SomebodyFailedInSetup(scene);
  return !HasAftermath(each) && !in_setup && (!end.stopped || end.first);
}

// An exception that nobody caught ends its process, also where that takes so long that the watchdog
// speaks first: the interpreter waits for work that its peers never join.
bool IsUncaught(const Scene& scene, const RankTalk& talk, const End& end, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  if (!end.raised.contains({events.input[row], events.line[row]})) return false;
  bool after_timeout = std::any_of(talk.timeouts.begin(), talk.timeouts.end(), [&](size_t timeout) {
    return events.input[timeout] == events.input[row] && events.line[timeout] < events.line[row];
  });
  // A bar is drawn again as its process ends: with the code of an exception it did not go on.
  const bool ended = end.first && end.exit_code == 1 && !end.stopped;
  return !after_timeout && (ended || !talk.WentOn(events.input[row], events.line[row]));
}

// The line of text_event that says best why; none when no line does.
size_t BestReason(const Scene& scene, const RankTalk& talk, const End& end) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  bool ended = end.known() && end.exit_code != 0 && !IsTold(end.exit_code) &&
               (end.exit_code > 0 || !HasAftermath(talk));
  // Whom its launcher saw end well has caught what its output ends with.
  if (end.known() && end.exit_code == 0 && end.said_by != "rank") return RankTalk::kNoRow;
  // What ended the process before what ended a thread; then what nobody caught; of one exception
  // that was raised again, where the program's own line is.
  auto weight = [&](size_t row) {
    return std::tuple(events.of_thread[row] != 0, Telling(KindAt(scene, row)),
                      !end.raised.contains({events.input[row], events.line[row]}),
                      !IsUserFile(scene.model.pools.Text(events.file[row])));
  };
  size_t best = RankTalk::kNoRow;
  for (size_t row : talk.troubles) {
    std::string_view kind = scene.model.pools.Text(events.kind[row]);
    if (IsEnd(kind) && events.file[row] == StringId::kNone) continue;
    // An exit code makes the last traceback the reason, wherever it stands; but not one after which
    // the program went on.
    bool fatal = ended ? !talk.WentOn(events.input[row], events.line[row])
                       : talk.timeouts.empty() && EndsOutput(scene, talk, row);
    if (!fatal && !IsUncaught(scene, talk, end, row)) continue;
    if (best == RankTalk::kNoRow || weight(row) < weight(best)) best = row;
  }
  return best;
}

// The only reason in a text of all ranks that does not tell whose it is: an import that failed
// before PyTorch could mark the output, an argument that the program does not know.
size_t ReasonOfNobody(const Scene& scene, const End& end) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const Talk& talk = scene.talk;
  const bool aborted = end.exit_code == kAbort;
  if (!end.known() || (end.exit_code <= 0 && !aborted)) return RankTalk::kNoRow;
  std::set<std::tuple<StringId, StringId, int32_t>> different;
  size_t found = RankTalk::kNoRow;
  for (size_t row : talk.nobody.troubles) {
    std::string_view kind = KindAt(scene, row);
    const std::string_view text = scene.model.pools.Text(events.text[row]);
    if (kind == "traceback" && (text.starts_with(' ') || text.starts_with("Traceback")))
      continue;  // lines of another process stand in it
    const bool raises = kind == "traceback" || kind == "no_start" || kind == "out_of_memory";
    bool tells = (aborted ? kind == "terminate" : raises) && events.of_thread[row] == 0 &&
                 EndsOutput(scene, talk.nobody, row);
    if (!tells) continue;
    size_t root = RootException(scene.model, row);
    // Each of them names another GPU.
    const bool memory = Contains(scene.model.pools.Text(events.text[root]), "out of memory");
    if (found == RankTalk::kNoRow) found = row;
    if (memory) {
      different.insert({StringId::kNone, StringId::kNone, kNone32});
      continue;
    }
    different.insert({events.text[root], events.file[root], events.file_line[root]});
  }
  return different.size() == 1 ? found : RankTalk::kNoRow;
}

// An exit or a signal that only a line of its own output tells.
End EndOf(const Scene& scene, const RankTalk& talk) {
  End end = talk.end;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : talk.troubles) {
    if (end.known() && end.exit_code != 0) break;
    bool tells =
        IsEnd(scene.model.pools.Text(events.kind[row])) && events.exit_code[row] != kNone32;
    if (tells) end.exit_code = events.exit_code[row];
  }
  return end;
}

// A text that ends inside of a traceback has its last line in place of the exception; what a native
// library prints may be indented.
bool IsCut(std::string_view kind, std::string_view text) {
  const bool inside = text.starts_with(' ') || text.starts_with("Traceback");
  return text.empty() || (inside && kind != "terminate");
}

bool FindDeath(const Scene& scene, int32_t rank, const RankTalk& talk, Death& death) {
  death.ranks = {rank};
  death.end = EndOf(scene, talk);
  death.row = BestReason(scene, talk, death.end);
  const bool may_abort = death.end.exit_code == kAbort && death.end.first && !HasAftermath(talk);
  if (death.row == RankTalk::kNoRow && (may_abort || EndedByItself(scene, rank, talk, death.end)))
    death.row = ReasonOfNobody(scene, death.end);
  if (death.row != RankTalk::kNoRow) {
    death.wrapper = death.row;
    death.row = RootException(scene.model, death.row);
  }
  const auto& events = scene.model.tables.Get<TextEventTable>();
  if (death.row != RankTalk::kNoRow) {
    death.when_ns = events.time_ns[death.row];
    death.is_cut = IsCut(KindAt(scene, death.row), scene.model.pools.Text(events.text[death.row]));
    death.may_follow =
        Contains(scene.model.pools.Text(events.text[death.row]), "Invalid access of peer GPU");
  }
  if (death.when_ns == kNone64) death.when_ns = death.end.time_ns;
  // A reason of its own counts even where the launcher had to stop the process afterwards.
  return death.row != RankTalk::kNoRow || EndedByItself(scene, rank, talk, death.end);
}

// The row whose place is shown: a library may have raised what the program called for, and then the
// exception that was raised for it has the program's line.
size_t PlacedRow(const Scene& scene, const Death& death) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  auto is_of_user = [&](size_t row) {
    return row != RankTalk::kNoRow && IsUserFile(scene.model.pools.Text(events.file[row]));
  };
  return !is_of_user(death.row) && is_of_user(death.wrapper) ? death.wrapper : death.row;
}

std::string Site(const Scene& scene, const Death& death) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const size_t row = PlacedRow(scene, death);
  const std::string_view file = scene.model.pools.Text(events.file[row]);
  if (file.empty()) return {};
  return " at " + debrief::CodeInWords("", file, events.file_line[row]);
}

// The exception; an output that ends inside of a traceback does not name it.
// ".../IndexKernel.cu:16: gather: block: [2,0,0], thread: [0,0,0] Assertion `i < n` failed." begins
// with where each thread stood.
std::string Reason(std::string_view kind, std::string_view text) {
  const size_t assertion = text.find("Assertion `");
  if (kind == "device_assert" && assertion != std::string_view::npos)
    return "a device-side assert: " + Reason({}, text.substr(assertion));
  if (IsCut(kind, text)) return "an exception that its output no longer names,";
  return std::string(Trimmed(ExceptionInWords(text)));
}

// "died with ValueError: bad batch at train.py:71 (exit code 1)", so that it fits the headline. The
// exit code goes first, then the name of an exception that says nothing, then the place, which is
// also in the next step; a text that is too long by itself is cut and keeps its place.
std::string DiedWith(std::string_view opening, const std::string& reason, const std::string& site,
                     const std::string& end, size_t room) {
  constexpr std::string_view kDied = "died: ";
  const std::string bare(WithoutPlainName(WaysToSay(reason).back()));
  const size_t whole = room;
  room -= std::min(room, opening.size());
  for (const std::string& behind : {site + end, site, std::string()}) {
    for (const std::string& text : WaysToSay(reason)) {
      if (TextWidth(text) + TextWidth(behind) <= room)
        return fmt::format("{}{}{}", opening, text, behind);
    }
    const bool fits = kDied.size() + TextWidth(bare) + TextWidth(behind) <= whole;
    if (fits && bare.size() < reason.size() && behind.size() <= site.size())
      return fmt::format("{}{}{}", kDied, bare, behind);
  }
  const std::string& text = bare;
  if (bare.size() < WaysToSay(reason).back().size()) opening = kDied;
  room = whole - std::min(whole, opening.size());
  const std::string alone = CutReason(text, std::max(room, kLeastText));
  const std::string beside =
      CutReason(text, std::max(room - std::min(room, TextWidth(site)), kLeastText));
  // Another whole sentence ("Tried to allocate 2.00 GiB") says more than the place.
  const bool is_more = !alone.ends_with("...") && alone.size() > beside.size();
  return is_more ? fmt::format("{}{}", opening, alone)
                 : fmt::format("{}{}{}", opening, beside, site);
}

// " (exit code 1)", " (SIGABRT, signal 6)".
std::string InBrackets(int32_t code) {
  if (code >= 0) return fmt::format(" ({})", CodeInWords(code));
  return fmt::format(" ({}, signal {})", SignalName(-code), -code);
}

// torchrun may write what its ranks print into other files than its own text, and 1 is the code of
// every exception.
bool IsErrorElsewhere(const Scene& scene, const Death& death) {
  return death.row == RankTalk::kNoRow && death.end.exit_code == 1 &&
         death.end.said_by == "torchrun" && !scene.talk.OutputIsKnown(death.ranks.front());
}

// What `death` did, in at most `room` columns where texts of the input make it long.
std::string DeathInWords(const Scene& scene, const Death& death, size_t room) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  int32_t code = death.end.exit_code;
  const std::string_view was = death.ranks.size() == 1 ? "was" : "were";
  if (death.end.by_kernel && code == kKilled)
    return fmt::format("{} killed by the kernel: out of memory (SIGKILL, signal 9)", was);
  if (death.end.by_memory && code == kKilled)
    return fmt::format("{} killed: out of memory (SIGKILL, signal 9), as {} reports", was,
                       death.end.said_by);
  std::string_view kind =
      death.row == RankTalk::kNoRow ? "" : scene.model.pools.Text(events.kind[death.row]);
  std::string site = death.row == RankTalk::kNoRow ? "" : Site(scene, death);
  if (death.row == RankTalk::kNoRow || kind == "signal") {
    if (IsErrorElsewhere(scene, death))
      return fmt::format("exited with code 1; no error output of {} is here",
                         death.ranks.size() == 1 ? "it" : "them");
    if (code >= 0) return fmt::format("exited with code {} and printed no error", code);
    if (IsTold(code))
      return fmt::format("{} ended by {}, which the launcher did not send", was, CodeInWords(code));
    if (death.end.said_by == "ray" && code == kKilled)
      return "is gone: Ray reports that its worker process died (SYSTEM_ERROR)";
    return fmt::format("{} by {}{}", code == kKilled ? fmt::format("{} killed", was) : "died",
                       CodeInWords(code), site);
  }
  bool told = code != kNone32 && code != 0 && death.end.said_by != "rank";
  const std::string_view opening = kind == "no_start" ? "did not start: " : "died with ";
  return DiedWith(opening, Reason(kind, scene.model.pools.Text(events.text[death.row])), site,
                  told ? InBrackets(code) : "", room);
}

// Saving and loading of checkpoints raises on all ranks what happened on some: "CheckpointException
// ranks:dict_keys([2])". Empty when the text names nobody.
std::vector<int32_t> NamedRanks(std::string_view text) {
  constexpr std::string_view kBegin = "CheckpointException ranks:dict_keys([";
  const size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return {};
  std::vector<int32_t> ranks;
  const char* next = text.data() + begin + kBegin.size();
  const char* end = text.data() + text.size();
  while (next < end && *next != ']') {
    int32_t rank = 0;
    auto [behind, error] = std::from_chars(next, end, rank);
    if (error == std::errc()) ranks.push_back(rank);
    next = error == std::errc() ? behind : next + 1;
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// The first to die comes first: whom the kernel ended, who was dead when the launcher began to stop
// the others, whom it names the first, the earliest; without times the rarest, since what all ranks
// say is rarely where it began.
bool IsBefore(const Death& a, const Death& b) {
  auto order = [](const Death& death) {
    return std::tuple(!death.end.by_kernel, death.is_cut, death.may_follow, death.end.stopped,
                      !death.end.first);
  };
  if (order(a) != order(b)) return order(a) < order(b);
  bool both = a.when_ns != kNone64 && b.when_ns != kNone64;
  if (both && a.when_ns != b.when_ns) return a.when_ns < b.when_ns;
  if (a.ranks.size() != b.ranks.size()) return a.ranks.size() < b.ranks.size();
  return a.ranks < b.ranks;
}

// "<function f at 0x7f36>" has another address in every process.
std::string WithoutAddresses(std::string_view text) {
  constexpr std::string_view kOpen = "0x", kDigits = "0123456789abcdefABCDEF";
  std::string result;
  for (size_t at = text.find(kOpen); at != std::string_view::npos; at = text.find(kOpen)) {
    result += text.substr(0, at + kOpen.size());
    text.remove_prefix(at + kOpen.size());
    text.remove_prefix(std::min(text.find_first_not_of(kDigits), text.size()));
  }
  return result.append(text);
}

// Ranks that died of one thing are one death.
std::vector<Death> CollectDeaths(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  using What = std::tuple<std::string, StringId, int32_t, int32_t, bool>;
  std::map<What, Death> by_reason;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    Death death;
    if (!FindDeath(scene, rank, talk, death)) continue;
    bool told = death.row != RankTalk::kNoRow;
    What what{told ? WithoutAddresses(scene.model.pools.Text(events.text[death.row])) : "",
              told ? events.file[death.row] : StringId::kNone,
              told ? events.file_line[death.row] : kNone32, death.end.exit_code,
              death.end.by_kernel};
    auto [known, is_new] = by_reason.try_emplace(what, death);
    if (is_new) continue;
    Death& same = known->second;
    if (IsBefore(death, same)) {
      std::swap(same.end, death.end);
      std::swap(same.when_ns, death.when_ns);
    }
    same.ranks.push_back(rank);
  }
  std::vector<Death> deaths;
  for (auto& [reason, death] : by_reason) {
    std::vector<int32_t> named;
    if (death.wrapper != RankTalk::kNoRow)
      named = NamedRanks(scene.model.pools.Text(events.text[death.wrapper]));
    std::erase_if(named, [&](int32_t rank) { return !scene.talk.ranks.contains(rank); });
    if (!named.empty()) death.ranks = std::move(named);
    deaths.push_back(std::move(death));
  }
  std::stable_sort(deaths.begin(), deaths.end(), IsBefore);
  return deaths;
}

// The line of an exception is also what its process says of its end.
bool IsQuoted(const Scene& scene, const Death& death, size_t exit) {
  if (death.row == RankTalk::kNoRow) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const auto& exits = scene.model.tables.Get<ProcessExitTable>();
  return events.input[death.row] == exits.input[exit] && events.line[death.row] == exits.line[exit];
}

void AddEvidence(const Scene& scene, const Death& death, Finding& finding) {
  const RankTalk& talk = scene.talk.ranks.at(death.ranks.front());
  if (death.row != RankTalk::kNoRow) finding.evidence.push_back(LineAsEvidence(scene, death.row));
  if (death.wrapper != death.row) finding.evidence.push_back(LineAsEvidence(scene, death.wrapper));
  for (size_t row : talk.end.rows) {
    if (finding.evidence.size() < kMostEvidence && !IsQuoted(scene, death, row))
      finding.evidence.push_back(ExitAsEvidence(scene, row));
  }
  for (size_t row : talk.troubles) {
    bool again = row == death.row || row == death.wrapper ||
                 (IsEnd(KindAt(scene, row)) && !talk.end.rows.empty());
    if (!again && finding.evidence.size() < kMostEvidence)
      finding.evidence.push_back(LineAsEvidence(scene, row));
  }
  AddContext(scene, death.ranks.front(), finding);
}

std::string WhyOf(const Death& death) {
  if (death.end.by_kernel) return "the kernel log reports it";
  if (death.end.said_by == "rank") return "its output ends with this error";
  const bool one = death.ranks.size() == 1;
  if (!death.end.said_by.empty() && !death.end.stopped)
    return fmt::format("{} reports how {} ended{}", death.end.said_by, one ? "it" : "they",
                       !death.end.first ? ""
                       : one            ? " and names it the first failure"
                                        : " and names one of them the first failure");
  if (death.end.known()) return one ? "its exit is reported" : "their exits are reported";
  return "its output ends there; no exit code is reported";
}

// Does the line stand in a file of its rank alone?
bool IsInOwnText(const Scene& scene, size_t row) {
  const auto& inputs = scene.model.tables.Get<InputTable>();
  const int32_t input = scene.model.tables.Get<TextEventTable>().input[row];
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs.input[i] == input) return inputs.rank[i] != kNone32;
  }
  return false;
}

// What ended it is not here: it may have followed from the end or the hang of another rank, as most
// exceptions of a job do, unless all others say that they lost a connection.
bool MayHaveFollowed(const Scene& scene, const Death& death) {
  if (!IsErrorElsewhere(scene, death) && !death.is_cut) return false;
  size_t others = 0, losers = 0;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    if (std::ranges::find(death.ranks, rank) != death.ranks.end()) continue;
    ++others;
    const bool lost = !talk.remote_errors.empty() || LossOf(scene, talk) != RankTalk::kNoRow;
    losers += lost ? 1 : 0;
  }
  // Where one text of all ranks is cut, more than this traceback is missing.
  if (death.is_cut && !death.end.known() && !IsInOwnText(scene, death.row)) return true;
  return losers < others || (others > 0 && death.ranks.size() > 1);
}

std::string WhyUnsure(const Death& death) {
  return death.is_cut
             ? "the text ends inside of its traceback: what it says may follow from another rank"
             : "the error output of the ranks is not here: that exit code may follow from another "
               "rank's end";
}

// Where to look for the reason that `death.row` tells.
std::string NextByReason(const Scene& scene, const Death& death) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const std::string_view remedy = RemedyOf(scene.model.pools.Text(events.text[death.row]));
  if (!remedy.empty()) return std::string(remedy);
  const size_t placed = PlacedRow(scene, death);
  const std::string_view file = scene.model.pools.Text(events.file[placed]);
  if (file.empty()) return "Read the traceback in its output, around the line of the evidence.";
  return fmt::format("Look at {}; the traceback in its output shows how it got there.",
                     debrief::CodeInWords("", file, events.file_line[placed]));
}

std::string NextOf(const Scene& scene, const Death& death) {
  if (death.end.by_kernel || death.end.by_memory)
    return "Give the host or the container more memory, or use less: data loader workers, pinned "
           "memory, checkpoints held in memory.";
  if (death.row != RankTalk::kNoRow) return NextByReason(scene, death);
  if (death.end.exit_code == kKilled)
    return "Look for the out-of-memory killer in the kernel log of its machine (dmesg), and for "
           "whoever sent SIGKILL: the scheduler, a memory limit of the container, a person.";
  if (IsTold(death.end.exit_code))
    return "Look for who sent the signal: a person, a script, a monitor of the node.";
  if (death.end.exit_code == kBusError)
    return "Look at the size of /dev/shm (docker --shm-size) and for files that were cut or lost "
           "while they were mapped; PYTHONFAULTHANDLER=1 prints the Python line.";
  if (death.end.exit_code < 0)
    return "Run this rank with PYTHONFAULTHANDLER=1, which prints the Python line, or look at its "
           "core dump, which has the native stack.";
  if (MayHaveFollowed(scene, death))
    return "Add the error output of the ranks (torchrun --log-dir: attempt_0/RANK/stderr.log): it "
           "says why.";
  return "Look for calls that end the process (sys.exit, os._exit) and for its error output.";
}

}  // namespace

void FindDeaths(const Scene& scene, std::vector<Finding>& findings) {
  std::vector<Death> deaths = CollectDeaths(scene);
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t i = 0; i < deaths.size() && i < kMostDeaths; ++i) {
    const Death& death = deaths[i];
    // Whoever was stopped after the first death, and has nothing to say of its own, follows from
    // it.
    if (i > 0 && death.row == RankTalk::kNoRow && death.end.stopped) continue;
    Finding finding = NewFinding(scene, "text_hang.died");
    finding.ranks = death.ranks;
    const std::string who = RanksAsSubject(death.ranks);
    const size_t room = kLongestHeadline - std::min(kLongestHeadline, who.size() + 1);
    const std::string whole = fmt::format("{} {}", who, DeathInWords(scene, death, SIZE_MAX));
    finding.headline = fmt::format("{} {}", who, DeathInWords(scene, death, room));
    const size_t placed = death.row == RankTalk::kNoRow ? death.row : PlacedRow(scene, death);
    std::string_view file =
        placed == RankTalk::kNoRow ? "" : scene.model.pools.Text(events.file[placed]);
    if (!file.empty())
      finding.source.push_back({death.ranks.front(), std::string(file), events.file_line[placed]});
    AddEvidence(scene, death, finding);
    if (whole != finding.headline)
      finding.evidence.insert(finding.evidence.begin(), {.text = whole, .table = {}, .rows = {}});
    bool sure = death.end.first || death.end.by_kernel;
    finding.confidence = i > 0 ? 0.6 : sure ? 0.95 : death.end.known() ? 0.9 : 0.8;
    finding.why = WhyOf(death);
    if (MayHaveFollowed(scene, death)) {
      finding.ranks.clear();
      finding.confidence = 0.4;
      finding.why = WhyUnsure(death);
    } else if (i > 0)
      finding.why += "; another rank died earlier, or of something that fewer ranks report";
    finding.next_step = NextOf(scene, death);
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::text_hang
