#include "outputs/store/row_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "base/text/escape.h"

namespace debrief::outputs::store {

namespace {

constexpr size_t kBufferBytes = 64 << 10;
constexpr std::string_view kGap = "  ";
constexpr std::string_view kCut = "...";
// Narrower than this a cut cell tells nothing; a table that still does not fit runs over the edge.
constexpr size_t kMinCell = 8;

// Gathers what is printed into writes of a useful size.
class Buffer {
 public:
  explicit Buffer(TextSink& out) : out_(out) {}

  std::string& text() { return text_; }
  void FlushIfFull() {
    if (text_.size() >= kBufferBytes) Flush();
  }
  void Flush() {
    if (!text_.empty()) out_.Write(text_);
    text_.clear();
  }

 private:
  TextSink& out_;
  std::string text_;
};

class CsvPrinter final : public RowPrinter {
 public:
  explicit CsvPrinter(TextSink& out) : buffer_(out) {}

  void Start(const std::vector<ResultColumn>& columns) override {
    std::string& text = buffer_.text();
    for (const ResultColumn& column : columns) {
      if (&column != &columns.front()) text += ',';
      AppendCsv(text, column.name);
    }
    text += '\n';
  }

  void Row(std::span<const VectorView> values, uint64_t row) override {
    std::string& text = buffer_.text();
    for (const VectorView& value : values) {
      if (&value != &values.front()) text += ',';
      AppendField(value, row);
    }
    text += '\n';
    buffer_.FlushIfFull();
  }

  void Finish(bool) override { buffer_.Flush(); }

 private:
  void AppendField(const VectorView& value, uint64_t row) {
    if (value.IsNull(row)) return;
    if (value.type->IsNumber()) return AppendAsText(value, row, buffer_.text());
    field_.clear();
    AppendAsText(value, row, field_);
    if (field_.empty()) {
      buffer_.text() += "\"\"";
    } else {
      AppendCsv(buffer_.text(), field_);
    }
  }

  Buffer buffer_;
  std::string field_;
};

class JsonPrinter final : public RowPrinter {
 public:
  explicit JsonPrinter(TextSink& out) : buffer_(out) {}

  // Names must differ within an object: of two equal ones, as a join gives, the second becomes
  // name_1.
  void Start(const std::vector<ResultColumn>& columns) override {
    std::set<std::string> taken;
    for (const ResultColumn& column : columns) {
      std::string name = column.name;
      for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", column.name, i);
      std::string& key = keys_.emplace_back("\"");
      AppendJson(key, name);
      key += "\": ";
    }
    buffer_.text() += '[';
  }

  void Row(std::span<const VectorView> values, uint64_t row) override {
    std::string& text = buffer_.text();
    text += first_ ? "\n{" : ",\n{";
    first_ = false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text += ", ";
      text += keys_[i];
      AppendAsJson(values[i], row, text);
    }
    text += '}';
    buffer_.FlushIfFull();
  }

  void Finish(bool) override {
    buffer_.text() += first_ ? "]\n" : "\n]\n";
    buffer_.Flush();
  }

 private:
  Buffer buffer_;
  std::vector<std::string> keys_;  // "name": with the colon, ready to print
  bool first_ = true;
};

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Cells a text takes, counting one for each character.
size_t CellWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

// Text of an input must not move the cursor or colour the terminal: control characters, also those
// of two bytes (U+0080 to U+009F), are shown as \x1B.
std::string Visible(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<uint8_t>(text[i]);
    bool two_byte_control =
        byte == 0xC2 && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xA0;
    if (two_byte_control) byte = static_cast<uint8_t>(text[++i]);
    if (text[i] == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F || two_byte_control) {
      fmt::format_to(std::back_inserter(out), "\\x{:02X}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

// At most `width` cells of `text`, the last three of them dots when something is left out.
std::string Cut(const std::string& text, size_t width) {
  if (CellWidth(text) <= width) return text;
  size_t cells = 0, end = 0;
  for (; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && cells++ == width - kCut.size()) break;
  }
  return text.substr(0, end).append(kCut);
}

class TablePrinter final : public RowPrinter {
 public:
  TablePrinter(const QueryOptions& options, TextSink& out)
      : limit_(static_cast<size_t>(std::max(options.width, 0))), buffer_(out) {}

  void Start(const std::vector<ResultColumn>& columns) override {
    columns_ = &columns;
    widths_.assign(columns.size(), 0);
    for (size_t i = 0; i < columns.size(); ++i) AddCell(i, columns[i].name);
  }

  void Row(std::span<const VectorView> values, uint64_t row) override {
    for (size_t i = 0; i < values.size(); ++i) {
      std::string text;
      AppendAsText(values[i], row, text);
      AddCell(i, text);
    }
  }

  void Finish(bool more) override {
    Fit();
    size_t columns = columns_->size();
    for (size_t start = 0; start < cells_.size(); start += columns) {
      PrintLine(std::span(cells_).subspan(start, columns));
      if (start == 0) PrintRule();
    }
    if (more) {
      fmt::format_to(std::back_inserter(buffer_.text()), "... there are more rows than these {}\n",
                     cells_.size() / columns - 1);
    }
    buffer_.Flush();
  }

 private:
  void AddCell(size_t column, std::string_view text) {
    cells_.push_back(Visible(text));
    widths_[column] = std::max(widths_[column], CellWidth(cells_.back()));
  }

  size_t TotalWidth(size_t cap) const {
    size_t total = kGap.size() * (widths_.size() - 1);
    for (size_t i = 0; i < widths_.size(); ++i) total += CappedWidth(i, cap);
    return total;
  }
  // Numbers are never cut.
  size_t CappedWidth(size_t column, size_t cap) const {
    return (*columns_)[column].type.IsNumber() ? widths_[column] : std::min(widths_[column], cap);
  }

  // Finds the widest cap of text cells with which a line fits.
  void Fit() {
    if (limit_ == 0) return;
    size_t cap = *std::max_element(widths_.begin(), widths_.end());
    if (TotalWidth(cap) <= limit_) return;
    cap = std::min(cap, limit_);
    while (cap > kMinCell && TotalWidth(cap) > limit_) --cap;
    for (size_t i = 0; i < widths_.size(); ++i) widths_[i] = CappedWidth(i, cap);
  }

  void PrintLine(std::span<const std::string> cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += kGap;
      std::string cell = limit_ > 0 ? Cut(cells[i], widths_[i]) : cells[i];
      std::string padding(widths_[i] - CellWidth(cell), ' ');
      line += (*columns_)[i].type.IsNumber() ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    buffer_.text().append(line) += '\n';
    buffer_.FlushIfFull();
  }

  void PrintRule() {
    std::string line;
    for (size_t width : widths_) {
      if (!line.empty()) line += kGap;
      line.append(width, '-');
    }
    buffer_.text().append(line) += '\n';
  }

  size_t limit_;  // of a line; 0: none
  Buffer buffer_;
  const std::vector<ResultColumn>* columns_ = nullptr;
  std::vector<size_t> widths_;
  std::vector<std::string> cells_;  // the header, then row by row
};

}  // namespace

std::unique_ptr<RowPrinter> MakeRowPrinter(const QueryOptions& options, TextSink& out) {
  switch (options.format) {
    case QueryFormat::kTable:
      return std::make_unique<TablePrinter>(options, out);
    case QueryFormat::kCsv:
      return std::make_unique<CsvPrinter>(out);
    case QueryFormat::kJson:
      return std::make_unique<JsonPrinter>(out);
  }
  return nullptr;
}

}  // namespace debrief::outputs::store
