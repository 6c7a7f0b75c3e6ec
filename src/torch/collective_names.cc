#include "torch/collective_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text/strings.h"

namespace debrief::timeline {

namespace {

// Letters only, in lower case: "_reduce_scatter_base" and "ReduceScatter" become the same.
std::string LettersOf(std::string_view name) {
  std::string letters;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') letters += c;
  }
  return letters;
}

}  // namespace

std::string_view PlainOp(std::string_view name) {
  // In order: a word stands before those that are part of it.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kWords = {
      {{"reducescatter", "reduce_scatter"},
       {"allgather", "all_gather"},
       {"allreduce", "all_reduce"},
       {"crossdevicereduce", "all_reduce"},
       {"alltoall", "all_to_all"},
       {"sendrecv", "send_recv"},
       {"barrier", "barrier"},
       {"broadcast", "broadcast"},
       {"gather", "gather"},
       {"scatter", "scatter"},
       {"reduce", "reduce"},
       {"send", "send"},
       {"recv", "recv"},
       {"receive", "recv"}}};
  std::string letters = LettersOf(name);
  for (const auto& [word, plain] : kWords) {
    if (Contains(letters, word)) return plain;
  }
  return {};
}

std::string_view PublicOp(std::string_view name) {
  const bool is_inner = !name.empty() && (name[0] == '_' || IsUpper(name[0]));
  const std::string_view plain = is_inner ? PlainOp(name) : std::string_view();
  return plain.empty() ? name : plain;
}

bool IsBookkeeping(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "wait", "init", "uniquencclid", "coalescing", "split", "abort", "shutdown", "uniqueid"};
  std::string letters = LettersOf(name);
  if (letters == "coalesced") return true;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return Contains(letters, word); });
}

bool IsGathering(std::string_view plain_op) {
  return plain_op == "all_gather" || plain_op == "reduce_scatter" || plain_op == "gather" ||
         plain_op == "scatter";
}

}  // namespace debrief::timeline
