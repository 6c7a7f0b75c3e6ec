#include "app/watch/analysis.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio_ext.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "app/build_model.h"
#include "app/terminal.h"
#include "app/watch/followed_file.h"
#include "base/bytes/source.h"
#include "base/json/cursor.h"

namespace debrief::watch {

namespace {

constexpr size_t kLongestAnswer = 4 << 20;
constexpr uint64_t kLongestFindings = uint64_t{256} << 20;

UniqueFd NamelessFile() {
  std::string path = TemporaryFolder() + "/debrief-XXXXXX";
  UniqueFd file(mkostemp(path.data(), O_CLOEXEC));
  if (file.valid()) unlink(path.c_str());
  return file;
}

std::string ReadAnswer(int file) {
  std::string text(kLongestAnswer, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got =
        pread(file, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

FoundCause ReadFinding(JsonValue value) {
  FoundCause found;
  (void)value.ForEachField([&](std::string_view key, JsonValue field) {
    std::string* to = key == "severity"   ? &found.severity
                      : key == "role"     ? &found.role
                      : key == "headline" ? &found.headline
                                          : nullptr;
    if (to != nullptr) *to = field.String().value_or("");
  });
  return found;
}

std::vector<FoundCause> ReadFindings(const std::string& path) {
  std::vector<FoundCause> findings;
  auto file = OpenFileSource(path);
  if (!file.ok() || file.value()->size() > kLongestFindings) return findings;
  auto bytes = file.value()->View(0, file.value()->size());
  JsonReader reader;
  if (!bytes.ok() || !reader.Open(bytes.value().text()).ok()) return findings;
  (void)reader.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
    if (key != "findings") return {};
    return value.ForEachElement([&](JsonValue each) { findings.push_back(ReadFinding(each)); });
  });
  return findings;
}

}  // namespace

size_t AnalysisResult::CountOf(std::string_view severity) const {
  return static_cast<size_t>(std::ranges::count_if(
      findings, [&](const FoundCause& each) { return each.severity == severity; }));
}

AnalysisProcess::AnalysisProcess(const ReportOptions& report, const GlobalOptions& global,
                                 int64_t limit_ns)
    : report_(report), global_(global), limit_ns_(limit_ns) {}

Status AnalysisProcess::Start(int64_t now_ns, bool is_last) {
  answer_ = NamelessFile();
  if (!answer_.valid())
    return Status(Code::kIo, "cannot make a temporary file")
        .Remedy("Set TMPDIR to a folder with room.");
  process_ = fork();
  if (process_ < 0) return {Code::kLimit, "cannot start a process for the analysis"};
  started_ns_ = now_ns;
  if (process_ > 0) return {};
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  dup2(answer_.get(), STDOUT_FILENO);
  // What nobody read of the parent's is not of this answer, nor is that it failed.
  __fpurge(stdout);
  std::clearerr(stdout);
  GlobalOptions global = global_;
  global.quiet = true;
  global.json = false;
  ReportOptions report = report_;
  report.no_store = !is_last;
  // Ended without destructors and buffers of the process that it was forked from.
  _exit(CheckStdout(RunReport(report, global)));
}

AnalysisResult AnalysisProcess::Collect(int state) {
  AnalysisResult result;
  process_ = -1;
  const int code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  result.is_done = code == 0 || code == 3;
  result.answer = ReadAnswer(answer_.get());
  if (!result.is_done) return result;
  std::error_code error;
  result.findings_file =
      std::filesystem::absolute(report_.output + "/findings.json", error).string();
  result.findings = ReadFindings(result.findings_file);
  return result;
}

std::optional<AnalysisResult> AnalysisProcess::Poll(int64_t now_ns) {
  if (!is_running()) return std::nullopt;
  if (now_ns - started_ns_ > limit_ns_) {
    Kill();
    return AnalysisResult();
  }
  int state = 0;
  if (waitpid(process_, &state, WNOHANG) != process_) return std::nullopt;
  return Collect(state);
}

AnalysisResult AnalysisProcess::RunLast(int64_t now_ns) {
  if (Status started = Start(now_ns, /*is_last=*/true); !started.ok()) {
    PrintError(started);
    return {};
  }
  const SystemClock clock;
  while (true) {
    if (auto result = Poll(clock.NowNs())) return *std::move(result);
    usleep(10'000);
  }
}

void AnalysisProcess::Kill() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

}  // namespace debrief::watch
