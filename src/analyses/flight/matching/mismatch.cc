// Members that do different things in one collective: other op, other sizes, other types, or one
// that left a collective out so that everything after it is off.
//
// The first row of a group whose members differ decides; what comes after it in that group follows
// from it. Completed rows are looked at, too: NCCL often gets through a wrong size and hangs later.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/flight/blocks.h"
#include "analyses/flight/cause.h"
#include "analyses/flight/matching/region.h"
#include "analyses/flight/matching/roots.h"
#include "analyses/flight/matching/vote.h"
#include "analyses/flight/words.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"

namespace debrief::analyses::flight {

namespace {

enum class Kind : uint8_t { kType, kSize, kDtype, kSwapped, kSkipped, kExtra };

struct Difference {
  Kind kind;
  size_t count = 0;  // collectives skipped or too many
};

// Units whose signature nobody knows agree with everybody.
bool MembersDiffer(const Index& index, std::span<const int32_t> row) {
  Signature first{};
  for (int32_t at : row) {
    Signature signature = index.UnitAt(at).signature;
    if (signature == Signature{}) continue;
    if (first == Signature{}) first = signature;
    if (signature != first) return true;
  }
  return false;
}

// Dumps before version 2.0 do not tell types.
std::string_view TypeInWords(const Index& index, size_t row) {
  std::string_view type = index.Text(index.ops.input_dtypes[row]);
  return type.empty() ? "none recorded" : type;
}

// Of two regions the operation that differs decides; one operation more or less is another size.
Kind InnerKind(const Index& index, const Unit& a, const Unit& b) {
  InnerDifference inner = FirstInnerDifference(index, a, b);
  if (inner.a == InnerDifference::kNoRow || inner.b == InnerDifference::kNoRow) return Kind::kSize;
  const CommOpTable& ops = index.ops;
  if (ops.op[inner.a] != ops.op[inner.b]) return Kind::kType;
  bool same_sizes = ops.input_sizes[inner.a] == ops.input_sizes[inner.b] &&
                    ops.output_sizes[inner.a] == ops.output_sizes[inner.b];
  return same_sizes ? Kind::kDtype : Kind::kSize;
}

Kind PlainKind(const Index& index, const Unit& a, const Unit& b) {
  const SignatureParts& left = index.signatures.Get(a.signature);
  const SignatureParts& right = index.signatures.Get(b.signature);
  if (a.region != b.region || (left.op != right.op && !a.region)) return Kind::kType;
  if (a.region) return InnerKind(index, a, b);
  bool same_sizes =
      left.input_sizes == right.input_sizes && left.output_sizes == right.output_sizes;
  return same_sizes ? Kind::kDtype : Kind::kSize;
}

// What a rank does in a group from a sequence number on.
std::vector<Signature> From(const Index& index, const Unit& unit) {
  std::vector<Signature> stream;
  for (const Unit& other : index.UnitsOf(unit.rank)) {
    if (other.group == unit.group && !other.p2p && other.seq >= unit.seq)
      stream.push_back(other.signature);
  }
  return stream;
}

// By how many places `late` must be moved so that it continues like `early`; 0 when it never does.
size_t ShiftOf(const std::vector<Signature>& early, const std::vector<Signature>& late) {
  constexpr size_t kEnough = 16;
  for (size_t shift = 1; shift < late.size(); ++shift) {
    size_t overlap = std::min({early.size(), late.size() - shift, kEnough});
    if (overlap > 0 &&
        std::equal(early.begin(), early.begin() + static_cast<std::ptrdiff_t>(overlap),
                   late.begin() + static_cast<std::ptrdiff_t>(shift))) {
      return shift;
    }
  }
  return 0;
}

Difference Compare(const Index& index, const Unit& blamed, const Unit& reference) {
  std::vector<Signature> a = From(index, blamed), b = From(index, reference);
  size_t common = std::min(a.size(), b.size());
  size_t skipped = ShiftOf(a, b);
  bool same_after =
      common > 1 &&
      std::equal(a.begin() + 1, a.begin() + static_cast<std::ptrdiff_t>(common), b.begin() + 1);
  bool short_by_skip = skipped > 0 && a.size() + skipped == b.size();
  if (same_after && !short_by_skip) return {PlainKind(index, blamed, reference)};
  // In a loop of two collectives one that was left out looks like this, too; what follows tells.
  const bool crossed = common >= 2 && a[0] == b[1] && a[1] == b[0];
  const bool same_later =
      crossed &&
      std::equal(a.begin() + 2, a.begin() + static_cast<std::ptrdiff_t>(common), b.begin() + 2);
  if (crossed && (same_later || skipped == 0)) return {Kind::kSwapped};
  if (skipped > 0) return {Kind::kSkipped, skipped};
  if (size_t extra = ShiftOf(b, a)) return {Kind::kExtra, extra};
  return {PlainKind(index, blamed, reference)};
}

std::string_view RuleOf(Kind kind) {
  switch (kind) {
    case Kind::kType:
    case Kind::kSwapped:
      return "flight.type_mismatch";
    case Kind::kSize:
      return "flight.size_mismatch";
    case Kind::kDtype:
      return "flight.dtype_mismatch";
    case Kind::kSkipped:
    case Kind::kExtra:
      return "flight.skipped_collective";
  }
  return "flight.type_mismatch";
}

// "[4, 4]" of "[[4, 4]]"; of several tensors "4 x [16, 512]", or "[16, 512] and 3 more".
std::string ShapeInWords(std::string_view sizes) {
  if (sizes == "[]") return "none";
  if (!sizes.starts_with("[[") || !sizes.ends_with("]]")) return std::string(sizes);
  sizes = sizes.substr(1, sizes.size() - 2);
  const std::string_view first = sizes.substr(0, sizes.find(']') + 1);
  size_t count = 0;
  bool same = true;
  for (size_t at = 0; at < sizes.size(); ++count) {
    const size_t end = std::min(sizes.find(']', at), sizes.size() - 1) + 1;
    same &= sizes.substr(at, end - at) == first;
    at = std::min(sizes.find('[', end), sizes.size());
  }
  std::string shape = first == "[]" ? "scalar" : std::string(first);
  if (count == 1) return shape;
  return same ? fmt::format("{} x {}", count, shape)
              : fmt::format("{} and {} more", shape, count - 1);
}

// "[4, 4]", or "[4, 4] -> [8]" when the output has another shape.
std::string ShapesInWords(const Index& index, uint32_t row) {
  const std::string input = ShapeInWords(index.Text(index.ops.input_sizes[row])),
                    output = ShapeInWords(index.Text(index.ops.output_sizes[row]));
  return input == output ? input : fmt::format("{} -> {}", input, output);
}

// "all_reduce [4, 4]".
std::string CallInWords(const Index& index, uint32_t row) {
  return fmt::format("{} {}", index.Text(index.ops.op[row]), ShapesInWords(index, row));
}

// From different lines they are different calls; of one line the sizes differ.
std::string SizesInWords(const Index& index, const Unit& blamed, const Unit& reference) {
  std::string site = AtSite(index, blamed), other_site = AtSite(index, reference);
  std::string_view op = NameInWords(index, blamed);
  std::string where = GroupInWords(index, index.GroupOf(blamed));
  std::string own = ShapesInWords(index, blamed.row), other = ShapesInWords(index, reference.row);
  int32_t peer = index.GlobalRank(reference.rank);
  if (site == other_site)
    return fmt::format("called {} #{} with size {}, rank {} with {}, in {}{}", op, blamed.seq, own,
                       peer, other, where, site);
  return fmt::format("called {} #{} with size {}{}, rank {} another {} with size {}{}, in {}", op,
                     blamed.seq, own, site, peer, op, other, other_site, where);
}

// "coalesced _broadcast_oop [[99, 64]] as operation 2 of 4 where rank 0 has _broadcast_oop [[64]]".
std::string RegionInWords(const Index& index, const Unit& blamed, const Unit& reference) {
  InnerDifference inner = FirstInnerDifference(index, blamed, reference);
  int32_t peer = index.GlobalRank(reference.rank);
  if (inner.a == InnerDifference::kNoRow || inner.b == InnerDifference::kNoRow)
    return fmt::format("coalesced {} where rank {} coalesced {}",
                       Plural(inner.count_a, "operation"), peer, inner.count_b);
  std::string own = CallInWords(index, inner.a), other = CallInWords(index, inner.b);
  if (own == other) {
    own += fmt::format(" of {}", index.Text(index.ops.input_dtypes[inner.a]));
    other += fmt::format(" of {}", index.Text(index.ops.input_dtypes[inner.b]));
  }
  return fmt::format("coalesced {} as operation {} of {} where rank {} has {}", own,
                     inner.position + 1, inner.count_a, peer, other);
}

std::string InWords(const Index& index, const Difference& difference, const Unit& blamed,
                    const Unit& reference) {
  const Group& group = index.GroupOf(blamed);
  std::string where = GroupInWords(index, group);
  int32_t peer = index.GlobalRank(reference.rank);
  size_t row = blamed.row, other = reference.row;
  std::string count =
      difference.count == 1 ? "a collective" : fmt::format("{} collectives", difference.count);
  bool regions = blamed.region && reference.region;
  bool plain = difference.kind == Kind::kType || difference.kind == Kind::kSize ||
               difference.kind == Kind::kDtype;
  if (regions && plain)
    return fmt::format("{}: #{} of {}{}", RegionInWords(index, blamed, reference), blamed.seq,
                       where, AtSite(index, blamed));
  switch (difference.kind) {
    case Kind::kSkipped:
      return fmt::format(
          "skipped {} of {}{} {} #{}{}, and went on with {}{}", count, where,
          difference.count == 1 ? ":" : ", the first:", NameInWords(index, reference), blamed.seq,
          AtSite(index, reference), NameInWords(index, blamed), AtSite(index, blamed));
    case Kind::kExtra:
      return fmt::format(
          "called {} of {}{} {} #{}{}; rank {} did not call {}",
          difference.count == 1 ? "an extra collective"
                                : fmt::format("{} extra collectives", difference.count),
          where, difference.count == 1 ? ":" : ", first", NameInWords(index, blamed), blamed.seq,
          AtSite(index, blamed), peer, difference.count == 1 ? "it" : "them");
    case Kind::kSwapped: {
      const bool named = NameInWords(index, blamed) != NameInWords(index, reference);
      auto call = [&](const Unit& unit) {
        return named ? std::string(NameInWords(index, unit)) : CallInWords(index, unit.row);
      };
      return fmt::format("swapped two collectives of {}: {} before {} (#{}){}", where, call(blamed),
                         call(reference), blamed.seq, AtSite(index, blamed));
    }
    case Kind::kDtype:
      return fmt::format("called {} #{} with type {}, rank {} with {}, in {}{}",
                         NameInWords(index, blamed), blamed.seq, TypeInWords(index, row), peer,
                         TypeInWords(index, other), where, AtSite(index, blamed));
    case Kind::kSize:
      return SizesInWords(index, blamed, reference);
    default: {
      const bool differ = NameInWords(index, blamed) != NameInWords(index, reference);
      auto name = [&](const Unit& unit) {
        return differ ? NameInWords(index, unit) : index.OpName(unit);
      };
      return fmt::format("called {} where rank {} called {}: #{} of {}{}, {} and {}", name(blamed),
                         peer, name(reference), blamed.seq, where, AtSite(index, blamed),
                         ShapesInWords(index, blamed.row), ShapesInWords(index, reference.row));
    }
  }
}

std::string WhyOf(const Verdict& verdict) {
  if (verdict.alone)
    return "its peers left no dump; sibling groups and its own earlier steps do something else";
  if (verdict.by_majority) return "the other members of the group agree with each other";
  if (verdict.undecided)
    return "the group has no majority and nothing else distinguishes its members";
  return "its peers do what is usual here (sibling groups, earlier steps, same line), it does not";
}

// Where the two code paths are, as far as stacks tell.
std::string NextStep(const Index& index, const Unit& blamed, const Unit& reference) {
  const std::string own = SiteInWords(index, blamed), other = SiteInWords(index, reference);
  std::string where = own.empty() ? "there" : "at " + own;
  if (!own.empty() && !other.empty() && own != other)
    where += fmt::format(" with that of rank {} at {}", index.GlobalRank(reference.rank), other);
  else
    where += " with that of its peers";
  return fmt::format(
      "Compare the code path of rank {} {}: does a branch depend on the rank or on its data?",
      index.GlobalRank(blamed.rank), where);
}

// Several groups with the same fault in one place (both ends of an exchange) are one cause.
Cause& CauseFor(std::vector<Cause>& causes, const Index& index, std::string_view rule,
                int32_t group) {
  StringId description = index.GroupAt(group).description;
  for (Cause& cause : causes) {
    if (cause.rule == rule && index.GroupAt(cause.groups.front()).description == description)
      return cause;
  }
  Cause& cause = causes.emplace_back();
  cause.rule = rule;
  return cause;
}

void AddCause(const Index& index, const Group& group, const SeqRow& row, const Verdict& verdict,
              std::vector<Cause>& causes) {
  const Unit& reference = index.UnitAt(verdict.reference);
  auto not_reference = std::find_if(verdict.blamed.begin(), verdict.blamed.end(), [&](int32_t at) {
    return index.UnitAt(at).signature != reference.signature;
  });
  const Unit& blamed = index.UnitAt(*not_reference);
  Difference difference = Compare(index, blamed, reference);
  auto position = static_cast<int32_t>(&group - index.groups.data());
  Cause& cause = CauseFor(causes, index, RuleOf(difference.kind), position);
  bool first = cause.groups.empty();
  cause.groups.push_back(position);
  for (int32_t at : verdict.blamed) {
    cause.ranks.push_back(index.UnitAt(at).rank);
    cause.units.push_back(at);
  }
  cause.units.push_back(verdict.reference);
  std::sort(cause.ranks.begin(), cause.ranks.end());
  cause.ranks.erase(std::unique(cause.ranks.begin(), cause.ranks.end()), cause.ranks.end());
  if (!first) return;
  cause.seq = row.seq;
  cause.op = std::string(NameInWords(index, reference));
  cause.what = InWords(index, difference, blamed, reference);
  cause.confidence = verdict.undecided     ? 0.5
                     : verdict.by_majority ? 0.95
                     : verdict.alone       ? 0.7
                                           : 0.85;
  cause.why = WhyOf(verdict);
  cause.next_step = NextStep(index, blamed, reference);
}

// Only one member of the row is known, and of the others nobody can tell.
bool IsAlone(const Index& index, const Group& group, const SeqRow& row) {
  if (row.end - row.begin != 1 || group.members.size() < 2) return false;
  int32_t present = index.UnitAt(index.UnitsOf(group, row).front()).rank;
  return std::all_of(group.members.begin(), group.members.end(), [&](int32_t rank) {
    const RankInfo& info = index.RankAt(rank);
    return rank == present || !info.has_dump || !info.whole;
  });
}

bool AddOddOne(const Index& index, const Group& group, const SeqRow& row, size_t& looks,
               std::vector<Cause>& causes) {
  int32_t at = index.UnitsOf(group, row).front();
  Verdict verdict;
  verdict.alone = true;
  verdict.blamed = {at};
  verdict.reference = OddOneOut(index, group, index.UnitAt(at), looks);
  if (verdict.reference < 0) return false;
  AddCause(index, group, row, verdict, causes);
  return true;
}

// Inputs of an all_to_all must add up to its outputs over the whole group.
bool AllToAllIsOff(const Index& index, const Group& group, std::span<const int32_t> row) {
  if (row.size() != group.members.size()) return false;
  const std::string_view op = index.OpName(index.UnitAt(row.front()));
  const bool has_splits = op == "all_to_all_v_single";  // its tensors may be larger than those
  if (has_splits || ShapeOf(op) != OpShape::kAllToAll) return false;
  uint64_t difference = 0;
  for (int32_t at : row) {
    auto entry = index.UnitAt(at).row;
    difference += static_cast<uint64_t>(CountElements(index.Text(index.ops.input_sizes[entry])));
    difference -= static_cast<uint64_t>(CountElements(index.Text(index.ops.output_sizes[entry])));
  }
  return difference != 0;
}

// Would one of `members` seldom have a size that nobody had before? As often as sizes occur once,
// new ones come: where tokens choose their experts they do all the time.
bool SizesRepeat(const std::map<StringId, size_t>& seen, size_t members) {
  constexpr size_t kSeldom = 10;
  size_t once = 0, all = 0;
  for (const auto& [size, count] : seen) {
    once += count == 1;
    all += count;
  }
  return once * members * kSeldom < all;
}

// The members whose input nobody ever had in another all_to_all of such a group; all when that
// tells nothing.
std::vector<int32_t> UnusualInputs(const Index& index, const Group& group,
                                   std::span<const int32_t> row) {
  std::map<StringId, size_t> seen;
  const std::string_view op = index.OpName(index.UnitAt(row.front()));
  for (const Unit& unit : index.units) {
    bool alike = index.GroupOf(unit).description == group.description && index.OpName(unit) == op;
    bool same_row = &index.GroupOf(unit) == &group && unit.seq == index.UnitAt(row.front()).seq;
    if (alike && !same_row && !unit.p2p) ++seen[index.ops.input_sizes[unit.row]];
  }
  std::vector<int32_t> unusual;
  for (int32_t at : row) {
    if (!seen.contains(index.ops.input_sizes[index.UnitAt(at).row])) unusual.push_back(at);
  }
  bool tells = !unusual.empty() && unusual.size() < row.size() && SizesRepeat(seen, row.size());
  return tells ? unusual : std::vector<int32_t>(row.begin(), row.end());
}

void AddAllToAll(const Index& index, const Group& group, const SeqRow& row,
                 std::vector<Cause>& causes) {
  auto members = index.UnitsOf(group, row);
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.size_mismatch";
  cause.units = UnusualInputs(index, group, members);
  for (int32_t at : cause.units) cause.ranks.push_back(index.UnitAt(at).rank);
  cause.groups = {static_cast<int32_t>(&group - index.groups.data())};
  cause.seq = row.seq;
  const Unit& unit = index.UnitAt(cause.units.front());
  cause.op = std::string(NameInWords(index, unit));
  bool one = cause.units.size() < members.size();
  cause.what =
      fmt::format("{} {} with inputs that do not add up to outputs{}",
                  one ? "gave sizes to" : "called", OpInWords(index, unit), AtSite(index, unit));
  cause.confidence = one ? 0.8 : 0.4;
  cause.why = one ? "its input size occurs nowhere else"
                  : "the sum is wrong; nothing shows which member is (dumps have sums, not splits)";
  cause.next_step = "Compare the splits that each rank computes at this line.";
}

// A row that something may be wrong with.
struct Suspect {
  const Group* group;
  const SeqRow* row;
};

bool IsSuspect(const Index& index, const Group& group, const SeqRow& row) {
  const auto members = index.UnitsOf(group, row);
  return MembersDiffer(index, members) || IsAlone(index, group, row) ||
         HasSecondRoot(index, group, row) || AllToAllIsOff(index, group, members);
}

// Nearly all rows are as they should be, and a look at each takes the time.
std::vector<Suspect> FindSuspects(const Index& index) {
  std::vector<Suspect> all;
  ForBlocks<std::vector<Suspect>>(
      index,
      [&](GroupBlock block) {
        std::vector<Suspect> suspects;
        for (size_t i = block.begin; i < block.end; ++i) {
          for (const SeqRow& row : index.groups[i].rows) {
            if (IsSuspect(index, index.groups[i], row))
              suspects.push_back({&index.groups[i], &row});
          }
        }
        return suspects;
      },
      [&](std::vector<Suspect>&& suspects) {
        all.insert(all.end(), suspects.begin(), suspects.end());
      });
  return all;
}

// False when nothing is wrong with it.
bool AddSuspect(const Index& index, Suspect suspect, size_t& looks, std::vector<Cause>& causes) {
  const auto& [group, row] = suspect;
  const auto members = index.UnitsOf(*group, *row);
  if (MembersDiffer(index, members)) {
    AddCause(index, *group, *row, Vote(index, *group, *row), causes);
  } else if (IsAlone(index, *group, *row)) {
    return AddOddOne(index, *group, *row, looks, causes);
  } else if (!AddSecondRoot(index, *group, *row, causes)) {
    AddAllToAll(index, *group, *row, causes);
  }
  return true;
}

}  // namespace

// The first row of a group that is wrong explains those behind it.
void FindMismatches(const Index& index, std::vector<Cause>& causes) {
  constexpr size_t kMostGroups = 256;  // that many wrong groups have one reason
  size_t found = 0, looks = 0;
  const Group* wrong = nullptr;
  for (const Suspect& suspect : FindSuspects(index)) {
    if (suspect.group == wrong || !AddSuspect(index, suspect, looks, causes)) continue;
    wrong = suspect.group;
    if (++found >= kMostGroups) return;
  }
}

}  // namespace debrief::analyses::flight
