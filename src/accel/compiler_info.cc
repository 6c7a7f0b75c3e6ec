#include "accel/compiler_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/bytes/source.h"

namespace debrief::accel {
namespace {

namespace fs = std::filesystem;

Result<ByteView> ReadAll(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<Source> source, OpenFileSource(path));
  constexpr uint64_t kMost = uint64_t{1} << 30;
  if (source->size() > kMost) {
    return Status(Code::kLimit, path + " is too large for a compiler log");
  }
  return source->View(0, static_cast<size_t>(source->size()));
}

LogRules RulesOf(const Options& options) {
  return options.compat ? LogRules::kReference : LogRules::kRight;
}

// Sorted by kernel, so that the result does not depend on the file system.
std::vector<fs::path> KernelFolders(const fs::path& folder) {
  std::vector<fs::path> kernels;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    kernels.push_back(at->path());
  }
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

CompilerLog ReadFolder(const std::string& path, const Options& options, Console& console) {
  IdealTable table;
  for (const fs::path& kernel : KernelFolders(fs::path(path) / "inductor-spyre")) {
    const std::string file = (kernel / "perf" / "ideal_cycles.json").string();
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    Result<ByteView> bytes = ReadAll(file);
    Status status = bytes.ok() ? AddIdealCycles(kernel.filename().string(), bytes.value().text(),
                                                RulesOf(options), table)
                               : bytes.status();
    if (!status.ok()) console.Error("UTL: " + file + ": " + status.message());
  }
  CompilerLog log;
  if (!table.kernels.empty()) log.tables.push_back(std::move(table));
  return log;
}

CompilerLog ReadLog(const std::string& path, const Options& options, Console& console) {
  Result<ByteView> bytes = ReadAll(path);
  if (!bytes.ok()) {
    console.Error("UTL: " + path + ": " + bytes.status().message());
    return {};
  }
  CompilerLog log = ParseCompilerLog(bytes.value().text(), RulesOf(options));
  for (const std::string& warning : log.warnings) console.Warning("UTL: " + warning);
  return log;
}

CompilerLog ReadEntry(const std::string& path, const Options& options, Console& console) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return ReadFolder(path, options, console);
  if (fs::exists(status)) return ReadLog(path, options, console);
  console.Warning("UTL: " + path +
                  " is not there: no ideal cycles are known for it. Check the list behind -c.");
  return {};
}

void Say(const CompilerLog& log, Console& console) {
  if (log.autopilot) {
    console.Warning(
        "UTL: Detected autopilot=on. Event categorization, cycles table matching and other "
        "utilization-related data might be unreliable.");
  }
  for (const IdealTable& table : log.tables) {
    console.Info(fmt::format("UTL: Adding ideal cycles table ({}) with {} kernels", table.phase,
                             table.kernels.size()));
  }
}

}  // namespace

const CompilerLog* CompilerInfo::LogOf(const Value& rank) const {
  if (logs.empty()) return nullptr;
  size_t at = 0;
  if (logs.size() > 1) {
    if (!rank.IsInteger() || rank.integer < 0) return nullptr;
    at = static_cast<size_t>(rank.integer);
  }
  return at < logs.size() && !logs[at].tables.empty() ? &logs[at] : nullptr;
}

bool CompilerInfo::HasTables() const {
  return std::any_of(logs.begin(), logs.end(),
                     [](const CompilerLog& log) { return !log.tables.empty(); });
}

CompilerInfo LoadCompilerInfo(const Options& options, Console& console) {
  CompilerInfo info;
  std::string_view rest = options.compiler_info;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) {
      info.logs.push_back(ReadEntry(std::string(rest.substr(0, comma)), options, console));
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (info.logs.size() > 1) {
    console.Info(fmt::format("UTL: Multi-AIU logs provided. Entries: {}", info.logs.size()));
  }
  for (const CompilerLog& log : info.logs) Say(log, console);
  return info;
}

}  // namespace debrief::accel
