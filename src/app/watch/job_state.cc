#include "app/watch/job_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/strings.h"
#include "inputs/job_text/fields.h"
#include "inputs/job_text/lines/exits.h"
#include "inputs/job_text/lines/progress_lines.h"

namespace debrief::watch {

namespace {

using inputs::job_text::LineClass;

constexpr int32_t kMostRanks = 1 << 17;
constexpr size_t kMostEvents = 1000;  // between two looks

// Lines after which a job is broken, or about to be.
bool IsTrouble(LineClass what) {
  switch (what) {
    case LineClass::kWatchdogTimeout:
    case LineClass::kHeartbeatLost:
    case LineClass::kDumpSignal:
    case LineClass::kNcclError:
    case LineClass::kOutOfMemory:
    case LineClass::kSignal:
    case LineClass::kExit:
    case LineClass::kTraceback:
    case LineClass::kTerminate:
    case LineClass::kScheduler:
    case LineClass::kXid:
    case LineClass::kBlocked:
    case LineClass::kCudaError:
    case LineClass::kDeviceAssert:
    case LineClass::kStoreError:
    case LineClass::kDesync:
    case LineClass::kStuck:
    case LineClass::kRootCause:
    case LineClass::kErrorFile:
    case LineClass::kNoStart:
      return true;
    default:
      return false;
  }
}

// What a line of trouble is called; "" for lines that only follow from others, or that a program
// may print and go on: what they mean is for the analysis to say.
std::string_view NameOf(LineClass what) {
  switch (what) {
    case LineClass::kWatchdogTimeout:
      return "NCCL watchdog timeout";
    case LineClass::kHeartbeatLost:
      return "watchdog heartbeat lost";
    case LineClass::kNcclError:
      return "NCCL error";
    case LineClass::kOutOfMemory:
      return "out of memory";
    case LineClass::kXid:
      return "GPU fault";
    case LineClass::kCudaError:
    case LineClass::kDeviceAssert:
      return "CUDA error";
    case LineClass::kScheduler:
      return "scheduler";
    case LineClass::kSignal:
    case LineClass::kExit:
      return "exit";
    case LineClass::kStoreError:
      return "rendezvous store";
    case LineClass::kBlocked:
    case LineClass::kDesync:
    case LineClass::kStuck:
      return "stuck";
    case LineClass::kNoStart:
      return "no start";
    default:
      return "";
  }
}

// Without the head of a log record: time, file and line.
std::string_view MessageOf(std::string_view text) {
  const auto header = inputs::job_text::ParseLogHeader(text);
  return Trimmed(header ? header->message : text);
}

// Behind these lines a launcher has nothing more to say.
bool IsClosing(LineClass what, std::string_view text) {
  return what == LineClass::kRootCause || Contains(text, "ChildFailedError") ||
         (what == LineClass::kScheduler && Contains(text, "CANCELLED")) ||
         text.starts_with("srun: Terminating");
}

}  // namespace

RankState* JobState::RankOf(int32_t rank) {
  return rank < 0 || rank >= kMostRanks ? nullptr : &ranks_[rank];
}

void JobState::AddGrowth(int32_t rank, int64_t now_ns) {
  growth_ns_ = now_ns;
  all_silent_ = false;
  if (RankState* state = RankOf(rank)) {
    state->output_ns = now_ns;
    state->is_silent = false;
  }
}

void JobState::AddLine(const LineSource& source, std::string_view line, int64_t now_ns) {
  if (source.is_compile_log) return AddCompileLine(source, line);
  const PeeledLine peeled = PeelPrefixes(line, source.style);
  const int32_t rank = peeled.rank != kNone32 ? peeled.rank : source.rank;
  if (peeled.rank != kNone32) AddGrowth(rank, now_ns);
  const LineClass what = inputs::job_text::Classify(peeled.text);
  if (what == LineClass::kOther) return AddProgress(rank, peeled.text, now_ns);
  if (what == LineClass::kTorchLog) {
    const bool is_recompile =
        Contains(peeled.text, "__recompiles") && Contains(peeled.text, "Recompiling");
    RankState* state = RankOf(rank);
    if (is_recompile) ++(state == nullptr ? loose_recompiles_ : state->recompiles);
    return;
  }
  if (IsTrouble(what)) AddTrouble(what, rank, peeled.text, now_ns);
  is_closed_ |= IsClosing(what, peeled.text);
}

void JobState::AddProgress(int32_t rank, std::string_view text, int64_t now_ns) {
  constexpr double kNew = 0.2;  // share of the newest step in the smoothed time
  const auto progress = inputs::job_text::ParseProgress(text);
  if (!progress || progress->step == kNone64) return;
  last_step_ = std::max(last_step_, progress->step);
  RankState* state = RankOf(rank);
  if (state == nullptr) return;
  double seconds = 0;
  if (progress->step_time_ms == progress->step_time_ms) seconds = progress->step_time_ms / 1e3;
  if (!(seconds > 0) && state->step_ns != kNone64 && progress->step > state->step)
    seconds = static_cast<double>(now_ns - state->step_ns) / 1e9 /
              static_cast<double>(progress->step - state->step);
  if (seconds > 0)
    state->step_s = state->step_s > 0 ? state->step_s * (1 - kNew) + seconds * kNew : seconds;
  if (progress->step != state->step) state->step_ns = now_ns;
  state->step = progress->step;
}

// A second compilation of the same code: {"dynamo_start": ..., "frame_compile_id": 1, ...
void JobState::AddCompileLine(const LineSource& source, std::string_view line) {
  if (line.starts_with('\t') || !Contains(line, "\"dynamo_start\"")) return;
  const int64_t compilation = inputs::job_text::NumberAfter(line, "\"frame_compile_id\":");
  if (compilation == kNone64 || compilation < 1) return;
  const int64_t named = inputs::job_text::NumberAfter(line, "\"rank\":");
  RankState* state = RankOf(named == kNone64 ? source.rank : static_cast<int32_t>(named));
  ++(state == nullptr ? loose_recompiles_ : state->recompiles);
}

// The first of a kind is said; the watchdogs of a thousand ranks say the same.
void JobState::AddTrouble(LineClass what, int32_t rank, std::string_view text, int64_t now_ns) {
  constexpr size_t kLongest = 160;
  ++troubles_;
  trouble_ns_ = now_ns;
  if (what == LineClass::kExit || what == LineClass::kSignal) AddExit(rank, text);
  const std::string_view name = NameOf(what);
  if (name.empty() || said_[static_cast<int>(what)]++ > 0 || events_.size() >= kMostEvents) return;
  const std::string_view message = MessageOf(text);
  events_.push_back({"trouble", rank,
                     fmt::format("{}: {}{}", name, message.substr(0, kLongest),
                                 message.size() > kLongest ? "..." : "")});
}

void JobState::AddExit(int32_t rank, std::string_view text) {
  const auto exit = inputs::job_text::ParseExit(text);
  if (!exit) return;
  std::vector<int32_t> ranks = exit->ranks;
  if (ranks.empty() && rank != kNone32) ranks.push_back(rank);
  for (const int32_t each : ranks) {
    RankState* state = RankOf(each);
    if (state == nullptr || state->exit_code != kNone32) continue;
    state->exit_code = exit->exit_code == kNone32 ? -1 : exit->exit_code;
    if (events_.size() < kMostEvents)
      events_.push_back({"exit", each, fmt::format("exited with code {}", state->exit_code)});
  }
}

void JobState::AddRestart(int32_t attempt) {
  if (attempt <= attempt_) return;
  attempt_ = attempt;
  for (auto& [rank, state] : ranks_) state = RankState{.recompiles = state.recompiles};
  said_.clear();
  is_closed_ = false;
  events_.push_back({"restart", kNone32, fmt::format("attempt {} began", attempt)});
}

void JobState::Tick(int64_t now_ns) {
  if (silence_ns_ <= 0 || growth_ns_ == kNone64) return;
  if (now_ns - growth_ns_ > silence_ns_) {
    if (!std::exchange(all_silent_, true))
      events_.push_back(
          {"silence", kNone32,
           fmt::format("no output for {:.0f} s; last step {}",
                       static_cast<double>(now_ns - growth_ns_) / 1e9,
                       last_step_ == kNone64 ? "unknown" : std::to_string(last_step_))});
    return;
  }
  // One rank alone: the others went on printing.
  for (auto& [rank, state] : ranks_) {
    const bool is_silent = state.output_ns != kNone64 && state.exit_code == kNone32 &&
                           now_ns - state.output_ns > silence_ns_ &&
                           growth_ns_ - state.output_ns > silence_ns_ / 2;
    if (!is_silent || std::exchange(state.is_silent, true) || events_.size() >= kMostEvents)
      continue;
    events_.push_back({"silence", rank,
                       fmt::format("printed nothing for {:.0f} s while others did",
                                   static_cast<double>(now_ns - state.output_ns) / 1e9)});
  }
}

std::vector<Event> JobState::TakeEvents() { return std::exchange(events_, {}); }

std::vector<int32_t> JobState::Stragglers() const {
  constexpr double kMuchLonger = 1.3;
  std::vector<double> times;
  for (const auto& [rank, state] : ranks_) {
    if (state.step_s > 0) times.push_back(state.step_s);
  }
  double usual = 0;
  if (times.size() >= 3) {
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    usual = times[times.size() / 2];
  }
  std::vector<int32_t> behind;
  for (const auto& [rank, state] : ranks_) {
    const bool is_behind = state.step != kNone64 && state.step + 2 <= last_step_;
    const bool is_slow = usual > 0 && state.step_s > kMuchLonger * usual;
    if (is_behind || is_slow) behind.push_back(rank);
  }
  return behind;
}

uint64_t JobState::recompiles() const {
  uint64_t sum = loose_recompiles_;
  for (const auto& [rank, state] : ranks_) sum += state.recompiles;
  return sum;
}

size_t JobState::exits() const {
  return static_cast<size_t>(std::ranges::count_if(
      ranks_, [](const auto& each) { return each.second.exit_code != kNone32; }));
}

bool JobState::HaveAllExited() const { return !ranks_.empty() && exits() == ranks_.size(); }

}  // namespace debrief::watch
