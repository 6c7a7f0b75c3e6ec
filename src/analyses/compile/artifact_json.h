// The JSON of the artifacts by which ranks are compared:
//
//   inductor_collective_schedule      ["torch.ops._c10d_functional.all_reduce_.default", ...]
//   inductor_runtime_and_tensor_meta  {"ops": [{"name": "mm", "estimated_runtime_ns": 1.5, ...}]}
//   graph_execution                   {"graph_execution_order": ["0/0", {"compile_id": "0/1"}]}
//
// Text that is not of its form gives nothing at all. Cost: one or two passes over the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/canonical.h"
#include "base/json/cursor.h"

namespace debrief {

struct RuntimeOp {
  std::string name;
  double estimated_ns = 0;
};

struct Runtime {
  std::vector<RuntimeOp> ops;
  std::string fingerprint;        // of the whole, keys sorted
  std::string shape_fingerprint;  // without the estimates
};

// Reads artifacts one after the other. `text` has kPadding readable bytes behind it.
class ArtifactReader {
 public:
  std::optional<std::vector<std::string>> Schedule(std::string_view text);
  std::optional<Runtime> RuntimeAndMeta(std::string_view text);
  std::optional<std::vector<std::string>> ExecutionOrder(std::string_view text);

 private:
  // Opens `text` as serde_json prints it; false when it is no JSON.
  bool Open(std::string_view text);

  JsonReader reader_;
  JsonCanonical canonical_;
  std::string text_;  // canonical, and padding
  std::string_view canonical_text_;
};

// Canonical JSON without the fields "estimated_runtime_ns" that are numbers.
std::string WithoutEstimates(std::string_view canonical);

}  // namespace debrief
