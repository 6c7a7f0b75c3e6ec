#include "analyses/compile/parity/collective_counts.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text/scan.h"
#include "torch/fx/expression.h"

namespace debrief::analyses::compile_parity {

namespace {

// The part of a dotted name that says what is done: the one before ".default".
std::string_view OpName(std::string_view op) {
  TakeSuffix(op, ".default");
  op.remove_prefix(op.rfind('.') + 1);  // npos + 1 is 0
  while (TakeSuffix(op, "_")) continue;
  return op;
}

// The tokens before an opening bracket: torch . ops . _c10d_functional . <op> . default
using Tokens = std::array<std::string_view, 9>;
constexpr size_t kLibrary = 4;
constexpr size_t kOp = 6;

bool IsCall(const Tokens& tokens) {
  constexpr Tokens kCall = {"torch", ".", "ops", ".", "_c10d_functional", ".", "", ".", "default"};
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool other_library = i == kLibrary && tokens[i] == "c10d_functional";
    if (i != kOp && !other_library && tokens[i] != kCall[i]) return false;
  }
  return true;
}

}  // namespace

void CollectiveCounts::Add(std::string_view op) {
  std::string_view name = OpName(op);
  if (Contains(name, "wait_tensor")) return static_cast<void>(++waits);
  for (size_t kind = 0; kind + 1 < kCollectives.size(); ++kind) {
    if (Contains(name, kCollectives[kind])) return static_cast<void>(++by_kind[kind]);
  }
  if (name == kCollectives.back()) ++by_kind.back();
}

int64_t CollectiveCounts::total() const {
  return std::accumulate(by_kind.begin(), by_kind.end(), int64_t{0});
}

CollectiveCounts CountCalls(std::string_view code) {
  CollectiveCounts counts;
  Tokens before;
  FxTokens tokens(code);
  for (FxToken token = tokens.Next(); token.kind != FxToken::Kind::kEnd; token = tokens.Next()) {
    if (token.text == "(" && IsCall(before)) counts.Add(before[kOp]);
    std::rotate(before.begin(), before.begin() + 1, before.end());
    before.back() = token.text;
  }
  return counts;
}

}  // namespace debrief::analyses::compile_parity
