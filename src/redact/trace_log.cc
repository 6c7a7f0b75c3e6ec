#include "redact/trace_log.h"

#include <string>
#include <utility>

#include "base/bytes/md5.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"

namespace debrief::redact {

namespace {

constexpr std::string_view kChecksumKey = "\"has_payload\": \"";
constexpr size_t kChecksumBytes = 32;

// Puts entries together: a line, and the lines of its payload, which begin with a tab.
class TraceLogRedactor {
 public:
  TraceLogRedactor(TextRedactor& texts, const Sink& out) : texts_(texts), out_(out) {}

  Status Add(std::string_view lines) {
    LineSplitter splitter(lines);
    for (std::string_view line; splitter.Next(line);) {
      const std::string_view with_end(line.data(), line.size() + (splitter.terminated() ? 1 : 0));
      TRY(AddLine(with_end));
    }
    return {};
  }

  Status Finish() { return Flush(); }

 private:
  static constexpr size_t kMostHeld = size_t{256} << 20;  // a payload beyond it loses its checksum

  Status AddLine(std::string_view line) {
    const bool is_payload = line.starts_with('\t') || line == "\n" || line == "\r\n";
    if (!is_payload || entry_.empty()) {
      TRY(Flush());
      return Begin(line);
    }
    before_ += line;
    if (before_.size() > kMostHeld) return Flush();
    return {};
  }

  // A line that begins an entry with a payload waits for it; others go out at once.
  Status Begin(std::string_view line) {
    texts_.Begin();
    std::string redacted;
    texts_.Redact(line, redacted);
    const size_t key = redacted.find(kChecksumKey);
    if (key == std::string::npos) return out_(redacted);
    entry_ = std::move(redacted);
    checksum_ = key + kChecksumKey.size();
    return {};
  }

  Status Flush() {
    if (entry_.empty()) return {};
    std::string payload, after;
    AppendPayload(Trimmed(before_, "\r\n"), payload);
    const std::string_view stated = std::string_view(entry_).substr(checksum_, kChecksumBytes);
    const bool was_whole = Md5Hex(payload) == stated;
    texts_.Begin();
    texts_.Redact(before_, after);
    if (was_whole && after != before_) {
      payload.clear();
      AppendPayload(Trimmed(after, "\r\n"), payload);
      entry_.replace(checksum_, kChecksumBytes, Md5Hex(payload));
    }
    TRY(out_(entry_));
    TRY(out_(after));
    entry_.clear();
    before_.clear();
    return {};
  }

  TextRedactor& texts_;
  const Sink& out_;
  std::string entry_;  // redacted; empty: none waits
  size_t checksum_ = 0;
  std::string before_;  // its payload as it was
};

}  // namespace

Status RedactTraceLog(const Source& source, TextRedactor& texts, const Sink& out) {
  TraceLogRedactor redactor(texts, out);
  TRY(ForEachPiece(source, [&](std::string_view lines) { return redactor.Add(lines); }));
  return redactor.Finish();
}

}  // namespace debrief::redact
