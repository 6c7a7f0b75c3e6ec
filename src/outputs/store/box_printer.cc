// Rows in a box of lines:
//
//   ┌──────┬─────────────┐
//   │ rank │ op          │
//   ├──────┼─────────────┤
//   │    5 │ all_reduce  │
//   └──────┴─────────────┘
#include <fmt/format.h>

#include <algorithm>

#include "base/text/columns.h"
#include "base/text/safe_name.h"
#include "outputs/store/query.h"

namespace debrief::outputs::store {

namespace {

class BoxPrinter final : public RowPrinter {
 public:
  BoxPrinter(int width, TextSink& out)
      : width_(static_cast<size_t>(std::max(width, 0))), out_(out) {}

  void Start(const std::vector<ResultColumn>& columns) override {
    std::vector<std::string> heads;
    for (const ResultColumn& column : columns) {
      heads.push_back(Printable(column.name));
      is_number_.push_back(column.type.is_number);
    }
    widths_.resize(columns.size());
    Keep(std::move(heads));
  }

  void Row(std::span<const VectorView> values, uint64_t row) override {
    std::vector<std::string> cells(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      AppendAsText(values[i], row, cells[i]);
      cells[i] = Printable(cells[i]);
    }
    Keep(std::move(cells));
  }

  void Finish(bool more) override {
    Narrow();
    Rule("┌", "┬", "┐");
    for (const auto& cells : rows_) {
      Line(cells);
      if (&cells == &rows_.front()) Rule("├", "┼", "┤");
    }
    Rule("└", "┴", "┘");
    if (more) out_.Write(fmt::format("... there are more rows than these {}\n", rows_.size() - 1));
  }

 private:
  static constexpr size_t kLeastCell = 8;  // narrower, a cut text tells nothing

  void Keep(std::vector<std::string> cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      widths_[i] = std::max(widths_[i], TextWidth(cells[i]));
    rows_.push_back(std::move(cells));
  }

  // Texts are cut alike until a line fits; numbers are not.
  void Narrow() {
    auto total = [&](size_t cap) {
      size_t sum = 1;
      for (size_t i = 0; i < widths_.size(); ++i)
        sum += 3 + (is_number_[i] ? widths_[i] : std::min(widths_[i], cap));
      return sum;
    };
    if (width_ == 0 || total(SIZE_MAX) <= width_) return;
    size_t cap = width_;
    while (cap > kLeastCell && total(cap) > width_) --cap;
    for (size_t i = 0; i < widths_.size(); ++i)
      if (!is_number_[i]) widths_[i] = std::min(widths_[i], cap);
  }

  void Rule(std::string_view left, std::string_view cross, std::string_view right) {
    std::string line(left);
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) line += cross;
      for (size_t column = 0; column < widths_[i] + 2; ++column) line += "─";
    }
    out_.Write(fmt::format("{}{}\n", line, right));
  }

  void Line(const std::vector<std::string>& cells) {
    std::string line = "│";
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = CutEnd(cells[i], widths_[i]);
      const std::string blanks(widths_[i] - TextWidth(cell), ' ');
      line += fmt::format(" {} │", is_number_[i] ? blanks + cell : cell + blanks);
    }
    out_.Write(line + "\n");
  }

  size_t width_;
  TextSink& out_;
  std::vector<std::vector<std::string>> rows_;  // the head first
  std::vector<size_t> widths_;
  std::vector<bool> is_number_;
};

}  // namespace

std::unique_ptr<RowPrinter> MakeBoxPrinter(int width, TextSink& out) {
  return std::make_unique<BoxPrinter>(width, out);
}

}  // namespace debrief::outputs::store
