// The dumps of one attempt of one job, indexed for matching.
//
// A *unit* is what one kernel does: a single collective, a region of coalesced ones (inner entries
// and their end marker), or one send or receive (also inside a batch, where the end marker carries
// the state). Units of a rank are kept in the order in which it issued them.
//
//   comm_op rows --> units --> groups: rows of units with one sequence number, a member each
//                          \-> channels (group, sender, receiver): sends and receives, paired
//
// Cost: linear in the entries, 32 bytes a unit.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyses/flight/matching/signature.h"
#include "analyses/flight/row_runs.h"
#include "model/attempt_rows.h"
#include "model/model.h"
#include "tables/comm_op.h"

namespace debrief {
class ThreadPool;
}

namespace debrief::analyses::flight {

enum class OpState : uint8_t { kScheduled, kStarted, kCompleted };

struct Unit {
  int32_t rank = 0;   // position in Index::ranks
  int32_t group = 0;  // position in Index::groups
  uint32_t row = 0;   // of comm_op; of a region the first inner entry
  int32_t seq = 0;    // collective_seq, or p2p_seq of sends and receives
  Signature signature{};
  int32_t partner = -1;  // p2p: position in Index::ranks
  int32_t peer = -1;     // p2p: the other half, position in Index::units; -1 when there is none
  OpState state : 2 = OpState::kScheduled;
  bool p2p : 1 = false;
  bool send : 1 = false;
  bool region : 1 = false;
  bool fell_out : 1 = false;  // p2p: the partner's ring no longer holds its half
  bool completed() const { return state == OpState::kCompleted; }
};
static_assert(sizeof(Unit) == 32, "there is one for every entry of every rank");

// Units of one group with one sequence number, sorted by rank: units[order[begin..end)].
struct SeqRow {
  int32_t seq;
  int32_t begin;
  int32_t end;
};

// What one member has of one group.
struct MemberWindow {
  int32_t first = 0;  // sequence numbers in the dump
  int32_t last = -1;
  int64_t enqueued = kNone64;  // counters of the dump, where they can be trusted
  int64_t finished = kNone64;
};

struct Group {
  StringId name = StringId::kNone;
  StringId description = StringId::kNone;
  ListId member_list = ListId::kNone;
  std::vector<int32_t> members;  // positions in Index::ranks, sorted
  std::vector<int32_t> order;    // collective units by sequence number, then rank
  std::vector<SeqRow> rows;
  std::vector<MemberWindow> windows;  // beside members
  bool has_p2p = false;
  bool counted = false;  // sequence numbers are counted from what is in the dump (torchcomms)

  MemberWindow& WindowAt(int32_t member) { return windows[static_cast<size_t>(member)]; }
  const MemberWindow& WindowAt(int32_t member) const {
    return windows[static_cast<size_t>(member)];
  }
};

struct RankInfo {
  int32_t rank = 0;  // global
  bool has_dump = false;
  bool unread = false;      // left a file that we could not read; it may be its dump
  bool whole = true;        // its dump was read to the end
  bool from_start = false;  // its dump begins with record 0
  // Its ring has wrapped and begins with an operation that is not completed: older ones that it
  // waits in may have fallen out, so nobody can tell where it is.
  bool lost = false;
  int32_t first_unit = 0;  // its units: [first_unit, last_unit)
  int32_t last_unit = 0;
  std::vector<int32_t> pending;  // units that are not completed, oldest first
};

// Sends and receives of one direction between two members.
struct Channel {
  int32_t group;
  int32_t sender;
  int32_t receiver;
  std::vector<int32_t> sends;
  std::vector<int32_t> receives;
};

// Whose the rows of the tables are that an index reads from end to end.
struct IndexedRows {
  explicit IndexedRows(const Model& model);

  AttemptRows ops;
  AttemptRows dumps;
  AttemptRows groups;
  AttemptRows status;
  std::vector<size_t> unread;  // rows of input: what may be a dump and could not be opened
};

class Index {
 public:
  // The dumps of (job, attempt) in `model`, which must outlive the index. `rows` may be shared by
  // the indices of all attempts.
  Index(const Model& model, int32_t job, int32_t attempt, ThreadPool* pool = nullptr,
        std::shared_ptr<const IndexedRows> rows = nullptr);

  const Model& model;
  int32_t job;
  int32_t attempt;
  std::shared_ptr<const IndexedRows> rows;
  ThreadPool* pool;  // for what can be done side by side (blocks.h); null: one after the other
  const CommOpTable& ops;
  std::vector<RankInfo> ranks;  // by global rank; those that only groups mention, too
  std::vector<Unit> units;      // by rank, then in the order of issue
  std::vector<Group> groups;
  std::vector<Channel> channels;
  std::vector<int32_t> unit_of_row;  // beside comm_op from first_row; -1 for other jobs
  int64_t first_row = 0;
  std::vector<int32_t> older_epoch;  // global ranks whose dump is from before a reset; not compared
  SignaturePool signatures;

  const Unit& UnitAt(int32_t at) const { return units[static_cast<size_t>(at)]; }
  Unit& UnitAt(int32_t at) { return units[static_cast<size_t>(at)]; }
  const Group& GroupAt(int32_t at) const { return groups[static_cast<size_t>(at)]; }
  Group& GroupAt(int32_t at) { return groups[static_cast<size_t>(at)]; }
  const Group& GroupOf(const Unit& unit) const { return GroupAt(unit.group); }
  const RankInfo& RankAt(int32_t at) const { return ranks[static_cast<size_t>(at)]; }
  RankInfo& RankAt(int32_t at) { return ranks[static_cast<size_t>(at)]; }
  int32_t GlobalRank(int32_t at) const { return RankAt(at).rank; }
  int32_t rank_count() const { return static_cast<int32_t>(ranks.size()); }

  std::string_view Text(StringId id) const { return model.pools.Text(id); }
  std::string_view OpName(const Unit& unit) const { return Text(ops.op[unit.row]); }
  int32_t Record(const Unit& unit) const { return ops.record[unit.row]; }
  StackId Site(const Unit& unit) const { return ops.stack[unit.row]; }

  std::span<const Unit> UnitsOf(int32_t rank) const;
  // The row of a sequence number, or null.
  const SeqRow* FindRow(const Group& group, int32_t seq) const;
  std::span<const int32_t> UnitsOf(const Group& group, const SeqRow& row) const;
  // The unit of a rank in a row, or null.
  const Unit* FindUnit(const Group& group, int32_t seq, int32_t rank) const;
  // Groups of the same description and number of members, itself included, in order.
  std::span<const int32_t> Alike(const Group& group) const;
  // Position of a rank in the group's members, or -1.
  static int32_t MemberPosition(const Group& group, int32_t rank);

  // What is known of a member and a sequence number: it issued it, did not, or nobody can tell (no
  // dump, a cut dump).
  enum class Issued : uint8_t { kYes, kNo, kUnknown };
  Issued HasIssued(const Group& group, int32_t seq, int32_t rank) const;
  bool HasCompleted(const Group& group, int32_t seq, int32_t rank) const;

 private:
  void AddRanks();
  void MarkUnread(std::map<int32_t, RankInfo>& all) const;
  void AddUnits();
  void MarkOlder(const std::vector<RowRun>& older, const std::vector<RowRun>& runs);
  void AlignCounted();
  void MarkLost();
  void AddStatus();
  void SortGroups();
  void SortGroup(Group& group);
  void PairChannels();
  int32_t AddRank(int32_t global_rank);
  int32_t AddGroup(size_t row);
  int32_t FindGroup(size_t row);

  // Entries of a rank are of few groups.
  static constexpr size_t kRecentGroups = 64;
  struct RecentGroup {
    StringId name = StringId::kNone;
    ListId members = ListId::kNone;
    StringId backend = StringId::kNone;
    int32_t position = -1;
  };

  std::map<int32_t, int32_t> rank_positions_;
  // By name, members, and whether the recorder of the host has it.
  std::map<std::tuple<StringId, ListId, bool>, int32_t> group_positions_;
  std::array<RecentGroup, kRecentGroups> recent_groups_;
  std::map<std::pair<StringId, size_t>, std::vector<int32_t>> alike_;  // by description and size
};

}  // namespace debrief::analyses::flight
