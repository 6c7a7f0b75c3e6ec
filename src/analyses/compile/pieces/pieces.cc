// Which piece of vLLM's graph, and which sizes, is each run of the backend for? vLLM cuts a model
// into pieces at its attention and runs Inductor once for each piece and range of sizes, all under
// one compile id: without a label a log has some hundred runs that look alike.
//
// vLLM says when a run begins (artifact vllm_piecewise_compile_start). What the same rank logs for
// the same compilation until the next one begins belongs to it.
#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "base/json/cursor.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_piece.h"

namespace debrief::analyses::compile_pieces {

namespace {

constexpr std::string_view kBegin = "vllm_piecewise_compile_start";
constexpr std::string_view kGraphCache = "fx_graph_cache_";

enum class Clue : uint8_t { kNothing, kBegins, kCacheAnswer };

Clue ClueOf(std::string_view name) {
  if (name == kBegin) return Clue::kBegins;
  return name.starts_with(kGraphCache) ? Clue::kCacheAnswer : Clue::kNothing;
}

class Pieces : EntryPass {
 public:
  Pieces(const Model& model, Part& part) : EntryPass(model, part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) Look(row);
    for (const CompilePieceRow& piece : pieces_) part_.tables.Edit<CompilePieceTable>().Add(piece);
  }

 private:
  using Compilation = std::tuple<int32_t, int32_t, int32_t, StringId>;  // input, rank, life, id

  void Look(size_t row) {
    const bool is_artifact = Text(entries_.kind[row]) == "artifact";
    const Clue clue = is_artifact ? clues_(entries_.name[row]) : Clue::kNothing;
    if (clue == Clue::kNothing && open_.empty()) return;  // logs without vLLM
    const Compilation key(entries_.input[row], entries_.rank[row], entries_.life[row],
                          entries_.compile_id[row]);
    const auto open = open_.find(key);
    if (open != open_.end()) Continue(pieces_[open->second], row, clue);
    if (clue != Clue::kBegins) return;
    open_[key] = pieces_.size();
    Begin(row);
  }

  // Times are wall clock: an entry before the begin costs nothing.
  void Continue(CompilePieceRow& piece, size_t row, Clue clue) {
    const int64_t time = entries_.time_ns[row];
    if (time != kNone64 && piece.start_ns != kNone64 && time >= piece.start_ns)
      piece.seconds = static_cast<double>(time - piece.start_ns) / 1e9;
    if (clue == Clue::kBegins) return;
    ++piece.entries;
    const std::string_view answer = Text(entries_.name[row]);
    const bool is_first = clue == Clue::kCacheAnswer && piece.graph_cache == StringId::kNone;
    if (is_first) piece.graph_cache = texts_(answer.substr(kGraphCache.size()));
  }

  void Begin(size_t row) {
    auto piece = RowOfEntry<CompilePieceRow>(entries_, row);
    piece.compile_id = texts_(entries_.compile_id[row]);
    piece.start_ns = entries_.time_ns[row];
    piece.entries = 1;
    std::string submodule;
    const auto lines = PayloadLines(model_, entries_, row);
    if (lines.ok() && reader_.Open(lines.value().text()).ok()) {
      const Status status = reader_.root().ForEachField(
          [&](std::string_view key, JsonValue value) { ReadField(key, value, piece, submodule); });
      static_cast<void>(status);  // what was read before the text broke is true
    }
    piece.submodule = texts_(submodule);
    piece.label = texts_(LabelOf(piece, submodule));
    pieces_.push_back(piece);
  }

  static void ReadField(std::string_view key, JsonValue value, CompilePieceRow& piece,
                        std::string& submodule) {
    auto small = [&] {
      const auto number = value.Int();
      const bool fits = number && *number >= 0 && *number <= 1 << 30;
      return fits ? static_cast<int32_t>(*number) : kNone32;
    };
    if (key == "piecewise_index") piece.piece = small();
    if (key == "total_piecewise_compiles") piece.pieces = small();
    if (key == "submod_name") submodule = value.String().value_or("");
    if (key == "compile_range_start") piece.size_from = value.Int().value_or(kNone64);
    if (key == "compile_range_end") piece.size_to = value.Int().value_or(kNone64);
    if (key == "is_single_size") piece.is_one_size = value.Bool().value_or(false) ? 1 : 0;
    if (key == "is_cudagraph_capture_size")
      piece.is_cudagraph_size = value.Bool().value_or(false) ? 1 : 0;
  }

  // "piece 3 of 12 (submod_4), sizes 9 to 8192".
  static std::string LabelOf(const CompilePieceRow& piece, std::string_view submodule) {
    std::string label =
        piece.piece == kNone32 ? "a piece" : fmt::format("piece {}", piece.piece + 1);
    if (piece.pieces != kNone32) label += fmt::format(" of {}", piece.pieces);
    if (!submodule.empty()) label += fmt::format(" ({})", submodule);
    if (piece.size_from == kNone64) return label;
    const bool is_one =
        piece.is_one_size != 0 || piece.size_to == kNone64 || piece.size_from == piece.size_to;
    return label + (is_one ? fmt::format(", size {}", piece.size_from)
                           : fmt::format(", sizes {} to {}", piece.size_from, piece.size_to));
  }

  JsonReader reader_;
  AskOnce<Clue> clues_{model_.pools, ClueOf};
  std::map<Compilation, size_t> open_;  // the newest piece of each compilation
  std::vector<CompilePieceRow> pieces_;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_pieces",
               .scope = AnalysisScope::kRank,
               .sentence = "Which piece of vLLM's graph, and which sizes, is each run of the "
                           "backend for?",
               .example = "a table with a label for each run; no findings of its own",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompilePieceTable>},
      .run = RunPass<Pieces>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_pieces
