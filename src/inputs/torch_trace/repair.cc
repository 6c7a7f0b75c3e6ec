#include "inputs/torch_trace/repair.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "inputs/torch_trace/envelope.h"
#include "inputs/torch_trace/kind.h"
#include "inputs/torch_trace/untangle.h"
#include "tables/compile_entry.h"
#include "tables/compile_string.h"

namespace debrief::inputs::torch_trace {

namespace {

// A stretch ends where so many payloads in a row are whole, or where it has so many bytes.
constexpr int kCalm = 64;
constexpr int64_t kStretchBytes = 16 << 20;

// Rows [begin, end) of compile_entry, and the bytes of the log up to the next entry.
struct Stretch {
  size_t begin = 0, end = 0;
};

// A line of the stretch that is an item of the puzzle.
struct StretchLine {
  int64_t offset = 0;
  int64_t bytes = 0;          // with its end
  std::optional<size_t> row;  // of compile_entry, for the line of an entry
};

std::optional<std::array<uint8_t, 16>> ParseMd5(std::string_view hex) {
  std::array<uint8_t, 16> md5 = {};
  if (hex.size() != 32) return std::nullopt;
  for (size_t i = 0; i < 32; ++i) {
    size_t digit = std::string_view("0123456789abcdef").find(hex[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    md5[i / 2] = static_cast<uint8_t>(md5[i / 2] * 16U + digit);
  }
  return md5;
}

// A negative lane is that of a payload line.
int LaneOf(int32_t rank) { return rank == kNone32 ? std::numeric_limits<int>::max() : rank; }

class Repairer {
 public:
  Repairer(const Source& source, Part& whole)
      : source_(source),
        whole_(whole),
        entries_(whole.tables.Edit<CompileEntryTable>()),
        strings_(whole.tables.Edit<CompileStringTable>()) {}

  Result<Repaired> Run() {
    for (const Stretch& stretch : FindStretches()) TRY(Repair(stretch));
    return done_;
  }

 private:
  bool IsBad(size_t row) const {
    return entries_.payload_md5[row] != StringId::kNone && entries_.payload_ok[row] == 0;
  }

  std::vector<Stretch> FindStretches() const {
    std::vector<Stretch> stretches;
    int calm = kCalm;
    for (size_t row = 0; row < entries_.size(); ++row) {
      bool has_payload = entries_.payload_offset[row] != kNone64;
      bool open = calm < kCalm &&
                  entries_.entry[row] - entries_.entry[stretches.back().begin] < kStretchBytes;
      if (IsBad(row) && !open) stretches.push_back({row, row});
      if (IsBad(row)) {
        calm = 0;
      } else if (has_payload && calm < kCalm) {
        ++calm;
      }
      if (!stretches.empty() && (IsBad(row) || open)) stretches.back().end = row + 1;
    }
    return stretches;
  }

  int64_t EndOf(const Stretch& stretch) const {
    return stretch.end < entries_.size() ? entries_.entry[stretch.end]
                                         : static_cast<int64_t>(source_.size());
  }

  Status Repair(const Stretch& stretch) {
    int64_t begin = entries_.entry[stretch.begin];
    ASSIGN_OR_RETURN(ByteView bytes, source_.View(static_cast<uint64_t>(begin),
                                                  static_cast<size_t>(EndOf(stretch) - begin)));
    CutLines(stretch, begin, bytes.text());
    Untangled result = Untangle(items_, limits_);
    limits_.least_work = result.least_work_left;
    done_.lost += result.lost;
    done_.gave_up |= result.gave_up;
    Apply(result, bytes.text(), begin);
    return {};
  }

  // Items of all lines of the stretch: entries, strings and what begins with a tab.
  void CutLines(const Stretch& stretch, int64_t offset, std::string_view text) {
    items_.clear();
    lines_.clear();
    size_t row = stretch.begin;
    auto string =
        static_cast<size_t>(std::lower_bound(strings_.entry.begin(), strings_.entry.end(), offset) -
                            strings_.entry.begin());
    for (size_t at = 0; at < text.size();) {
      size_t stop = std::min(text.find('\n', at), text.size());
      size_t next = std::min(stop + 1, text.size());
      int64_t here = offset + static_cast<int64_t>(at);
      StretchLine line{.offset = here, .bytes = static_cast<int64_t>(next - at), .row = {}};
      if (text[at] == '\t') {
        size_t size = stop - at - 1;
        if (size > 0 && text[stop - 1] == '\r') --size;
        AddItem({.text = text.substr(at + 1, size)}, line);
      } else if (row < stretch.end && entries_.entry[row] == here) {
        line.row = row;
        AddEntry(row, line, text.substr(at, stop - at));
        while (row < stretch.end && entries_.entry[row] == here) ++row;
      } else if (string < strings_.size() && strings_.entry[string] == here) {
        AddItem({.lane = LaneOf(strings_.rank[string++])}, line);
      }
      at = next;
    }
  }

  void AddItem(TangledItem item, const StretchLine& line) {
    items_.push_back(item);
    lines_.push_back(line);
  }

  // The checksum of the entry, from its line where the table has none.
  std::string_view ChecksumOf(size_t row, std::string_view line) {
    if (entries_.payload_offset[row] == kNone64) return {};
    if (entries_.payload_md5[row] != StringId::kNone)
      return whole_.pools.Text(entries_.payload_md5[row]);
    auto begin = std::min(static_cast<size_t>(entries_.json_offset[row]), line.size());
    return envelopes_.Parse(line.substr(begin)).payload_md5.value_or("");
  }

  void AddEntry(size_t row, const StretchLine& line, std::string_view text) {
    TangledItem item{.lane = LaneOf(entries_.rank[row])};
    if (auto md5 = ParseMd5(ChecksumOf(row, text))) {
      item.has_payload = true;
      item.md5 = *md5;
    }
    AddItem(item, line);
  }

  void Apply(const Untangled& result, std::string_view text, int64_t offset) {
    std::vector<std::vector<size_t>> lines_of(items_.size());
    for (size_t i = 0; i < items_.size(); ++i) {
      if (result.owner[i] >= 0) lines_of[static_cast<size_t>(result.owner[i])].push_back(i);
    }
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!lines_[i].row || !items_[i].has_payload) continue;
      bool whole = !lines_of[i].empty();
      for (size_t row = *lines_[i].row;
           row < entries_.size() && entries_.entry[row] == lines_[i].offset; ++row) {
        if (whole) {
          SetPieces(row, lines_of[i], text, offset);
        } else if (IsBad(row)) {
          LoseLines(row, result);
        }
      }
    }
  }

  // offset, bytes, ... of lines, neighbours joined.
  std::vector<int64_t> PiecesOf(const std::vector<size_t>& lines) const {
    std::vector<int64_t> pieces;
    for (size_t line : lines) {
      bool follows =
          !pieces.empty() && pieces[pieces.size() - 2] + pieces.back() == lines_[line].offset;
      if (follows) {
        pieces.back() += lines_[line].bytes;
      } else {
        pieces.push_back(lines_[line].offset);
        pieces.push_back(lines_[line].bytes);
      }
    }
    return pieces;
  }

  void Place(size_t row, const std::vector<int64_t>& pieces) {
    int64_t bytes = 0;
    for (size_t i = 1; i < pieces.size(); i += 2) bytes += pieces[i];
    entries_.payload_offset[row] = pieces.empty() ? entries_.payload_offset[row] : pieces[0];
    entries_.payload_bytes[row] = bytes;
    entries_.payload_pieces[row] =
        pieces.size() > 2 ? whole_.pools.lists.Intern(pieces) : ListId::kNone;
  }

  void SetPieces(size_t row, const std::vector<size_t>& lines, std::string_view text,
                 int64_t offset) {
    std::vector<int64_t> pieces = PiecesOf(lines);
    bool was_bad = IsBad(row);
    Place(row, pieces);
    if (!was_bad) return;
    entries_.payload_ok[row] = 1;
    ++done_.restored;
    done_.lines_owned += static_cast<int64_t>(lines.size());
    std::string joined;
    for (size_t i = 0; i < pieces.size(); i += 2)
      joined +=
          text.substr(static_cast<size_t>(pieces[i] - offset), static_cast<size_t>(pieces[i + 1]));
    ReadAgain(row, joined);
  }

  // The kind could not make anything of the payload before.
  void ReadAgain(size_t row, std::string& lines) {
    const Kind* kind = FindKind(whole_.pools.Text(entries_.kind[row]));
    if (kind == nullptr || kind->read_payload == nullptr) return;
    size_t size = lines.size();
    lines.append(kPadding, '\0');
    RangeNotes notes;
    Entry entry(whole_, notes);
    entry.row.job = entries_.job[row];
    entry.row.attempt = entries_.attempt[row];
    entry.row.rank = entries_.rank[row];
    entry.row.input = entries_.input[row];
    entry.row.entry = entries_.entry[row];
    entry.row.kind = entries_.kind[row];
    entry.row.compile_id = entries_.compile_id[row];
    if (!kind->read_payload(std::string_view(lines).substr(0, size), entry).ok()) return;
    entries_.state[row] = whole_.pools.Intern("read");
    entry.CommitAdded();
  }

  // Of several broken payloads nobody knows whose the lines behind them are: they get none. One
  // alone is damaged rather than mixed, and keeps what nobody else owns.
  void LoseLines(size_t row, const Untangled& result) {
    std::vector<size_t> kept;
    int64_t begin = entries_.payload_offset[row];
    int64_t end = result.lost == 1 ? begin + entries_.payload_bytes[row] : begin;
    auto first =
        std::lower_bound(lines_.begin(), lines_.end(), begin,
                         [](const StretchLine& line, int64_t at) { return line.offset < at; });
    for (auto at = first; at != lines_.end() && at->offset < end; ++at) {
      auto i = static_cast<size_t>(at - lines_.begin());
      if (items_[i].lane == -1 && result.owner[i] < 0) kept.push_back(i);
    }
    Place(row, PiecesOf(kept));
  }

  const Source& source_;
  Part& whole_;
  CompileEntryTable& entries_;
  CompileStringTable& strings_;
  EnvelopeParser envelopes_;
  std::vector<TangledItem> items_;
  std::vector<StretchLine> lines_;
  UntangleLimits limits_;
  Repaired done_;
};

}  // namespace

Result<Repaired> RepairTangles(const Source& source, Part& whole) {
  return Repairer(source, whole).Run();
}

}  // namespace debrief::inputs::torch_trace
