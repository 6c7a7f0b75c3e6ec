#include "analyses/flight/index.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyses/flight/blocks.h"
#include "analyses/flight/row_runs.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_status.h"
#include "tables/input.h"
#include "torch/recorder_kinds.h"

namespace debrief::analyses::flight {

namespace {

// Answers about a text id, computed once per id. The last one is asked for most often.
template <typename T>
class TextTraits {
 public:
  TextTraits(const Model& model, T (*compute)(std::string_view))
      : model_(model), compute_(compute) {}
  const T& Of(StringId id) {
    if (last_ != nullptr && last_id_ == id) return *last_;
    auto found = known_.find(id);
    if (found == known_.end()) found = known_.emplace(id, compute_(model_.pools.Text(id))).first;
    last_id_ = id;
    last_ = &found->second;
    return *last_;
  }

 private:
  const Model& model_;
  T (*compute_)(std::string_view);
  std::unordered_map<StringId, T> known_;
  StringId last_id_ = StringId::kNone;
  const T* last_ = nullptr;  // maps do not move what they hold
};

// Sizes that are the same to the library: it counts the elements of each tensor, so [4, 4] and
// [16], a scalar and [1] agree. The first text of an amount stands for all.
class SameAmounts {
 public:
  explicit SameAmounts(const Model& model) : model_(model) {}

  StringId Of(StringId sizes) {
    if (sizes == last_) return last_amount_;
    auto [known, is_new] = amounts_.try_emplace(sizes, sizes);
    if (is_new && sizes != StringId::kNone) {
      std::vector<int64_t> counts = CountTensors(model_.pools.Text(sizes));
      if (!counts.empty())
        known->second = first_.try_emplace(std::move(counts), sizes).first->second;
    }
    last_ = sizes;
    last_amount_ = known->second;
    return last_amount_;
  }

 private:
  const Model& model_;
  std::unordered_map<StringId, StringId> amounts_;
  std::map<std::vector<int64_t>, StringId> first_;
  StringId last_ = StringId::kNone;
  StringId last_amount_ = StringId::kNone;
};

OpState StateOf(std::string_view text) {
  if (text == "completed") return OpState::kCompleted;
  return text == "started" ? OpState::kStarted : OpState::kScheduled;
}

struct OpTraits {
  OpShape shape;
  bool is_send;
  bool ends_p2p_batch;  // the end marker of a batch of sends and receives
  bool ends_region;     // coalesced, ALLGATHER_coalesced, ...: the end marker of a region
};

OpTraits TraitsOf(std::string_view op) {
  return {ShapeOf(op), op == "send", op == "coalesced", op.ends_with("coalesced")};
}

// Turns the entries of one dump into units.
class UnitBuilder {
 public:
  UnitBuilder(Index& index, TextTraits<OpState>& states, TextTraits<OpTraits>& traits)
      : index_(index), ops_(index.ops), states_(states), traits_(traits), amounts_(index.model) {}

  // Forgets what the dump before used; all groups of the job would be ranks times groups.
  void StartDump() {
    for (int32_t group : used_) CursorOf(group) = {};
    used_.clear();
  }

  // A ring that has wrapped may begin in the middle of a region: nobody can compare that one.
  void ForgetCutRegion(int32_t first) {
    if (static_cast<size_t>(first) >= index_.units.size()) return;
    Unit& unit = index_.UnitAt(first);
    bool wrapped = ops_.record[unit.row] != 0;
    if (wrapped && (unit.region || traits_.Of(ops_.op[unit.row]).ends_region))
      unit.signature = Signature{};
  }

  void Add(size_t row, int32_t rank, int32_t group) {
    if (cursors_.size() < index_.groups.size()) cursors_.resize(index_.groups.size());
    Cursor& cursor = CursorOf(group);
    if (!cursor.used) used_.push_back(group);
    cursor.used = true;
    const OpTraits& traits = traits_.Of(ops_.op[row]);
    if (traits.ends_p2p_batch && (EndBatch(row, group) || IsCutMarker(row, cursor))) return;
    if (ops_.is_p2p[row] != 0) {
      AddP2p(row, rank, group, traits);
    } else if (!Continue(row, group, traits)) {
      AddCollective(row, rank, group, traits);
    }
  }

 private:
  struct Cursor {
    bool used = false;
    int32_t collective = -1;  // newest collective unit
    int32_t batch_seq = kNone32;
    std::vector<int32_t> batch;  // sends and receives whose end marker has not come
  };

  struct Recent {
    std::array<StringId, 5> key{};
    Signature signature{};
    bool used = false;
  };

  Cursor& CursorOf(int32_t group) { return cursors_[static_cast<size_t>(group)]; }

  Unit& NewUnit(size_t row, int32_t rank, int32_t group) {
    Unit& unit = index_.units.emplace_back();
    unit.rank = rank;
    unit.group = group;
    unit.row = static_cast<uint32_t>(row);
    unit.state = states_.Of(ops_.state[row]);
    return unit;
  }

  void Remember(size_t row, size_t unit) {
    index_.unit_of_row[row - static_cast<size_t>(index_.first_row)] = static_cast<int32_t>(unit);
  }

  void AddP2p(size_t row, int32_t rank, int32_t group, const OpTraits& traits) {
    Unit& unit = NewUnit(row, rank, group);
    unit.p2p = true;
    unit.send = traits.is_send;
    unit.seq = ops_.p2p_seq[row];
    unit.signature = SignatureOf(row, traits.shape);
    Cursor& cursor = CursorOf(group);
    if (cursor.batch_seq != unit.seq) cursor.batch.clear();
    cursor.batch_seq = unit.seq;
    cursor.batch.push_back(static_cast<int32_t>(index_.units.size()) - 1);
    index_.GroupAt(group).has_p2p = true;
    Remember(row, index_.units.size() - 1);
  }

  // The end marker carries the state of the whole batch, whatever its is_p2p says.
  bool EndBatch(size_t row, int32_t group) {
    Cursor& cursor = CursorOf(group);
    if (cursor.batch.empty() || cursor.batch_seq != ops_.p2p_seq[row]) return false;
    const OpState state = states_.Of(ops_.state[row]);
    for (int32_t unit : cursor.batch) index_.UnitAt(unit).state = state;
    EndMixed(row, cursor, state);
    Remember(row, static_cast<size_t>(cursor.batch.back()));
    cursor.batch.clear();
    return true;
  }

  // Collectives of the same region have no state of their own, either. One that was issued alone
  // before the batch has the same sequence number; it ran before the batch on the same stream, so
  // the state of the batch can only be true of it, too, where its own lags behind.
  void EndMixed(size_t row, const Cursor& cursor, OpState state) {
    if (cursor.collective < 0) return;
    Unit& unit = index_.UnitAt(cursor.collective);
    if (unit.seq == ops_.collective_seq[row] && unit.state < state) unit.state = state;
  }

  // The ring has wrapped inside of a batch or region: its end marker alone is left, and belongs to
  // nothing.
  bool IsCutMarker(size_t row, const Cursor& cursor) const {
    return ops_.record[row] != 0 && cursor.collective < 0 && cursor.batch_seq == kNone32;
  }

  // An entry with the sequence number of the one before belongs to the same region.
  bool Continue(size_t row, int32_t group, const OpTraits& traits) {
    Cursor& cursor = CursorOf(group);
    if (cursor.collective < 0) return false;
    Unit& unit = index_.UnitAt(cursor.collective);
    if (unit.seq != ops_.collective_seq[row]) return false;
    unit.region = true;
    if (traits.ends_region) {
      unit.state = states_.Of(ops_.state[row]);
    } else {
      SignatureParts parts = PartsOf(row, traits.shape);
      parts.inner = static_cast<uint32_t>(unit.signature);
      unit.signature = index_.signatures.Intern(parts);
    }
    Remember(row, static_cast<size_t>(cursor.collective));
    return true;
  }

  void AddCollective(size_t row, int32_t rank, int32_t group, const OpTraits& traits) {
    Unit& unit = NewUnit(row, rank, group);
    unit.seq = ops_.collective_seq[row];
    unit.signature = SignatureOf(row, traits.shape);
    CursorOf(group).collective = static_cast<int32_t>(index_.units.size()) - 1;
    Remember(row, index_.units.size() - 1);
  }

  // Ranks run one program in a loop: what was asked for of late is asked for again.
  Signature SignatureOf(size_t row, OpShape shape) {
    const std::array<StringId, 5> key = {ops_.op[row], ops_.input_sizes[row],
                                         ops_.output_sizes[row], ops_.input_dtypes[row],
                                         ops_.output_dtypes[row]};
    uint32_t hash = 0;
    for (StringId id : key) hash = hash * 31 + static_cast<uint32_t>(id);
    Recent& recent = recent_[hash % recent_.size()];
    if (recent.key != key || !recent.used)
      recent = {key, index_.signatures.Intern(PartsOf(row, shape)), true};
    return recent.signature;
  }

  SignatureParts PartsOf(size_t row, OpShape shape) {
    SignatureParts parts{ops_.op[row],           ops_.input_sizes[row],   ops_.output_sizes[row],
                         ops_.input_dtypes[row], ops_.output_dtypes[row], 0};
    if (shape == OpShape::kAllToAll) parts.input_sizes = parts.output_sizes = StringId::kNone;
    if (shape == OpShape::kRooted) KeepOwnSide(parts);
    if (shape == OpShape::kSameOutput) parts.input_sizes = StringId::kNone;
    if (shape == OpShape::kSameInput) parts.output_sizes = StringId::kNone;
    parts.input_sizes = amounts_.Of(parts.input_sizes);
    parts.output_sizes = amounts_.Of(parts.output_sizes);
    return parts;
  }

  void KeepOwnSide(SignatureParts& parts) const {
    Side own = OwnSide(index_.Text(parts.input_sizes), index_.Text(parts.output_sizes));
    if (own == Side::kOutput) {
      parts.input_sizes = parts.output_sizes;
      parts.input_dtypes = parts.output_dtypes;
    } else if (own == Side::kNeither) {
      parts.input_sizes = parts.input_dtypes = StringId::kNone;
    }
    parts.output_sizes = parts.output_dtypes = StringId::kNone;
  }

  Index& index_;
  const CommOpTable& ops_;
  TextTraits<OpState>& states_;
  TextTraits<OpTraits>& traits_;
  SameAmounts amounts_;
  std::vector<Cursor> cursors_;  // beside groups
  std::vector<int32_t> used_;    // groups of this dump
  std::array<Recent, 256> recent_;
};

// Units in the order of ranks, by sequence number. These are dense, so that counting sorts them.
void SortBySeq(const Index& index, std::vector<int32_t>& order) {
  const auto seq_of = [&](int32_t unit) { return int64_t{index.UnitAt(unit).seq}; };
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (int32_t unit : order) {
    least = std::min(least, seq_of(unit));
    most = std::max(most, seq_of(unit));
  }
  if (order.empty() || most - least > 2 * static_cast<int64_t>(order.size())) {
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return seq_of(a) < seq_of(b); });
    return;
  }
  std::vector<uint32_t> begins(static_cast<size_t>(most - least) + 2);
  for (int32_t unit : order) ++begins[static_cast<size_t>(seq_of(unit) - least) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<int32_t> sorted(order.size());
  for (int32_t unit : order) sorted[begins[static_cast<size_t>(seq_of(unit) - least)]++] = unit;
  order = std::move(sorted);
}

}  // namespace

IndexedRows::IndexedRows(const Model& model)
    : ops(model.tables.Get<CommOpTable>()),
      dumps(model.tables.Get<CommDumpTable>()),
      groups(model.tables.Get<CommGroupTable>()),
      status(model.tables.Get<CommStatusTable>()) {
  const auto& inputs = model.tables.Get<InputTable>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs.rank[i] == kNone32 || model.pools.Text(inputs.state[i]) != "failed") continue;
    const std::string_view kind = model.pools.Text(inputs.kind[i]);
    if (kind == "flight_recorder" || kind == "unknown") unread.push_back(i);
  }
}

Index::Index(const Model& the_model, int32_t the_job, int32_t the_attempt, ThreadPool* the_pool,
             std::shared_ptr<const IndexedRows> the_rows)
    : model(the_model),
      job(the_job),
      attempt(the_attempt),
      rows(the_rows != nullptr ? std::move(the_rows)
                               : std::make_shared<const IndexedRows>(the_model)),
      pool(the_pool),
      ops(the_model.tables.Get<CommOpTable>()) {
  AddRanks();
  AddUnits();
  AlignCounted();
  SortGroups();
  AddStatus();
  PairChannels();
}

int32_t Index::AddRank(int32_t global_rank) {
  auto [found, is_new] =
      rank_positions_.try_emplace(global_rank, static_cast<int32_t>(ranks.size()));
  if (is_new) ranks.emplace_back().rank = global_rank;
  return found->second;
}

// A file that could not be opened tells no time, so it may be of any attempt.
void Index::MarkUnread(std::map<int32_t, RankInfo>& all) const {
  const auto& inputs = model.tables.Get<InputTable>();
  for (const size_t i : rows->unread) {
    if (inputs.job[i] == job) all[inputs.rank[i]].unread = true;
  }
}

// Every rank with a dump, an entry or a place in a group, in order of rank: members and units are
// sorted by position.
void Index::AddRanks() {
  std::map<int32_t, RankInfo> all;
  std::set<int32_t> with_entries;
  const auto& dumps = model.tables.Get<CommDumpTable>();
  for (const size_t i : rows->dumps.Of(job, attempt)) {
    if (dumps.rank[i] == kNone32) continue;
    RankInfo& info = all[dumps.rank[i]];
    info.has_dump = true;
    info.whole = info.whole && dumps.whole[i] != 0;
    if (dumps.entries[i] == 0) continue;  // of several recorders one may have none
    const bool is_first = with_entries.insert(dumps.rank[i]).second;
    info.from_start = (is_first || info.from_start) && dumps.first_record[i] == 0;
  }
  std::vector<bool> seen(model.pools.lists.size());
  auto add_members = [&](ListId list) {
    auto at = static_cast<size_t>(list);
    if (at >= seen.size() || seen[at]) return;
    seen[at] = true;
    for (int64_t rank : model.pools.lists.Get(list)) all.try_emplace(static_cast<int32_t>(rank));
  };
  const auto& declared = model.tables.Get<CommGroupTable>();
  for (const size_t i : rows->groups.Of(job, attempt)) add_members(declared.members[i]);
  int32_t last = kNone32;
  for (const size_t i : rows->ops.Of(job, attempt)) {
    if (ops.rank[i] == kNone32) continue;
    if (ops.rank[i] != last) all.try_emplace(ops.rank[i]);
    last = ops.rank[i];
    add_members(ops.members[i]);
  }
  MarkUnread(all);
  for (auto& [rank, info] : all) RankAt(AddRank(rank)) = info, ranks.back().rank = rank;
}

int32_t Index::AddGroup(size_t row) {
  RecentGroup& recent = recent_groups_[static_cast<uint32_t>(ops.group_name[row]) % kRecentGroups];
  if (recent.position < 0 || recent.name != ops.group_name[row] ||
      recent.members != ops.members[row] || recent.backend != ops.backend[row])
    recent = {ops.group_name[row], ops.members[row], ops.backend[row], FindGroup(row)};
  return recent.position;
}

int32_t Index::FindGroup(size_t row) {
  const std::tuple key(ops.group_name[row], ops.members[row],
                       IsHostRecorder(Text(ops.backend[row])));
  auto [found, is_new] = group_positions_.try_emplace(key, static_cast<int32_t>(groups.size()));
  if (is_new) {
    Group& group = groups.emplace_back();
    group.name = ops.group_name[row];
    group.description = ops.group_desc[row];
    group.member_list = ops.members[row];
    group.counted = IsTorchcomms(Text(ops.backend[row]), Text(group.description));
    for (int64_t rank : model.pools.lists.Get(group.member_list)) {
      group.members.push_back(AddRank(static_cast<int32_t>(rank)));
    }
    std::sort(group.members.begin(), group.members.end());
  }
  return found->second;
}

// A rank whose only dump is of an older epoch has none of this one.
void Index::MarkOlder(const std::vector<RowRun>& older, const std::vector<RowRun>& runs) {
  for (const RowRun& run : older) {
    older_epoch.push_back(run.rank);
    const bool has_other =
        std::ranges::any_of(runs, [&](const RowRun& other) { return other.rank == run.rank; });
    if (!has_other) RankAt(AddRank(run.rank)).has_dump = false;
  }
}

void Index::AddUnits() {
  const auto [runs, older] = RunsOf(model, rows->ops.Of(job, attempt));
  MarkOlder(older, runs);
  if (runs.empty()) return;
  size_t first = runs.front().begin, last = 0, total = 0;
  for (const RowRun& run : runs) {
    first = std::min(first, run.begin);
    last = std::max(last, run.end);
    total += run.end - run.begin;
  }
  first_row = static_cast<int64_t>(first);
  unit_of_row.assign(last - first, -1);
  units.reserve(total);
  TextTraits<OpState> states(model, StateOf);
  TextTraits<OpTraits> traits(model, TraitsOf);
  UnitBuilder builder(*this, states, traits);
  for (const RowRun& run : runs) {
    int32_t rank = AddRank(run.rank);
    auto begin = static_cast<int32_t>(units.size());
    builder.StartDump();
    for (size_t row = run.begin; row < run.end; ++row) builder.Add(row, rank, AddGroup(row));
    builder.ForgetCutRegion(begin);
    RankInfo& info = RankAt(rank);
    info.has_dump = true;
    if (info.last_unit == 0) info.first_unit = begin;
    info.last_unit = static_cast<int32_t>(units.size());
  }
  for (int32_t i = 0; i < static_cast<int32_t>(units.size()); ++i) {
    Unit& unit = UnitAt(i);
    if (!unit.completed()) RankAt(unit.rank).pending.push_back(i);
  }
  MarkLost();
}

// Dumps of active operations alone have no completed ones on any rank; there nothing has fallen
// out.
void Index::MarkLost() {
  bool whole_rings =
      std::any_of(units.begin(), units.end(), [](const Unit& unit) { return unit.completed(); });
  for (RankInfo& info : ranks) {
    bool pending_first = !info.pending.empty() && info.pending.front() == info.first_unit;
    info.lost = whole_rings && pending_first && !info.from_start;
  }
}

void Index::SortGroups() {
  std::vector<size_t> counts(groups.size());
  for (const Unit& unit : units) counts[static_cast<size_t>(unit.group)] += unit.p2p ? 0 : 1;
  for (size_t i = 0; i < groups.size(); ++i) groups[i].order.reserve(counts[i]);
  for (int32_t i = 0; i < static_cast<int32_t>(units.size()); ++i) {
    const Unit& unit = UnitAt(i);
    Group& group = GroupAt(unit.group);
    if (!unit.p2p) group.order.push_back(i);  // by rank already
    if (group.member_list == ListId::kNone && MemberPosition(group, unit.rank) < 0) {
      group.members.insert(std::lower_bound(group.members.begin(), group.members.end(), unit.rank),
                           unit.rank);
    }
  }
  for (Group& group : groups) {
    alike_[{group.description, group.members.size()}].push_back(
        static_cast<int32_t>(&group - groups.data()));
  }
  ForBlocks<size_t>(
      *this,
      [&](GroupBlock block) {
        for (size_t i = block.begin; i < block.end; ++i) SortGroup(groups[i]);
        return block.end;
      },
      [](size_t) {});
}

void Index::SortGroup(Group& group) {
  group.windows.resize(group.members.size());
  int32_t rank = -1, member = -1;
  for (int32_t i : group.order) {
    const Unit& unit = UnitAt(i);
    if (unit.rank != rank) member = MemberPosition(group, unit.rank);
    rank = unit.rank;
    if (member < 0) continue;  // it uses a group that it is no member of
    MemberWindow& window = group.WindowAt(member);
    const bool is_first = window.last < window.first;
    window.first = is_first ? unit.seq : std::min(window.first, unit.seq);
    window.last = is_first ? unit.seq : std::max(window.last, unit.seq);
  }
  SortBySeq(*this, group.order);
  for (int32_t i = 0; i < static_cast<int32_t>(group.order.size()); ++i) {
    const Unit& unit = UnitAt(group.order[static_cast<size_t>(i)]);
    if (group.rows.empty() || group.rows.back().seq != unit.seq)
      group.rows.push_back({unit.seq, i, i});
    group.rows.back().end = i + 1;
  }
}

std::span<const int32_t> Index::Alike(const Group& group) const {
  auto found = alike_.find({group.description, group.members.size()});
  return found == alike_.end() ? std::span<const int32_t>() : found->second;
}

int32_t Index::MemberPosition(const Group& group, int32_t rank) {
  auto found = std::lower_bound(group.members.begin(), group.members.end(), rank);
  if (found == group.members.end() || *found != rank) return -1;
  return static_cast<int32_t>(found - group.members.begin());
}

std::span<const Unit> Index::UnitsOf(int32_t rank) const {
  const RankInfo& info = RankAt(rank);
  return std::span(units).subspan(static_cast<size_t>(info.first_unit),
                                  static_cast<size_t>(info.last_unit - info.first_unit));
}

const SeqRow* Index::FindRow(const Group& group, int32_t seq) const {
  auto found = std::lower_bound(group.rows.begin(), group.rows.end(), seq,
                                [](const SeqRow& row, int32_t value) { return row.seq < value; });
  return found != group.rows.end() && found->seq == seq ? &*found : nullptr;
}

std::span<const int32_t> Index::UnitsOf(const Group& group, const SeqRow& row) const {
  return std::span(group.order)
      .subspan(static_cast<size_t>(row.begin), static_cast<size_t>(row.end - row.begin));
}

const Unit* Index::FindUnit(const Group& group, int32_t seq, int32_t rank) const {
  const SeqRow* row = FindRow(group, seq);
  if (row == nullptr) return nullptr;
  auto row_units = UnitsOf(group, *row);
  auto found =
      std::lower_bound(row_units.begin(), row_units.end(), rank,
                       [&](int32_t unit, int32_t value) { return UnitAt(unit).rank < value; });
  if (found == row_units.end() || UnitAt(*found).rank != rank) return nullptr;
  return &UnitAt(*found);
}

Index::Issued Index::HasIssued(const Group& group, int32_t seq, int32_t rank) const {
  const RankInfo& info = RankAt(rank);
  int32_t member = MemberPosition(group, rank);
  if (!info.has_dump || member < 0) return Issued::kUnknown;
  const MemberWindow& window = group.WindowAt(member);
  bool counted = !group.has_p2p && window.enqueued != kNone64 && seq <= window.enqueued;
  if (seq <= window.last || counted) return Issued::kYes;
  return info.whole ? Issued::kNo : Issued::kUnknown;
}

bool Index::HasCompleted(const Group& group, int32_t seq, int32_t rank) const {
  if (const Unit* unit = FindUnit(group, seq, rank)) return unit->completed();
  int32_t member = MemberPosition(group, rank);
  if (member < 0 || !RankAt(rank).has_dump) return false;
  const MemberWindow& window = group.WindowAt(member);
  return !group.has_p2p && window.finished != kNone64 && seq <= window.finished;
}

}  // namespace debrief::analyses::flight
