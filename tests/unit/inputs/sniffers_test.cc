// Every importer's sniffer through AllImporters(), on heads made by hand: exactly one takes each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inputs/sniffing.h"
#include "unit/cpu_time.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace sniffers_test {

using namespace std::string_literals;
using namespace std::string_view_literals;
using testing::Noise;
using testing::TempFolder;
using testing::WriteBytes;

// 2026-11-15, for logs without a year.
constexpr int64_t kNow = 1'794'750'000'000'000'000;

FoundInput Look(std::string_view name, std::string_view head) {
  TempFolder folder;
  WriteBytes(folder.File(name), head);
  ThreadPool pool(1);
  SpillBudget budget;
  NoProgress progress;
  auto found = FindInputs({.paths = {folder.File(name)}, .now_ns = kNow, .all_claims = true}, pool,
                          budget, progress);
  EXPECT_EQ(found.size(), 1u) << name;
  return std::move(found.at(0));
}

// The names of all takers, with commas.
std::string Takers(std::string_view name, std::string_view head) {
  FoundInput input = Look(name, head);
  std::string takers;
  for (const Importer* importer : input.claims) {
    takers += (takers.empty() ? "" : ",") + std::string(importer->info.name);
  }
  return takers;
}

constexpr std::string_view kTorchTrace =
    "V1115 02:42:22.605000 3829 torch/_dynamo/utils.py:2126] {\"chromium_event\": {}, \"rank\": 3, "
    "\"has_payload\": \"x\"}\n\t{\n\t\"name\": \"dynamo\",\n\t\"ts\": 1794710542605738.2\n\t}\n";
constexpr std::string_view kProfile =
    R"({"schemaVersion": 1, "deviceProperties": [{"id": 0}],
        "distributedInfo": {"backend": "nccl", "rank": 2, "world_size": 8},
        "traceEvents": [{"ph": "X", "name": "a", "ts": 1794710542605738.5, "dur": 1, "args": {}}]})";
constexpr std::string_view kFrJson =
    R"({"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}},
        "pg_status": {}, "entries": [{"profiling_name": "nccl:all_reduce", "time_created_ns": 77}]})";
constexpr std::string_view kExecutionTrace =
    R"({"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": [{"id": 1, "ctrl_deps": 0}]})";
constexpr std::string_view kFlex =
    R"({"traceEvents": [{"ph": "X", "name": "k", "ts": 1, "attr": {"TS1": "1", "TS2": "2"}}]})";
constexpr std::string_view kPerfetto = "\x0a\x04\x08\x01\x10\x02\x0a\x02\x08\x01"sv;
// {'segments': [], 'device_traces': [], 'allocator_settings': {}} and
// {'version': '2.9', 'pg_config': {}, 'entries': []} as Python's pickle writes them.
const std::vector<std::string_view> kSnapshots = {
    "(dp0\nVsegments\np1\n(lp2\nsVdevice_traces\np3\n(lp4\nsVallocator_settings\np5\n(dp6\ns."sv,
    "}q\x00(X\x08\x00\x00\x00segmentsq\x01]q\x02X\x0d\x00\x00\x00"
    "device_tracesq\x03]q\x04u."sv,
    "\x80\x02}q\x00(X\x08\x00\x00\x00segmentsq\x01]q\x02X\x0d\x00\x00\x00"
    "device_tracesq\x03]q\x04u."sv,
    "\x80\x03}q\x00(X\x08\x00\x00\x00segmentsq\x01]q\x02X\x0d\x00\x00\x00"
    "device_tracesq\x03]q\x04u."sv,
    "\x80\x04\x95\x2a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x08segments\x94]\x94\x8c\x0d"
    "device_traces\x94]\x94u."sv,
    "\x80\x05\x95\x2a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x08segments\x94]\x94\x8c\x0d"
    "device_traces\x94]\x94u."sv};
const std::vector<std::string_view> kDumps = {
    "(dp0\nVversion\np1\nV2.9\np2\nsVpg_config\np3\n(dp4\nsVentries\np5\n(lp6\ns."sv,
    "(lp0\n(dp1\nVprofiling_name\np2\nVnccl:all_reduce\np3\nsa."sv,
    "}q\x00(X\x09\x00\x00\x00pg_configq\x01}q\x02u."sv,
    "]q\x00}q\x01X\x0e\x00\x00\x00profiling_nameq\x02X\x01\x00\x00\x00xq\x03sa."sv,
    "\x80\x02}q\x00(X\x09\x00\x00\x00pg_configq\x01}q\x02u."sv,
    "\x80\x03}q\x00(X\x09\x00\x00\x00pg_configq\x01}q\x02u."sv,
    "\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x09pg_config\x94}\x94u."sv,
    "\x80\x05\x95\x1a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x09pg_config\x94}\x94u."sv};

struct Sample {
  std::string_view kind;
  std::string_view name;
  std::string_view head;
};

const std::vector<Sample> kSamples = {
    {"torch_trace", "dedicated_log_torch_trace_rank_3_a.log", kTorchTrace},
    {"chrome_trace", "p.json", kProfile},
    {"chrome_trace", "p.json", R"([{"ph": "X", "name": "a", "ts": 1}])"},
    {"chrome_trace", "p.json", R"([{"name": "a", "ts": 1)"},
    {"chrome_trace", "p.json", R"({"traceEvents": []})"},
    {"flight_recorder", "dump_7.json", kFrJson},
    {"flight_recorder", "dump_7.json", R"([{"profiling_name": "x", "record_id": 1}])"},
    {"flight_recorder", "dump_7.json", R"({"pg_config": {}, "pg_status": {}, "entries": []})"},
    {"execution_trace", "et.json", kExecutionTrace},
    {"flex", "tp4_rank0_job_1.json", kFlex},
    {"flex", "x.json", R"([{"ph": "X", "ts": 1, "name": "a", "args": {"TS1": 1}}])"},
    {"op_trace", "ops.json", testing::kOpTrace},
    {"op_trace", "ops.json", R"({"metadata": {}, "total_duration_us": 0, "entries": []})"},
    {"aiu_compiler_log", "compiler.log", "[DeepRT] start\nx\n"},
    {"aiu_compiler_log", "compiler.log", "hello\n====== Perf Summary ======\n"},
    {"aiu_compiler_log", "ideal.json", R"([{"kernel": "a", "ideal_cycles": 3}])"},
    {"perfetto", "trace.pftrace", kPerfetto},
    {"perfetto", "x", kPerfetto},
    {"job_text", "notes.txt", "hello\n"},
    {"job_text", "notes.txt", "[rank5]: hello {\n"},
    {"job_text", "notes.txt", "{'loss': 2.3, 'epoch': 1}\n"},
    {"job_text", "notes.txt", "[2026-11-15 02:42:22] INFO start\n"},
    {"job_text", "notes.txt", "(default) segments\n"},
    {"job_text", "notes.txt", "\x1b[31mred\x1b[0m\n"},
    {"job_text", "notes.txt", "\n\n\nhello\n"},
    {"", "x.json", "[1, 2, 3]"},
    {"", "x.json", "[\"a\", \"b\"]"},
    {"", "x.json", "[[\n\"a\"], [\"b\"]]"},
    {"", "x.json", R"({"some": "thing"})"},
    {"", "x.bin", "\x00\x01\x02"sv},
};

TEST(Sniffers, ExactlyOneTaker) {
  for (const Sample& sample : kSamples) {
    EXPECT_EQ(Takers(sample.name, sample.head), sample.kind) << sample.head;
  }
}

TEST(Sniffers, Pickles) {
  for (auto pickle : kSnapshots) {
    EXPECT_TRUE(LooksLikePickle(pickle));
    EXPECT_EQ(Takers("memory.pickle", pickle), "memory_snapshot");
  }
  for (auto pickle : kDumps) {
    EXPECT_TRUE(LooksLikePickle(pickle));
    EXPECT_EQ(Takers("nccl_3", pickle), "flight_recorder");
  }
  EXPECT_EQ(Takers("model.pt", "\x80\x02}q\x00X\x05\x00\x00\x00stateq\x01u."sv), "");
  for (auto bad : {""sv, "\x80"sv, "\x80\x06"sv, "\x80\x00"sv, "("sv, "}"sv, "(x"sv}) {
    EXPECT_FALSE(LooksLikePickle(bad));
  }
}

TEST(Sniffers, LeadingWhiteSpaceOfJson) {
  for (const Sample& sample : kSamples) {
    if (sample.head[0] != '{' && sample.head[0] != '[') continue;
    if (sample.head.starts_with("[DeepRT]")) continue;  // the first line begins with it
    for (auto blanks : {" "sv, "\n"sv, "\r\n\t "sv, "\n\n\n\n\n"sv}) {
      std::string head = std::string(blanks) + std::string(sample.head);
      EXPECT_EQ(Takers(sample.name, head), sample.kind) << head;
    }
  }
}

// Cut anywhere: never two takers, and never another format's than its own or none or text.
TEST(Sniffers, CutHeads) {
  for (const Sample& sample : kSamples) {
    for (size_t size = 1; size < sample.head.size(); size += size < 40 ? 1 : 7) {
      std::string_view head = sample.head.substr(0, size);
      auto cut = JsonOutline::Of(head);
      SniffInput input{.path = sample.name,
                       .name = sample.name,
                       .head = head,
                       .json = cut ? &*cut : nullptr,
                       .now_ns = kNow};
      std::string takers;
      for (const Importer* importer : AllImporters()) {
        if (importer->sniff(input).mine && !importer->info.fallback) takers += importer->info.name;
      }
      bool before_stamps = sample.kind == "flex" && takers == "chrome_trace";
      EXPECT_TRUE(takers.empty() || takers == sample.kind || before_stamps) << takers << head;
    }
  }
}

TEST(Sniffers, WhatHeadsTell) {
  FoundInput log = Look("a.log", kTorchTrace);
  EXPECT_EQ(log.recognition.rank, 3);
  EXPECT_EQ(log.recognition.start_ns, 1'794'710'542'605'738'000);
  FoundInput profile = Look("p.json", kProfile);
  EXPECT_EQ(profile.recognition.rank, 2);
  EXPECT_EQ(profile.recognition.world_size, 8);
  EXPECT_EQ(profile.recognition.start_ns, 1'794'710'542'605'738'000);
  FoundInput dump = Look("dump_7.json", kFrJson);
  EXPECT_EQ(dump.recognition.rank_in_name, 7);
  EXPECT_EQ(dump.recognition.world_size, 3);
  EXPECT_EQ(dump.recognition.start_ns, 77);
}

// A pickled dump whose default group has these members.
int32_t WorldSizeOf(const std::string& members) {
  const auto size = static_cast<uint32_t>(members.size());
  std::string head = "\x80\x02}q\x00(X\x09\x00\x00\x00pg_configq\x01X\x0a\x00\x00\x00"s;
  head += "default_pgq\x02X"s;
  head.append(reinterpret_cast<const char*>(&size), sizeof(size));
  return Look("nccl_3", head + members + "q\x03"s).recognition.world_size;
}

TEST(Sniffers, WorldSizeOfDumps) {
  std::string members = "[0";
  for (int ranks = 1; ranks <= 4200; ++ranks) {
    // 4096 ranks: 0x5baa bytes, and 0x5b is a bracket.
    if (ranks < 13 || (ranks > 98 && ranks < 103) || (ranks > 999 && ranks < 1002) ||
        ranks == 4096 || ranks == 4200) {
      EXPECT_EQ(WorldSizeOf(members + "]"), ranks);
    }
    members += fmt::format(", {}", ranks);
  }
  EXPECT_EQ(WorldSizeOf("[4, 5, 6, 7]"), 4);
  EXPECT_EQ(WorldSizeOf("[0, 1, 2, 30, 4]"), 5);
  EXPECT_EQ(WorldSizeOf("[]"), 1);
  EXPECT_EQ(WorldSizeOf("[0, 1, x, 30]"), kNone32);
  EXPECT_EQ(WorldSizeOf("[0, 1, x, 3]"), 4) << "damaged, and as long as that of 4 ranks";
  EXPECT_EQ(WorldSizeOf("[x] [0, 1]"), kNone32) << "of another group";
  EXPECT_EQ(WorldSizeOf("[0, 1, 2"), kNone32) << "cut";
}

TEST(Sniffers, DocumentedNamesOfDumps) {
  EXPECT_EQ(Look("_dump_12", kDumps[0]).recognition.rank_in_name, 12);
  EXPECT_EQ(Look("comm7", kDumps[0]).recognition.rank_in_name, 7);
  EXPECT_EQ(Look("nccl_trace_rank_container-node02_5", kDumps[0]).recognition.rank_in_name, 5);
  EXPECT_EQ(Look("dump", kDumps[0]).recognition.rank_in_name, kNone32);
  EXPECT_EQ(Look("dump123456789012", kDumps[0]).recognition.rank_in_name, kNone32);
}

TEST(Sniffers, PrefixAnywhereInTheLine) {
  for (auto front : {"[rank0]:"sv, "[0]: "sv, "0: "sv, "noise\n[default0]:"sv}) {
    EXPECT_EQ(Takers("a.log", std::string(front) + std::string(kTorchTrace)), "torch_trace")
        << front;
  }
  for (auto bad : {"X1115 02:42:22.605000 3829 a.py:1] {\"x\": 1}\n"sv,
                   "V1115 02:42:22.605000 3829 a.py] {\"x\": 1}\n"sv,
                   "V1115 02:42:22.605000 3829 a.py:1] [\"x\"]\n"sv}) {
    EXPECT_EQ(Takers("a.log", bad), "job_text") << bad;
  }
}

TEST(Sniffers, TimeWithoutYear) {
  auto start = [](std::string_view month_day) {
    std::string head = fmt::format("V{} 02:42:22.605000 1 a.py:1] {{\"x\": 1}}\n", month_day);
    return Look("a.log", head).recognition.start_ns;
  };
  constexpr int64_t kDay = 86'400'000'000'000;
  EXPECT_EQ(start("1115"), 1'794'710'542'605'000'000);
  EXPECT_EQ(start("1116"), start("1115") + kDay) << "a day of grace for time zones";
  EXPECT_EQ(start("1201"), start("1115") + (16 - 365) * kDay) << "of the year before";
  EXPECT_EQ(start("1399"), kNone64);
  EXPECT_EQ(start("0000"), kNone64);
}

TEST(Sniffers, AbsurdRanksAreNone) {
  for (auto rank : {"-1"sv, "4294967296"sv, "99999999999999999999"sv, "2147483648"sv, "null"sv}) {
    auto profile = fmt::format(
        R"({{"distributedInfo": {{"rank": {0}, "world_size": {0}}}, "traceEvents": []}})", rank);
    EXPECT_EQ(Look("p.json", profile).recognition.rank, kNone32) << rank;
    EXPECT_EQ(Look("p.json", profile).recognition.world_size, kNone32) << rank;
    auto log = fmt::format("V1115 02:42:22.605000 1 a.py:1] {{\"rank\": {}}}\n", rank);
    EXPECT_EQ(Look("a.log", log).recognition.rank, kNone32) << rank;
  }
  // Whoever counts up to the world size must not run out of memory.
  auto huge = R"({"distributedInfo": {"rank": 0, "world_size": 2000000000}, "traceEvents": []})";
  EXPECT_EQ(Look("p.json", huge).recognition.world_size, kNone32);
}

TEST(Sniffers, HostileHeadsAreCheap) {
  std::string closes;
  while (closes.size() < kSniffBytes) closes += "V1] {\"";
  std::string brackets(kSniffBytes, '[');
  std::string objects;
  while (objects.size() < kSniffBytes) objects += "{\"a\":";
  const double begin = CpuSeconds();
  for (const std::string& head : {closes, brackets, objects, Noise(kSniffBytes)}) {
    Takers("x", head);
  }
  EXPECT_LT(CpuSeconds() - begin, 0.5);
}

TEST(Sniffers, NoiseIsNobodys) {
  for (size_t size : {100u, 5000u}) EXPECT_EQ(Takers("x", "\xff" + Noise(size)), "");
}

TEST(Sniffing, Helpers) {
  EXPECT_EQ(NumberAt("x12y", 1), 12);
  EXPECT_EQ(NumberAt("-5", 0), -5);
  EXPECT_FALSE(NumberAt("12", 2));
  EXPECT_FALSE(NumberAt("x", 0));
  EXPECT_FALSE(NumberAt("99999999999999999999", 0));
  EXPECT_EQ(UnixMicrosToNs(1'000'000'000'000'000), 1'000'000'000'000'000'000);
  EXPECT_EQ(UnixMicrosToNs(990'000'000'000'000), kNone64);
  EXPECT_EQ(UnixMicrosToNs(9'300'000'000'000'000), kNone64);
  EXPECT_TRUE(LooksLikeText("h\xc3\xa4llo\n"));
  EXPECT_FALSE(LooksLikeText("a\0b"sv));
  EXPECT_FALSE(LooksLikeText("\x01\x02\x03"));
}

}  // namespace sniffers_test
}  // namespace debrief
