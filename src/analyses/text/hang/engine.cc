// Servers of vLLM and SGLang. A worker that raised or was killed is found like any other rank; here
// is what remains: engines that fail in a process without a rank, workers that are gone without a
// word, and servers that wait for their workers. The same lines stand in healthy logs while a model
// is compiled or graphs are captured, so waiting counts only when nothing was served behind it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "torch/code_words.h"
#include "torch/remedies.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr size_t kMostEngineLines = 4;

// All lines of engines in the order of the texts, of any process and kind.
Rows EngineLines(const Scene& scene, std::string_view kind) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  Rows rows;
  auto add = [&](const RankTalk& talk) {
    for (size_t row : talk.engine_lines) {
      if (scene.model.pools.Text(events.kind[row]) == kind) rows.push_back(row);
    }
  };
  add(scene.talk.nobody);
  for (const auto& [rank, talk] : scene.talk.ranks) add(talk);
  std::sort(rows.begin(), rows.end());
  return rows;
}

void AddEngineLines(const Scene& scene, const Rows& rows, Finding& finding) {
  for (size_t row : rows) {
    if (finding.evidence.size() < kMostEngineLines)
      finding.evidence.push_back(LineAsEvidence(scene, row));
  }
}

// "A process raised it and did not catch it", by the lines of nobody's processes.
std::set<std::pair<int32_t, int64_t>> RaisedByNobody(const Talk& talk) {
  std::set<std::pair<int32_t, int64_t>> raised;
  for (const End& end : talk.nameless) raised.insert(end.raised.begin(), end.raised.end());
  return raised;
}

// The first of `rows` that its process says to be fatal.
std::optional<size_t> FirstFatal(const Scene& scene, const Rows& rows) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const auto raised = RaisedByNobody(scene.talk);
  for (size_t row : rows) {
    const bool fatal = raised.contains({events.input[row], events.line[row]});
    if (fatal && !scene.talk.nobody.WentOn(events.input[row], events.line[row])) return row;
  }
  return std::nullopt;
}

// The exception that ended the engine: the first fatal one, else the last one before its clients
// found it dead.
std::optional<size_t> EngineException(const Scene& scene, const Rows& dead) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const RankTalk& nobody = scene.talk.nobody;
  if (auto fatal = FirstFatal(scene, nobody.troubles)) return fatal;
  std::optional<size_t> last;
  for (size_t row : nobody.troubles) {
    const bool before = std::any_of(dead.begin(), dead.end(), [&](size_t end) {
      return events.input[end] == events.input[row] && events.line[end] > events.line[row];
    });
    if (before && !nobody.WentOn(events.input[row], events.line[row])) last = row;
  }
  return last;
}

// A process of the engine that ended because another one did not answer: nobody is blamed for it.
std::optional<size_t> GaveUpWaiting(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (const auto& [rank, talk] : scene.talk.ranks) {
    for (size_t row : talk.timeouts) {
      if (talk.end.raised.contains({events.input[row], events.line[row]})) return row;
    }
  }
  return FirstFatal(scene, scene.talk.nobody.timeouts);
}

// Seconds that lines of waiting report, of those that say them.
int64_t WaitedNs(const Scene& scene, const Rows& waits) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  int64_t sum = 0;
  for (size_t row : waits) {
    if (events.ran_ms[row] != kNone64) sum += events.ran_ms[row] * 1'000'000;
  }
  return sum;
}

// The workers that do not wait while others do: one alone is the one that is waited for.
std::vector<int32_t> NotWaiting(const Scene& scene, const Rows& waits) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::set<int32_t> waiting;
  for (size_t row : waits) {
    if (events.rank[row] != kNone32) waiting.insert(events.rank[row]);
  }
  std::vector<int32_t> others;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    if (!waiting.contains(rank) && talk.has_text) others.push_back(rank);
  }
  return waiting.empty() || others.size() != 1 ? std::vector<int32_t>() : others;
}

// Lines of waiting behind which nothing was served and the text goes on with nothing else. Before
// anything was served a long start is more likely than a hang.
Rows WaitsToTheEnd(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  Rows waits = EngineLines(scene, "engine_waits");
  std::erase_if(waits, [&](size_t row) {
    const auto& steps = scene.talk.nobody.last_steps;
    const auto served = steps.find(events.input[row]);
    return served == steps.end() || served->second > events.line[row];
  });
  return waits;
}

bool FindWatchdog(const Scene& scene, std::vector<Finding>& findings) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const Rows stuck = EngineLines(scene, "engine_stuck");
  if (stuck.empty()) return false;
  std::set<int32_t> named;
  for (size_t row : stuck) {
    if (events.rank[row] != kNone32) named.insert(events.rank[row]);
  }
  const std::vector<int32_t> ranks(named.begin(), named.end());
  Finding finding = NewFinding(scene, "text_hang.engine");
  const std::string limit =
      events.ran_ms[stuck.front()] == kNone64
          ? ""
          : fmt::format(" after {}", DurationInWords(events.ran_ms[stuck.front()] * 1'000'000));
  finding.headline = fmt::format("{}: watchdog timeout of the server{}",
                                 ranks.empty() ? "A process" : RanksAsSubject(ranks), limit);
  // TensorRT-LLM: "Hang detected on rank 0 in PyExecutor", of the rank that waits.
  constexpr std::string_view kHang = "Hang detected on rank ";
  const int64_t waits = NumberAfter(scene.model.pools.Text(events.text[stuck.front()]), kHang);
  if (waits != kNone64)
    finding.headline = fmt::format("The server hangs: rank {} waited in vain for its batch", waits);
  if (ranks.size() == 1 && waits == kNone64) finding.ranks = ranks;
  AddEngineLines(scene, stuck, finding);
  finding.confidence = ranks.size() == 1 ? 0.7 : 0.5;
  finding.why = ranks.size() == 1
                    ? "it alone reports that its batch did not end"
                    : "their batches did not end; the text does not say for which rank they waited";
  finding.next_step =
      "Read the stacks that the watchdog printed before it (py-spy), or take them of all workers: "
      "the one that stands elsewhere is waited for.";
  findings.push_back(std::move(finding));
  return true;
}

void ReportFailure(const Scene& scene, size_t row, const Rows& dead,
                   std::vector<Finding>& findings) {
  constexpr std::string_view kOpening = "The engine died with ";
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const size_t root = RootException(scene.model, row);
  const std::string_view text = scene.model.pools.Text(events.text[root]);
  const std::string_view file = scene.model.pools.Text(events.file[root]);
  const std::string place =
      file.empty() ? "" : " at " + debrief::CodeInWords("", file, events.file_line[root]);
  Finding finding = NewFinding(scene, "text_hang.engine");
  finding.headline = fmt::format(
      "{}{}{}", kOpening, FitReason(ExceptionInWords(text), kOpening.size() + place.size()), place);
  if (!file.empty()) finding.source.push_back({kNone32, std::string(file), events.file_line[root]});
  finding.evidence.push_back(LineAsEvidence(scene, root));
  if (root != row) finding.evidence.push_back(LineAsEvidence(scene, row));
  AddEngineLines(scene, dead, finding);
  finding.confidence = 0.8;
  finding.why = "its process reports it as its last error; the text does not say which rank it is";
  finding.next_step = RemedyOf(text);
  if (finding.next_step.empty())
    finding.next_step = "Read the traceback around the line that the evidence names.";
  findings.push_back(std::move(finding));
}

}  // namespace

void FindEngineFailure(const Scene& scene, std::vector<Finding>& findings) {
  const Rows dead = EngineLines(scene, "engine_dead");
  if (dead.empty() && scene.talk.nobody.engine_lines.empty()) return;
  if (const auto row = EngineException(scene, dead)) ReportFailure(scene, *row, dead, findings);
}

// What the scheduler, the kernel or a signal did says more than the engine's own words about it.
void FindWrappedFailure(const Scene& scene, std::vector<Finding>& findings) {
  const bool known = std::any_of(scene.talk.nameless.begin(), scene.talk.nameless.end(),
                                 [](const End& end) { return end.known() && end.exit_code < 0; });
  const Rows dead = EngineLines(scene, "engine_dead");
  if (known || dead.empty() || !scene.talk.scheduler.empty()) return;
  if (const auto row = FirstFatal(scene, scene.talk.nobody.aftermaths))
    ReportFailure(scene, *row, dead, findings);
}

void FindLostWorker(const Scene& scene, std::vector<Finding>& findings) {
  for (const auto& [rank, talk] : scene.talk.ranks) {
    if (!talk.end.lost || talk.end.stopped) continue;
    Finding finding = NewFinding(scene, "text_hang.engine");
    finding.ranks = {rank};
    finding.headline =
        fmt::format("Rank {} is gone: its engine reports that it died unexpectedly", rank);
    for (size_t row : talk.end.rows) finding.evidence.push_back(ExitAsEvidence(scene, row));
    AddContext(scene, rank, finding);
    finding.confidence = 0.7;
    finding.why = "the engine watches its workers; no text says what ended this one";
    finding.next_step =
        "Look for the out-of-memory killer and for GPU faults in the kernel log of its machine "
        "(dmesg), and for a core dump.";
    findings.push_back(std::move(finding));
    return;  // the others were ended after it
  }
}

void FindStuckEngine(const Scene& scene, std::vector<Finding>& findings) {
  constexpr size_t kFewestWaits = 2;
  if (FindWatchdog(scene, findings)) return;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const Rows waits = WaitsToTheEnd(scene);
  if (waits.size() < kFewestWaits) return;
  Finding finding = NewFinding(scene, "text_hang.engine");
  finding.ranks = NotWaiting(scene, waits);
  const int64_t since = events.time_ns[waits.front()];
  finding.headline = fmt::format(
      "The server hangs: nothing was served{} while it waited for {}",
      since == kNone64 ? "" : fmt::format(" after {}", TimeOfDay(since)),
      finding.ranks.empty() ? "a worker" : fmt::format("rank {}", finding.ranks.front()));
  AddEngineLines(scene, waits, finding);
  if (const int64_t waited = WaitedNs(scene, waits); waited > 0)
    finding.evidence.push_back(
        {fmt::format("{} lines of waiting, {} in all", waits.size(), DurationInWords(waited)),
         "text_event",
         {static_cast<int64_t>(waits.front())}});
  finding.confidence = finding.ranks.empty() ? 0.5 : 0.6;
  finding.why = finding.ranks.empty()
                    ? "it had served before, and no throughput is reported behind these lines"
                    : "all other workers report that they wait, and nothing is served";
  finding.next_step =
      "Take the stacks of all workers (py-spy dump --pid): the one that stands elsewhere is waited "
      "for.";
  findings.push_back(std::move(finding));
}

void FindDeadEngine(const Scene& scene, std::vector<Finding>& findings) {
  const Rows dead = EngineLines(scene, "engine_dead");
  if (dead.empty()) return;
  if (const auto row = GaveUpWaiting(scene)) return ReportFailure(scene, *row, dead, findings);
  Finding finding = NewFinding(scene, "text_hang.engine");
  finding.headline = "The engine of the server died, and its output does not say why";
  AddEngineLines(scene, dead, finding);
  finding.confidence = 0.4;
  finding.why = "its clients found it dead";
  finding.next_step =
      "Add the whole output of the server, from its start, and the kernel log of its machine.";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang
