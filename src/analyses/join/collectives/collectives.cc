// Which kernel of a profile is which entry of the Flight Recorder?
//
//   units.h      entries of a dump, as kernels run them, and what compiled code issued
//   shift.h      which is which where no sequence number tells, and how clocks differ
//
// Every piece of communication of every profile gets a row; one that could not be joined says why.
// Cost: sorting what communicates; docs/joins.md tells the rules.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/join/collectives/shift.h"
#include "analyses/join/collectives/units.h"
#include "model/timeline/view.h"
#include "tables/collective_join.h"
#include "tables/comm_call.h"
#include "tables/comm_op.h"
#include "tables/compile_collective.h"
#include "tables/join_clock.h"
#include "tables/profile_collective.h"
#include "tables/timeline_launch.h"

namespace debrief::analyses::join_collectives {

namespace {

using timeline::RowRange;
using timeline::TimelineView;

// Times of broken files are anywhere; those within these years can be subtracted and added.
bool IsTime(int64_t ns) { return ns > -(int64_t{1} << 60) && ns < (int64_t{1} << 61); }

std::string_view WordsOf(Refusal refusal) {
  static constexpr std::string_view kWords[] = {
      "",
      "the dump has no entry of its group",
      "issued before the oldest entry of its group in the dump",
      "issued after the newest entry of its group in the dump",
      "the entry at its place is of another op",
      "no entry was made at its place and time",
      "the clocks disagree, and order alone fits nowhere or anywhere"};
  return kWords[static_cast<size_t>(refusal)];
}

// The largest dump of each rank: one may have left several, of the same ring.
using Dumps = std::map<std::tuple<int32_t, int32_t, int32_t>, RowRange>;  // job, attempt, rank

Dumps FindDumps(const CommOpTable& ops) {
  Dumps dumps;
  for (size_t begin = 0; begin < ops.size();) {
    size_t end = begin;
    while (end < ops.size() && ops.input[end] == ops.input[begin]) ++end;
    RowRange& best = dumps[{ops.job[begin], ops.attempt[begin], ops.rank[begin]}];
    if (end - begin > best.size()) best = {begin, end};
    begin = end;
  }
  return dumps;
}

// One piece of communication of the profile on its way to a row.
struct Piece {
  size_t row = 0;  // of profile_collective
  Call call;
  const Unit* unit = nullptr;
  bool by_seq = false;
  std::string_view reason;
};

class ProfileJoiner {
 public:
  ProfileJoiner(const TimelineView& view, const Schedules& schedules, Part& part)
      : view_(view),
        schedules_(schedules),
        model_(view.model),
        table_(model_.tables.Get<ProfileCollectiveTable>()),
        ops_(model_.tables.Get<CommOpTable>()),
        part_(part) {}

  // `dump`: its rows of comm_op.
  void Run(RowRange dump) {
    ReadPieces();
    if (pieces_.empty()) return;
    if (dump.size() > 0) {
      dump_input_ = ops_.input[dump.begin];
      units_ = UnitsOf(model_, dump);
      JoinBySeq();
      JoinByOrder();
    } else {
      for (Piece& piece : pieces_) piece.reason = "no Flight Recorder dump of this rank";
    }
    MeasureClock();
    PlaceCompiled();
    Write();
  }

 private:
  struct GroupLane {
    StringId group;
    std::vector<size_t> pieces;
    std::vector<const Unit*> units;
  };

  void ReadPieces() {
    RowRange rows = timeline::RowsOf(table_, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      Piece piece;
      piece.row = row;
      piece.call.start_ns = table_.start_ns[row];
      piece.call.op = OpClassOf(model_.pools.Text(table_.op[row]));
      if (int32_t host = table_.host_slice[row]; host != kNone32) {
        piece.call.start_ns = view_.start[TimelineView::At(host)];
        if (IsTime(view_.end(host))) piece.call.end_ns = view_.end(host);
      }
      pieces_.push_back(piece);
    }
  }

  void JoinBySeq() {
    std::map<std::tuple<StringId, bool, int64_t>, const Unit*> by_seq;
    for (const auto& [group, units] : units_) {
      for (const Unit& unit : units) by_seq.emplace(std::tuple(group, unit.p2p, unit.seq), &unit);
    }
    for (Piece& piece : pieces_) {
      if (table_.seq[piece.row] == kNone64) continue;
      piece.by_seq = by_seq_ = true;
      bool p2p = IsTransfer(model_.pools.Text(table_.op[piece.row]));
      auto found = by_seq.find({table_.group_name[piece.row], p2p, table_.seq[piece.row]});
      if (found == by_seq.end()) {
        piece.reason = "the dump has no entry with its sequence number";
      } else if (found->second->op != piece.call.op) {
        piece.reason = WordsOf(Refusal::kOtherOp);
      } else if (IsTime(found->second->created_ns) && IsTime(piece.call.start_ns)) {
        piece.unit = found->second;
      } else {
        piece.reason = WordsOf(Refusal::kOffTime);
      }
    }
  }

  void JoinByOrder() {
    std::vector<GroupLane> groups = GroupLanes();
    std::vector<Lane> lanes;
    for (const GroupLane& group : groups) lanes.push_back(LaneOf(group));
    offset_ = FindOffset(lanes);
    for (size_t i = 0; i < groups.size(); ++i) {
      LaneJoin join = JoinLane(lanes[i], offset_);
      for (size_t call = 0; call < join.entry_of.size(); ++call) {
        Piece& piece = pieces_[groups[i].pieces[call]];
        int32_t entry = join.entry_of[call];
        if (entry >= 0) piece.unit = groups[i].units[static_cast<size_t>(entry)];
        piece.reason = WordsOf(join.refusal[call]);
      }
    }
    for (Piece& piece : pieces_) {
      if (piece.by_seq || piece.unit != nullptr || !piece.reason.empty()) continue;
      piece.reason = table_.group_name[piece.row] == StringId::kNone
                         ? std::string_view("the profile does not name its group")
                         : WordsOf(Refusal::kOffTime);
    }
  }

  std::vector<GroupLane> GroupLanes() const {
    std::map<StringId, GroupLane> lanes;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      StringId group = table_.group_name[pieces_[i].row];
      if (pieces_[i].by_seq || group == StringId::kNone || !IsTime(pieces_[i].call.start_ns))
        continue;
      lanes[group].pieces.push_back(i);
    }
    std::vector<GroupLane> result;
    for (auto& [group, lane] : lanes) {
      std::stable_sort(lane.pieces.begin(), lane.pieces.end(), [&](size_t a, size_t b) {
        return pieces_[a].call.start_ns < pieces_[b].call.start_ns;
      });
      if (auto found = units_.find(group); found != units_.end()) {
        for (const Unit& unit : found->second) {
          if (IsTime(unit.created_ns)) lane.units.push_back(&unit);
        }
      }
      std::stable_sort(lane.units.begin(), lane.units.end(),
                       [](const Unit* a, const Unit* b) { return a->created_ns < b->created_ns; });
      lane.group = group;
      result.push_back(std::move(lane));
    }
    return result;
  }

  Lane LaneOf(const GroupLane& group) const {
    Lane lane;
    for (size_t piece : group.pieces) lane.calls.push_back(pieces_[piece].call);
    for (const Unit* unit : group.units) lane.entries.push_back({unit->created_ns, unit->op});
    return lane;
  }

  // Numbers tell which is which whatever the clocks: then the pairs tell the offset.
  void MeasureClock() {
    if (!by_seq_ || offset_.state != Offset::State::kUnknown) return;
    std::vector<Bound> bounds;
    for (const Piece& piece : pieces_) {
      if (piece.unit == nullptr || piece.call.end_ns == kNone64) continue;
      bounds.push_back({piece.unit->created_ns - piece.call.end_ns,
                        piece.unit->created_ns - piece.call.start_ns});
    }
    if (bounds.empty()) return;
    offset_ = {Offset::State::kShifted, FindCommonPoint(bounds).at};
  }

  void PlaceCompiled() {
    const auto& launches = model_.tables.Get<TimelineLaunchTable>();
    RowRange rows = timeline::RowsOf(launches, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if (launches.compile_id[row] != StringId::kNone)
        compile_id_of_.emplace(launches.slice[row], launches.compile_id[row]);
    }
    std::map<std::pair<StringId, int32_t>, std::vector<CompiledCall*>> graph_calls;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      auto found = compile_id_of_.find(table_.slice[pieces_[i].row]);
      if (found == compile_id_of_.end()) continue;
      CompiledCall& call = compiled_[i];
      call.op = pieces_[i].call.op;
      call.reason = "the profile does not show the call of its graph";
      int32_t graph_call = GraphCallOf(pieces_[i]);
      if (graph_call != kNone32) graph_calls[{found->second, graph_call}].push_back(&call);
    }
    for (auto& [key, calls] : graph_calls) schedules_.Place(view_.who, key.first, calls);
  }

  // The call of a compiled graph around the op; null when there is none.
  int32_t GraphCallOf(const Piece& piece) const {
    int32_t slice = table_.host_slice[piece.row];
    while (slice != kNone32 && !view_.NameOf(slice).starts_with("## Call CompiledFxGraph"))
      slice = view_.parent[TimelineView::At(slice)];
    return slice;
  }

  void Write() {
    std::vector<int64_t> late;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      auto row = view_.NewRow<CollectiveJoinRow>();
      row.collective = table_.collective[piece.row];
      if (piece.unit != nullptr) {
        row.dump = dump_input_;
        row.record = ops_.record[piece.unit->row];
        row.op_row = static_cast<int32_t>(piece.unit->row);
        row.how = part_.pools.Intern(piece.by_seq ? "seq" : "order");
        row.off_ns = LateOf(piece);
        late.push_back(row.off_ns);
      } else {
        row.reason = part_.pools.Intern(piece.reason);
      }
      if (auto found = compiled_.find(i); found != compiled_.end()) {
        const CompiledCall& call = found->second;
        row.compile_id =
            part_.pools.Intern(model_.pools.Text(compile_id_of_.at(table_.slice[piece.row])));
        row.schedule_entry = call.entry;
        row.schedule_position = call.position;
        if (!call.reason.empty()) row.schedule_reason = part_.pools.Intern(call.reason);
      }
      part_.tables.Edit<CollectiveJoinTable>().Add(row);
    }
    WriteClock(late);
  }

  void WriteClock(std::vector<int64_t>& late) {
    auto row = view_.NewRow<JoinClockRow>();
    row.dump = dump_input_;
    row.total = static_cast<int64_t>(pieces_.size());
    row.joined = static_cast<int64_t>(late.size());
    std::string_view state = "unknown";
    if (!late.empty()) {
      std::sort(late.begin(), late.end());
      row.off_median_ns = late[late.size() / 2];
      row.off_spread_ns = late[late.size() * 3 / 4] - late[late.size() / 4];
      if (offset_.state != Offset::State::kUnknown) {
        row.offset_ns = offset_.offset_ns;
        state = by_seq_ ? "seq" : offset_.state == Offset::State::kSame ? "same" : "shifted";
      }
    }
    row.state = part_.pools.Intern(state);
    part_.tables.Edit<JoinClockTable>().Add(row);
  }

  int64_t LateOf(const Piece& piece) const {
    return piece.unit->created_ns - offset_.offset_ns - piece.call.start_ns;
  }

  const TimelineView& view_;
  const Schedules& schedules_;
  const Model& model_;
  const ProfileCollectiveTable& table_;
  const CommOpTable& ops_;
  Part& part_;
  std::vector<Piece> pieces_;
  UnitsByGroup units_;
  int32_t dump_input_ = kNone32;
  Offset offset_;
  bool by_seq_ = false;
  std::unordered_map<size_t, CompiledCall> compiled_;    // by position in pieces_
  std::unordered_map<int32_t, StringId> compile_id_of_;  // by slice
};

// Matches of the entries: one pass when all rows are there.
void AddMatches(const Model& model, Part& part) {
  const auto& calls = model.tables.Get<CommCallTable>();
  std::unordered_map<int32_t, int32_t> match_of;
  auto& joins = part.tables.Edit<CollectiveJoinTable>();
  for (int32_t row : joins.op_row) {
    if (row != kNone32) match_of.emplace(row, kNone32);
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    auto found = match_of.find(calls.op_row[i]);
    if (found != match_of.end()) found->second = calls.match[i];
  }
  for (size_t i = 0; i < joins.size(); ++i) {
    if (joins.op_row[i] == kNone32) continue;
    int32_t match = match_of.at(joins.op_row[i]);
    if (match != kNone32) joins.match[i] = match;
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  const Dumps dumps = FindDumps(model.tables.Get<CommOpTable>());
  const Schedules schedules(model);
  for (const TimelineView& view : timeline::Timelines(model)) {
    auto dump = dumps.find({view.who.job, view.who.attempt, view.who.rank});
    ProfileJoiner(view, schedules, result.part)
        .Run(dump == dumps.end() ? RowRange{} : dump->second);
  }
  AddMatches(model, result.part);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "join_collectives",
               .sentence = "Which kernel of a profile is which entry of the Flight Recorder?",
               .example = "(makes tables only)",
               .needs = kTableNames<ProfileCollectiveTable>,
               .makes = kTableNames<CollectiveJoinTable, JoinClockTable>,
               .uses = kTableNames<timeline::ViewTables, CommOpTable, CommCallTable,
                                   CompileCollectiveTable, TimelineLaunchTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::join_collectives
