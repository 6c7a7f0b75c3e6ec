// The three ways to print rows; QueryFormat in query.h says what each looks like.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "outputs/store/query.h"
#include "outputs/store/value_text.h"

namespace debrief::outputs::store {

struct ResultColumn {
  std::string name;
  ValueType type;
};

class RowPrinter {
 public:
  virtual ~RowPrinter() = default;

  // `columns` must outlive the printer.
  virtual void Start(const std::vector<ResultColumn>& columns) = 0;
  virtual void Row(std::span<const VectorView> values, uint64_t row) = 0;
  // `more`: there were rows that were not printed.
  virtual void Finish(bool more) = 0;
};

std::unique_ptr<RowPrinter> MakeRowPrinter(const QueryOptions& options, TextSink& out);

}  // namespace debrief::outputs::store
