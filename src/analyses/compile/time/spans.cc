#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "analyses/compile/rows.h"
#include "analyses/compile/time/phases.h"
#include "model/compile/frames.h"
#include "tables/compile_metrics.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_time {

namespace {

constexpr double kNsPerSecond = 1e9;

struct Span {
  CompileSpanRow row;
  std::string_view id;
  bool has_start = false;    // `entry` is that of a dynamo_start
  bool has_metrics = false;  // the compilation came to its end
  int64_t logged_ns = kNone64;
  int64_t last_logged_ns = kNone64;
  // of the events
  size_t phases = 0;
  size_t open = 0;
  int64_t start_ns = kNone64;
  int64_t end_ns = kNone64;
  std::array<double, kAreas> areas_ns{};
  // of the metrics
  bool has_time = false;
  int64_t metrics_start_ns = kNone64;
  std::array<double, kAreas> metrics_s{};
};

double OrZero(double value) { return std::isfinite(value) ? value : 0; }

void Earliest(int64_t& time, int64_t other) {
  if (other != kNone64 && (time == kNone64 || other < time)) time = other;
}

// torch._dynamo.reset() makes ids come a second time (compilations.h): where that was logged.
struct Again {
  int64_t entry = kNone64;
  int64_t time_ns = kNone64;
};

// All that has one id in one process.
struct Known {
  std::vector<Again> again;
  std::vector<size_t> spans;  // one more than those
  bool ended = false;         // what has this id so far
};

class Collector : EntryPass {
 public:
  Collector(const Model& model, Part& part) : EntryPass(model, part) {
    for (size_t row = 0; row < entries_.size(); ++row) {
      const Step step = step_(entries_.kind[row]);
      if (step != Step::kOther) NoteStep(row, step);
    }
  }

  void AddEntries() {
    for (size_t row = 0; row < entries_.size(); ++row) {
      Span* span = Find(IdentityOf(entries_, row), entries_.life[row], entries_.compile_id[row],
                        {entries_.entry[row], entries_.time_ns[row]});
      if (span == nullptr) continue;
      if (span->row.entry == kNone64) span->row.entry = entries_.entry[row];
      Earliest(span->logged_ns, entries_.time_ns[row]);
      span->last_logged_ns = std::max(span->last_logged_ns, entries_.time_ns[row]);
      if (!span->has_start && Text(entries_.kind[row]) == "dynamo_start") AddStart(row, *span);
    }
  }

  void AddPhases(const std::vector<Phase>& phases) {
    for (const Phase& phase : phases) {
      Span* span = Find(phase.who, phase.life, phase.compile_id, {phase.entry, phase.end_ns});
      if (span == nullptr) continue;
      if (span->row.entry == kNone64) span->row.entry = phase.entry;
      ++span->phases;
      if (phase.open) ++span->open;
      Earliest(span->start_ns, phase.start_ns);
      span->end_ns = std::max(span->end_ns, phase.end_ns);
      span->areas_ns[static_cast<size_t>(phase.area)] += static_cast<double>(phase.self_ns);
    }
  }

  void AddMetrics() {
    const auto& metrics = model_.tables.Get<CompileMetricsTable>();
    EntryCursor cursor(entries_);
    for (size_t row = 0; row < metrics.size(); ++row) {
      const size_t entry = cursor.Find(metrics.input[row], metrics.entry[row]);
      const int32_t life = entry == kNoRow ? 0 : entries_.life[entry];
      Span* span = Find(IdentityOf(metrics, row), life, metrics.compile_id[row],
                        {metrics.entry[row], kNone64});
      if (span != nullptr) AddMetrics(metrics, row, *span);
    }
  }

  void Write() {
    for (Span& span : spans_) {
      Complete(span, span.row);
      part_.tables.Edit<CompileSpanTable>().Add(span.row);
    }
  }

 private:
  enum class Step : uint8_t { kOther, kStart, kMetrics };

  void NoteStep(size_t row, Step step) {
    Known* known = FindKnown(ProcessOf(entries_, row), entries_.compile_id[row]);
    if (known == nullptr) return;
    const int64_t attempt = entries_.compile_attempt[row];
    if (step == Step::kStart && known->ended && (attempt == 0 || attempt == kNone64)) {
      known->again.push_back({entries_.entry[row], entries_.time_ns[row]});
      known->ended = false;
    }
    known->ended |= step == Step::kMetrics;
  }

  // Null when the id names no compilation.
  Known* FindKnown(const Process& process, StringId id) {
    if (process == last_process_ && id == last_id_) return last_;
    last_process_ = process;
    last_id_ = id;
    const std::string_view text = WithoutAttempt(Text(id));
    last_ = text.empty() || text == "-/-" ? nullptr : &by_key_[{process, text}];
    return last_;
  }

  // What began before the id came again and ends behind that belongs to the new one.
  Span* Find(const Identity& who, int32_t life, StringId id, const Again& at) {
    const Process process(who.input, who.rank, life);
    Known* known = FindKnown(process, id);
    if (known == nullptr) return nullptr;
    const auto& again = known->again;
    auto next = std::ranges::upper_bound(again, at.entry, {}, &Again::entry);
    while (next != again.end() && at.time_ns > next->time_ns) ++next;
    const auto number = static_cast<size_t>(next - again.begin());
    if (known->spans.empty()) known->spans.resize(again.size() + 1, kNoRow);
    size_t& span = known->spans[number];
    if (span == kNoRow) {
      span = spans_.size();
      Span& made = spans_.emplace_back();
      made.row = Part::RowOf<CompileSpanRow>(who);
      made.row.input = who.input;
      made.row.life = life;
      made.id = WithoutAttempt(Text(id));
    }
    return &spans_[span];
  }

  void AddStart(size_t row, Span& span) {
    span.has_start = true;
    span.row.entry = entries_.entry[row];
    const auto frames = WithoutConvertFrame(model_.pools, entries_.stack[row]);
    if (frames.empty()) return;
    const Frame& frame = model_.pools.GetFrame(frames.front());
    SetPlace(frame.function, frame.file, frame.line, span.row);
  }

  void SetPlace(StringId function, StringId file, int32_t line, CompileSpanRow& row) {
    row.function = texts_(Text(function));
    row.file = texts_(Text(file));
    row.line = line;
  }

  void AddMetrics(const CompileMetricsTable& metrics, size_t row, Span& span) {
    const std::string_view kind = Text(metrics.kind[row]);
    if (kind.ends_with("_runtime")) return;  // of running, not of compiling
    if (kind == "compilation_metrics") {
      span.has_metrics = true;
      if (metrics.co_name[row] != StringId::kNone)
        SetPlace(metrics.co_name[row], metrics.co_filename[row], metrics.co_firstlineno[row],
                 span.row);
    }
    AddMetricTimes(metrics, row, span);
  }

  // What one part spent is told with what it called: the differences are its own.
  void AddMetricTimes(const CompileMetricsTable& metrics, size_t row, Span& span) const {
    const double codegen = OrZero(metrics.code_gen_time_s[row]);
    const double inductor = std::max(OrZero(metrics.inductor_compile_time_s[row]), codegen);
    const double backend = std::max(OrZero(metrics.backend_compile_time_s[row]), inductor);
    double whole = metrics.entire_frame_compile_time_s[row];
    if (!std::isfinite(whole) && metrics.duration_us[row] != kNone64)
      whole = static_cast<double>(metrics.duration_us[row]) / 1e6;
    if (!std::isfinite(whole)) whole = metrics.elapsed_time[row];
    span.has_time = span.has_time || std::isfinite(whole) || backend > 0;
    whole = std::max(OrZero(whole), backend);
    auto add = [&](Area area, double seconds) {
      span.metrics_s[static_cast<size_t>(area)] += seconds;
    };
    add(Area::kCodegen, codegen);
    add(Area::kInductor, inductor - codegen);
    add(Area::kAot, backend - inductor);
    add(Area::kDynamo, whole - backend);
    const double start = metrics.start_time[row];
    if (start > 0 && start < 9e9)
      Earliest(span.metrics_start_ns, static_cast<int64_t>(start * kNsPerSecond));
  }

  void Complete(const Span& span, CompileSpanRow& row) {
    row.compile_id = part_.pools.Intern(span.id);
    const bool by_events = span.phases > 0;
    std::array<double, kAreas> seconds = span.metrics_s;
    if (by_events) {
      for (size_t i = 0; i < seconds.size(); ++i) seconds[i] = span.areas_ns[i] / kNsPerSecond;
    }
    row.told_by = part_.pools.Intern(by_events ? "events" : span.has_time ? "metrics" : "nothing");
    if (by_events || span.has_time) SetSeconds(seconds, row);
    SetTimes(span, by_events, row);
    row.ended = span.open == 0 && (by_events || span.has_metrics);
  }

  static void SetSeconds(const std::array<double, kAreas>& seconds, CompileSpanRow& row) {
    auto of = [&](Area area) { return seconds[static_cast<size_t>(area)]; };
    row.seconds = 0;
    for (double part : seconds) row.seconds += part;
    row.dynamo_s = of(Area::kDynamo);
    row.aot_s = of(Area::kAot);
    row.inductor_s = of(Area::kInductor);
    row.codegen_s = of(Area::kCodegen);
    row.triton_s = of(Area::kTriton);
  }

  static void SetTimes(const Span& span, bool by_events, CompileSpanRow& row) {
    row.start_ns = span.logged_ns;
    row.end_ns = span.last_logged_ns;
    if (by_events) {
      row.start_ns = span.start_ns;
      row.end_ns = span.end_ns;
    } else if (span.metrics_start_ns != kNone64 && span.has_time && row.seconds < 9e8) {
      row.start_ns = span.metrics_start_ns;
      row.end_ns = row.start_ns + static_cast<int64_t>(row.seconds * kNsPerSecond);
    }
  }

  static Step StepOf(std::string_view kind) {
    return kind == "dynamo_start"          ? Step::kStart
           : kind == "compilation_metrics" ? Step::kMetrics
                                           : Step::kOther;
  }

  std::vector<Span> spans_;
  std::map<std::tuple<Process, std::string_view>, Known> by_key_;
  AskOnce<Step> step_{model_.pools, StepOf};
  // Where the last lookup ended.
  Process last_process_ = {kNone32, kNone32, kNone32};
  StringId last_id_ = StringId::kNone;
  Known* last_ = nullptr;
};

}  // namespace

void AddSpans(const Model& model, const std::vector<Phase>& phases, Part& part) {
  Collector collector(model, part);
  collector.AddEntries();
  collector.AddPhases(phases);
  collector.AddMetrics();
  collector.Write();
}

}  // namespace debrief::analyses::compile_time
