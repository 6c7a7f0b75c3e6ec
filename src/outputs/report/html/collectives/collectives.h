// What the report's views of collectives show. All texts are bounded whatever the size of the job;
// same model, same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/writer.h"
#include "model/model.h"
#include "outputs/report/html/cut_text.h"
#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Pieces of the islands about collectives: texts that repeat and lists of ranks.

// Texts by number. Hostile dumps have different ones in every row, so there is a bound on all.
class Texts {
 public:
  explicit Texts(size_t most_bytes) : most_bytes_(most_bytes) {}

  // -1 for none, and for those that no longer fit.
  int64_t Add(std::string_view text);

  // "texts": [...]
  void Write(JsonWriter& json) const;

 private:
  const size_t most_bytes_;
  std::map<std::string, int64_t, std::less<>> numbers_;
  std::vector<std::string> all_;
  size_t bytes_ = 0;
};

// An island of such texts while it is written: an object that ends with them.
class TextIsland {
 protected:
  TextIsland(const Model& model, size_t most_text_bytes)
      : model_(model), json_(&out_), texts_(most_text_bytes) {
    json_.BeginObject();
  }

  int64_t Text(StringId id) { return texts_.Add(model_.pools.Text(id)); }

  std::string Finish() {
    texts_.Write(json_);
    json_.EndObject();
    return std::move(out_);
  }

  const Model& model_;
  std::string out_;
  JsonWriter json_;
  Texts texts_;
};

// [[first, step, count], ...] of equidistant ranks; at most `most` runs.
void WriteRuns(JsonWriter& json, std::string_view key, std::span<const int64_t> ranks, size_t most);

// The rank x sequence grids of the report: which groups, which columns, and the state of each cell.
//
// 512 ranks with 2000 entries each are a million cells, and a page with a million cells is slow to
// open and slow to send. A hang shows in the last sequences and around the first that did not
// complete, so a grid keeps those and the ones that findings are about, and groups beyond a bound
// are only counted.

inline constexpr size_t kMostGrids = 64;
inline constexpr size_t kMostColumns = 120;      // the last ones; the rest of a grid comes on top
inline constexpr size_t kGridBytes = 1'200'000;  // all cells together
inline constexpr size_t kNoRow = static_cast<size_t>(-1);

// What a member did in one match.
enum Cell : char {
  kCompleted = 'c',
  kScheduled = 's',
  kStarted = 't',
  kMissing = 'm',  // never issued
  kUnknown = 'u',  // no dump, or the ring no longer holds it
  kMismatch = 'x',
  kNotInIt = '.',  // takes no part: a send between two others
};

struct Column {
  size_t match = 0;        // row of comm_match
  size_t op_row = kNoRow;  // a row of comm_op that stands for the majority
};

// A member whose op differs from the column's.
struct Difference {
  size_t column = 0;
  size_t row = 0;
  size_t op_row = 0;
};

struct Grid {
  size_t match = 0;  // a row of comm_match that has job, attempt, name, description, role
  bool is_p2p = false;
  std::vector<int64_t> ranks;    // members, sorted: the rows
  std::vector<size_t> matches;   // all rows of comm_match, by sequence
  std::vector<size_t> mentions;  // findings about it, most important first
  size_t trouble = 0;            // matches that did not complete or do not agree
  std::vector<Column> columns;
  std::vector<std::string> cells;  // a Cell a column, by row
  std::vector<Difference> differences;
  std::vector<StackId> stacks;  // where it was issued, by row, then by column; kNone where not told

  size_t CellNumber(size_t row, size_t column) const { return row * columns.size() + column; }
};

struct Grids {
  std::vector<Grid> grids;  // those that findings are about, then with trouble, then by size
  size_t left_out = 0;
};

// Groups and columns, without cells. One pass over comm_match.
Grids ChooseGrids(const Model& model);

// The cells. One pass over comm_call.
void FillCells(const Model& model, std::vector<Grid>& grids);

// Both.
Grids MakeGrids(const Model& model);

// Island "flight": the grid of collectives and the oldest open op of each rank. At most 2 MB.
std::string FlightJson(const Model& model, const Grids& grids);

// Island "flight_stacks": where the cells of the grids were issued. `grids` have their cells. At
// most 3 MB, packed a tenth of that.
std::string StacksJson(const Model& model, const std::vector<Grid>& grids);

// Island "waits": who waits for whom. At most 2 MB.
std::string WaitsJson(const Model& model);

// Island "arrivals": how late each rank came to each collective. Empty when no collective has times
// of two ranks. At most 6 MB, packed a fifth of that.
std::string ArrivalsJson(const Model& model);

// Adds those for which there are collectives.
Status AddCollectiveIslands(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html
