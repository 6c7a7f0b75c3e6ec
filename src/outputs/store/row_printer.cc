// The ways to print rows; QueryFormat in query.h says what each looks like.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text/columns.h"
#include "base/text/escape.h"
#include "outputs/store/query.h"

namespace debrief::outputs::store {

namespace {

constexpr size_t kBufferBytes = 64 << 10;

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
  // Others are written by us: nothing to quote, and a year before Christ is no formula.
  static bool HoldsText(const ValueType& type) {
    return type.id == DUCKDB_TYPE_VARCHAR || type.id == DUCKDB_TYPE_ENUM || !type.children.empty();
  }

  void AppendField(const VectorView& value, uint64_t row) {
    if (value.IsNull(row)) return;
    if (!HoldsText(*value.type)) return AppendAsText(value, row, buffer_.text());
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

class MarkdownPrinter final : public RowPrinter {
 public:
  explicit MarkdownPrinter(TextSink& out) : buffer_(out) {}

  void Start(const std::vector<ResultColumn>& columns) override {
    std::string& text = buffer_.text();
    for (const ResultColumn& column : columns) AppendCell(column.name);
    text += "|\n";
    for (const ResultColumn& column : columns) text += column.type.is_number ? "|---:" : "|---";
    text += "|\n";
  }

  void Row(std::span<const VectorView> values, uint64_t row) override {
    for (const VectorView& value : values) {
      std::string cell;
      if (!value.IsNull(row)) AppendAsText(value, row, cell);
      AppendCell(cell);
    }
    buffer_.text() += "|\n";
    buffer_.FlushIfFull();
  }

  void Finish(bool) override { buffer_.Flush(); }

 private:
  void AppendCell(std::string_view cell) {
    buffer_.text() += "| ";
    AppendMarkdown(buffer_.text(), cell);
    buffer_.text() += ' ';
  }

  Buffer buffer_;
};

class TablePrinter final : public RowPrinter {
 public:
  TablePrinter(const QueryOptions& options, TextSink& out)
      : layout_{.width = static_cast<size_t>(std::max(options.width, 0)),
                .has_rule = true,
                .least_cell = kLeastCell},
        out_(out) {}

  void Start(const std::vector<ResultColumn>& columns) override {
    std::vector<TextTable::Column> heads;
    for (const ResultColumn& column : columns)
      heads.push_back({.head = column.name,
                       .align = column.type.is_number ? TextTable::kRight : TextTable::kLeft});
    table_ = TextTable(std::move(heads));
  }

  void Row(std::span<const VectorView> values, uint64_t row) override {
    std::vector<std::string> cells(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      AppendAsText(values[i], row, cells[i]);
      ReplaceLineEnds(cells[i]);
    }
    table_.Add(std::move(cells));
  }

  void Finish(bool more) override {
    out_.Write(table_.Text(layout_));
    if (more) out_.Write(fmt::format("... there are more rows than these {}\n", table_.size()));
  }

 private:
  // Narrower than this a cut cell tells nothing; a table that still does not fit runs over the
  // edge.
  static constexpr size_t kLeastCell = 8;

  static void ReplaceLineEnds(std::string& text) {
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at))
      text.replace(at, 1, "\\n");
  }

  TextTable::Layout layout_;
  TextSink& out_;
  TextTable table_{{}};
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
    case QueryFormat::kBox:
      return MakeBoxPrinter(options.width, out);
    case QueryFormat::kMarkdown:
      return std::make_unique<MarkdownPrinter>(out);
  }
  return nullptr;
}

}  // namespace debrief::outputs::store
