// From folders on disk to a model: find_inputs, open_input and import together.
#include "inputs/import.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "inputs/jobs/assign_jobs.h"
#include "tables/input.h"
#include "tables/recorded_op.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace import_test {

using testing::Gzip;
using testing::kOpTrace;
using testing::MakeArchive;
using testing::NotesOf;
using testing::TempFolder;
using testing::TestMember;
using testing::WriteBytes;
using testing::Zstd;

constexpr int kTar = ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE;
constexpr int kZip = ARCHIVE_FORMAT_ZIP;

class Import : public ::testing::Test {
 protected:
  std::vector<FoundInput> Find(const FindOptions& options, int threads = 2) {
    ThreadPool pool(threads);
    return FindInputs(options, pool, budget_, progress_);
  }
  std::vector<FoundInput> Find() { return Find({.paths = {folder_.path()}}); }

  void ReadAll(std::vector<FoundInput>& inputs, Model& model, int threads = 2,
               std::vector<uint64_t> chunks = {}) {
    ThreadPool pool(threads);
    AssignJobs(inputs, model);
    ImportAll(inputs, {.check_chunk_bytes = std::move(chunks)}, pool, budget_, progress_, model);
  }

  // Finds and imports everything in the folder.
  const InputTable& Run() {
    inputs_ = Find();
    ReadAll(inputs_, model_);
    return model_.tables.Get<InputTable>();
  }

  std::string Text(StringId id) const { return std::string(model_.pools.Text(id)); }
  // "path kind state rows", relative to the folder.
  std::vector<std::string> Rows() {
    const InputTable& table = Run();
    std::vector<std::string> rows;
    for (size_t i = 0; i < table.size(); ++i) {
      std::string path = Text(table.path[i]).substr(folder_.path().size() + 1);
      rows.push_back(fmt::format("{} {} {} {}", path, Text(table.kind[i]), Text(table.state[i]),
                                 table.rows[i]));
    }
    return rows;
  }
  std::string Trouble() const {
    std::string names;
    for (const Diagnostic& diagnostic : model_.diagnostics.all()) {
      names += (names.empty() ? "" : ",") + std::string(diagnostic.kind->name);
    }
    return names;
  }
  void Write(std::string_view name, std::string_view bytes) {
    WriteBytes(folder_.File(name), bytes);
  }

  TempFolder folder_;
  TempFolder spill_;
  SpillBudget budget_{.folder = spill_.path()};
  NoProgress progress_;
  std::vector<FoundInput> inputs_;
  Model model_;
};

using Lines = std::vector<std::string>;

// A packed file is far on its way when it is unpacked, and says so before.
TEST_F(Import, ProgressCountsPackedBytes) {
  class Steps final : public Progress {
   public:
    using Progress::Begin;
    void Begin(std::string_view stage, uint64_t all, ProgressUnit) override {
      name = stage;
      total = all;
    }
    void Step(uint64_t done) override {
      const std::lock_guard lock(mutex);
      if (name == "import") steps.push_back(done);
    }
    void End() override {}

    std::mutex mutex;
    std::string name;
    uint64_t total = 0;
    std::vector<uint64_t> steps;
  };
  std::string entries;
  for (uint64_t i = 0, noise = 1; entries.size() < 8'000'000; ++i) {
    noise = noise * 6364136223846793005 + 1442695040888963407;
    entries += fmt::format(R"({}{{"step": {}, "operation": "op_{:x}", "duration_us": 1.5}})",
                           i == 0 ? "" : ",\n", i, noise);
  }
  Write("a.json.gz", Gzip(R"({"entries": [)" + entries + R"(], "metadata": {}})"));
  Steps steps;
  std::vector<FoundInput> inputs = Find();
  AssignJobs(inputs, model_);
  ThreadPool pool(1);
  ImportAll(inputs, {}, pool, budget_, steps, model_);
  ASSERT_GE(steps.steps.size(), 8u);
  EXPECT_TRUE(std::is_sorted(steps.steps.begin(), steps.steps.end()));
  EXPECT_EQ(steps.steps.back(), steps.total);
  const auto early = std::count_if(steps.steps.begin(), steps.steps.end(), [&](uint64_t done) {
    return done > 0 && done < steps.total / 2;
  });
  EXPECT_GE(early, 2) << "while it is unpacked";
}

TEST_F(Import, PlainAndPacked) {
  Write("a.json", kOpTrace);
  Write("b.json.gz", Gzip(kOpTrace));
  Write("c.json.zst", Zstd(kOpTrace));
  Write("d.txt", "hello\n");
  Write("e.bin", std::string("\0\1\2", 3));
  Write("f.log", "");
  EXPECT_EQ(Rows(), (Lines{"a.json op_trace imported 3", "b.json.gz op_trace imported 3",
                           "c.json.zst op_trace imported 3", "d.txt job_text imported 0",
                           "e.bin unknown skipped 0", "f.log job_text imported 0"}));
  EXPECT_EQ(Trouble(), "input.unknown");
  EXPECT_EQ(inputs_[1].name, "b.json");
  EXPECT_EQ(inputs_[1].content_bytes, static_cast<int64_t>(kOpTrace.size()));
}

TEST_F(Import, PackedTwice) {
  Write("a.json.gz.gz", Gzip(Gzip(kOpTrace)));
  Write("b.json.zst.gz", Gzip(Zstd(kOpTrace)));
  Write("c.json.gz.zst", Zstd(Gzip(kOpTrace)));
  Write("d.txt.gz.gz", Gzip(Gzip("hello\n")));
  EXPECT_EQ(Rows(),
            (Lines{"a.json.gz.gz op_trace imported 3", "b.json.zst.gz op_trace imported 3",
                   "c.json.gz.zst op_trace imported 3", "d.txt.gz.gz job_text imported 0"}));
  EXPECT_EQ(Trouble(), "");
}

TEST_F(Import, Archives) {
  std::vector<TestMember> members = {{"job/ops_rank1.json.gz", Gzip(kOpTrace)},
                                     {"job/ops_rank0.json", std::string(kOpTrace)},
                                     {"./notes.txt", "hello\n"},
                                     {"folder/", "", AE_IFDIR},
                                     {"link", "", AE_IFLNK}};
  Write("a.tar", MakeArchive(kTar, members));
  Write("b.tar.gz", Gzip(MakeArchive(kTar, members)));
  Write("c.tar.zst", Zstd(MakeArchive(kTar, members)));
  Write("d.zip", MakeArchive(kZip, {members[1], members[2]}));
  EXPECT_EQ(Rows(), (Lines{"a.tar!job/ops_rank1.json.gz op_trace imported 3",
                           "a.tar!job/ops_rank0.json op_trace imported 3",
                           "a.tar!notes.txt job_text imported 0",
                           "b.tar.gz!job/ops_rank1.json.gz op_trace imported 3",
                           "b.tar.gz!job/ops_rank0.json op_trace imported 3",
                           "b.tar.gz!notes.txt job_text imported 0",
                           "c.tar.zst!job/ops_rank1.json.gz op_trace imported 3",
                           "c.tar.zst!job/ops_rank0.json op_trace imported 3",
                           "c.tar.zst!notes.txt job_text imported 0",
                           "d.zip!job/ops_rank0.json op_trace imported 3",
                           "d.zip!notes.txt job_text imported 0"}));
  EXPECT_EQ(Trouble(), "");
  EXPECT_EQ(inputs_[0].folder, folder_.File("a.tar/job"));
  EXPECT_EQ(inputs_[0].who.rank, 1);
}

TEST_F(Import, ArchiveInArchive) {
  std::string inner = MakeArchive(kTar, {{"ops.json", std::string(kOpTrace)}});
  Write("a.zip", MakeArchive(kZip, {{"inner.tar.gz", Gzip(inner)}}));
  EXPECT_EQ(Rows(), (Lines{"a.zip!inner.tar.gz!ops.json op_trace imported 3"}));
}

TEST_F(Import, NestedTooDeep) {
  std::string bytes(kOpTrace);
  for (int i = 0; i < 12; ++i) bytes = MakeArchive(kTar, {{"x", bytes}});
  Write("a.tar", bytes);
  std::string packed(kOpTrace);
  for (int i = 0; i < 12; ++i) packed = Gzip(packed);
  Write("b.gz", packed);
  Run();
  EXPECT_EQ(inputs_.size(), 2u);
  EXPECT_EQ(Trouble(), "input.too_deep,input.too_deep");
  for (const FoundInput& input : inputs_) EXPECT_EQ(input.state, InputState::kFailed);
}

TEST_F(Import, UnsafeNames) {
  Write("a.tar", MakeArchive(kTar, {{"../../evil.json", std::string(kOpTrace)},
                                    {"/etc/evil.json", std::string(kOpTrace)},
                                    {"\x1b[31mred.json", std::string(kOpTrace)}}));
  EXPECT_EQ(Rows(),
            (Lines{"a.tar!../../evil.json op_trace imported 3",
                   "a.tar!/etc/evil.json op_trace imported 3",
                   "a.tar!\\x1b[31mred.json op_trace imported 3", "a.tar unknown skipped 0"}));
  EXPECT_EQ(Trouble(), "archive.unsafe_name");
}

TEST_F(Import, EmptyAndCutArchives) {
  std::string tar =
      MakeArchive(kTar, {{"a.json", std::string(kOpTrace)}, {"b.txt", testing::SomeText(9000)}});
  Write("cut.tar", tar.substr(0, tar.size() / 2));
  Write("cut.tar.gz", Gzip(tar).substr(0, Gzip(tar).size() - 200));
  Run();
  EXPECT_GE(inputs_.size(), 3u);
  EXPECT_EQ(inputs_[0].path, folder_.File("cut.tar!a.json"));
  EXPECT_EQ(inputs_[0].state, InputState::kImported) << "members before the cut are kept";
  EXPECT_NE(Trouble().find("archive.damaged"), std::string::npos) << Trouble();
  EXPECT_NE(Trouble().find("gzip.truncated"), std::string::npos) << Trouble();
}

TEST_F(Import, TruncatedGzip) {
  std::string entries;
  for (int i = 0; i < 5000; ++i) {
    entries +=
        fmt::format(R"({}{{"operation": "op{}", "duration_us": {}}})", i ? "," : "", i * 7919, i);
  }
  std::string packed = Gzip("{\"entries\": [" + entries + "]}");
  Write("a.json.gz", packed.substr(0, packed.size() / 2));
  Write("b.txt.gz", Gzip("hello\n").substr(0, 22));
  Write("c.json.gz", packed.substr(0, 12));
  Run();
  ASSERT_EQ(inputs_.size(), 3u);
  EXPECT_EQ(inputs_[0].state, InputState::kImported);
  EXPECT_GT(inputs_[0].rows, 500);
  EXPECT_LT(inputs_[0].rows, 5000);
  EXPECT_EQ(inputs_[1].state, InputState::kImported);
  EXPECT_EQ(inputs_[2].state, InputState::kFailed);
  EXPECT_EQ(Trouble(), "op_trace.truncated,gzip.truncated,gzip.truncated,gzip.truncated");
}

TEST_F(Import, TruncatedGzipInTar) {
  std::string packed = Gzip("hello\n" + testing::SomeText(5000));
  Write("a.tar", MakeArchive(kTar, {{"b.txt.gz", packed.substr(0, packed.size() - 9)}}));
  Run();
  EXPECT_EQ(Trouble(), "gzip.truncated");
  EXPECT_EQ(inputs_.at(0).state, InputState::kImported) << "as the same file beside the archive";
}

TEST_F(Import, StandardInputThroughAPipe) {
  for (const std::string& bytes :
       {std::string(kOpTrace), Gzip(kOpTrace), Zstd(kOpTrace),
        Gzip(MakeArchive(kTar, {{"x/ops.json", std::string(kOpTrace)}}))}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::thread writer([&] {
      for (char c : bytes) EXPECT_EQ(write(ends[1], &c, 1), 1);
      close(ends[1]);
    });
    std::vector<FoundInput> inputs = Find({.paths = {"-", "-"}, .stdin_fd = ends[0]});
    writer.join();
    close(ends[0]);
    Model model;
    ReadAll(inputs, model);
    ASSERT_EQ(inputs.size(), 1u);
    EXPECT_TRUE(inputs[0].path.starts_with("(stdin)")) << inputs[0].path;
    EXPECT_EQ(inputs[0].state, InputState::kImported) << NotesOf(inputs[0]);
    EXPECT_EQ(model.tables.Get<RecordedOpTable>().size(), 2u);
  }
}

TEST_F(Import, ClosedStandardInput) {
  std::vector<FoundInput> inputs = Find({.paths = {"-"}, .stdin_fd = 12345});
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].state, InputState::kFailed);
  EXPECT_EQ(NotesOf(inputs[0]), "input.unreadable");
}

TEST_F(Import, FileGoneBetweenLookAndRead) {
  Write("a.json", kOpTrace);
  inputs_ = Find();
  std::filesystem::remove(folder_.File("a.json"));
  ReadAll(inputs_, model_);
  EXPECT_EQ(inputs_[0].state, InputState::kFailed);
  EXPECT_EQ(Trouble(), "input.unreadable");
}

size_t WidthOf(ColumnType type) {
  switch (type) {
    case ColumnType::kInt64:
    case ColumnType::kDouble:
      return 8;
    case ColumnType::kBool:
      return 1;
    default:
      return 4;
  }
}

// Everything a model holds, as bytes.
std::string Dump(const Model& model) {
  std::string dump;
  for (TableId id = 0; id < AllTables().size(); ++id) {
    const Table* table = model.tables.Find(id);
    if (table == nullptr) continue;
    dump += fmt::format("{} {}\n", table->info().name, table->size());
    for (size_t i = 0; i < table->info().columns.size(); ++i) {
      size_t before = dump.size();
      dump.resize(before + table->size() * WidthOf(table->info().columns[i].type));
      table->Copy(i, 0, table->size(), dump.data() + before);
    }
  }
  for (size_t i = 0; i < model.pools.strings.size(); ++i) {
    dump += fmt::format("{}\n", model.pools.Text(static_cast<StringId>(i)));
  }
  for (size_t i = 0; i < model.pools.lists.size(); ++i) {
    for (int64_t number : model.pools.lists.Get(static_cast<ListId>(i)))
      dump += fmt::format("{},", number);
    dump += '\n';
  }
  for (const Diagnostic& diagnostic : model.diagnostics.all()) {
    dump += fmt::format("{} {} {}", diagnostic.kind->name, diagnostic.input, diagnostic.count);
    for (const Occurrence& first : diagnostic.first)
      dump += fmt::format(" {}:{}:{}", first.offset, first.line, first.detail);
    dump += '\n';
  }
  return dump;
}

TEST_F(Import, SameTablesWhateverThreadsAndChunks) {
  uint32_t state = 1;
  auto next = [&](uint32_t below) {
    return (state = state * 1664525 + 1013904223) % 65536 % below;
  };
  const std::vector<std::string> odd = {
      "1",
      "null",
      "{",
      "}",
      "{\"operation\": NaN}",
      "{\"operation\": \"a\" \"b\"}",
      "[1, 2]",
      "\"x\"",
      "tru",
      "",
      "{\"device_id\": \"only\"}",
      "{\"operation\": \"a\", \"x\": [}}",
      "1 2",
      "{\"operation\": \"a\", \"output_shape\": [1, {}, -4, \"x\", [2]]}",
      "{\"operation\": \"a\", \"output_shape\": 7, \"duration_us\": [1]}",
      "{\"operation\": \"\\ud800\\u0000\", \"input_shapes\": \"a b\"}",
      "{\"operation\": \"a\xff\"}"};
  for (int file = 0; file < 12; ++file) {
    std::string entries;
    for (int i = 0; i < 200; ++i) {
      entries += i ? ", " : "";
      bool is_odd = file % 3 == 1 && next(5) == 0;
      entries +=
          is_odd ? odd[next(static_cast<uint32_t>(odd.size()))]
                 : fmt::format(R"({{"operation": "op{}", "device_id": "gpu:{}", "duration_us": {}.5,
                            "input_shapes": [[{}, 2]], "output_shape": [{}, 4], "step": {}}})",
                               next(20), next(3), next(1000), next(5), next(5), i);
    }
    std::string text = "{\"entries\": [" + entries + "], \"total_duration_us\": 1}";
    if (file % 4 == 3) text.resize(text.size() / 2);
    Write(fmt::format("job/ops_rank{}.json{}", file, file % 2 ? ".gz" : ""),
          file % 2 ? Gzip(text) : text);
  }
  std::string expected;
  for (int threads : {1, 4}) {
    std::vector<FoundInput> inputs = Find({.paths = {folder_.path()}}, threads);
    Model model;
    ReadAll(inputs, model, threads, {1, 7, 100, 3000});  // ends the test where chunks matter
    std::string dump = Dump(model);
    if (expected.empty()) expected = dump;
    EXPECT_GT(model.tables.Get<RecordedOpTable>().size(), 1000u);
    EXPECT_TRUE(dump == expected) << threads << " threads";
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(inputs[i].who.input, static_cast<int32_t>(i));
  }
}

}  // namespace import_test
}  // namespace debrief
