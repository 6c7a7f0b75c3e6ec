// What came instead of what was expected. A guard names the old value; the new one stands elsewhere
// in the log of the new compilation: in the symbol that was made for it (create_symbol), in its own
// guards (TYPE_MATCH, EQUALS_MATCH, ...), in the tensors it described.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/compile/guard_text.h"
#include "analyses/compile/recompiles/compilations.h"

namespace debrief::analyses::compile_recompiles {

class NewValues {
 public:
  explicit NewValues(const Compilations& compilations);

  // Fills in old and new value of `change` where they are empty. Returns the symbol that stands for
  // it in compilation `now`; empty when there is none. `before` may be kNobody.
  Result<std::string> Complete(int32_t now, int32_t before, Change& change);

 private:
  struct Symbol {
    std::string_view name, value;
  };

  const Symbol* SymbolOf(int32_t compilation, std::string_view source) const;
  Status ReadGuards(int32_t compilation);
  Status FromGuards(int32_t now, const std::string& source, Change& change);
  void FromTensors(int32_t now, int32_t before, const std::string& source, Change& change);
  std::string TensorValue(int32_t compilation, const std::string& source, const Change& change);
  void ReadTensors();

  const Compilations& compilations_;
  std::map<std::pair<int32_t, std::string_view>, Symbol> symbols_;  // by compilation and source
  // Rows of describe_tensor by compilation and source; read when first asked for.
  std::map<std::pair<int32_t, std::string_view>, size_t> tensors_;
  bool tensors_read_ = false;
  // Guards of one compilation, and what was found in them by kind and source: each of many reasons
  // asks for the same few things.
  int32_t guards_of_ = kNobody;
  std::string guards_;
  std::map<std::string, std::string> found_;
};

}  // namespace debrief::analyses::compile_recompiles
