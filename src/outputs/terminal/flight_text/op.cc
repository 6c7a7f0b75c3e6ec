#include "outputs/terminal/flight_text/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text/safe_name.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_text {

namespace {

constexpr auto kCollectives = std::to_array<std::string_view>({"broadcast",
                                                               "_broadcast_oop",
                                                               "reduce",
                                                               "_reduce_oop",
                                                               "all_gather",
                                                               "all_gather_single",
                                                               "all_gather_v",
                                                               "all_reduce",
                                                               "_all_gather_base",
                                                               "all_gather_into_tensor_coalesced",
                                                               "reduce_scatter",
                                                               "reduce_scatter_single",
                                                               "reduce_scatter_v",
                                                               "reduce_scatter_tensor_coalesced",
                                                               "_reduce_scatter_base",
                                                               "gather",
                                                               "scatter",
                                                               "all_to_all",
                                                               "all_to_all_single",
                                                               "all_to_all_v_single",
                                                               "all_reduce_barrier",
                                                               "barrier",
                                                               "split",
                                                               "new_window",
                                                               "allreduce_coalesced",
                                                               "ALLGATHER_coalesced",
                                                               "REDUCE_SCATTER_coalesced"});

template <typename... Names>
bool IsOneOf(std::string_view op, Names... names) {
  return ((op == names) || ...);
}

bool IsAllToAll(std::string_view op) {
  return IsOneOf(op, "all_to_all", "all_to_all_single", "all_to_all_v_single");
}

bool IsGather(std::string_view op) {
  return IsOneOf(op, "all_gather", "_all_gather_base", "all_gather_into_tensor_coalesced");
}

bool IsReduceScatter(std::string_view op) {
  return IsOneOf(op, "reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced");
}

std::set<std::string_view> DtypeSet(std::string_view dtypes) {
  std::set<std::string_view> result;
  while (!dtypes.empty()) {
    size_t end = std::min(dtypes.find(", "), dtypes.size());
    result.insert(dtypes.substr(0, end));
    dtypes.remove_prefix(std::min(end + 2, dtypes.size()));
  }
  return result;
}

std::string DtypeText(std::string_view dtypes) {
  std::set<std::string_view> set = DtypeSet(dtypes);
  if (set.empty()) return "set()";
  std::string text;
  for (std::string_view dtype : set)
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", Printable(dtype));
  return "{" + text + "}";
}

// The first tensor has dimensions ("[[4, 4]]"; not "[[]]", "[]").
bool HasFirst(std::string_view sizes) {
  return sizes.size() > 2 && sizes.substr(0, 2) == "[[" && sizes[2] != ']';
}

bool DtypesDiffer(const Entry& a, const Entry& b) {
  auto differ = [](std::string_view x, std::string_view y) { return DtypeSet(x) != DtypeSet(y); };
  if (!IsOneOf(a.op, "scatter", "gather", "broadcast") && differ(a.input_dtypes, a.output_dtypes) &&
      HasFirst(a.input_sizes) && HasFirst(a.output_sizes))
    return true;
  if (!IsOneOf(a.op, "scatter", "broadcast") && differ(a.input_dtypes, b.input_dtypes) &&
      HasFirst(a.input_sizes) && HasFirst(b.input_sizes))
    return true;
  return a.op != "gather" && differ(a.output_dtypes, b.output_dtypes) && HasFirst(a.output_sizes) &&
         HasFirst(b.output_sizes);
}

// Elements of the whole that is gathered or scattered: of the first tensor, or of all of them where
// it is given as a list with one tensor a rank.
int64_t Whole(const std::vector<int64_t>& tensors, const std::vector<int64_t>& shares) {
  if (shares.size() != 1) return tensors.front();
  uint64_t sum = 0;
  for (int64_t tensor : tensors) sum += static_cast<uint64_t>(tensor);
  return static_cast<int64_t>(sum);
}

MatchInfo SizeError(std::string detail) { return {MatchState::kSizeMismatch, std::move(detail)}; }

MatchInfo MatchP2p(const Entry& send, const Entry& recv) {
  bool same_source = recv.src == kNone32 || send.src == recv.src;
  bool equal = send.op == "send" && recv.op == "recv" && same_source && send.dst == recv.dst &&
               send.input_sizes == recv.output_sizes;
  return equal ? MatchInfo{} : SizeError("");
}

// Sizes that every member must give alike; an empty detail: nothing wrong.
std::string SizesDiffer(const Entry& a, const Entry& b) {
  auto say = [](std::string_view mine, std::string_view wanted, std::string_view theirs,
                std::string_view found) {
    return fmt::format("Expected {} sizes: '{}' does not match found {} sizes: '{}'", mine, wanted,
                       theirs, found);
  };
  if (!IsAllToAll(a.op) && a.op != "scatter" && a.input_sizes != b.input_sizes)
    return say("input", a.input_sizes, "input", b.input_sizes);
  if (!IsAllToAll(a.op) && a.op != "gather" && a.output_sizes != b.output_sizes)
    return say("output", a.output_sizes, "output", b.output_sizes);
  if (IsOneOf(a.op, "all_reduce", "allreduce_coalesced") && a.input_sizes != b.output_sizes)
    return say("input", a.input_sizes, "output", b.output_sizes);
  return "";
}

// all_gather and reduce_scatter: the whole is the share times the group.
Result<std::string> ShareDiffers(const Entry& a, const Entry& b, size_t group_size) {
  bool gather = IsGather(a.op);
  if (!gather && !IsReduceScatter(a.op)) return std::string();
  std::vector<int64_t> share = Elements(gather ? a.input_sizes : a.output_sizes);
  std::vector<int64_t> whole = Elements(gather ? b.output_sizes : b.input_sizes);
  std::vector<int64_t> b_share = Elements(gather ? b.input_sizes : b.output_sizes);
  if (share.empty() || whole.empty() || b_share.empty())
    return PythonError("IndexError", "list index out of range");
  int64_t total = Whole(whole, share);
  int64_t wanted = 0;
  if (!__builtin_mul_overflow(share.front(), static_cast<int64_t>(group_size), &wanted) &&
      wanted == total)
    return std::string();
  if (gather) {
    return fmt::format("Found input numel '{} * pg size {}' does not match output numel '{}'",
                       b_share.front(), group_size, total);
  }
  return fmt::format("Found input numel '{}' does not match output numel '{} * pg size {}'", total,
                     b_share.front(), group_size);
}

Result<MatchInfo> MatchCollective(const Entry& a, const Entry& b, size_t group_size) {
  if (a.op != b.op) {
    return MatchInfo{MatchState::kTypeMismatch,
                     fmt::format("Expected collective type: '{}' does not match found collective "
                                 "type: '{}'",
                                 Printable(a.op), Printable(b.op))};
  }
  if (std::string detail = SizesDiffer(a, b); !detail.empty()) return SizeError(std::move(detail));
  ASSIGN_OR_RETURN(std::string share, ShareDiffers(a, b, group_size));
  if (!share.empty()) return SizeError(std::move(share));
  if (DtypesDiffer(a, b)) {
    return MatchInfo{MatchState::kDtypeMismatch,
                     fmt::format("Expected dtypes: '{}' does not match found dtype: '{}/{}/{}'",
                                 DtypeText(a.input_dtypes), DtypeText(a.output_dtypes),
                                 DtypeText(b.input_dtypes), DtypeText(b.output_dtypes))};
  }
  if (a.state != b.state) {
    return MatchInfo{MatchState::kStateMismatch,
                     fmt::format("Expected state: '{}' does not match found state: '{}'",
                                 Printable(a.state), Printable(b.state))};
  }
  return MatchInfo{IsAllToAll(a.op) ? MatchState::kUndecided : MatchState::kFullyMatched, ""};
}

}  // namespace

Entry ReadEntry(const Model& model, size_t row) {
  const auto& ops = model.tables.Get<CommOpTable>();
  auto text = [&](StringId id) { return model.pools.Text(id); };
  auto sizes = [&](StringId id) { return id == StringId::kNone ? "[]" : text(id); };
  Entry entry;
  entry.row = row;
  entry.record = ops.record[row];
  entry.collective_seq = ops.collective_seq[row];
  entry.p2p_seq = ops.p2p_seq[row];
  entry.is_p2p = ops.is_p2p[row] != 0;
  entry.src = ops.src[row];
  entry.dst = ops.dst[row];
  entry.created_ns = ops.created_ns[row];
  entry.stack = ops.stack[row];
  entry.group_name = text(ops.group_name[row]);
  entry.group_desc = text(ops.group_desc[row]);
  entry.backend = text(ops.backend[row]);
  entry.op = text(ops.op[row]);
  entry.state = text(ops.state[row]);
  entry.input_sizes = sizes(ops.input_sizes[row]);
  entry.output_sizes = sizes(ops.output_sizes[row]);
  entry.input_dtypes = text(ops.input_dtypes[row]);
  entry.output_dtypes = text(ops.output_dtypes[row]);
  return entry;
}

bool IsP2p(std::string_view op) { return op == "send" || op == "recv"; }

std::string ProfilingName(const Entry& entry) {
  std::string name = Printable(entry.op);
  std::string src = entry.src == kNone32 ? "?" : std::to_string(entry.src);
  if (entry.op == "send") name += fmt::format(" {}->{}", src, entry.dst);
  if (entry.op == "recv") name += fmt::format(" {}<-{}", entry.dst, src);
  return entry.backend.empty() ? name : fmt::format("{}:{}", Printable(entry.backend), name);
}

std::string GroupText(const Entry& entry) {
  if (entry.group_desc == "undefined") return Printable(entry.group_name);
  return fmt::format("{}:{}", Printable(entry.group_name), Printable(entry.group_desc));
}

std::string_view MatchStateName(MatchState state) {
  static constexpr std::string_view kNames[] = {"FULLY_MATCHED",
                                                "COLLECTIVE_TYPE_MISMATCH",
                                                "SIZE_OR_SYNTAX_MISMATCH",
                                                "COLLECTIVE_STATE_MISMATCH",
                                                "COLLECTIVE_DTYPE_MISMATCH",
                                                "UNDECIDED"};
  return kNames[static_cast<size_t>(state)];
}

std::string MatchInfo::Text() const {
  return fmt::format("Error type: {}{}{}", MatchStateName(state), detail.empty() ? "" : ", ",
                     detail);
}

Result<MatchInfo> Match(const Entry& a, const Entry& b, size_t group_size) {
  TRY(CheckEntry(a, group_size));
  TRY(CheckEntry(b, group_size));
  if (a.op == "send") return MatchP2p(a, b);
  if (a.op == "recv") return MatchP2p(b, a);
  if (a.op == "coalesced") return b.op == a.op ? MatchInfo{} : SizeError("");
  return MatchCollective(a, b, group_size);
}

Status CheckEntry(const Entry& entry, size_t group_size) {
  if (entry.backend.empty())
    return PythonError("AssertionError",
                       fmt::format("name formatting error? {}", Printable(entry.op)));
  if (IsP2p(entry.op)) {
    auto outside = [&](int32_t rank) {
      return rank != kNone32 && (rank < 0 || static_cast<size_t>(rank) >= group_size);
    };
    bool wrong = entry.dst == kNone32 || outside(entry.src) || outside(entry.dst);
    return wrong ? PythonError("IndexError", "list index out of range") : Status();
  }
  bool known = entry.op == "coalesced" ||
               std::find(kCollectives.begin(), kCollectives.end(), entry.op) != kCollectives.end();
  return known ? Status()
               : PythonError("AssertionError",
                             fmt::format("{} is not a supported operation", Printable(entry.op)));
}

std::vector<int64_t> Elements(std::string_view sizes) {
  std::vector<int64_t> result;
  int depth = 0;
  int64_t product = 1;
  int64_t number = -1;
  auto finish = [&] {
    if (number >= 0 && __builtin_mul_overflow(product, number, &product)) product = -1;
    number = -1;
  };
  for (char c : sizes) {
    if (c >= '0' && c <= '9') {
      number = std::min<int64_t>(std::max<int64_t>(number, 0), int64_t{1} << 56) * 10 + (c - '0');
      continue;
    }
    finish();
    if (c == '[' && ++depth == 2) product = 1;
    if (c == ']' && depth-- == 2) result.push_back(product);
  }
  return result;
}

Status PythonError(std::string_view type, std::string_view text) {
  return Status(Code::kInvalid, fmt::format("{}{}{}", type, text.empty() ? "" : ": ", text));
}

}  // namespace debrief::outputs::flight_text
