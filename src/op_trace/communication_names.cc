// Which ops communicate, by the words of their names.
//
//   nccl:_all_gather_base   ->  nccl all gather base       the run "all gather" is a collective
//   ncclDevKernel_AllReduce ->  nccl dev kernel all reduce
//   aten::broadcast_tensors ->  aten broadcast tensors     "broadcast" alone would be one
//   grad_comm               ->  grad comm                  a word that the first op traces looked
//   for commit                  ->  commit                     a word is compared as a whole
#include <algorithm>
#include <array>
#include <string>

#include "debrief/op_trace.hpp"
#include "op_trace/sums.h"

namespace debrief::op_trace {
namespace {

using Words = std::vector<std::string>;

// As PyTorch (c10d, functional collectives), NCCL, RCCL, MPI, Gloo, UCC, DeepSpeed and Horovod
// spell them; words apart by blanks. Nothing else is called so.
constexpr std::string_view kCollectives[] = {"all reduce",     "allreduce",
                                             "iallreduce",     "all gather",
                                             "allgather",      "allgatherv",
                                             "iallgather",     "reduce scatter",
                                             "reducescatter",  "ireduce scatter",
                                             "all to all",     "alltoall",
                                             "alltoallv",      "alltoallw",
                                             "ialltoall",      "all2all",
                                             "send recv",      "sendrecv",
                                             "isend",          "irecv",
                                             "bcast",          "ibcast",
                                             "ibarrier",       "monitored barrier",
                                             "wait tensor",    "batch isend irecv",
                                             "recv anysource", "cross device reduce"};

// Also what ordinary ops are called: only as the whole name, or where a library of collectives
// stands before them.
constexpr std::string_view kAlone[] = {"broadcast", "send", "recv", "receive", "barrier"};
constexpr std::string_view kWithLibrary[] = {"broadcast", "send",    "recv",   "receive",
                                             "barrier",   "reduce",  "gather", "scatter",
                                             "gatherv",   "scatterv"};
constexpr std::string_view kLibraries[] = {"nccl",    "rccl", "hccl",        "xccl",     "oneccl",
                                           "ccl",     "mpi",  "gloo",        "ucc",      "c10d",
                                           "horovod", "dist", "distributed", "deepspeed"};
// What may follow one that stands alone.
constexpr std::string_view kVariants[] = {"async", "base", "coalesced", "inplace", "object",
                                          "list",  "oop",  "op",        "start",   "done"};

// What the first op traces looked for anywhere in a name, as words.
constexpr std::string_view kWords[] = {"comm",         "comms", "communicate", "communication",
                                       "communicator", "send",  "recv",        "receive"};
// A broadcast of shapes, which moves nothing.
constexpr std::string_view kOfShapes[] = {"to",     "tensors", "in",  "like",   "shape",
                                          "shapes", "arrays",  "dim", "dims",   "add",
                                          "sub",    "mul",     "div", "binary", "op"};

template <size_t kCount>
bool Holds(const std::string_view (&list)[kCount], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// A word ends before a capital that follows a small letter or a digit ("AllReduce"), and before the
// last capital of several when a small letter follows ("NCCLSend"); digits belong to their word.
Words WordsOf(std::string_view name) {
  Words words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_upper = IsUpper(c);
    if (!is_upper && !IsLower(c) && !IsDigit(c)) {
      if (!words.back().empty()) words.emplace_back();
      continue;
    }
    const bool after_small = i > 0 && (IsLower(name[i - 1]) || IsDigit(name[i - 1]));
    const bool before_small = i + 1 < name.size() && IsLower(name[i + 1]);
    const bool after_capital = i > 0 && IsUpper(name[i - 1]);
    if (is_upper && !words.back().empty() && (after_small || (after_capital && before_small)))
      words.emplace_back();
    words.back() += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// The words with single blanks, and one at each end: a run of words is a substring.
std::string Joined(const Words& words) {
  std::string text = " ";
  for (const std::string& word : words) text += word + " ";
  return text;
}

bool HasCollective(const Words& words) {
  const std::string text = Joined(words);
  return std::any_of(std::begin(kCollectives), std::end(kCollectives), [&](std::string_view run) {
    return text.find(" " + std::string(run) + " ") != std::string::npos;
  });
}

bool HasLibraryAndWord(const Words& words) {
  const auto library = std::find_if(
      words.begin(), words.end(), [](const std::string& word) { return Holds(kLibraries, word); });
  return library != words.end() && std::any_of(library + 1, words.end(), [](const auto& word) {
           return Holds(kWithLibrary, word);
         });
}

bool StandsAlone(const Words& words) {
  return !words.empty() && Holds(kAlone, words.front()) &&
         std::all_of(words.begin() + 1, words.end(),
                     [](const std::string& word) { return Holds(kVariants, word); });
}

bool HasWordOfTransfer(const Words& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (Holds(kWords, words[i])) return true;
    const bool of_shapes =
        words.front() == "aten" || (i + 1 < words.size() && Holds(kOfShapes, words[i + 1]));
    if (words[i] == "broadcast" && !of_shapes) return true;
  }
  return false;
}

// What the first op traces looked for, anywhere in the name.
bool HasOldWord(std::string_view name) {
  constexpr std::string_view kOldWords[] = {
      "allreduce", "all_gather", "reduce_scatter", "broadcast", "send", "recv", "comm"};
  std::string lower(name);
  for (char& c : lower) c = IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  return std::any_of(std::begin(kOldWords), std::end(kOldWords),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

bool IsCommunication(std::string_view operation, Behaviour behaviour) {
  if (behaviour == Behaviour::kReference) return HasOldWord(operation);
  const Words words = WordsOf(operation);
  return HasCollective(words) || HasLibraryAndWord(words) || StandsAlone(words) ||
         HasWordOfTransfer(words);
}

}  // namespace debrief::op_trace
