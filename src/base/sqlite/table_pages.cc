#include "base/sqlite/table_pages.h"

#include <algorithm>
#include <cstring>

namespace debrief {

namespace {

constexpr uint8_t kInnerPage = 5, kLeafPage = 13, kInnerIndex = 2, kLeafIndex = 10;
constexpr size_t kInnerHead = 12, kLeafHead = 8;
constexpr size_t kMostDepth = 24;  // a tree of 2^32 pages has fewer levels
constexpr uint64_t kMostRowBytes = uint64_t{64} << 20;
// Of all rows whose pages one scan follows; a good file has no more than its size.
constexpr uint64_t kMostOverflowBytes = uint64_t{1} << 30;

// How much of a row of `bytes` lies in its page.
uint64_t LocalBytes(uint64_t bytes, uint64_t usable) {
  if (bytes <= usable - 35) return bytes;
  const uint64_t fewest = (usable - 12) * 32 / 255 - 23;
  const uint64_t kept = fewest + (bytes - fewest) % (usable - 4);
  return kept <= usable - 35 ? kept : fewest;
}

uint64_t LongVarint(std::string_view text, size_t& at) {
  uint64_t number = 0;
  for (size_t i = 0; i < 9; ++i) {
    const uint64_t byte = at < text.size() ? static_cast<uint8_t>(text[at]) : 0;
    ++at;
    if (i == 8) return number << 8 | byte;
    number = number << 7 | (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return number;
}

}  // namespace

uint64_t ReadVarint(std::string_view text, size_t& at) {
  if (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80)
    return static_cast<uint8_t>(text[at++]);
  return LongVarint(text, at);
}

bool TablePage::Parse(const SqliteFormat& format) {
  usable_ = format.usable_bytes;
  cells_ = 0;
  const auto kind = static_cast<uint8_t>(bytes[0]);
  if (kind != kInnerPage && kind != kLeafPage) return false;
  is_leaf_ = kind == kLeafPage;
  head_bytes_ = is_leaf_ ? kLeafHead : kInnerHead;
  const size_t cells = Number32(3) >> 16;
  if (head_bytes_ + 2 * cells > usable_) return false;
  cells_ = cells;
  return true;
}

uint32_t TablePage::Number32(size_t at) const {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return __builtin_bswap32(number);
}

size_t TablePage::PlaceOf(size_t cell) const {
  uint16_t place = 0;
  std::memcpy(&place, bytes.data() + head_bytes_ + 2 * cell, sizeof place);
  place = __builtin_bswap16(place);
  return place >= head_bytes_ + 2 * cells_ && place + size_t{4} <= usable_ ? place : 0;
}

bool TablePage::ReadCell(size_t cell, TableCell& row) const {
  size_t at = PlaceOf(cell);
  if (at == 0) return false;
  const std::string_view page = std::string_view(bytes).substr(0, usable_);
  row.bytes = ReadVarint(page, at);
  row.number = static_cast<int64_t>(ReadVarint(page, at));
  if (row.bytes > kMostRowBytes) return false;
  const uint64_t local = LocalBytes(row.bytes, usable_);
  const bool goes_on = local < row.bytes;
  if (at + local + (goes_on ? 4 : 0) > usable_) return false;
  row.local = page.substr(at, static_cast<size_t>(local));
  row.overflow = goes_on ? Number32(at + static_cast<size_t>(local)) : 0;
  return true;
}

uint32_t TablePage::Child(size_t cell) const {
  if (cell == cells_) return Number32(8);
  const size_t at = PlaceOf(cell);
  return at == 0 ? 0 : Number32(at);
}

int64_t TablePage::LargestOf(size_t cell) const {
  size_t at = PlaceOf(cell) + 4;
  return static_cast<int64_t>(ReadVarint(std::string_view(bytes).substr(0, usable_), at));
}

struct TablePages::Walk {
  std::vector<bool> seen;  // by page
  TableLeaves found;

  // False where the page is not there, or was taken before.
  bool Take(uint32_t page) {
    if (page == 0 || page >= seen.size() || seen[page]) {
      found.is_damaged = true;
      return false;
    }
    seen[page] = true;
    return true;
  }
};

TableLeaves TablePages::LeavesOf(uint32_t root) {
  Walk walk{.seen = std::vector<bool>(format_.pages + 1), .found = {}};
  const uint8_t kind = KindOf(root);
  const bool is_index = kind == kInnerIndex || kind == kLeafIndex;  // WITHOUT ROWID: not read
  if (!is_index && walk.Take(root)) Visit(root, 0, walk);
  return std::move(walk.found);
}

// The leaves are many, and are not read here: where no child that is looked at is an inner page,
// all of them are leaves, as they must be in a tree whose ways have one length.
void TablePages::Visit(uint32_t page, size_t depth, Walk& walk) {
  TablePage inner;
  if (depth > kMostDepth || !Load(page, inner)) {
    walk.found.is_damaged = true;
    return;
  }
  if (inner.is_leaf()) {
    walk.found.pages.push_back(page);
    return;
  }
  const bool goes_deeper = HasInnerChild(inner);
  for (size_t cell = 0; cell <= inner.cells(); ++cell) {
    const uint32_t child = inner.Child(cell);
    if (!walk.Take(child)) continue;
    if (goes_deeper) {
      Visit(child, depth + 1, walk);
    } else {
      walk.found.pages.push_back(child);
    }
  }
}

// Several are looked at, since one may be damaged.
bool TablePages::HasInnerChild(const TablePage& page) const {
  for (const size_t cell : {size_t{0}, page.cells() / 2, page.cells()}) {
    if (KindOf(page.Child(cell)) == kInnerPage) return true;
  }
  return false;
}

uint8_t TablePages::KindOf(uint32_t page) const {
  if (page == 0 || page > format_.pages) return 0;
  const auto kind = windows_.source().View(uint64_t{page - 1} * format_.page_bytes, 1);
  return kind.ok() && kind.value().size() == 1 ? static_cast<uint8_t>(kind.value().text()[0]) : 0;
}

bool TablePages::Load(uint32_t page, TablePage& loaded) {
  if (page == 0 || page > format_.pages) return false;
  loaded.bytes.resize(format_.page_bytes);
  return CopyBytes(uint64_t{page - 1} * format_.page_bytes, loaded.bytes.data(),
                   format_.page_bytes) &&
         loaded.Parse(format_);
}

void TablePages::ReadRow(const TableCell& cell, uint64_t wanted, std::string& row) {
  row.assign(cell.local);
  const size_t kept = format_.usable_bytes - 4;
  wanted = std::min(wanted, cell.bytes);
  uint32_t page = cell.overflow;
  while (row.size() < wanted && page != 0 && page <= format_.pages &&
         overflow_bytes_ < kMostOverflowBytes + 4 * windows_.source().size()) {
    const uint64_t begin = uint64_t{page - 1} * format_.page_bytes;
    char next[4];
    const size_t count = std::min<size_t>(kept, static_cast<size_t>(cell.bytes - row.size()));
    const size_t before = row.size();
    row.resize(before + count);
    if (!CopyBytes(begin, next, sizeof next) || !CopyBytes(begin + 4, row.data() + before, count)) {
      row.resize(before);
      return;
    }
    overflow_bytes_ += format_.page_bytes;
    uint32_t number = 0;
    std::memcpy(&number, next, sizeof number);
    page = __builtin_bswap32(number);
  }
}

bool TablePages::CopyBytes(uint64_t offset, char* out, size_t length) {
  Status status = windows_.Copy(offset, out, length);
  const bool is_read = status.ok();
  if (!is_read && trouble_.ok()) trouble_ = std::move(status);
  return is_read;
}

}  // namespace debrief
