#include "torch/nvtx_text.h"

#include <algorithm>

#include "base/text/scan.h"
#include "torch/collective_names.h"

namespace debrief {

namespace {

constexpr std::string_view kSequenceMark = ", seq = ";
constexpr std::string_view kOpMark = ", op_id = ";
constexpr std::string_view kSizesMark = ", sizes = ";

// A list in brackets at the begin of a text; empty when it is not closed.
std::string_view ListAtBegin(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (depth == 0) return text.substr(0, i == 0 ? 0 : i + 1);
  }
  return {};
}

// "aten::add", "c10d::allreduce_": a namespace of the dispatcher, which is in lower case.
bool HasNamespace(std::string_view name) {
  const size_t colons = name.find("::");
  if (colons == std::string_view::npos || colons == 0) return false;
  return std::ranges::all_of(name.substr(0, colons),
                             [](char c) { return IsLower(c) || IsDigit(c) || c == '_'; });
}

}  // namespace

NvtxText ReadNvtxText(std::string_view text) {
  NvtxText read{.name = text};
  const size_t sequence = text.find(kSequenceMark);
  const size_t op = text.find(kOpMark);
  const size_t sizes = text.find(kSizesMark);
  const size_t end = std::min({sequence, op, sizes, text.size()});
  read.name = text.substr(0, end);
  if (sequence != std::string_view::npos)
    read.sequence = LeadingNumber(text.substr(sequence + kSequenceMark.size()), kNone64);
  if (sizes != std::string_view::npos)
    read.shapes = ListAtBegin(text.substr(sizes + kSizesMark.size()));
  read.is_op = read.sequence != kNone64 || !read.shapes.empty() || HasNamespace(read.name);
  return read;
}

bool IsNcclRange(std::string_view domain, std::string_view name) {
  if (domain != "NCCL" && domain != "RCCL") return false;
  if (!name.starts_with("nccl")) return false;
  return !timeline::PlainOp(name).empty() && !timeline::IsBookkeeping(name);
}

int64_t PayloadNumber(std::string_view json, std::string_view key) {
  const size_t at = json.find(key);
  if (at == std::string_view::npos) return kNone64;
  const size_t begin = json.find_first_not_of("\": \t", at + key.size());
  return begin == std::string_view::npos ? kNone64 : LeadingNumber(json.substr(begin), kNone64);
}

}  // namespace debrief
