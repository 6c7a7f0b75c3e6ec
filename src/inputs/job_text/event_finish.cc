// The end of a text: whose its lines were, and the rows that follow from all of them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "inputs/job_text/event_builder.h"
#include "inputs/job_text/line_texts.h"
#include "inputs/job_text/lines/exception_lines.h"
#include "tables/tail_line.h"

namespace debrief::inputs::job_text {

namespace {

constexpr DiagnosticKind kTooMany = {
    "job_text.too_many", Severity::kWarning,
    "the text says more than is kept of one input; the first events are kept",
    "Print less (TORCH_LOGS), or split the text."};

}  // namespace

void EventBuilder::Finish(Part& whole) {
  pools_ = &whole.pools;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    EndTraceback(i, {});
    EndFailure(i);
    EndLog(i);
  }
  AddLastError();
  AddLastEnd();
  MarkPrinted();
  EndPodEvents();
  LearnLocalRanks();
  EndServing();
  for (Event& event : events_) {
    if (event.row.rank == kNone32) event.row.rank = rows_.RankOf(streams_[event.stream].owner);
    event.row.attempt = rows_.AttemptOf(event.row.line);
  }
  CountTimes();
  AddLastLines(whole);
  WriteTails(whole);
  WriteLogs(whole);
  rows_.Write(whole);
  serving_.Write([&](const Owner& owner) { return rows_.RankOf(owner); },
                 [&](int64_t line) { return rows_.AttemptOf(line); }, whole);
  nccl_.Write([&](int64_t pid) { return rows_.RankOf({.pid = pid}); },
              [&](int64_t line) { return rows_.AttemptOf(line); }, whole);
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.row.line < b.row.line; });
  for (const Event& event : events_) whole.tables.Edit<TextEventTable>().Add(event.row);
  dropped_ += rows_.dropped() + nccl_.dropped() + records_.dropped();
  if (dropped_ > 0)
    whole.diagnostics.Add(kTooMany, who_.input, {.detail = fmt::format("{} left out", dropped_)});
}

// A text whose last line names an error, of which no event tells, ended with it; unless the program
// had said before that it came to its end. What stands above the OK of tests was expected.
void EventBuilder::AddLastError() {
  const auto last = std::ranges::max_element(streams_, {}, &Stream::last_number);
  // What ended a traceback was told there, or is no end of a process.
  const bool ends = last != streams_.end() && last->last_number != last_end_;
  if (!ends) return;
  if (IsEndOfTests(last->last_text)) {
    line_time_ns_ = kNone64;
    (void)Emit(KindOf(LineClass::kNormalEnd), static_cast<uint32_t>(last - streams_.begin()),
               last->last_number, last->last_text);
    return;
  }
  if (!IsLastError(last->last_text)) return;
  const StringId text = pools_->Intern(CutText(last->last_text));
  const StringId nccl_error = pools_->Intern(KindOf(LineClass::kNcclError));
  const StringId normal_end = pools_->Intern(KindOf(LineClass::kNormalEnd));
  const bool told = std::ranges::any_of(events_, [&](const Event& event) {
    const bool of_nccl = event.row.kind == nccl_error && IsNamedException(last->last_text);
    return (!of_nccl && (event.row.text == text || event.row.line == last->last_number)) ||
           event.row.kind == normal_end;
  });
  if (told) return;
  line_time_ns_ = kNone64;
  (void)Emit("traceback", static_cast<uint32_t>(last - streams_.begin()), last->last_number,
             last->last_text);
}

// Did a program print this exception and go on, by what stands behind it? An exception of a process
// that it started was nobody's to catch. Right behind one of the script itself ("in <module>"; who
// catches prints from there on) stands what a shell and a logger say at the end.
bool EventBuilder::WentOnBehind(const Event& event, int64_t last) {
  constexpr int64_t kLinesOfOthers = 5;
  return event.end != 0 && !event.of_child && last > event.end + (event.whole ? kLinesOfOthers : 0);
}

// Once its process group is set up, PyTorch marks what nobody catches: "[rank3]: Traceback". An
// exception without the mark was printed by the program, which went on where it printed more, and
// nothing else in its text says that it failed.
void EventBuilder::MarkPrinted() {
  const auto last = std::ranges::max_element(streams_, {}, &Stream::last_number);
  if (connected_ == 0 || last == streams_.end() || SaysFailure(last->last_text)) return;
  const StringId normal_end = pools_->Intern(KindOf(LineClass::kNormalEnd));
  const bool all = std::ranges::all_of(events_, [&](const Event& event) {
    const bool printed = event.unmarked && event.end > connected_;
    return event.row.kind == normal_end || (printed && WentOnBehind(event, last->last_number));
  });
  if (!all) return;
  for (Event& event : events_) {
    if (event.row.kind != normal_end) event.row.kind = pools_->Intern("printed");
  }
}

// What a text closes with may say that its program came to its end: then it went on from whatever
// it printed before. What it printed may stand in another text: then the line must say who ended,
// since a shell, too, says that it is done.
void EventBuilder::AddLastEnd() {
  const auto last = std::ranges::max_element(streams_, {}, &Stream::last_number);
  const bool names_itself =
      who_.rank != kNone32 && last != streams_.end() &&
      (Contains(last->last_text, "ank ") || Contains(last->last_text, "orker"));
  const bool asked = !events_.empty() || names_itself;
  if (!asked || last == streams_.end() || !IsClosingLine(last->last_text)) return;
  if (IsNormalEnd(last->last_text)) return;  // told by its words alone
  // What is no exception was not the program's to catch.
  const auto stream = static_cast<uint32_t>(last - streams_.begin());
  const bool went_on = std::ranges::all_of(events_, [&](const Event& event) {
    return event.stream != stream || WentOnBehind(event, last->last_number);
  });
  if (!went_on) return;
  line_time_ns_ = kNone64;
  (void)Emit(KindOf(LineClass::kNormalEnd), stream, last->last_number, last->last_text);
}

// Lines that carry both marks tell which rank a local rank is.
void EventBuilder::LearnLocalRanks() {
  int64_t last_marked = 0;
  for (const Stream& stream : streams_) {
    rows_.ranks().Learn(stream.owner.host, stream.owner.local_rank, stream.owner.rank);
    rows_.ranks().LearnProcess(stream.owner.pid, stream.owner.rank);
    if (stream.owner.local_rank == kNone32)
      rows_.ranks().LearnHost(stream.owner.host, stream.owner.rank);
    if (!stream.owner.IsNobody()) last_marked = std::max(last_marked, stream.last_number);
  }
  LearnNumberedHosts();
  LearnEngineRanks();
  rows_.LearnRanks(last_marked);
}

// Pods of one job are numbered: when each that tells its rank has the number of its name, at one
// distance, a pod that never told it has its number's, too.
void EventBuilder::LearnNumberedHosts() {
  std::map<std::string, std::vector<std::pair<uint32_t, int32_t>>> by_stem;  // host and number
  for (const auto& [full, host] : hosts_) {
    std::string_view name = full;
    const size_t dash = name.rfind('-');
    if (dash != std::string_view::npos && IsPodSuffix(name.substr(dash + 1)))
      name = name.substr(0, dash);
    size_t digits = name.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
    int32_t number = SmallNumberAfter(name.substr(digits), "");
    if (digits < name.size() && number != kNone32)
      by_stem[std::string(name.substr(0, digits))].emplace_back(host, number);
  }
  for (const auto& [stem, hosts] : by_stem) {
    std::set<int32_t> distances;
    size_t told = 0;
    for (auto [host, number] : hosts) {
      int32_t rank = rows_.ranks().RankOfHost(host);
      if (rank == kNone32) continue;
      distances.insert(rank - number);
      ++told;
    }
    if (told < 2 || distances.size() != 1) continue;
    for (auto [host, number] : hosts) {
      if (rows_.ranks().RankOfHost(host) == kNone32)
        rows_.ranks().LearnHost(host, number + *distances.begin());
    }
  }
}

// One per rank: marked and unmarked lines of a rank are the same rank's.
void EventBuilder::AddLastLines(Part& whole) {
  std::map<int32_t, uint32_t> last;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    int32_t rank = rows_.RankOf(streams_[i].owner);
    bool quoted = streams_[i].last_number == 0;  // it has no line of its own
    if (rank == kNone32 || quoted) continue;
    auto [entry, is_new] = last.try_emplace(rank, i);
    if (!is_new && streams_[entry->second].last_number < streams_[i].last_number) entry->second = i;
  }
  for (auto [rank, i] : last) {
    Event& event = events_.emplace_back();
    event.row = Part::RowOf<TextEventRow>(who_);
    event.row.rank = rank;
    event.row.input = who_.input;
    event.row.line = streams_[i].last_number;
    event.row.attempt = rows_.AttemptOf(event.row.line);
    event.row.time_ns = TimeOf(streams_[i].last_text);
    event.row.kind = whole.pools.Intern("last_line");
    event.row.text = whole.pools.Intern(CutText(streams_[i].last_text));
  }
}

// What makes a text large is asked of large ones, and of those that TORCH_LOGS made.
void EventBuilder::WriteLogs(Part& whole) {
  constexpr int64_t kLargeText = 1 << 20;
  if (!records_.empty() || weights_.bytes() > kLargeText) weights_.Write(who_, whole);
  records_.Write([&](uint32_t stream) { return rows_.RankOf(streams_[stream].owner); },
                 [&](int64_t line) { return rows_.AttemptOf(line); }, whole);
}

// Of a text that is of nobody and has no events, nothing is asked.
void EventBuilder::WriteTails(Part& whole) {
  for (const Stream& stream : streams_) {
    if (events_.empty() && rows_.RankOf(stream.owner) == kNone32) continue;
    for (const auto& [line, text] : stream.tail) {
      TailLineRow row = Part::RowOf<TailLineRow>(who_);
      row.rank = rows_.RankOf(stream.owner);
      row.attempt = rows_.AttemptOf(line);
      row.input = who_.input;
      row.line = line;
      row.text = whole.pools.Intern(DropHalf(text));
      whole.tables.Edit<TailLineTable>().Add(row);
    }
  }
}

}  // namespace debrief::inputs::job_text
