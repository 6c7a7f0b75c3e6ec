#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/md5.h"
#include "inputs/torch_trace/untangle.h"
#include "unit/cpu_time.h"

namespace debrief::inputs::torch_trace {
namespace torch_trace_untangle_test {

// The same numbers on every machine, which std::uniform_int_distribution does not promise.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t end) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % end;
  }

 private:
  uint64_t state_;
};

using Payload = std::vector<std::string>;
using Log = std::vector<Payload>;  // of one lane; an empty payload is a header without one

std::array<uint8_t, 16> DigestOf(const Payload& payload) {
  Md5 md5;
  for (size_t i = 0; i < payload.size(); ++i) md5.Update((i > 0 ? "\n" : "") + payload[i]);
  return md5.Final();
}

// Items with the payload that each line came from.
struct Stream {
  std::vector<TangledItem> items;
  std::vector<int32_t> truth;
  std::vector<int32_t> header;  // of each lane

  void Header(int lane, const Payload& payload) {
    TangledItem item;
    item.lane = lane;
    item.has_payload = !payload.empty();
    if (item.has_payload) item.md5 = DigestOf(payload);
    if (header.size() <= static_cast<size_t>(lane)) header.resize(static_cast<size_t>(lane) + 1);
    header[static_cast<size_t>(lane)] = static_cast<int32_t>(items.size());
    items.push_back(item);
    truth.push_back(-1);
  }
  void Line(int lane, std::string_view text) {
    TangledItem item;
    item.text = text;
    items.push_back(item);
    truth.push_back(lane < 0 ? -1 : header[static_cast<size_t>(lane)]);
  }
};

enum class Merge { kRandom, kTurns, kBlocks };

Stream Interleave(const std::vector<Log>& logs, Merge merge, uint64_t seed) {
  struct Place {
    size_t payload = 0;
    size_t line = 0;  // 0: the header
  };
  std::vector<Place> places(logs.size());
  Stream stream;
  Dice dice(seed);
  size_t left = logs.size();
  for (size_t turn = 0; left > 0; ++turn) {
    size_t lane = merge == Merge::kRandom  ? dice.Below(logs.size())
                  : merge == Merge::kTurns ? turn % logs.size()
                                           : turn / 5 % logs.size();
    Place& place = places[lane];
    if (place.payload == logs[lane].size()) continue;
    const Payload& payload = logs[lane][place.payload];
    if (place.line == 0) {
      stream.Header(static_cast<int>(lane), payload);
    } else {
      stream.Line(static_cast<int>(lane), payload[place.line - 1]);
    }
    if (place.line++ < payload.size()) continue;
    place = {place.payload + 1, 0};
    if (place.payload == logs[lane].size()) --left;
  }
  return stream;
}

Payload Event(const std::string& name, uint64_t time, bool begin) {
  return {"{",
          "\"name\": \"" + name + "\",",
          "\"ts\": " + std::to_string(time) + ".5,",
          "\"args\": {",
          "\"compile_id\": \"0/0\"",
          "},",
          begin ? "\"ph\": \"B\"," : "\"ph\": \"E\",",
          "\"cat\": \"dynamo_timed\",",
          "\"tid\": 0,",
          "\"pid\": 0",
          "}"};
}

Payload Graph(int rank, int nodes) {
  Payload lines = {"class GraphModule(torch.nn.Module):", "    def forward(self, x):"};
  for (int i = 0; i < nodes; ++i) {
    lines.push_back("        add_" + std::to_string(i) + ": \"f32[8]cuda:" + std::to_string(rank) +
                    "\" = torch.ops.aten.add(x, " + std::to_string(i * i % 97) + ")");
    if (i % 7 == 6) lines.push_back("");
  }
  lines.push_back("        return (x,)");
  lines.push_back("");
  return lines;
}

// What a rank logs: events of growing time, graphs that differ in the device, entries without
// payload.
Log RankLog(int rank, int rounds) {
  Log log;
  Dice dice(100 + static_cast<uint64_t>(rank));
  uint64_t time = 1794710107841286 + 777777 * static_cast<uint64_t>(rank);
  for (int round = 0; round < rounds; ++round) {
    std::string name = "pass_" + std::to_string(round % 6);
    log.push_back(Event(name, time += dice.Below(9000), true));
    if (round % 3 == 0) log.push_back({});
    if (round % 4 == 1) log.push_back(Graph(rank, 10 + round));
    log.push_back(Event(name, time += dice.Below(9000), false));
  }
  return log;
}

std::vector<Log> RankLogs(int ranks, int rounds) {
  std::vector<Log> logs;
  for (int rank = 0; rank < ranks; ++rank) logs.push_back(RankLog(rank, rounds));
  return logs;
}

// Every payload that counts as restored has its lines, in order; returns how many there are.
int32_t CountProved(const Stream& stream, const Untangled& result) {
  std::vector<Payload> payloads(stream.items.size());
  EXPECT_EQ(result.owner.size(), stream.items.size());
  for (size_t i = 0; i < stream.items.size(); ++i) {
    int32_t owner = result.owner[i];
    if (owner < 0) continue;
    EXPECT_LT(stream.items[i].lane, 0);
    EXPECT_LT(static_cast<size_t>(owner), i);
    payloads[static_cast<size_t>(owner)].emplace_back(stream.items[i].text);
  }
  int32_t proved = 0;
  for (size_t i = 0; i < payloads.size(); ++i) {
    if (payloads[i].empty()) continue;
    EXPECT_TRUE(stream.items[i].has_payload);
    EXPECT_EQ(DigestOf(payloads[i]), stream.items[i].md5);
    ++proved;
  }
  EXPECT_EQ(proved, result.restored);
  return proved;
}

int32_t Payloads(const Stream& stream) {
  int32_t count = 0;
  for (const TangledItem& item : stream.items) count += item.has_payload ? 1 : 0;
  return count;
}

void ExpectAllRestored(const Stream& stream) {
  Untangled result = Untangle(stream.items);
  EXPECT_EQ(CountProved(stream, result), Payloads(stream));
  EXPECT_EQ(result.lost, 0);
}

TEST(UntangleTest, NothingGivesNothing) {
  Untangled result = Untangle({});
  EXPECT_TRUE(result.owner.empty());
  EXPECT_EQ(result.restored + result.lost, 0);
}

TEST(UntangleTest, LinesBeforeAnyHeaderHaveNoOwner) {
  Stream stream;
  stream.Line(-1, "stray");
  stream.Line(-1, "");
  EXPECT_EQ(Untangle(stream.items).owner, (std::vector<int32_t>{-1, -1}));
}

TEST(UntangleTest, TwoInterleavedEventsComeApart) {
  Payload a = Event("a", 1, true);
  Payload b = Event("b", 2, true);
  Stream stream;
  stream.Header(4, a);
  stream.Header(9, b);
  for (size_t i = 0; i < a.size(); ++i) {
    stream.Line(9, b[i]);
    stream.Line(4, a[i]);
  }
  ExpectAllRestored(stream);
}

// The first of the two closing brackets makes either payload whole, but only one choice leaves the
// other lane what it needs before its next header.
TEST(UntangleTest, EqualLinesGoWhereAHeaderWaitsForThem) {
  Payload a = {"{", "\"k\": 1", "}"};
  Payload b = {"{", "\"k\": 2", "}"};
  for (int first : {0, 1}) {
    Stream stream;
    stream.Header(0, a);
    stream.Header(1, b);
    for (size_t i = 0; i < 2; ++i) {
      stream.Line(0, a[i]);
      stream.Line(1, b[i]);
    }
    stream.Line(first, "}");
    stream.Header(first, {});
    stream.Line(1 - first, "}");
    Untangled result = Untangle(stream.items);
    EXPECT_EQ(CountProved(stream, result), 2);
    EXPECT_EQ(result.owner[6], first);
  }
}

TEST(UntangleTest, EqualDigestsShareTheirText) {
  Payload graph = Graph(0, 60);
  std::vector<Log> logs = {{graph}, {graph}, {graph}};
  ExpectAllRestored(Interleave(logs, Merge::kRandom, 5));
}

TEST(UntangleTest, AnEmptyPayloadIsOneEmptyLineOrNone) {
  Stream stream;
  stream.Header(0, {""});
  stream.Header(1, {""});
  stream.Line(1, "");
  stream.Header(0, {});
  stream.Header(1, {});
  Untangled result = Untangle(stream.items);
  EXPECT_EQ(result.restored, 2);
  EXPECT_EQ(result.lost, 0);
}

TEST(UntangleTest, UntouchedPayloadsStay) {
  std::vector<Payload> payloads = {Graph(0, 3), Graph(1, 3), Graph(2, 3)};
  Stream stream;
  for (int rank = 0; rank < 3; ++rank) {
    const Payload& payload = payloads[static_cast<size_t>(rank)];
    stream.Header(rank, payload);
    for (const std::string& line : payload) stream.Line(rank, line);
  }
  Untangled result = Untangle(stream.items);
  EXPECT_EQ(result.owner, stream.truth);
}

TEST(UntangleTest, RandomRifflesOfTwoRanks) {
  std::vector<Log> logs = RankLogs(2, 40);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    ExpectAllRestored(Interleave(logs, Merge::kRandom, seed));
  }
}

TEST(UntangleTest, TurnsAndBlocksOfEightRanks) {
  std::vector<Log> logs = RankLogs(8, 20);
  ExpectAllRestored(Interleave(logs, Merge::kTurns, 0));
  ExpectAllRestored(Interleave(logs, Merge::kBlocks, 0));
}

TEST(UntangleTest, RandomRiffleOfEightRanksIsMostlyRestored) {
  std::vector<Log> logs = RankLogs(8, 20);
  Stream stream = Interleave(logs, Merge::kRandom, 1);
  EXPECT_GE(CountProved(stream, Untangle(stream.items)), Payloads(stream) * 8 / 10);
}

// Lines of many ranks and checksums that nothing fits: the search ends when its budget does.
TEST(UntangleTest, WrongChecksumsAreGivenUp) {
  std::vector<Payload> payloads;
  for (int lane = 0; lane < 64; ++lane) payloads.push_back(Graph(lane, 20));
  Stream stream;
  for (int lane = 0; lane < 64; ++lane) stream.Header(lane, {"another"});
  for (size_t line = 0; line < 20; ++line) {
    for (int lane = 0; lane < 64; ++lane)
      stream.Line(lane, payloads[static_cast<size_t>(lane)][line]);
  }
  stream.Header(64, Graph(0, 3));  // what stands together is found all the same
  Payload whole = Graph(0, 3);
  for (const std::string& line : whole) stream.Line(64, line);
  UntangleLimits limits;
  limits.least_work = 1'000'000;
  Untangled result = Untangle(stream.items, limits);
  EXPECT_TRUE(result.gave_up);
  EXPECT_EQ(result.lost, 64);
  EXPECT_EQ(result.restored, 1);
  EXPECT_EQ(result.least_work_left, 0);
}

TEST(UntangleTest, AGarbageLineDestroysNothing) {
  std::vector<Log> logs = RankLogs(2, 20);
  Stream clean = Interleave(logs, Merge::kRandom, 3);
  size_t place = clean.items.size() / 2;
  Stream stream = clean;
  TangledItem garbage;
  garbage.text = "<<< out of memory >>>";
  stream.items.insert(stream.items.begin() + static_cast<ptrdiff_t>(place), garbage);
  Untangled result = Untangle(stream.items);
  EXPECT_GE(CountProved(stream, result), Payloads(stream) - 2);
  EXPECT_EQ(result.owner[place], -1);
}

TEST(UntangleTest, ACorruptedPayloadIsLostAndTheRestIsFound) {
  std::vector<Log> logs = RankLogs(2, 30);
  Stream stream = Interleave(logs, Merge::kRandom, 7);
  size_t broken = stream.items.size() / 2;
  while (stream.items[broken].text.find("\"ts\"") != 0) ++broken;
  stream.items[broken].text = "\"ts\": 17,";
  Untangled result = Untangle(stream.items);
  EXPECT_GE(CountProved(stream, result), Payloads(stream) - 3);
  EXPECT_GE(result.lost, 1);
  EXPECT_EQ(result.owner[broken], -1);
  EXPECT_GE(result.owner.back(), 0);  // in step again
}

TEST(UntangleTest, AMissingEndIsLost) {
  Payload a = Event("a", 1, true);
  Stream stream;
  stream.Header(0, a);
  for (size_t i = 0; i + 1 < a.size(); ++i) stream.Line(0, a[i]);
  Untangled result = Untangle(stream.items);
  EXPECT_EQ(result.restored, 0);
  EXPECT_EQ(result.lost, 1);
  EXPECT_EQ(result.owner, std::vector<int32_t>(stream.items.size(), -1));
}

// Nothing tells these lines apart, so there are 2^4000 assignments.
TEST(UntangleTest, HopelessInputEndsInTime) {
  Dice dice(11);
  std::vector<Log> logs(2);
  for (Log& log : logs) {
    Payload payload;
    for (int i = 0; i < 2000; ++i) payload.push_back(std::to_string(100000 + dice.Below(900000)));
    log = {payload, Event("after", 5, true)};
  }
  Stream stream = Interleave(logs, Merge::kRandom, 2);
  const double start = CpuSeconds();
  Untangled result = Untangle(stream.items);
  const double took = CpuSeconds() - start;
  EXPECT_EQ(CountProved(stream, result) + result.lost, 4);
  EXPECT_GE(result.lost, 2);
  EXPECT_LT(took, 60);  // two seconds; the rest is for sanitizers
}

TEST(UntangleTest, TheResultIsTheSameAgain) {
  std::vector<Log> logs = RankLogs(4, 10);
  Stream stream = Interleave(logs, Merge::kRandom, 9);
  EXPECT_EQ(Untangle(stream.items).owner, Untangle(stream.items).owner);
}

TEST(UntangleTest, NarrowLimitsLoseButNeverLie) {
  std::vector<Log> logs = RankLogs(3, 15);
  Stream stream = Interleave(logs, Merge::kRandom, 4);
  UntangleLimits limits;
  limits.beams = {1};
  limits.prefixes = 4;
  Untangled result = Untangle(stream.items, limits);
  EXPECT_EQ(CountProved(stream, result) + result.lost, Payloads(stream));
  limits.beams = {};
  EXPECT_EQ(Untangle(stream.items, limits).owner.size(), stream.items.size());
}

}  // namespace torch_trace_untangle_test
}  // namespace debrief::inputs::torch_trace
