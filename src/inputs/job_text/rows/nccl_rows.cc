#include "inputs/job_text/rows/nccl_rows.h"

#include <algorithm>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kMostNcclRows = size_t{1} << 18;

// "NET/IB" of "NET/IB/0/GDRDMA", "P2P" of "P2P/CUMEM/read", "SHM" of "SHM/direct/direct".
std::string_view TransportOf(std::string_view via) {
  const size_t slash = via.find('/');
  if (slash == std::string_view::npos) return via;
  const std::string_view first = via.substr(0, slash);
  if (first != "NET" && first != "COLLNET") return first;
  return via.substr(0, via.find('/', slash + 1));
}

// The card behind "NET/IB/".
int32_t CardOf(std::string_view via) {
  const size_t first = via.find('/');
  const size_t second = first == std::string_view::npos ? first : via.find('/', first + 1);
  return via.starts_with("NET/") && second != std::string_view::npos
             ? SmallNumberAfter(via.substr(second), "/")
             : kNone32;
}

std::vector<int64_t> NumbersOfRing(std::string_view text) {
  constexpr size_t kMostMembers = 1 << 17;
  std::vector<int64_t> numbers;
  while (numbers.size() < kMostMembers) {
    text = Trimmed(text);
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find(' '));
    if (const auto number = ParseNumber<int64_t>(word)) numbers.push_back(*number);
    text.remove_prefix(word.size());
  }
  return numbers;
}

}  // namespace

bool NcclRows::HasRoom() {
  const bool room = links_.size() + channels_.size() + settings_.size() < kMostNcclRows;
  dropped_ += room ? 0 : 1;
  return room;
}

void NcclRows::AddSetUp(const IdentityLine& identity, std::string_view text, Pools& pools) {
  NcclLine speaker;
  if (identity.said_by != "nccl" || !ParseNcclSpeaker(text, speaker)) return;
  if (comms_.size() >= kMostNcclRows) return;
  std::string_view name = identity.comm;
  TakePrefix(name, "0x");
  comms_[{speaker.pid, speaker.thread}] = {name.empty() ? StringId::kNone : pools.Intern(name),
                                           identity.group_size};
}

NcclRows::Comm NcclRows::CommOf(const NcclLine& line) const {
  const auto found = comms_.find({line.pid, line.thread});
  return found == comms_.end() ? Comm{} : found->second;
}

template <typename Row>
Row NcclRows::RowAt(const NcclLine& line, int64_t number, Pools& pools) const {
  auto row = Part::RowOf<Row>(who_);
  row.line = number;
  row.host = pools.Intern(line.host);
  row.pid = line.pid;
  return row;
}

void NcclRows::AddLink(const NcclLine& line, int64_t number, Pools& pools) {
  const Comm comm = CommOf(line);
  const LinkKey key{line.pid, comm.name, line.from, line.to, line.receives, pools.Intern(line.via)};
  const auto known = links_.find(key);
  if (known != links_.end()) {
    ++known->second.channels;
    return;
  }
  if (!HasRoom()) return;
  auto row = RowAt<NcclLinkRow>(line, number, pools);
  row.comm = comm.name;
  row.comm_size = comm.size;
  row.from_rank = line.from;
  row.to_rank = line.to;
  row.receives = line.receives ? 1 : 0;
  row.transport = pools.Intern(TransportOf(line.via));
  row.via = key.via;
  row.card = CardOf(line.via);
  row.gdr = Contains(line.via, "/GDRDMA") ? 1 : 0;
  row.channels = 1;
  links_.emplace(key, row);
}

// "[0] -1/-1/-1->3->2 [1] 5/1/-1->3->7": children, the rank itself, its parent.
void NcclRows::AddTrees(const NcclLine& line, int64_t number, Pools& pools) {
  const Comm comm = CommOf(line);
  std::string_view text = line.value;
  for (size_t open = text.find('['); open != std::string_view::npos; open = text.find('[')) {
    text.remove_prefix(open);
    const int32_t channel = SmallNumberAfter(text, "[");
    const size_t next = std::min(text.find('[', 1), text.size());
    const std::string_view tree = text.substr(0, next);
    text.remove_prefix(next);
    const size_t arrow = tree.find("->");
    const size_t parent = arrow == std::string_view::npos ? arrow : tree.find("->", arrow + 2);
    const size_t close = tree.find("] ");
    if (parent == std::string_view::npos || close == std::string_view::npos || close > arrow)
      continue;
    if (!HasRoom()) return;
    auto row = RowAt<NcclChannelRow>(line, number, pools);
    row.comm = comm.name;
    row.comm_size = comm.size;
    row.kind = pools.Intern("tree");
    row.channel = channel;
    row.parent = SmallNumberAfter(tree.substr(parent), "->");
    if (row.parent < 0) row.parent = kNone32;
    std::vector<int64_t> children;
    std::string_view list = tree.substr(close + 2, arrow - close - 2);
    while (!list.empty()) {
      const std::string_view word = list.substr(0, list.find('/'));
      const auto child = ParseNumber<int64_t>(word);
      if (child && *child >= 0) children.push_back(*child);
      list.remove_prefix(std::min(word.size() + 1, list.size()));
    }
    row.members = pools.lists.Intern(children);
    channels_.push_back(row);
  }
}

void NcclRows::Add(const NcclLine& line, int64_t number, Pools& pools) {
  switch (line.kind) {
    case NcclLine::Kind::kLink:
      return AddLink(line, number, pools);
    case NcclLine::Kind::kTrees:
      return AddTrees(line, number, pools);
    case NcclLine::Kind::kRing: {
      if (!HasRoom()) return;
      auto row = RowAt<NcclChannelRow>(line, number, pools);
      const Comm comm = CommOf(line);
      row.comm = comm.name;
      row.comm_size = comm.size;
      row.kind = pools.Intern("ring");
      row.channel = line.channel;
      row.members = pools.lists.Intern(NumbersOfRing(line.value));
      channels_.push_back(row);
      return;
    }
    case NcclLine::Kind::kSetting: {
      if (!HasRoom()) return;
      auto row = RowAt<NcclSettingRow>(line, number, pools);
      row.name = pools.Intern(line.name);
      row.value = pools.Intern(line.value);
      settings_.try_emplace({line.pid, row.name, row.value}, row);
      return;
    }
  }
}

void NcclRows::Write(const std::function<int32_t(int64_t)>& rank_of,
                     const std::function<int32_t(int64_t)>& attempt_of, Part& whole) {
  auto place = [&](auto& row) {
    row.rank = rank_of(row.pid);
    row.attempt = attempt_of(row.line);
  };
  std::vector<NcclLinkRow> links;
  links.reserve(links_.size());
  for (auto& [key, row] : links_) links.push_back(row);
  std::stable_sort(links.begin(), links.end(),
                   [](const NcclLinkRow& a, const NcclLinkRow& b) { return a.line < b.line; });
  for (NcclLinkRow& row : links) {
    place(row);
    whole.tables.Edit<NcclLinkTable>().Add(row);
  }
  for (NcclChannelRow& row : channels_) {
    place(row);
    whole.tables.Edit<NcclChannelTable>().Add(row);
  }
  std::vector<NcclSettingRow> settings;
  for (auto& [key, row] : settings_) settings.push_back(row);
  std::stable_sort(settings.begin(), settings.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  for (NcclSettingRow& row : settings) {
    place(row);
    whole.tables.Edit<NcclSettingTable>().Add(row);
  }
}

}  // namespace debrief::inputs::job_text
