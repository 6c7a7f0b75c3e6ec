// Dumps or outputs say that a rank did not come, and its last stack shows where it was: that line
// is where to look. Stacks that are not enough to blame anybody by themselves (one look, or two in
// which processes moved) are enough for this, where the last stack of another rank shows a wait and
// the blamed one's does not.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "analyses/verdict/rules.h"
#include "base/text/strings.h"
#include "tables/stack_dump.h"
#include "torch/code_words.h"
#include "torch/stacks/stack_roles.h"

namespace debrief::analyses::verdict {

namespace {

constexpr double kByPlace = 0.3;

struct LastStand {
  size_t row = 0;  // of stack_dump
  Doing doing = Doing::kNothing;
  FrameView frame;  // the user's

  bool Waits() const { return doing == Doing::kWait || doing == Doing::kSync; }
  bool Works() const {
    return doing == Doing::kWork || doing == Doing::kCall || doing == Doing::kDevice;
  }
};

LastStand StandOfRow(const Model& model, size_t row) {
  std::vector<FrameView> frames;
  for (FrameId id : model.pools.GetStack(model.tables.Get<StackDumpTable>().stack[row])) {
    const Frame& frame = model.pools.GetFrame(id);
    frames.push_back({model.pools.Text(frame.file), model.pools.Text(frame.function), frame.line});
  }
  const StackSummary summary = SummariseStack(frames);
  LastStand stand{row, summary.doing, {}};
  if (summary.user < frames.size()) stand.frame = frames[summary.user];
  return stand;
}

// The main thread of each rank in its last dump.
std::map<int32_t, LastStand> LastStands(const Board& board) {
  const auto& stacks = board.model().tables.Get<StackDumpTable>();
  using Order = std::tuple<int64_t, int32_t, int32_t>;
  std::map<int32_t, std::pair<Order, size_t>> last;
  for (const size_t row : board.OwnRows(stacks)) {
    bool counts = stacks.rank[row] != kNone32 && stacks.main[row] && !stacks.child[row] &&
                  stacks.error[row] == StringId::kNone &&
                  !board.model().pools.Text(stacks.reason[row]).starts_with("Fatal");
    if (!counts) continue;
    Order order{stacks.time_ns[row], stacks.input[row], stacks.dump[row]};
    auto [known, is_new] = last.try_emplace(stacks.rank[row], order, row);
    if (!is_new && known->second.first < order) known->second = {order, row};
  }
  std::map<int32_t, LastStand> stands;
  for (const auto& [rank, at] : last) stands.emplace(rank, StandOfRow(board.model(), at.second));
  return stands;
}

// It says that a rank did not come, and not why.
bool LacksAPlace(const Finding& finding) {
  static constexpr std::array<std::string_view, 5> kRules = {
      "flight.host_never_came", "flight.no_dump", "text_hang.silent", "text_hang.stuck",
      "text_hang.counter"};
  const bool known = std::find(kRules.begin(), kRules.end(), finding.rule) != kRules.end();
  return known && finding.severity == Severity::kError && finding.ranks.size() == 1 &&
         RowsOf(finding, "stack_dump").empty();
}

void Place(Board& board, size_t cause, const LastStand& stand) {
  Finding& finding = board.At(cause);
  const std::string subject = fmt::format("Rank {} ", finding.ranks.front());
  if (!finding.headline.starts_with(subject)) return;
  std::string_view function = stand.frame.function;
  if (function.starts_with('<')) function = {};
  const std::string place = CodeInWords(function, stand.frame.file, stand.frame.line);
  finding.headline = fmt::format("{}was last seen in {} and {}", subject, place,
                                 std::string_view(finding.headline).substr(subject.size()));
  finding.evidence.insert(finding.evidence.begin(),
                          {fmt::format("last stack of rank {}: {}", finding.ranks.front(), place),
                           "stack_dump",
                           {static_cast<int64_t>(stand.row)}});
  finding.source.insert(finding.source.begin(),
                        {finding.ranks.front(), std::string(stand.frame.file), stand.frame.line});
  board.Support(cause, kByPlace, "its last stack shows no wait, that of another rank does");
}

}  // namespace

void StacksPlaceTheBlamed(Board& board) {
  std::map<int32_t, LastStand> stands = LastStands(board);
  if (stands.size() < 2) return;
  for (size_t cause : board.FindCauses()) {
    if (!LacksAPlace(board.At(cause))) continue;
    const int32_t blamed = board.At(cause).ranks.front();
    auto own = stands.find(blamed);
    bool told = own != stands.end() && own->second.Works() && !own->second.frame.file.empty();
    if (!told) continue;
    bool others_wait = false, shared = false;
    for (const auto& [rank, stand] : stands) {
      if (rank == blamed) continue;
      others_wait |= stand.Waits();
      shared |= stand.frame.line == own->second.frame.line &&
                FileName(stand.frame.file) == FileName(own->second.frame.file);
    }
    if (others_wait && !shared) Place(board, cause, own->second);
  }
}

}  // namespace debrief::analyses::verdict
