#include "inputs/torch_trace/log_joiner.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "inputs/torch_trace/diagnostics.h"
#include "model/model.h"
#include "tables/compile_entry.h"
#include "tables/compile_life.h"
#include "tables/compile_log.h"
#include "tables/compile_metrics.h"
#include "tables/compile_string.h"

namespace debrief::inputs::torch_trace {

namespace {

using CompilationKey = std::tuple<int64_t, int64_t, int64_t>;  // a restart keeps these

struct Life {
  CompileLifeRow row;
  std::set<CompilationKey> started, ended;
};

void Extend(Life& life, const CompileEntryTable& entries, size_t row) {
  CompileLifeRow& to = life.row;
  if (to.first_entry == kNone64) to.first_entry = entries.entry[row];
  to.last_entry = entries.entry[row];
  int64_t time = entries.time_ns[row];
  if (time == kNone64) return;
  to.start_ns = to.start_ns == kNone64 ? time : std::min(to.start_ns, time);
  to.end_ns = std::max(to.end_ns, time);
}

Life& LifeOf(std::map<std::pair<int32_t, int32_t>, Life>& lives, const Identity& who,
             const CompileEntryTable& entries, size_t row) {
  auto [found, is_new] = lives.try_emplace({entries.rank[row], entries.life[row]});
  if (is_new) {
    found->second.row = Part::RowOf<CompileLifeRow>(who);
    found->second.row.input = who.input;
    found->second.row.rank = entries.rank[row];
    found->second.row.life = entries.life[row];
    found->second.row.failed = 0;
  }
  return found->second;
}

std::set<int64_t> FailedEntries(const Part& whole, StringId metrics_kind) {
  const auto& metrics = whole.tables.Get<CompileMetricsTable>();
  std::set<int64_t> failed;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (metrics.kind[i] == metrics_kind && metrics.fail_type[i] != StringId::kNone)
      failed.insert(metrics.entry[i]);
  }
  return failed;
}

void Close(Life& life, Pools& pools) {
  size_t ended = 0;
  for (const CompilationKey& key : life.started) ended += life.ended.count(key);
  life.row.compilations = static_cast<int32_t>(life.started.size());
  life.row.unfinished = static_cast<int32_t>(life.started.size() - ended);
  std::string_view outcome = life.row.unfinished > 0 ? "unfinished"
                             : life.row.failed > 0   ? "failed"
                                                     : "ok";
  life.row.outcome = pools.Intern(outcome);
}

// Fills compile_life from the joined log.
void AddLives(const Identity& who, Part& whole) {
  const auto& entries = whole.tables.Get<CompileEntryTable>();
  StringId start = whole.pools.Intern("dynamo_start");
  StringId metrics = whole.pools.Intern("compilation_metrics");
  std::set<int64_t> failed = FailedEntries(whole, metrics);
  std::map<std::pair<int32_t, int32_t>, Life> lives;
  for (size_t row = 0; row < entries.size(); ++row) {
    Life& life = LifeOf(lives, who, entries, row);
    Extend(life, entries, row);
    CompilationKey key = {entries.autograd_id[row], entries.frame_id[row],
                          entries.frame_compile_id[row]};
    if (entries.kind[row] == start) life.started.insert(key);
    if (entries.kind[row] != metrics) continue;
    life.ended.insert(key);
    life.row.failed += failed.count(entries.entry[row]) > 0 ? 1 : 0;
  }
  for (auto& [key, life] : lives) {
    Close(life, whole.pools);
    whole.tables.Edit<CompileLifeTable>().Add(life.row);
  }
}

// The string table becomes a dense array when it is written (tlparse does so), so one absurd index
// would cost gigabytes. PyTorch numbers from 0 without gaps.
constexpr size_t kIndexSlack = 1 << 20;

PackedColumn<StackId>& ColumnOf(CompileEntryTable& entries, StackColumn column) {
  if (column == StackColumn::kUserStack) return entries.user_stack;
  return column == StackColumn::kStack ? entries.stack : entries.entry_stack;
}

}  // namespace

int32_t LogJoiner::RankOf(int64_t thread) const {
  auto found = rank_of_thread_.find(thread);
  return found == rank_of_thread_.end() ? kNone32 : found->second;
}

int32_t LogJoiner::RankOf(const CompileEntryTable& entries, size_t row) const {
  const int32_t logged = entries.logged_rank[row];
  return logged != kNone32 ? logged : RankOf(entries.thread[row]);
}

void LogJoiner::Join(Part&& part, Part& whole) {
  auto& entries = whole.tables.Edit<CompileEntryTable>();
  size_t first_row = entries.size();
  size_t first_string = whole.tables.Get<CompileStringTable>().size();
  auto held = std::move(part.notes);
  const auto& notes = static_cast<const RangeNotes&>(*held);
  part.diagnostics.ShiftLines(totals_.counts.lines);
  whole.Append(std::move(part));
  auto string = notes.strings.begin();
  auto stack = notes.stacks.begin();
  for (size_t row = first_row; row <= entries.size(); ++row) {
    for (; string != notes.strings.end() && string->row + first_row == row; ++string)
      TakeString(*string, row, first_string, whole);
    if (row == entries.size()) break;
    entries.line[row] = entries.line[row] + totals_.counts.lines;
    TakeRow(row, whole);
    for (; stack != notes.stacks.end() && stack->row + first_row == row; ++stack)
      TakeStack(*stack, notes, row, whole);
  }
  for (const Trouble& trouble : notes.troubles)
    totals_.troubles.push_back({trouble.kind, trouble.row + first_row, trouble.detail});
  if (totals_.first_loose < 0 && notes.first_loose >= 0) {
    totals_.first_loose = notes.first_loose;
    totals_.first_loose_line = notes.first_loose_line + totals_.counts.lines;
  }
  Count(notes);
}

// A thread's rank is the one it named last.
void LogJoiner::TakeRow(size_t row, Part& whole) {
  auto& entries = whole.tables.Edit<CompileEntryTable>();
  int64_t thread = entries.thread[row];
  const int32_t rank = RankOf(entries, row);
  if (entries.logged_rank[row] != kNone32) {
    rank_of_thread_[thread] = rank;
  } else if (rank != kNone32) {
    entries.rank[row] = log_.RankOf(rank);
  } else {
    early_entries_.emplace_back(row, thread);
  }
  Lane& lane = LaneOf(rank);
  lane.first_of_thread.try_emplace(thread, row);
  entries.life[row] = lane.life;
}

void LogJoiner::TakeString(const LoggedString& string, size_t row, size_t first_string,
                           Part& whole) {
  auto& strings = whole.tables.Edit<CompileStringTable>();
  size_t at = first_string + string.string;
  int32_t rank = RankOf(string.thread);
  Lane& lane = LaneOf(rank);
  if (string.index > lane.strings.size() + kIndexSlack) {
    index_troubles_.Add(kBigIndex, who_.input, {.offset = strings.entry[at]});
    return;
  }
  if (string.index < lane.strings.size() && lane.strings[string.index] != StringId::kNone)
    BeginLife(rank, string.thread, row, whole);
  if (string.index >= lane.strings.size()) lane.strings.resize(string.index + 1);
  lane.strings[string.index] = strings.text[at];
  strings.life[at] = lane.life;
  if (rank != kNone32) {
    strings.rank[at] = log_.RankOf(rank);
  } else {
    early_strings_.emplace_back(at, string.thread);
  }
}

// The new process logged a few entries before its first string: they are those of its thread, if
// that thread is new.
void LogJoiner::BeginLife(int32_t rank, int64_t thread, size_t row, Part& whole) {
  auto& entries = whole.tables.Edit<CompileEntryTable>();
  Lane& lane = LaneOf(rank);
  size_t begin = row;
  if (auto first = lane.first_of_thread.find(thread); first != lane.first_of_thread.end()) {
    bool is_new = std::all_of(
        lane.first_of_thread.begin(), lane.first_of_thread.end(),
        [&](const auto& each) { return each.first == thread || each.second < first->second; });
    if (is_new && lane.first_of_thread.size() > 1) begin = first->second;
  }
  ++lane.life;
  lane.strings.clear();
  lane.first_of_thread.clear();
  for (size_t each = begin; each < row; ++each) {
    bool mine = entries.logged_rank[each] == rank || RankOf(entries.thread[each]) == rank;
    if (!mine) continue;
    entries.life[each] = lane.life;
    lane.first_of_thread.try_emplace(entries.thread[each], each);
  }
}

StringId LogJoiner::FileOf(const LoggedFrame& frame, int32_t rank, Part& whole) {
  if (!frame.file.empty()) return whole.pools.Intern(frame.file);
  for (int32_t lane : {rank, kNone32}) {
    const auto& strings = LaneOf(lane).strings;
    bool known =
        frame.file_number < strings.size() && strings[frame.file_number] != StringId::kNone;
    if (known) return strings[frame.file_number];
  }
  return whole.pools.Intern("(unknown)");
}

void LogJoiner::TakeStack(const LoggedStack& stack, const RangeNotes& notes, size_t row,
                          Part& whole) {
  auto& entries = whole.tables.Edit<CompileEntryTable>();
  const int32_t rank = RankOf(entries, row);
  frames_.clear();
  for (size_t i = stack.begin + stack.count; i-- > stack.begin;) {  // ours are innermost first
    const LoggedFrame& logged = notes.frames[i];
    frames_.push_back(whole.pools.AddFrame({.file = FileOf(logged, rank, whole),
                                            .function = whole.pools.Intern(logged.function),
                                            .line = logged.line,
                                            .text = whole.pools.Intern(logged.text)}));
  }
  ColumnOf(entries, stack.column)[row] = whole.pools.AddStack(frames_);
}

void LogJoiner::Count(const RangeNotes& notes) {
  for (auto count : {&CompileLogRow::lines, &CompileLogRow::entries, &CompileLogRow::bad_prefix,
                     &CompileLogRow::bad_json, &CompileLogRow::bad_json_lost,
                     &CompileLogRow::bad_checksum, &CompileLogRow::unknown_keys})
    totals_.counts.*count += notes.counts.*count;
  totals_.loose_lines += notes.loose_lines;
  if (totals_.clock_offset_ns == kNone64) totals_.clock_offset_ns = notes.clock_offset_ns;
}

void LogJoiner::AddLog(Part& whole) {
  CompileLogRow row = totals_.counts;
  row.job = who_.job;
  row.attempt = who_.attempt;
  row.rank = who_.rank;
  row.input = who_.input;
  row.restored = repaired_.restored;
  row.lost = repaired_.lost;
  row.lives = 1;
  for (const auto& [rank, lane] : lanes_) row.lives = std::max(row.lives, lane.life + 1);
  row.ranks = whole.pools.lists.Intern(Ranks());
  whole.tables.Edit<CompileLogTable>().Add(row);
}

std::vector<int64_t> LogJoiner::Ranks() const {
  std::vector<int64_t> ranks;
  for (const auto& [rank, lane] : lanes_) {
    if (rank != kNone32) ranks.push_back(rank);
  }
  return ranks;
}

// What a thread logged before it named its rank belongs to that rank all the same.
void LogJoiner::RankEarlyRows(Part& whole) {
  auto rank_rows = [&](const auto& rows, auto& ranks) {
    for (auto [row, thread] : rows) {
      if (int32_t rank = RankOf(thread); rank != kNone32) ranks[row] = log_.RankOf(rank);
    }
  };
  rank_rows(early_entries_, whole.tables.Edit<CompileEntryTable>().rank);
  rank_rows(early_strings_, whole.tables.Edit<CompileStringTable>().rank);
}

Status LogJoiner::Repair(const Source& source, Part& whole) {
  bool tangled = Ranks().size() > 1 && (totals_.counts.bad_checksum > 0 || totals_.loose_lines > 0);
  if (tangled && is_marked_) repaired_.lost = totals_.counts.bad_checksum;
  if (!tangled || is_marked_) return {};
  ASSIGN_OR_RETURN(repaired_, RepairTangles(source, whole));
  totals_.counts.bad_checksum -= repaired_.restored;
  int64_t owned = std::min(totals_.loose_lines, repaired_.lines_owned);
  totals_.loose_lines -= owned;
  totals_.counts.bad_prefix -= owned;
  if (repaired_.lost > 0) {
    whole.diagnostics.AddMany(repaired_.gave_up ? kSearchEnded : kTangled, who_.input,
                              repaired_.lost);
  }
  return {};
}

void LogJoiner::ReportTroubles(Part& whole) {
  const auto& entries = whole.tables.Get<CompileEntryTable>();
  StringId unusable = whole.pools.Intern("unusable");
  for (const Trouble& trouble : totals_.troubles) {
    bool stays = trouble.kind == &kBadChecksum ? entries.payload_ok[trouble.row] == 0
                                               : entries.state[trouble.row] == unusable;
    if (!stays) continue;
    whole.diagnostics.Add(*trouble.kind, who_.input,
                          {.offset = entries.entry[trouble.row],
                           .line = entries.line[trouble.row],
                           .detail = trouble.detail});
  }
  if (totals_.loose_lines == 0) return;
  whole.diagnostics.Add(kBadPrefix, who_.input,
                        {.offset = totals_.first_loose,
                         .line = totals_.first_loose_line,
                         .detail = "a payload line without an entry"});
  whole.diagnostics.AddMany(kBadPrefix, who_.input, totals_.loose_lines - 1);
}

void LogJoiner::SetClock(Part& whole) {
  if (totals_.clock_offset_ns == kNone64) return;
  constexpr int64_t kQuarter = int64_t{15} * 60 * 1'000'000'000;  // zones are whole quarters
  int64_t half = totals_.clock_offset_ns < 0 ? -kQuarter / 2 : kQuarter / 2;
  int64_t shift = (totals_.clock_offset_ns + half) / kQuarter * kQuarter;
  auto& entries = whole.tables.Edit<CompileEntryTable>();
  for (size_t row = 0; row < entries.size(); ++row) {
    int64_t time = entries.time_ns[row];
    if (time != kNone64) entries.time_ns[row] = time + shift;
  }
}

Status LogJoiner::Finish(const Source& source, Part& whole) {
  RankEarlyRows(whole);
  whole.diagnostics.Append(index_troubles_);
  Status repaired = Repair(source, whole);
  ReportTroubles(whole);
  AddLog(whole);
  SetClock(whole);
  AddLives(who_, whole);
  return repaired;
}

}  // namespace debrief::inputs::torch_trace
