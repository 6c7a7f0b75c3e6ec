#include "app/split_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/bytes/growing_file.h"
#include "base/text/units.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_log.h"
#include "tables/compile_string.h"

namespace debrief {

namespace {

// A line to write: of an entry (row of compile_entry) or of a string (row of compile_string).
struct Piece {
  int32_t input;
  int64_t offset;
  size_t row;
  bool is_string;
};

using Pieces = std::map<int32_t, std::vector<Piece>>;  // by rank

Pieces Collect(const Model& model) {
  Pieces pieces;
  const auto& entries = model.tables.Get<CompileEntryTable>();
  for (size_t row = 0; row < entries.size(); ++row) {
    bool again = row > 0 && entries.input[row] == entries.input[row - 1] &&
                 entries.entry[row] == entries.entry[row - 1];  // another kind of the same entry
    if (!again)
      pieces[entries.rank[row]].push_back({entries.input[row], entries.entry[row], row, false});
  }
  const auto& strings = model.tables.Get<CompileStringTable>();
  for (size_t row = 0; row < strings.size(); ++row)
    pieces[strings.rank[row]].push_back({strings.input[row], strings.entry[row], row, true});
  for (auto& [rank, of_rank] : pieces) {
    std::sort(of_rank.begin(), of_rank.end(), [](const Piece& a, const Piece& b) {
      return std::pair(a.input, a.offset) < std::pair(b.input, b.offset);
    });
  }
  return pieces;
}

// The text of a line with one line end behind it.
void AppendLine(std::string_view text, std::string& out) {
  out += text;
  if (!text.empty() && text.back() != '\n') out += '\n';
}

Status AppendPiece(const Model& model, const Piece& piece, std::string& out) {
  if (piece.is_string) {
    const auto& strings = model.tables.Get<CompileStringTable>();
    const Source* source = model.sources[static_cast<size_t>(piece.input)].get();
    if (source == nullptr) return {};
    ASSIGN_OR_RETURN(ByteView line,
                     source->View(static_cast<uint64_t>(piece.offset),
                                  static_cast<size_t>(strings.header_bytes[piece.row])));
    AppendLine(line.text(), out);
    return {};
  }
  const auto& entries = model.tables.Get<CompileEntryTable>();
  ASSIGN_OR_RETURN(ByteView header, HeaderLine(model, entries, piece.row));
  AppendLine(header.text(), out);
  ASSIGN_OR_RETURN(ByteView payload, PayloadLines(model, entries, piece.row));
  AppendLine(payload.text(), out);
  return {};
}

Status WriteRank(const Model& model, const std::vector<Piece>& pieces, const std::string& path) {
  constexpr size_t kFlush = 1 << 20;
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
  std::string text;
  for (const Piece& piece : pieces) {
    TRY(AppendPiece(model, piece, text));
    if (text.size() < kFlush) continue;
    TRY(file.Append(text));
    text.clear();
  }
  TRY(file.Append(text));
  return file.Finish();
}

}  // namespace

Status SplitRanks(const Model& model, const std::string& folder) {
  for (const auto& [rank, pieces] : Collect(model)) {
    std::string name = rank == kNone32 ? "no_rank" : fmt::format("rank_{}", rank);
    TRY(WriteRank(model, pieces, fmt::format("{}/dedicated_log_torch_trace_{}.log", folder, name)));
  }
  return {};
}

std::string DescribeLosses(const Model& model) {
  const auto& logs = model.tables.Get<CompileLogTable>();
  int64_t payloads = 0, entries = 0, lines = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    payloads += logs.bad_checksum[i];
    entries += logs.bad_json_lost[i];
    lines += logs.bad_prefix[i];
  }
  std::vector<std::string> losses;
  if (payloads > 0)
    losses.push_back(fmt::format("{} not whole (checksums do not hold)",
                                 Plural(static_cast<size_t>(payloads), "payload")));
  if (entries > 0)
    losses.push_back(
        fmt::format("{} with broken JSON lost", Plural(static_cast<size_t>(entries), "line")));
  if (lines > 0)
    losses.push_back(
        fmt::format("{} of no entry left out", Plural(static_cast<size_t>(lines), "line")));
  return fmt::format("{}", fmt::join(losses, "; "));
}

}  // namespace debrief
