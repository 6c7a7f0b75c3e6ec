// TORCH_TRACE logs in a program: the files that `debrief compile` writes, in memory, and the
// entries of a log one by one.
//
//   using namespace debrief::torch_trace;
//   Expected<std::vector<File>> files = ParsePath("dedicated_log_torch_trace.log", {});
//   if (!files.ok()) return Complain(files.error());
//   for (const File& file : *files) Upload(file.path, file.content);
//
//   Expected<Log> log = OpenLog("dedicated_log_torch_trace.log");
//   for (size_t i = 0; i < log->size(); ++i) {
//     const Entry entry = log->entry(i);             // its payload is read now
//     if (entry.kind == "dynamo_output_graph") Look(entry.compile_id, entry.payload);
//   }
//
// The standard library alone is needed to include this; link libdebrief_torch_trace. Nothing throws
// but what the allocator throws, nothing is printed, nothing is written but a temporary folder.
// What is broken in a log is left out, as `debrief compile` does; counts() says how much that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief::torch_trace {

// A value, or the sentence that says why there is none.
template <typename T>
class Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}  // NOLINT: implicit by design
  static Expected Failed(std::string error) {
    Expected failed;
    failed.error_ = std::move(error);
    return failed;
  }

  bool ok() const { return value_.has_value(); }
  const std::string& error() const { return error_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Expected() = default;

  std::optional<T> value_;
  std::string error_;
};

struct Config {
  bool plain_text = false;           // generated code as text
  bool export_report = false;        // the report of torch.export
  bool inductor_provenance = false;  // pages that link graphs and generated code
  bool strict = false;               // fail when anything in the log is wrong
  std::string custom_header_html;    // as it is, at the top of index pages
  std::string source_link;           // address of a line of source, with {path} and {line}
  std::string source_strip;          // prefix that {path} goes without
  std::string temporary_folder;      // empty: TMPDIR, else /tmp
  int threads = 0;                   // 0: one a core
};

struct File {
  std::string path;  // within the tree, for example -_0_0_0/dynamo_output_graph_0.txt
  std::string content;
};

// The tree of one log (packed or not), in order of path.
Expected<std::vector<File>> ParsePath(const std::string& path, const Config& config);

struct Entry {
  std::string kind;           // key of its content, for example artifact; empty: an envelope alone
  std::string name;           // of an artifact, a graph or a link
  std::string compile_id;     // 0/0, 0/0_1, !3/1/2; -/- for none; empty when it is broken
  std::string metadata;       // the JSON of its line
  std::string payload;        // what was logged; empty when there is none
  bool payload_holds = true;  // its checksum does
  int32_t rank = -1;          // -1: not told
  int64_t line = 0;           // of the log, from 1
  int64_t time_ns = 0;        // since 1970
};

struct Counts {
  int64_t lines = 0, entries = 0;
  int64_t bad_lines = 0;     // neither an entry nor a payload
  int64_t bad_json = 0;      // entries that cannot be read
  int64_t bad_payloads = 0;  // whose checksum does not hold
};

// The entries of a log, or of all logs below a folder, in the order in which they were logged.
class Log {
 public:
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  size_t size() const;
  Entry entry(size_t number) const;
  Counts counts() const;

  struct State;  // of the library
  explicit Log(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

Expected<Log> OpenLog(const std::string& path, const Config& config = {});

}  // namespace debrief::torch_trace
