// Where the flat tables of `debrief flight` go, besides DuckDB: JSON and pickle for -o, text for
// -v. Each takes the same rows.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/cursor.h"
#include "base/pickle/writer.h"
#include "compat/torchfrtrace/analyzer.h"
#include "compat/torchfrtrace/tabulate.h"
#include "outputs/terminal/flight_text/flight_text.h"

namespace debrief::outputs::flight_text {

using Append = std::function<Status(std::string_view)>;

// {"schema": 1, "groups": [...], ...}, one row a line, in pieces.
class JsonSink final : public FlatSink {
 public:
  explicit JsonSink(Append append) : append_(std::move(append)) {}
  Status Begin(const FlatTable& table) override;
  Status Row(std::string_view json) override;
  Status End(const FlatTable&) override { return append_("]"); }

 private:
  Append append_;
  bool is_first_row_ = true;
};

// The same as a pickle: a dict of lists of dicts.
class PickleSink final : public FlatSink {
 public:
  explicit PickleSink(Append append) : append_(std::move(append)), pickle_(&out_) {
    pickle_.BeginDict().Key("schema").Int(1);
  }
  Status Begin(const FlatTable& table) override;
  Status Row(std::string_view json) override;
  Status End(const FlatTable& table) override;
  Status Finish();

 private:
  Status Flush();
  Status Put(JsonValue value);

  Append append_;
  std::string out_;
  PickleWriter pickle_;
  JsonReader reader_;
  size_t rows_ = 0;
};

// The tables that the analyzer prints, and the tracebacks that they name, as it lays tables out.
class TextTableSink final : public FlatSink {
 public:
  explicit TextTableSink(const Log& log) : log_(log) {}
  Status Begin(const FlatTable& table) override;
  Status Row(std::string_view json) override;
  Status End(const FlatTable& table) override;

 private:
  Log log_;
  std::string_view title_;  // empty: not shown
  std::vector<std::string> heads_;
  Rows rows_;
  JsonReader reader_;
};

}  // namespace debrief::outputs::flight_text
