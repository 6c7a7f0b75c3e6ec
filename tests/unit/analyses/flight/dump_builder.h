// Flight Recorder dumps written by hand, as rows of a model.
//
//   Dumps dumps;
//   dumps.Group("1", "mesh_dp", {0, 1});
//   dumps.Rank(0).Op("all_reduce").Sizes("[[4]]").At(52).Completed();
//   dumps.Rank(1);                                 // a dump without entries
//   EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [1] all_reduce 1 mesh_dp");
//
// Entries are numbered as PyTorch does: records per rank, sequence numbers per rank and group, and
// one millisecond passes between two entries of a rank. An entry belongs to the first group of its
// rank unless In() says otherwise, and is scheduled until Started() or Completed() is said.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "analyses/flight/index.h"
#include "analyses/schedule.h"
#include "base/text/strings.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_op.h"
#include "tables/comm_status.h"
#include "tables/text_event.h"

namespace debrief::analyses::flight {

const Analysis& Describe();

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kStartNs = 1'700'000'000'000 * kMillisecond;

class Dumps {
 public:
  struct DeclaredGroup {
    StringId name, description;
    ListId members;
    std::vector<int64_t> ranks;
  };

  // One entry; every setter returns it again.
  class Entry {
   public:
    Entry(Dumps& dumps, CommOpRow& row) : dumps_(dumps), row_(row) {}
    Entry& Sizes(std::string_view text) { return Input(text).Output(text); }
    Entry& Input(std::string_view text) { return Text(row_.input_sizes, text); }
    Entry& Output(std::string_view text) { return Text(row_.output_sizes, text); }
    Entry& Dtype(std::string_view text) {
      return Text(row_.input_dtypes, text).Text(row_.output_dtypes, text);
    }
    Entry& At(int32_t line, std::string_view file = "/home/me/train.py") {
      FrameId frame = dumps_.model.pools.AddFrame({dumps_.model.pools.Intern(file), {}, line, {}});
      row_.stack = dumps_.model.pools.AddStack({&frame, 1});
      return *this;
    }
    Entry& Seq(int32_t seq) { return Set(row_.collective_seq, seq); }
    Entry& P2pSeq(int32_t seq) { return Set(row_.p2p_seq, seq); }
    Entry& P2p(bool is_p2p) { return Set(row_.is_p2p, uint8_t{is_p2p}); }
    Entry& Created(int64_t ns) { return Set(row_.created_ns, ns); }
    Entry& Later(int64_t ms) { return Set(row_.created_ns, row_.created_ns + ms * kMillisecond); }
    Entry& Started() { return Text(row_.state, "started"); }
    Entry& Completed() { return Text(row_.state, "completed"); }
    Entry& Retired() { return Set(row_.retired, uint8_t{1}); }

   private:
    template <typename T>
    Entry& Set(T& field, T value) {
      field = value;
      return *this;
    }
    Entry& Text(StringId& field, std::string_view text) {
      return Set(field, dumps_.model.pools.Intern(text));
    }
    Dumps& dumps_;
    CommOpRow& row_;
  };

  // The dump of one rank.
  class RankDump {
   public:
    RankDump(Dumps& dumps, int32_t rank) : dumps_(dumps), rank_(rank) {}
    RankDump& In(std::string_view group) {
      dumps_.dumps_[rank_].group = dumps_.Find(group);
      return *this;
    }
    // A collective, with the next sequence number of the group.
    Entry Op(std::string_view op) {
      CommOpRow& row = New(op);
      row.collective_seq = ++dumps_.dumps_[rank_].collectives[row.group_name];
      return Entry(dumps_, row);
    }
    // One more entry of the region that the entry before began.
    Entry Inner(std::string_view op) {
      CommOpRow& row = New(op);
      row.collective_seq = dumps_.dumps_[rank_].collectives[row.group_name];
      return Entry(dumps_, row);
    }
    Entry Send(int32_t to) { return Transfer("send", kNone32, to); }
    Entry Receive(int32_t from) { return Transfer("recv", from, kNone32); }
    // The end marker of a batch of sends and receives.
    Entry EndBatch() {
      CommOpRow& row = New("coalesced");
      row.p2p_seq = dumps_.dumps_[rank_].p2ps[row.group_name];
      return Entry(dumps_, row);
    }
    RankDump& Steps(int count, std::string_view op = "all_reduce", std::string_view sizes = "[[4]]",
                    int32_t line = 10) {
      for (int i = 0; i < count; ++i) Op(op).Sizes(sizes).At(line).Completed();
      return *this;
    }
    RankDump& Cut() {
      dumps_.dumps_[rank_].whole = false;
      return *this;
    }
    // The ring has wrapped: the entry that comes next has this number.
    RankDump& FirstRecord(int32_t record) {
      dumps_.dumps_[rank_].first_record = dumps_.dumps_[rank_].record = record;
      return *this;
    }
    RankDump& Counters(int32_t pg_id, int64_t enqueued, int64_t completed) {
      CommStatusRow row = Part::RowOf<CommStatusRow>({0, 0, 0, rank_});
      row.pg_id = pg_id;
      row.last_enqueued = row.last_started = enqueued;
      row.last_completed = completed;
      dumps_.model.tables.Edit<CommStatusTable>().Add(row);
      return *this;
    }

   private:
    Entry Transfer(std::string_view op, int32_t src, int32_t dst) {
      CommOpRow& row = New(op);
      row.is_p2p = 1;
      row.src = src;
      row.dst = dst;
      row.p2p_seq = ++dumps_.dumps_[rank_].p2ps[row.group_name];
      return Entry(dumps_, row).Sizes("[[4]]");
    }
    CommOpRow& New(std::string_view op) {
      Dump& dump = dumps_.dumps_[rank_];
      CommOpRow& row = dump.rows.emplace_back(Part::RowOf<CommOpRow>({0, 0, 0, rank_}));
      const DeclaredGroup& group = dumps_.groups_[dump.group];
      row.input = rank_;
      row.record = dump.record++;
      row.pg_id = static_cast<int32_t>(dump.group);
      row.group_name = group.name;
      row.group_desc = group.description;
      row.members = group.members;
      row.op = dumps_.model.pools.Intern(op);
      row.state = dumps_.model.pools.Intern("scheduled");
      row.created_ns = kStartNs + row.record * kMillisecond;
      return row;
    }
    Dumps& dumps_;
    int32_t rank_;
  };

  // `members` empty: the dump does not tell them.
  Dumps& Group(std::string_view name, std::string_view description, std::vector<int64_t> members) {
    ListId list = members.empty() ? ListId::kNone : model.pools.lists.Intern(members);
    groups_.push_back(
        {model.pools.Intern(name), model.pools.Intern(description), list, std::move(members)});
    return *this;
  }
  Dumps& Undeclared() {  // no comm_group rows: only entries tell the members
    declare_ = false;
    return *this;
  }
  RankDump Rank(int32_t rank) {
    auto [found, is_new] = dumps_.try_emplace(rank);
    for (size_t i = groups_.size(); is_new && i-- > 0;) {
      if (IsMember(groups_[i], rank)) found->second.group = i;
    }
    return {*this, rank};
  }
  Dumps& Says(int32_t rank, std::string_view kind, std::string_view text = "") {
    TextEventRow row = Part::RowOf<TextEventRow>({0, 0, 0, rank});
    row.kind = model.pools.Intern(kind);
    row.text = model.pools.Intern(text);
    row.line = 1;
    model.tables.Edit<TextEventTable>().Add(row);
    return *this;
  }

  // Writes the rows; once, when all is said.
  const Model& Finish() {
    for (const auto& [rank, dump] : dumps_) {
      CommDumpRow row = Part::RowOf<CommDumpRow>({rank, 0, 0, rank});
      row.input = rank;
      row.first_record = dump.first_record;
      row.whole = dump.whole;
      model.tables.Edit<CommDumpTable>().Add(row);
      for (const DeclaredGroup& group : groups_) {
        if (declare_ && IsMember(group, rank)) Declare(rank, group);
      }
      for (const CommOpRow& op : dump.rows) model.tables.Edit<CommOpTable>().Add(op);
    }
    return model;
  }
  AnalysisResult Run() {
    AnalysisResult result;
    if (!RunDeclared(Describe(), Finish(), result).ok()) result.findings.clear();
    return result;
  }

  Model model;

 private:
  struct Dump {
    std::deque<CommOpRow> rows;  // entries are referred to while others are added
    size_t group = 0;
    int32_t record = 0;
    int32_t first_record = 0;
    bool whole = true;
    std::map<StringId, int32_t> collectives, p2ps;
  };

  static bool IsMember(const DeclaredGroup& group, int32_t rank) {
    return group.ranks.empty() ||
           std::find(group.ranks.begin(), group.ranks.end(), rank) != group.ranks.end();
  }
  void Declare(int32_t rank, const DeclaredGroup& group) {
    CommGroupRow row = Part::RowOf<CommGroupRow>({rank, 0, 0, rank});
    row.input = rank;
    row.name = group.name;
    row.description = group.description;
    row.members = group.members;
    model.tables.Edit<CommGroupTable>().Add(row);
  }
  size_t Find(std::string_view name) const {
    size_t at = 0;
    while (at + 1 < groups_.size() && model.pools.Text(groups_[at].name) != name) ++at;
    return at;
  }

  std::deque<DeclaredGroup> groups_;
  std::map<int32_t, Dump> dumps_;
  bool declare_ = true;
};

// One group of all ranks.
inline Dumps JobOf(int64_t ranks, std::string_view group, std::string_view description) {
  Dumps dumps;
  std::vector<int64_t> members;
  for (int64_t rank = 0; rank < ranks; ++rank) members.push_back(rank);
  dumps.Group(group, description, members);
  return dumps;
}

inline bool Has(std::string_view text, std::string_view part) { return Contains(text, part); }

inline std::string OneLine(const Finding& finding) {
  std::string line = fmt::format("{} {} [{}]", finding.rule.substr(finding.rule.find('.') + 1),
                                 SeverityName(finding.severity), fmt::join(finding.ranks, ", "));
  if (!finding.op.empty()) line += " " + finding.op;
  if (finding.seq != kNone64) line += fmt::format(" {}", finding.seq);
  for (const GroupRef& group : finding.groups)
    line += " " + (group.desc.empty() ? group.name : group.desc);
  return line;
}

// "rule severity [ranks] op seq groups" of every finding of a role, in order.
inline std::string Lines(const AnalysisResult& result, Role role) {
  std::string lines;
  for (const Finding& finding : result.findings) {
    if (finding.role == role) lines += (lines.empty() ? "" : "; ") + OneLine(finding);
  }
  return lines;
}
inline std::string Causes(const AnalysisResult& result) { return Lines(result, Role::kCause); }

inline const Finding& First(const AnalysisResult& result) {
  static const Finding kNone;
  return result.findings.empty() ? kNone : result.findings.front();
}

}  // namespace debrief::analyses::flight
