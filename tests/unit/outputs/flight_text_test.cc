// The cases by which PyTorch tests its own analyzer, built as rows of comm_op.
#include "outputs/terminal/flight_text/flight_text.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "compat/torchfrtrace/analyzer.h"
#include "compat/torchfrtrace/tabulate.h"
#include "outputs/output.h"
#include "tables/comm_call.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_text {
namespace flight_text_test {

struct Event {
  std::string op = "all_reduce";
  std::string in = "[[4, 4]]";
  std::string out = "[[4, 4]]";
  std::string state = "scheduled";
  std::string in_type = "float32";
  std::string out_type = "float32";
  std::string backend = "nccl";
  std::string group = "0";
  std::string desc = "default";
  int32_t record = 0;
  int32_t seq = 1;
  int32_t p2p_seq = 0;
  bool is_p2p = false;
  int32_t src = kNone32;
  int32_t dst = kNone32;
};

Event Op(std::string op, std::string in = "[[4, 4]]", std::string out = "[[4, 4]]") {
  Event event;
  event.op = std::move(op);
  event.in = std::move(in);
  event.out = std::move(out);
  return event;
}

Event P2p(std::string op, int32_t src, int32_t dst, const std::string& sizes) {
  Event event = Op(std::move(op), sizes, sizes);
  event.src = src;
  event.dst = dst;
  event.is_p2p = true;
  return event;
}

// A model with dumps of one job.
class Job {
 public:
  explicit Job(std::string version = "2.8") : version_(std::move(version)) {}

  Job& Rank(int32_t rank, const std::vector<Event>& events,
            const std::vector<std::tuple<std::string, std::string, std::vector<int64_t>>>& groups) {
    Identity who{.input = rank, .job = 0, .attempt = 0, .rank = rank};
    auto dump = Part::RowOf<CommDumpRow>(who);
    dump.input = rank;
    dump.version = model_.pools.Intern(version_);
    model_.tables.Edit<CommDumpTable>().Add(dump);
    for (const auto& [name, desc, members] : groups) {
      auto row = Part::RowOf<CommGroupRow>(who);
      row.input = rank;
      row.name = model_.pools.Intern(name);
      row.description = model_.pools.Intern(desc);
      row.members = model_.pools.lists.Intern(members);
      model_.tables.Edit<CommGroupTable>().Add(row);
    }
    for (const Event& event : events) Add(event, who);
    return *this;
  }

  // Rank of the pair of PyTorch's tests: group "0" of both, and a group "1" of its own.
  Job& Rank(int32_t rank, const std::vector<Event>& events) {
    return Rank(rank, events, {{"0", "default_pg", {0, 1}}, {"1", "sub_pg", {rank}}});
  }

  size_t Add(const Event& event, const Identity& who) {
    auto row = Part::RowOf<CommOpRow>(who);
    row.input = who.rank;
    row.record = event.record;
    row.group_name = model_.pools.Intern(event.group);
    row.group_desc = model_.pools.Intern(event.desc);
    row.backend = model_.pools.Intern(event.backend);
    row.op = model_.pools.Intern(event.op);
    row.src = event.src;
    row.dst = event.dst;
    row.collective_seq = event.seq;
    row.p2p_seq = event.p2p_seq;
    row.is_p2p = event.is_p2p;
    row.input_sizes = model_.pools.Intern(event.in);
    row.output_sizes = model_.pools.Intern(event.out);
    row.input_dtypes = model_.pools.Intern(event.in_type);
    row.output_dtypes = model_.pools.Intern(event.out_type);
    row.state = model_.pools.Intern(event.state);
    row.created_ns = 0;
    model_.tables.Edit<CommOpTable>().Add(row);
    return model_.tables.Get<CommOpTable>().size() - 1;
  }

  Result<Database> Run(int64_t cap = 10) {
    Result<Dumps> dumps = LoadDumps(model_, {.job = 0, .attempt = 0});
    if (!dumps.ok()) return dumps.status();
    return Analyze(model_, dumps.value(), cap, Log(sink_, false));
  }

  Model& model() { return model_; }
  const std::string& text() const { return sink_.text(); }

 private:
  std::string version_;
  Model model_;
  StringSink sink_;
};

Result<MatchInfo> MatchOf(const Event& a, const Event& b, size_t group_size = 2) {
  static std::vector<std::unique_ptr<Job>> jobs;  // keeps the text of entries alive
  Job& job = *jobs.emplace_back(std::make_unique<Job>());
  size_t first = job.Add(a, {});
  size_t second = job.Add(b, {});
  return Match(ReadEntry(job.model(), first), ReadEntry(job.model(), second), group_size);
}

MatchState StateOf(const Event& a, const Event& b) {
  Result<MatchInfo> info = MatchOf(a, b);
  EXPECT_TRUE(info.ok()) << info.status().ToString();
  return info.ok() ? info.value().state : MatchState::kUndecided;
}

std::vector<Event> Numbered(std::vector<Event> events) {
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].record = static_cast<int32_t>(i);
    events[i].seq = 0;
    events[i].state = "completed";
  }
  return events;
}

// A. match_one_event
TEST(FlightMatch, ComparesTwoEntries) {
  Event scheduled;
  Event completed;
  completed.state = "completed";
  Event half = completed;
  half.out_type = "float16";
  EXPECT_EQ(StateOf(scheduled, scheduled), MatchState::kFullyMatched);
  EXPECT_EQ(StateOf(scheduled, Op("all_gather")), MatchState::kTypeMismatch);
  EXPECT_EQ(StateOf(Op("all_to_all"), Op("all_to_all")), MatchState::kUndecided);
  EXPECT_EQ(StateOf(scheduled, Op("all_reduce", "[[5, 4]]")), MatchState::kSizeMismatch);
  EXPECT_EQ(StateOf(scheduled, Op("all_reduce", "[[4, 4]]", "[[5, 4]]")),
            MatchState::kSizeMismatch);
  Event uneven = Op("all_reduce", "[[4, 4]]", "[[5, 4]]");
  EXPECT_EQ(StateOf(uneven, uneven), MatchState::kSizeMismatch);
  EXPECT_EQ(StateOf(scheduled, completed), MatchState::kStateMismatch);
  EXPECT_EQ(StateOf(half, completed), MatchState::kDtypeMismatch);
}

TEST(FlightMatch, GatherHasOutputsOnOneRankOnly) {
  Event root = Op("gather", "[[4, 4]]", "[[4, 4], [4, 4]]");
  Event other = Op("gather", "[[4, 4]]", "[[]]");
  other.out_type = "";
  EXPECT_EQ(StateOf(root, other), MatchState::kFullyMatched);
  other.out = "[[4, 4]]";
  EXPECT_EQ(StateOf(root, other), MatchState::kFullyMatched);
}

// B. every known op against itself
TEST(FlightMatch, EveryOpMatchesItself) {
  for (const char* op :
       {"broadcast", "_broadcast_oop", "reduce", "_reduce_oop", "all_reduce", "gather", "scatter",
        "all_reduce_barrier", "barrier", "allreduce_coalesced", "ALLGATHER_coalesced",
        "REDUCE_SCATTER_coalesced", "coalesced"})
    EXPECT_EQ(StateOf(Op(op), Op(op)), MatchState::kFullyMatched) << op;
  for (const char* op :
       {"reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced"}) {
    Event event = Op(op, "[[4, 4]]", "[[8]]");
    EXPECT_EQ(StateOf(event, event), MatchState::kFullyMatched) << op;
    EXPECT_EQ(StateOf(Op(op), Op(op)), MatchState::kSizeMismatch) << op;
  }
  for (const char* op : {"all_gather", "_all_gather_base", "all_gather_into_tensor_coalesced"}) {
    Event event = Op(op, "[[4, 4]]", "[[32]]");
    EXPECT_EQ(StateOf(event, event), MatchState::kFullyMatched) << op;
    EXPECT_EQ(StateOf(Op(op), Op(op)), MatchState::kSizeMismatch) << op;
  }
  for (const char* op : {"all_to_all", "all_to_all_single"})
    EXPECT_EQ(StateOf(Op(op), Op(op)), MatchState::kUndecided) << op;
}

// C. backends and names
TEST(FlightMatch, TakesAnyBackendButWantsOne) {
  for (const char* backend : {"nccl", "ncclx", "gloo", "xccl", "nccl2", "c10d", "weird:backend"}) {
    Event event;
    event.backend = backend;
    EXPECT_EQ(StateOf(event, event), MatchState::kFullyMatched) << backend;
  }
  Event none;
  none.backend = "";
  Result<MatchInfo> info = MatchOf(none, none);
  ASSERT_FALSE(info.ok());
  EXPECT_TRUE(info.status().message().starts_with("AssertionError: name formatting error"));
  info = MatchOf(Op("all_shuffle"), Op("all_shuffle"));
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.status().message(), "AssertionError: all_shuffle is not a supported operation");
}

TEST(FlightMatch, NamesSendsAndReceives) {
  Job job;
  Event send = P2p("send", 0, 1, "[[8]]");
  send.backend = "nccl2";
  EXPECT_EQ(ProfilingName(ReadEntry(job.model(), job.Add(send, {}))), "nccl2:send 0->1");
  Event recv = P2p("recv", 0, 1, "[[8]]");
  EXPECT_EQ(ProfilingName(ReadEntry(job.model(), job.Add(recv, {}))), "nccl:recv 1<-0");
  recv.src = kNone32;
  EXPECT_EQ(ProfilingName(ReadEntry(job.model(), job.Add(recv, {}))), "nccl:recv 1<-?");
}

TEST(FlightMatch, RefusesRanksOutsideTheGroup) {
  Event far = P2p("send", 0, 7, "[[8]]");
  EXPECT_FALSE(MatchOf(far, far).ok());
  Event nowhere = P2p("send", 0, kNone32, "[[8]]");
  EXPECT_FALSE(MatchOf(nowhere, nowhere).ok());
}

// D. text of a result
TEST(FlightMatch, SaysWhatItFound) {
  EXPECT_EQ((MatchInfo{MatchState::kFullyMatched, "rank 0"}).Text(),
            "Error type: FULLY_MATCHED, rank 0");
  EXPECT_EQ((MatchInfo{MatchState::kSizeMismatch, ""}).Text(),
            "Error type: SIZE_OR_SYNTAX_MISMATCH");
}

// E. build_db
TEST(FlightAnalyzer, PassesTwoGroups) {
  Event sub = Op("all_reduce", "[[5, 5]]", "[[5, 5]]");
  sub.group = "1";
  sub.desc = "sub_pg";
  Job job;
  auto events = Numbered({Op("all_reduce"), sub});
  Result<Database> db = job.Rank(0, events).Rank(1, events).Run();
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  ASSERT_EQ(db->collectives.size(), 3U);
  for (const Collective& collective : db->collectives) EXPECT_TRUE(collective.pass_check);
  EXPECT_EQ(db->collectives[0].entry.record, 0);
  EXPECT_EQ(db->collectives[1].entry.record, 1);
  EXPECT_EQ(job.text(), "");
}

TEST(FlightAnalyzer, PassesOneCoalescedEntry) {
  auto events = Numbered({Op("allreduce_coalesced")});
  Result<Database> db = Job().Rank(0, events).Rank(1, events).Run();
  ASSERT_TRUE(db.ok());
  ASSERT_EQ(db->collectives.size(), 1U);
  EXPECT_TRUE(db->collectives[0].pass_check);
}

void ExpectOneRegion(const std::vector<Event>& events, std::string_view name) {
  Job job;
  Result<Database> db = job.Rank(0, events).Rank(1, events).Run();
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  ASSERT_EQ(db->collectives.size(), 1U) << job.text();
  EXPECT_EQ(db->collectives[0].entry.record, 2);
  EXPECT_EQ(db->collectives[0].entry.op, name);
  EXPECT_TRUE(db->collectives[0].pass_check);
}

TEST(FlightAnalyzer, PassesCoalescedRegions) {
  ExpectOneRegion(Numbered({Op("broadcast"), Op("broadcast"), Op("coalesced", "[[]]", "[[]]")}),
                  "coalesced");
  ExpectOneRegion(Numbered({Op("_reduce_oop"), Op("_reduce_oop"),
                            Op("REDUCE_SCATTER_coalesced", "[[]]", "[[]]")}),
                  "REDUCE_SCATTER_coalesced");
}

TEST(FlightAnalyzer, FailsARegionWithAWrongSize) {
  Event marker = Op("ALLGATHER_coalesced", "[[]]", "[[]]");
  Job job;
  job.Rank(0,
           Numbered({Op("_broadcast_oop"), Op("_broadcast_oop", "[[5, 5]]", "[[5, 5]]"), marker}));
  job.Rank(1, Numbered({Op("_broadcast_oop"), Op("_broadcast_oop"), marker}));
  Result<Database> db = job.Run();
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  ASSERT_EQ(db->collectives.size(), 1U);
  EXPECT_EQ(db->collectives[0].entry.record, 1);
  EXPECT_EQ(db->collectives[0].entry.op, "_broadcast_oop");
  EXPECT_FALSE(db->collectives[0].pass_check);
  EXPECT_NE(job.text().find("Collective sequence number: 0 has errors\n"), std::string::npos);
  EXPECT_NE(job.text().find("error msg: Culprit rank 1; Error type: SIZE_OR_SYNTAX_MISMATCH, "
                            "Expected input sizes: '[[5, 5]]' does not match found input sizes: "
                            "'[[4, 4]]'\n"),
            std::string::npos)
      << job.text();
}

TEST(FlightAnalyzer, NamesTheRankThatDidNotJoinARegion) {
  Job job;
  job.Rank(0, Numbered({Op("all_reduce")}));
  std::vector<Event> events = Numbered({Op("all_reduce"), Op("_reduce_oop"), Op("_reduce_oop"),
                                        Op("REDUCE_SCATTER_coalesced", "[[]]", "[[]]")});
  for (size_t i = 1; i < events.size(); ++i) events[i].seq = 1;
  Result<Database> db = job.Rank(1, events).Run();
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  ASSERT_EQ(db->collectives.size(), 2U) << job.text();
  const Collective& second = db->collectives[1];
  EXPECT_EQ(second.entry.op, "_reduce_oop");
  EXPECT_EQ(second.entry.record, 1);
  EXPECT_TRUE(second.pass_check);  // the analyzer's own contradiction
  ASSERT_TRUE(second.missing.has_value());
  EXPECT_EQ(second.missing->Text(), "{0}");
}

// F. newest additions
TEST(FlightMatch, FormsOfOneCollectiveAreDistinct) {
  for (auto [a, b] : std::initializer_list<std::pair<const char*, const char*>>{
           {"all_gather", "_all_gather_base"},
           {"all_reduce", "allreduce_coalesced"},
           {"reduce_scatter", "_reduce_scatter_base"},
           {"all_to_all", "all_to_all_single"}})
    EXPECT_EQ(StateOf(Op(a, "[[8]]", "[[8]]"), Op(b, "[[8]]", "[[8]]")), MatchState::kTypeMismatch)
        << a;
}

TEST(FlightMatch, ChecksNewForms) {
  Event base = Op("_all_gather_base", "[[8]]", "[[16]]");
  EXPECT_EQ(StateOf(base, base), MatchState::kFullyMatched);
  base.out = "[[24]]";
  EXPECT_EQ(StateOf(base, base), MatchState::kSizeMismatch);
  EXPECT_EQ(StateOf(Op("all_to_all_single", "[[8]]", "[[12]]"),
                    Op("all_to_all_single", "[[12]]", "[[8]]")),
            MatchState::kUndecided);
  Event any = P2p("recv", kNone32, 1, "[[8]]");
  EXPECT_EQ(StateOf(any, P2p("send", 0, 1, "[[8]]")), MatchState::kFullyMatched);
  EXPECT_EQ(StateOf(P2p("send", 0, 1, "[[8]]"), any), MatchState::kFullyMatched);
  EXPECT_EQ(StateOf(any, P2p("send", 0, 1, "[[4]]")), MatchState::kSizeMismatch);
  EXPECT_EQ(StateOf(P2p("send", 0, 1, "[[4]]"), any), MatchState::kSizeMismatch);
  EXPECT_EQ(StateOf(P2p("send", 0, 1, "[[8]]"), P2p("recv", 1, 0, "[[8]]")),
            MatchState::kSizeMismatch);
}

TEST(FlightMatch, ShowsGlobalRanksOfAnySource) {
  Job job;
  Entry entry = ReadEntry(job.model(), job.Add(P2p("recv", kNone32, 1, "[[8]]"), {}));
  DumpGroup group;
  group.ranks = {2, 5};
  Result<std::string> text = EntryText(entry, group, false);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value(), "recv(s=None d=5, input_sizes=[[8]], state=scheduled)");
}

Event Hook(std::string op, std::string in, std::string out, int32_t seq) {
  Event event = Op(std::move(op), std::move(in), std::move(out));
  event.backend = "nccl2";
  event.in_type = event.out_type = "Float";
  event.seq = seq;
  event.record = seq - 1;
  return event;
}

TEST(FlightAnalyzer, TakesTheShapesOfHooks) {
  std::vector<Event> events = {Hook("all_reduce", "[[8]]", "[[8]]", 1),
                               Hook("reduce", "[[8]]", "[[8]]", 2),
                               Hook("all_gather", "[[8]]", "[[8], [8]]", 3),
                               Hook("reduce_scatter", "[[8], [8]]", "[[8]]", 4),
                               Hook("allreduce_coalesced", "[[8], [4]]", "[[8], [4]]", 5)};
  Job job;
  Result<Database> db = job.Rank(0, events).Rank(1, events).Run();
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  ASSERT_EQ(db->collectives.size(), 5U) << job.text();
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(db->collectives[i].pass_check) << job.text();
    EXPECT_EQ(db->collectives[i].entry.op, events[i].op);
  }
}

TEST(FlightAnalyzer, CatchesWrongListsAndNumbers) {
  for (const Event& event :
       {Hook("all_gather", "[[8]]", "[[8], [8], [8]]", 1),
        Hook("reduce_scatter", "[[8], [8], [8]]", "[[8]]", 1),
        Hook("all_gather", "[[8]]", "[[17]]", 1), Hook("reduce_scatter", "[[17]]", "[[8]]", 1)}) {
    Result<Database> db = Job().Rank(0, {event}).Rank(1, {event}).Run();
    ASSERT_TRUE(db.ok());
    ASSERT_EQ(db->collectives.size(), 1U);
    EXPECT_FALSE(db->collectives[0].pass_check) << event.op << " " << event.out;
  }
}

// G. what recorders write: a batch of k sends and receives is k entries that stay scheduled and an
// end marker without sizes; the batch counts once in p2p_seq.
std::vector<Event> Batch(int32_t rank) {
  Event send = P2p("send", rank, 1 - rank, "[[3, 4]]");
  Event recv = P2p("recv", 1 - rank, rank, "[[3, 4]]");
  Event marker = Op("coalesced", "[]", "[]");
  marker.in_type = marker.out_type = "";
  marker.state = "completed";
  std::vector<Event> events = {send, recv, marker};
  if (rank == 1) std::swap(events[0], events[1]);
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].record = static_cast<int32_t>(i);
    events[i].seq = 0;
    events[i].p2p_seq = 1;
  }
  return events;
}

TEST(FlightAnalyzer, ShowsABatchAsMismatchAsTheAnalyzerDoes) {
  Job job("2.10");
  Result<Database> db = job.Rank(0, Batch(0)).Rank(1, Batch(1)).Run();
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  // Rank 0's send finds its receive, then its receive looks for a send on its own rank.
  EXPECT_NE(job.text().find("Rank 0 does not have a coalesced end.\n"), std::string::npos);
  EXPECT_NE(job.text().find("MISMATCH \n\n"), std::string::npos) << job.text();
  EXPECT_NE(job.text().find("send(s=0 d=1, input_sizes=[[3, 4]], state=scheduled)"),
            std::string::npos);
}

TEST(FlightAnalyzer, MatchesSingleSends) {
  // send and receive count one each in p2p_seq; the analyzer compares collective_seq alone.
  Event send = P2p("send", 0, 1, "[[3, 4]]");
  Event recv = P2p("recv", 0, 1, "[[3, 4]]");
  send.p2p_seq = recv.p2p_seq = 1;
  Result<Database> db = Job("2.10").Rank(0, {send}).Rank(1, {recv}).Run();
  ASSERT_TRUE(db.ok());
  ASSERT_EQ(db->collectives.size(), 1U);
  EXPECT_TRUE(db->collectives[0].pass_check);
}

TEST(FlightAnalyzer, PassesAnUnevenAllGather) {
  // As many broadcasts as ranks and an end marker, all with sequence number 1.
  ExpectOneRegion(
      Numbered({Op("_broadcast_oop"), Op("_broadcast_oop"), Op("ALLGATHER_coalesced", "[]", "[]")}),
      "ALLGATHER_coalesced");
}

TEST(FlightAnalyzer, AlignsRingsByRecord) {
  auto ring = [](int32_t first, int32_t last) {
    std::vector<Event> events;
    for (int32_t i = first; i <= last; ++i) {
      events.emplace_back();
      events.back().record = events.back().seq = i;
    }
    return events;
  };
  Job job;
  Result<Database> db = job.Rank(0, ring(10, 19)).Rank(1, ring(12, 19)).Run();
  ASSERT_TRUE(db.ok());
  EXPECT_EQ(db->collectives.size(), 8U);
  EXPECT_EQ(db->collectives.front().entry.record, 12);
  EXPECT_EQ(db->collectives.back().entry.record, 19);
}

// What the analyzer dies of.
TEST(FlightAnalyzer, RaisesWhatTheAnalyzerRaises) {
  Event stray;
  stray.group = "9";
  Result<Database> db = Job().Rank(0, {stray}).Rank(1, {}).Run();
  ASSERT_FALSE(db.ok());
  EXPECT_EQ(db.status().message(), "KeyError: ('9', 0)");

  Job old("2.6");
  db = old.Rank(0, Numbered({Op("broadcast"), Op("broadcast")})).Rank(1, {}).Run();
  ASSERT_FALSE(db.ok());
  EXPECT_EQ(db.status().message(), "AssertionError");

  db = Job("seven").Rank(0, {Op("all_reduce")}).Run();
  ASSERT_FALSE(db.ok());
  EXPECT_EQ(db.status().message(), "AssertionError: Invalid version seven");
}

TEST(FlightAnalyzer, StopsAtTheCap) {
  std::vector<Event> events;
  for (int32_t i = 0; i < 20; ++i) events.push_back(Hook("all_reduce", "[[8]]", "[[8]]", i + 1));
  Job job;
  Result<Database> db = job.Rank(0, events).Rank(1, {}).Run(3);
  ASSERT_TRUE(db.ok());
  EXPECT_EQ(db->collectives.size(), 4U);
  EXPECT_NE(job.text().find("Too many mismatches for process_group 0"), std::string::npos);
}

TEST(FlightAnalyzer, AddsUpAllToAll) {
  Job job;
  job.Rank(0, {Hook("all_to_all", "[[8]]", "[[12]]", 1)});
  job.Rank(1, {Hook("all_to_all", "[[12]]", "[[9]]", 1)});
  Result<Database> db = job.Run();
  ASSERT_TRUE(db.ok());
  EXPECT_NE(job.text().find("total input numel: 20\ntotal output numel: 21\n"), std::string::npos);
  Job fine;
  fine.Rank(0, {Hook("all_to_all", "[[8]]", "[[12]]", 1)});
  ASSERT_TRUE(fine.Rank(1, {Hook("all_to_all", "[[12]]", "[[8]]", 1)}).Run().ok());
  EXPECT_EQ(fine.text(), "");
}

TEST(FlightDumps, HashesRanksAsPythonDoes) {
  EXPECT_EQ(HashOfRanks({0, 1, 2, 3, 4, 5, 6, 7}), 574461802094412880);
  EXPECT_EQ(HashOfRanks({5, 1}), -2504152818654539437);
  EXPECT_EQ(HashOfRanks({}), 133146708735736);
}

TEST(FlightDumps, TransformsRanksOfReplicaGroups) {
  Job job;
  job.Rank(0, {}, {{"0", "default_pg", {0, 1}}}).Rank(3, {}, {{"0", "default_pg", {0, 1}}});
  Result<Dumps> dumps =
      LoadDumps(job.model(), {.job = 0, .attempt = 0, .transform_ft = true, .group_world_size = 2});
  ASSERT_TRUE(dumps.ok());
  ASSERT_EQ(dumps->groups.size(), 2U);
  EXPECT_EQ(dumps->groups[1].ranks, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(CheckNoneMissing(dumps.value()).message(),
            "AssertionError: Missing dump files from ranks {1, 2}");
}

TEST(PythonSet, WalksAsPythonDoes) {
  EXPECT_EQ(PythonSet(std::vector<int32_t>{12, 5}).Text(), "{12, 5}");
  EXPECT_EQ(PythonSet(std::vector<int32_t>{5, 12}).Text(), "{12, 5}");
  EXPECT_EQ(PythonSet(std::vector<int32_t>{8, 0}).Text(), "{8, 0}");
  EXPECT_EQ(PythonSet(std::vector<int32_t>{0, 8, 16, 24, 32}).Text(), "{0, 32, 8, 16, 24}");
  EXPECT_EQ(PythonSet().Text(), "set()");
}

TEST(PythonSet, PopsFromWhereItLeftOff) {
  PythonSet set(std::vector<int32_t>{1, 5, 3});
  EXPECT_EQ(set.Pop(), 1);
  set.Add(0);
  EXPECT_EQ(set.Pop(), 3);
  EXPECT_EQ(set.Pop(), 5);
  EXPECT_EQ(set.Pop(), 0);
  EXPECT_TRUE(set.empty());
}

TEST(Tabulate, LooksLikePythons) {
  EXPECT_EQ(Tabulate({"a", "name"}, {{"1", "x"}, {std::nullopt, "longer"}}),
            "  a  name\n---  ------\n  1  x\n     longer");
  EXPECT_EQ(Tabulate({}, {{std::nullopt, "x"}, {std::nullopt, std::nullopt}}), "  -\n  x\n\n  -");
  EXPECT_EQ(Tabulate({"a"}, {}), "a\n---");
  EXPECT_EQ(PythonText("it's\n\x1b"), "\"it's\\n\\x1b\"");
}

TEST(FlightEntries, ShowsWhatTheAnalyzerRefuses) {
  Event stray = Op("all_shuffle");
  stray.group = "9";
  Job job;
  job.Rank(0, {stray}).Rank(1, {});
  StringSink sink;
  ASSERT_TRUE(WriteEntries(job.model(), {}, sink).ok());
  EXPECT_NE(sink.text().find("all_shuffle(input_sizes=[[4, 4]], state=scheduled)"),
            std::string::npos);
  EXPECT_FALSE(WriteEntries(job.model(), {.strict = true}, sink).ok());
}

std::string FlatJson(const Model& model, bool compat) {
  std::string json;
  Status status = WriteFlatJson(model, {}, compat, [&](std::string_view piece) {
    json += piece;
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  return json;
}

TEST(FlightDatabase, IdsJoin) {
  auto events = Numbered({Op("all_reduce")});
  Job job;
  job.Rank(0, events).Rank(1, events);
  std::string json = FlatJson(job.model(), /*compat=*/true);
  std::string id = "\"id\":\"0" + std::to_string(HashOfRanks({0, 1})) + "\"";
  std::string reference = "\"group_id\":\"0" + std::to_string(HashOfRanks({0, 1})) + "\"";
  EXPECT_NE(json.find(id), std::string::npos) << json;
  EXPECT_NE(json.find("{\"id\":0," + reference), std::string::npos) << json;
}

// --details and -o speak for our own matching where it ran.
class OurMatching : public ::testing::Test {
 protected:
  OurMatching() {
    Event wrong = Op("all_reduce", "[[2]]", "[[2]]");
    // Rank 0 is the one that differs; the analyzer would blame ranks 1 and 2.
    for (int32_t rank = 0; rank < 3; ++rank)
      job_.Rank(rank, {rank == 0 ? wrong : Op("all_reduce")}, {{"0", "default_pg", {0, 1, 2, 3}}});
    CommMatchRow match;
    match.job = match.attempt = 0;
    match.match = 7;
    match.kind = Text("collective");
    match.group_name = Text("0");
    match.members = Ranks({0, 1, 2, 3});
    match.missing = Ranks({3});
    match.mismatch = Text("size");
    job_.model().tables.Edit<CommMatchTable>().Add(match);
    for (int64_t row = 0; row < 3; ++row) {
      CommCallRow call;
      call.op_row = static_cast<int32_t>(row);
      call.match = 7;
      job_.model().tables.Edit<CommCallTable>().Add(call);
    }
  }

  StringId Text(std::string_view text) { return job_.model().pools.Intern(text); }
  ListId Ranks(std::vector<int64_t> ranks) { return job_.model().pools.lists.Intern(ranks); }

  Job job_;
};

TEST_F(OurMatching, BlocksBlameTheMinority) {
  StringSink sink;
  ASSERT_TRUE(WriteDetails(job_.model(), {}, sink).ok());
  EXPECT_NE(sink.text().find("missing ranks: {3}\n"), std::string::npos) << sink.text();
  EXPECT_NE(sink.text().find("error msg: Culprit rank 0; Error type: SIZE_OR_SYNTAX_MISMATCH"),
            std::string::npos)
      << sink.text();
  EXPECT_EQ(sink.text().find("Culprit rank 1"), std::string::npos);
}

TEST_F(OurMatching, DatabaseHasIt) {
  std::string json = FlatJson(job_.model(), /*compat=*/false);
  EXPECT_NE(json.find("\"missing_ranks\":[3]"), std::string::npos) << json;
  EXPECT_NE(json.find("\"mismatch_collectives\":[{\"rank\":0"), std::string::npos) << json;
  EXPECT_NE(json.find("{\"id\":2,\"collective_id\":0,"), std::string::npos) << json;
}

TEST_F(OurMatching, RowsThatDoNotExistAreLeftOut) {
  CommCallRow call;
  call.op_row = 99;
  call.match = 7;
  job_.model().tables.Edit<CommCallTable>().Add(call);
  StringSink sink;
  EXPECT_TRUE(WriteDetails(job_.model(), {.verbose = true}, sink).ok());
  EXPECT_TRUE(WriteTables(job_.model(), {}, sink).ok());
}

}  // namespace flight_text_test
}  // namespace debrief::outputs::flight_text
