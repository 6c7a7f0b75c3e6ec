#include "app/watch/watcher.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>

#include "base/bytes/growing_file.h"
#include "base/json/outline.h"
#include "base/json/writer.h"
#include "base/text/safe_name.h"
#include "base/text/strings.h"
#include "inputs/importer.h"
#include "inputs/jobs/name_clues.h"
#include "inputs/sniffing.h"
#include "inputs/text_clues.h"

namespace debrief::watch {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
// After the first sign of trouble the others follow, and dumps: the analysis waits until it is
// quiet, and not longer than this. Both leave time for the analysis within five seconds.
constexpr int64_t kQuietNs = kSecond;
constexpr int64_t kLongestWaitNs = 5 * kSecond / 2;
constexpr int64_t kAnalysisLimitNs = 600 * kSecond;
constexpr int64_t kLastWordsNs = 2 * kSecond;  // after the launcher's closing line

volatile std::sig_atomic_t g_stop = 0;
void AskToStop(int) { g_stop = 1; }

// The kind of input that a file's first bytes say it is; "" when nobody takes it.
std::string_view KindOfBytes(const std::string& path, std::string_view head, int64_t now_ns) {
  const auto outline = JsonOutline::Of(head);
  const SniffInput sniff{.path = path,
                         .name = FileName(path),
                         .head = head,
                         .whole = head.size() < kSniffBytes,
                         .json = outline ? &*outline : nullptr,
                         .now_ns = now_ns};
  for (const Importer* importer : AllImporters()) {
    if (!importer->info.fallback && importer->sniff(sniff).mine) return importer->info.name;
  }
  return LooksLikeText(head) && !IsNamedAsDocument(FileName(path)) ? "job_text" : "";
}

// Rank and attempt as the path tells them: rank_3/stderr.log, attempt_1/3/stdout.log.
struct PathClues {
  int32_t rank = kNone32;
  int32_t attempt = kNone32;
};

PathClues CluesOfPath(std::string_view path) {
  const NameClues name = CluesOfFile(FileName(path));
  PathClues clues{name.rank, name.attempt};
  std::string_view folder = ParentPart(path);
  for (int depth = 0; depth < 4 && !folder.empty(); ++depth) {
    const std::string_view above = ParentPart(folder);
    const FolderClues found = CluesOfFolder(LastPart(folder), LastPart(above));
    const bool is_rank = found.role == FolderRole::kRank || found.role == FolderRole::kLocalRank;
    if (is_rank && clues.rank == kNone32) clues.rank = found.number;
    if (found.role == FolderRole::kAttempt && clues.attempt == kNone32)
      clues.attempt = found.number;
    folder = above;
  }
  return clues;
}

std::optional<Severity> LevelNamed(std::string_view name) {
  if (name == "error") return Severity::kError;
  if (name == "warning") return Severity::kWarning;
  if (name == "info") return Severity::kInfo;
  return std::nullopt;
}

}  // namespace

Watcher::Watcher(const WatchOptions& options, const ReportOptions& report,
                 const GlobalOptions& global, HookProcess& hook)
    : options_(options),
      report_(report),
      global_(global),
      hook_(hook),
      line_(global.quiet),
      state_(options.silence),
      analysis_(report_, global_, kAnalysisLimitNs) {}

int64_t Watcher::SinceNs(int64_t then_ns) const {
  return then_ns == kNone64 ? INT64_MAX : now_ns_ - then_ns;
}

int Watcher::Run() {
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(each, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;  // nohup
    action.sa_handler = AskToStop;  // without SA_RESTART: waiting ends
    sigaction(each, &action, nullptr);
  }
  const auto interval_ms = static_cast<int>(options_.interval * 1000);
  std::string why;
  while (g_stop == 0) {
    now_ns_ = clock_.NowNs();
    Look();
    state_.Tick(now_ns_);
    Analyse();
    PrintEvents();
    PrintState();
    if (HasEnded(why)) return Finish(why);
    // Many changes in a row cost one look.
    if (!has_more_) wake_up_.Wait(std::min(interval_ms, 250));
    if (!has_more_) usleep(files_.size() > 4096 ? 500'000 : 50'000);
  }
  line_.Clear();
  WriteMetrics(false);
  return is_failing_ ? 3 : 0;
}

// What is printed here may go to a file of the folder, and so may the metrics, which are a new file
// each time.
void Watcher::FindOwnFiles() {
  struct stat info;
  own_files_.clear();
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(stream, &info) == 0) own_files_.insert({info.st_dev, info.st_ino});
  }
  if (!options_.prometheus.empty() && stat(options_.prometheus.c_str(), &info) == 0)
    own_files_.insert({info.st_dev, info.st_ino});
}

void Watcher::Look() {
  FindOwnFiles();
  FolderScan scan = ScanFolder(options_.folder);
  ++looks_;
  has_more_ = false;
  figures_.files = scan.files.size();
  wake_up_.Follow(scan.folders);
  for (const SeenFile& seen : scan.files) {
    if (own_files_.contains({seen.device, seen.inode})) continue;
    File& file = files_[{seen.device, seen.inode}];
    file.seen_in = looks_;
    LookAt(seen, file);
  }
  std::erase_if(files_, [&](const auto& each) { return each.second.seen_in != looks_; });
  if (scan.refused > 0 && !std::exchange(said_refused_, true))
    Print({"note", kNone32,
           fmt::format("{} links lead out of the folder and are not followed", scan.refused)});
}

void Watcher::Recognise(const SeenFile& seen, File& file) {
  const bool may_tell_more = file.sniffed < kSniffBytes && seen.bytes > file.sniffed;
  const bool is_open = file.kind.empty() || (file.kind == "job_text" && file.sniffed < 4096);
  if (!may_tell_more || !is_open) return;
  const std::string head = ReadFirstBytes(seen.path, kSniffBytes);
  file.sniffed = head.size();
  file.kind = KindOfBytes(seen.path, head, now_ns_);
  const PathClues clues = CluesOfPath(seen.path);
  file.source.rank = clues.rank;
  file.source.is_compile_log = file.kind == "torch_trace";
  if (clues.attempt != kNone32) state_.AddRestart(clues.attempt);
  if (file.kind != "job_text") return;
  file.source.style = DetectPrefixStyle(head);
  if (file.source.rank == kNone32) file.source.rank = CluesOfText(head, "", now_ns_).OnlyRank();
}

// What an analysis would see in it is more than its lines: dumps, stacks, answers of NCCL RAS.
bool Watcher::IsEvidence(const File& file) const {
  return file.kind == "flight_recorder" || file.kind == "fr_trace_text" ||
         file.kind == "nccl_ras" || file.kind == "process_stacks" || file.kind == "memory_snapshot";
}

void Watcher::LookAt(const SeenFile& seen, File& file) {
  const bool is_same =
      !file.is_new && file.bytes == seen.bytes && file.changed_ns == seen.changed_ns;
  if (is_same) return;
  Recognise(seen, file);
  const bool is_text = file.kind == "job_text" || file.kind == "torch_trace";
  if (is_text) {
    const auto growth = file.text.Read(
        seen, [&](std::string_view line) { state_.AddLine(file.source, line, now_ns_); });
    now_ns_ = clock_.NowNs();  // reading may have taken long
    figures_.bytes_read += growth.bytes;
    if (growth.was_truncated)
      Print({"note", file.source.rank, Printable(seen.path) + " was truncated"});
    if (growth.bytes > 0) state_.AddGrowth(file.source.rank, now_ns_);
    has_more_ |= growth.has_more;
    file.is_new = growth.has_more;
  } else {
    if (seen.bytes > 0) state_.AddGrowth(kNone32, now_ns_);
    if (IsEvidence(file)) {
      evidence_ns_ = now_ns_;
      if (first_evidence_ns_ == kNone64) first_evidence_ns_ = now_ns_;
    }
    file.is_new = false;
  }
  file.bytes = seen.bytes;
  file.changed_ns = seen.changed_ns;
}

void Watcher::Print(const Event& event) {
  line_.Clear();
  StdoutSink sink;
  if (global_.json) {
    std::string text;
    JsonWriter json(&text);
    json.BeginObject().Field("time_ns", now_ns_).Field("event", event.kind);
    if (event.rank != kNone32) json.Field("rank", event.rank);
    json.Field("text", event.text).EndObject();
    return sink.Write(text + "\n");
  }
  const std::string who = event.rank == kNone32 ? "" : fmt::format("rank {}: ", event.rank);
  sink.Write(fmt::format("{:8} {}{}\n", event.kind, who, event.text));
}

void Watcher::PrintEvents() {
  for (const Event& event : state_.TakeEvents()) {
    Print(event);
    if (event.kind == "restart") continue;
    evidence_ns_ = now_ns_;
    if (first_evidence_ns_ == kNone64) first_evidence_ns_ = now_ns_;
  }
}

void Watcher::PrintState() {
  figures_.now_ns = now_ns_;
  line_.Show(StatusText(state_, figures_));
  const auto interval_ns = static_cast<int64_t>(options_.interval * kSecond);
  if (SinceNs(metrics_ns_) >= interval_ns) WriteMetrics(true);
}

void Watcher::WriteMetrics(bool is_running) {
  if (options_.prometheus.empty()) return;
  metrics_ns_ = now_ns_;
  figures_.now_ns = now_ns_;
  figures_.is_running = is_running;
  if (Status written = WriteFileAtomically(options_.prometheus, MetricsText(state_, figures_));
      !written.ok())
    PrintError(written);
}

bool Watcher::NeedsAnalysis() const {
  if (analysis_.is_running() || first_evidence_ns_ == kNone64) return false;
  // A job that goes on complaining is looked at less and less often.
  constexpr int64_t kApart = 5 * kSecond;
  if (was_analysed_ && SinceNs(analysed_ns_) < kApart)
    return SinceNs(evidence_ns_) >= kQuietNs && SinceNs(analysed_ns_) >= kSecond;
  return SinceNs(evidence_ns_) >= kQuietNs || SinceNs(first_evidence_ns_) >= kLongestWaitNs;
}

void Watcher::Analyse() {
  if (state_.trouble_ns() != kNone64 &&
      (evidence_ns_ == kNone64 || state_.trouble_ns() > evidence_ns_)) {
    evidence_ns_ = state_.trouble_ns();
    if (first_evidence_ns_ == kNone64) first_evidence_ns_ = evidence_ns_;
  }
  if (auto result = analysis_.Poll(now_ns_)) Take(*result);
  if (!NeedsAnalysis()) return;
  first_evidence_ns_ = kNone64;
  if (Status started = analysis_.Start(now_ns_); !started.ok()) PrintError(started);
}

// What is new in it is printed, and handed on.
void Watcher::Take(const AnalysisResult& result) {
  analysed_ns_ = now_ns_;
  was_analysed_ = true;
  ++figures_.analyses;
  if (!result.is_done) return;
  figures_.errors = result.CountOf("error");
  figures_.warnings = result.CountOf("warning");
  const Severity level = report_.fail_on.value_or(Severity::kError);
  is_failing_ =
      report_.fail_on && std::ranges::any_of(result.findings, [&](const FoundCause& each) {
        return LevelNamed(each.severity).value_or(Severity::kInfo) >= level;
      });
  std::string headline;
  for (const FoundCause& each : result.findings) {
    const bool is_wanted = LevelNamed(each.severity).value_or(Severity::kInfo) >= level;
    const bool is_new = is_wanted && known_.insert(each.headline).second;
    if (is_new && headline.empty()) headline = each.headline;
  }
  if (headline.empty()) return;
  answer_ = result.answer;
  if (global_.json) {
    Print({"finding", kNone32, headline});
  } else {
    line_.Clear();
    StdoutSink().Write(answer_);
  }
  hook_.Run(result.findings_file, headline);
}

bool Watcher::HasEnded(std::string& why) const {
  if (has_more_ || analysis_.is_running()) return false;
  if (options_.pid > 0 && kill(static_cast<pid_t>(options_.pid), 0) != 0 && errno == ESRCH) {
    why = fmt::format("process {} has ended", options_.pid);
    return true;
  }
  const int64_t quiet_ns = SinceNs(state_.growth_ns());
  if (options_.until_idle > 0 && state_.growth_ns() != kNone64 &&
      static_cast<double>(quiet_ns) > options_.until_idle * kSecond) {
    why = fmt::format("nothing was written for {:.0f} s", static_cast<double>(quiet_ns) / kSecond);
    return true;
  }
  if (options_.pid <= 0 && state_.has_ended() && quiet_ns > kLastWordsNs) {
    why = "the launcher or all ranks have ended";
    return true;
  }
  std::error_code error;
  if (!std::filesystem::exists(options_.folder, error)) {
    why = "the folder is gone";
    return true;
  }
  return false;
}

int Watcher::Finish(const std::string& why) {
  Look();  // what came between the last look and the end
  for (auto& [key, file] : files_)
    file.text.Finish([&](std::string_view line) { state_.AddLine(file.source, line, now_ns_); });
  PrintEvents();
  Print({"end", kNone32, why});
  const AnalysisResult result = analysis_.RunLast(now_ns_);
  const std::string before = answer_;
  Take(result);
  // The last word, unless it was said just now or before.
  const bool is_said = before != answer_ || result.answer == answer_;
  if (!global_.json && !is_said) StdoutSink().Write(result.answer);
  WriteMetrics(false);
  if (!result.is_done) return 1;
  return is_failing_ ? 3 : 0;
}

}  // namespace debrief::watch
