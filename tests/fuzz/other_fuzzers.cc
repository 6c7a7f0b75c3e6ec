// Fuzzing of what stands before and beside the importers: names and folders, archives, the stages
// of `debrief accel`, a page's SQL and its request, the findings.json of somebody else's report,
// the lines of a client of `debrief mcp`, and scripts for `debrief doctor`.
//
// Those that take files get them in a folder of this process, in memory where there is one.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "accel/accel.h"
#include "base/bytes/archive.h"
#include "base/bytes/decompress.h"
#include "base/check.h"
#include "doctor/paste.h"
#include "fuzz_targets.h"
#include "inputs/discovery/find_inputs.h"
#include "inputs/jobs/assign_jobs.h"
#include "mcp/line_reader.h"
#include "mcp/protocol.h"
#include "outputs/findings_reader.h"
#include "serve/guards.h"
#include "serve/http.h"
#include "serve/sql_page.h"

namespace debrief {
namespace {

namespace fs = std::filesystem;

// A folder that goes with the process.
class WorkFolder {
 public:
  WorkFolder() {
    fs::path parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path();
    path_ = parent / ("debrief_fuzz." + std::to_string(getpid()));
    fs::create_directories(path_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  std::string File(const char* name) const { return path_ / name; }
  // Empty again.
  const fs::path& Clear() const {
    for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
    return path_;
  }

 private:
  fs::path path_;
};

const WorkFolder& Folder() {
  static const WorkFolder folder;
  return folder;
}

std::string_view TextOf(std::span<const uint8_t> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

class SilentConsole final : public accel::Console {
 public:
  void Line(accel::Level, std::string_view) override {}
};

// ---- Names and folders: entries of "kind, length of name, name, length of content, content".

class Entries {
 public:
  explicit Entries(std::string_view data) : rest_(data) {}

  bool Next() {
    if (rest_.size() < 3) return false;
    kind = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    name = Piece();
    content = Piece();
    return true;
  }

  uint8_t kind = 0;
  std::string name, content;

 private:
  std::string Piece() {
    if (rest_.empty()) return {};
    const size_t bytes = std::min<size_t>(static_cast<uint8_t>(rest_[0]), rest_.size() - 1);
    std::string piece(rest_.substr(1, bytes));
    rest_.remove_prefix(1 + bytes);
    std::erase(piece, '\0');
    return piece;
  }

  std::string_view rest_;
};

// Links and names stay inside: what lies outside is not ours to read here.
bool StaysInside(const std::string& name) {
  return !name.empty() && name.front() != '/' && name.find("..") == std::string::npos;
}

void MakeEntry(const fs::path& folder, const Entries& entry) {
  std::error_code ignored;
  const fs::path path = folder / entry.name;
  fs::create_directories(path.parent_path(), ignored);
  if (entry.kind % 8 == 0) {
    if (StaysInside(entry.content)) fs::create_symlink(entry.content, path, ignored);
  } else if (entry.kind % 8 == 1) {
    (void)mkfifo(path.c_str(), 0600);
  } else if (entry.kind % 8 == 2) {
    fs::create_directories(path, ignored);
  } else if (!fs::is_directory(path, ignored) && !fs::is_fifo(path, ignored)) {
    WriteFile(path, entry.content);
  }
}

// ---- SQL.

// Cancels after a while, unless it ends before.
class Alarm {
 public:
  explicit Alarm(serve::CancelToken& cancel)
      : thread_([this, &cancel] {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; }))
            cancel.Cancel();
        }) {}
  ~Alarm() {
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

outputs::store::Database& EmptyDatabase() {
  static outputs::store::Database database =
      outputs::store::Database::Open("", {.mode = outputs::store::OpenMode::kMemory,
                                          .threads = 1,
                                          .external_access = false,
                                          .locked = true,
                                          .memory_mb = 256})
          .value();
  return database;
}

}  // namespace

void FuzzAccel(std::span<const uint8_t> data) {
  if (data.empty()) return;
  const std::string input = Folder().File("in.json");
  WriteFile(input, TextOf(data.subspan(1)));
  accel::Arguments arguments;
  arguments.input = input;
  arguments.output = Folder().File("out.json");
  arguments.compat = (data[0] & 1) != 0;
  arguments.flow = (data[0] & 2) != 0;
  arguments.build_coll_event = (data[0] & 4) != 0;
  arguments.overlap = (data[0] & 8) != 0 ? "async" : "tid";
  auto options = accel::MakeOptions(arguments);
  DEBRIEF_CHECK(options.ok());
  SilentConsole console;
  ThreadPool threads(1);
  (void)accel::Process(std::move(options).value(), console, threads, Folder().path());
  Folder().Clear();
}

void FuzzDiscovery(std::span<const uint8_t> data) {
  const fs::path folder = Folder().Clear() / "job";
  fs::create_directories(folder);
  Entries entries(TextOf(data));
  for (int i = 0; i < 64 && entries.Next(); ++i) {
    if (StaysInside(entries.name)) MakeEntry(folder, entries);
  }
  SpillBudget budget;
  budget.folder = Folder().path();
  ThreadPool pool(1);
  NoProgress progress;
  Model model;
  auto inputs = FindInputs({.paths = {folder}}, pool, budget, progress);
  AssignJobs(inputs, model);
}

void FuzzArchive(std::span<const uint8_t> data) {
  const std::unique_ptr<Source> source = MakeMemorySource(std::string(TextOf(data)));
  const std::string_view head = TextOf(data.first(std::min<size_t>(data.size(), 4)));
  const ExpansionLimits limits = {
      .free_bytes = 4 << 20, .max_ratio = 300, .max_bytes = uint64_t{16} << 20};
  const auto stream = Decompress(DetectPacking(head), MakeSourceStream(*source), limits);
  std::string buffer(64 << 10, ' ');
  const auto visit = [&](const ArchiveMember&, ByteStream& body) -> Status {
    while (true) {
      auto got = body.Read(buffer.data(), buffer.size());
      if (!got.ok() || got.value() == 0) return {};
      DEBRIEF_CHECK(got.value() <= buffer.size());
    }
  };
  (void)WalkArchive(*stream, {.max_members = 10'000, .expansion = limits}, visit);
}

void FuzzSql(std::span<const uint8_t> data) {
  const std::string text(TextOf(data));
  serve::Request request;
  size_t used = 0;
  if (serve::ParseRequest(text, request, used) == serve::Parsed::kDone) {
    DEBRIEF_CHECK(used <= text.size());
    (void)serve::SafeRelativePath(serve::SplitToken(request.path).rest);
    serve::ByteRange range;
    if (request.range) (void)serve::ParseRange(*request.range, 1000, range);
  }
  auto connection = EmptyDatabase().Connect();
  DEBRIEF_CHECK(connection.ok());
  serve::CancelToken cancel;
  const Alarm alarm(cancel);
  const auto page = serve::ReadPage(connection.value(), text, 100, 0, cancel);
  DEBRIEF_CHECK(!page.ok() || page->rows.size() <= serve::kMaxPageBytes + 2);
}

void FuzzFindings(std::span<const uint8_t> data) {
  WriteFile(Folder().File("findings.json"), TextOf(data));
  const auto read = ReadFindings(Folder().path());
  if (!read.ok()) return;
  for (const Finding& finding : read->findings) {
    for (const size_t explained : finding.explains)
      DEBRIEF_CHECK(explained < read->findings.size());
  }
}

namespace {

// What a client reads: one line, one object.
void CheckAnswer(const std::string& line) {
  DEBRIEF_CHECK(line.find('\n') == std::string::npos);
  DEBRIEF_CHECK(mcp::Message::Parse(line).ok());
}

}  // namespace

// The first byte is the length of a piece: lines come in any. Then two bytes of the longest line.
void FuzzMcp(std::span<const uint8_t> data) {
  if (data.size() < 3) return;
  const size_t piece_bytes = size_t{data[0]} + 1;
  mcp::LineReader reader(size_t{data[1]} * 256 + data[2] + 1);
  mcp::Protocol protocol;
  std::string_view rest = TextOf(data.subspan(3)), line;
  const auto take = [&](mcp::LineReader::Kind kind) {
    if (kind != mcp::LineReader::Kind::kLine) return;
    const mcp::Reaction reaction = protocol.Take(line);
    DEBRIEF_CHECK(reaction.answer.empty() || !reaction.work);
    if (!reaction.answer.empty()) CheckAnswer(reaction.answer);
    if (!reaction.work) return;
    CheckAnswer(mcp::Protocol::Finish(*reaction.work, {.json = "{}", .error = {}}));
    CheckAnswer(mcp::Protocol::Finish(*reaction.work, {.json = {}, .error = std::string(line)}));
  };
  while (!rest.empty()) {
    std::string_view piece = rest.substr(0, piece_bytes);
    rest.remove_prefix(piece.size());
    while (!piece.empty()) take(reader.Take(piece, line));
  }
  take(reader.TakeRest(line));
  for (const std::string& last : protocol.Close()) CheckAnswer(last);
}

void FuzzDoctor(std::span<const uint8_t> data) {
  doctor::Setup setup;
  setup.name = "script";
  doctor::ReadScript(TextOf(data), setup);
  const auto advices = doctor::Advise(setup, std::nullopt);
  for (const auto target : {doctor::Target::kBash, doctor::Target::kSbatch, doctor::Target::kK8s}) {
    (void)doctor::AdviceText(advices, setup, {.target = target, .logs = {}}, 80);
    const std::string json = doctor::AdviceJson(advices, setup, {.target = target, .logs = {}});
    DEBRIEF_CHECK(mcp::Message::Parse(json).ok() || advices.size() > 100);
  }
}

}  // namespace debrief
