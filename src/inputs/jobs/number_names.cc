#include "inputs/jobs/number_names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text/strings.h"
#include "torch/prefixes/line_prefix.h"

namespace debrief {

namespace {

// Words, each between blanks. Numbers behind the first count something else than ranks, behind the
// second processes, behind the third nodes or what a node has.
constexpr std::string_view kOtherCounts =
    " step steps iter iteration epoch part shard chunk cycle attempt run job version v node host "
    "batch layer local localrank gpu device cuda restart retry try stage seed trial exp nid slurm "
    "noderank n pid world size ";
constexpr std::string_view kProcessWords =
    " task proc process worker trainer rank t p pod replica ";
constexpr std::string_view kNodeCounts = " node host n nid gpu local worker ";
// Of a node, and of a process of it.
constexpr std::string_view kNodeWords = " node host n nid machine server algo noderank ";
constexpr std::string_view kLocalWords = " gpu local localrank device cuda rank l g proc process ";

bool IsOneOf(const std::string& word, std::string_view words) {
  return !word.empty() && Contains(words, " " + word + " ");
}

struct NameField {
  int64_t value = 0;
  std::string word;       // letters in front of it
  bool is_other = false;  // train.log.1 is an older train.log, p2p is a word
  bool is_of = false;     // the 3 of 3of8
};

struct SplitName {
  std::string pattern;  // '#' for a number, '*' for the end that Kubernetes invents
  std::string stream;   // "out" and "err" files of one rank have one pattern
  std::vector<NameField> fields;
};

// Takes words for a stream out of the name, so that x_0.out and x_0.err are alike.
std::string TakeStream(std::string& name) {
  std::string stream;
  for (std::string_view word : {"stdout", "stderr", ".out", ".err"}) {
    size_t at = name.find(word);
    if (at == std::string::npos) continue;
    stream += word;
    name.replace(at, word.size(), ".");
  }
  return stream;
}

std::string WordBefore(std::string_view text) {
  while (!text.empty() &&
         (text.back() == '_' || text.back() == '-' || text.back() == '.' || text.back() == '='))
    text.remove_suffix(1);
  size_t begin = text.size();
  while (begin > 0 && std::isalpha(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  return std::string(text.substr(begin));
}

SplitName Split(std::string name) {
  SplitName split;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  split.stream = TakeStream(name);
  size_t stem_end = std::min(name.find('.'), name.size());
  size_t dash = name.rfind('-', stem_end);
  if (dash != std::string::npos && dash < stem_end &&
      IsPodSuffix(std::string_view(name).substr(dash + 1, stem_end - dash - 1)))
    name.replace(dash + 1, stem_end - dash - 1, "*");
  for (size_t at = 0; at < name.size();) {
    if (!IsDigit(name[at])) {
      split.pattern += name[at++];
      continue;
    }
    std::string_view before = std::string_view(name).substr(0, at);
    NameField field{.word = WordBefore(before)};
    field.is_other = before.ends_with(".log.") || before.ends_with(".txt.");
    auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), field.value);
    if (error != std::errc()) field.value = INT32_MAX;
    while (at < name.size() && IsDigit(name[at])) ++at;
    const std::string_view behind = std::string_view(name).substr(at);
    const bool of = behind.starts_with("of") || behind.starts_with("_of_");  // 3of8, 3_of_8
    field.is_of = of && behind.find_first_of("0123456789") <= 4;
    field.is_other |=
        !field.is_of && !behind.empty() && std::isalpha(static_cast<unsigned char>(behind[0])) != 0;
    split.fields.push_back(std::move(field));
    split.pattern += '#';
  }
  return split;
}

class Family {
 public:
  void Add(size_t index, SplitName split, const NumberedName& name) {
    members_.push_back({index, std::move(split), &name});
  }

  // Fills `counted` when one of the numbers is the rank, tried from the last; else when one is the
  // rank and another one the attempt.
  void Settle(int32_t offset, std::vector<CountedNumbers>& counted) const {
    bool any_several = std::any_of(members_.begin(), members_.end(),
                                   [](const Member& m) { return m.name->several; });
    if (members_.empty() || any_several) return;
    const size_t fields = members_.front().split.fields.size();
    for (size_t field = fields; field-- > 0;) {
      if (CountsFromOne(field)) return Fill(field, kNoField, -1, counted);
      if (IsRank(field, kNoField, offset)) return Fill(field, kNoField, offset, counted);
    }
    if (FillGrid(counted)) return;
    for (size_t field = fields; field-- > 0;) {
      for (size_t other = fields; other-- > 0;) {
        if (field == other || !(IsAttempt(other) || IsRun(other))) continue;
        bool is_pair = IsRun(other) || Distinct(field) > Distinct(other);
        if (is_pair && IsRank(field, other, offset)) return Fill(field, other, offset, counted);
      }
    }
  }

 private:
  static constexpr size_t kNoField = SIZE_MAX;

  struct Member {
    size_t index;
    SplitName split;
    const NumberedName* name;

    int64_t ValueOf(size_t field) const {
      return field == kNoField ? 0 : split.fields[field].value;
    }
  };

  void Fill(size_t rank, size_t other, int32_t offset, std::vector<CountedNumbers>& to) const {
    bool is_run = other != kNoField && IsRun(other);
    for (const Member& member : members_) {
      CountedNumbers& counted = to[member.index];
      counted.rank = static_cast<int32_t>(member.ValueOf(rank)) + offset;
      if (is_run) counted.run = member.ValueOf(other);
      if (other != kNoField && !is_run)
        counted.attempt = static_cast<int32_t>(member.ValueOf(other));
    }
  }

  // 1of8 to 8of8, or contents that tell one less.
  bool CountsFromOne(size_t field) const {
    int64_t least = INT32_MAX, most = 0;
    size_t told = 0;
    for (const Member& member : members_) {
      least = std::min(least, member.ValueOf(field));
      most = std::max(most, member.ValueOf(field));
      told += member.name->content_rank != kNone32 ? 1 : 0;
    }
    if (least != 1 || most < 2 || !IsRank(field, kNoField, -1)) return false;
    const bool of =
        members_.front().split.fields[field].is_of && members_.front().ValueOf(field + 1) == most;
    return of || told > 1;
  }

  // node0_gpu0 to node1_gpu3: nodes of one size, each with processes from 0. Words say so, or the
  // contents of each node.
  bool FillGrid(std::vector<CountedNumbers>& counted) const {
    std::vector<size_t> varying;
    for (size_t field = 0; field < members_.front().split.fields.size(); ++field)
      if (Distinct(field) > 1) varying.push_back(field);
    return varying.size() == 2 && FillGrid(varying[0], varying[1], counted);
  }

  bool FillGrid(size_t node, size_t local, std::vector<CountedNumbers>& counted) const {
    std::map<int64_t, std::set<int64_t>> rows;
    for (const Member& member : members_) rows[member.ValueOf(node)].insert(member.ValueOf(local));
    int64_t width = 0;
    for (const auto& [number, locals] : rows) width = std::max(width, *locals.rbegin() + 1);
    const bool any_full = std::ranges::any_of(
        rows, [&](const auto& row) { return static_cast<int64_t>(row.second.size()) == width; });
    if (!any_full) return false;
    std::set<int64_t> told;  // nodes
    auto rank_of = [&](const Member& member) {
      const auto row = std::distance(rows.begin(), rows.find(member.ValueOf(node)));
      return static_cast<int32_t>(row * width + member.ValueOf(local));
    };
    for (const Member& member : members_) {
      if (member.name->content_rank == kNone32) continue;
      if (member.name->content_rank != rank_of(member)) return false;
      told.insert(member.ValueOf(node));
    }
    const int64_t first = rows.begin()->first, last = rows.rbegin()->first;
    const auto& fields = members_.front().split.fields;
    const bool said = IsOneOf(fields[node].word, kNodeWords) &&
                      IsOneOf(fields[local].word, kLocalWords) && first <= 1 &&
                      last - first + 1 == static_cast<int64_t>(rows.size());
    if (!said && told.size() != rows.size()) return false;
    for (const Member& member : members_) counted[member.index].rank = rank_of(member);
    return true;
  }

  size_t Distinct(size_t field) const {
    std::set<int64_t> values;
    for (const Member& member : members_) values.insert(member.ValueOf(field));
    return values.size();
  }

  // Counts from 0 or 1 and not nodes, which have local ranks.
  bool IsAttempt(size_t field) const {
    if (IsOneOf(members_.front().split.fields[field].word, kNodeCounts)) return false;
    size_t distinct = Distinct(field);
    return distinct > 1 && std::all_of(members_.begin(), members_.end(), [&](const Member& member) {
             return member.ValueOf(field) <= static_cast<int64_t>(distinct);
           });
  }

  // Numbers that a scheduler gives to jobs, or times of starts: too large to count anything.
  bool IsRun(size_t field) const {
    constexpr int64_t kLeastRun = 1000;
    return std::all_of(members_.begin(), members_.end(),
                       [&](const Member& member) { return member.ValueOf(field) >= kLeastRun; });
  }

  // Most contents tell a rank, and it is this number: llm-job-0.log is of rank 0 all the same.
  bool ContentsCount(size_t field, int32_t offset) const {
    std::set<int64_t> told;
    for (const Member& member : members_) {
      const int32_t rank = member.name->content_rank;
      if (rank == kNone32) continue;
      if (rank != member.ValueOf(field) + offset) return false;
      told.insert(rank);
    }
    return told.size() >= 2 && told.size() * 2 >= members_.size();
  }

  bool IsRank(size_t field, size_t attempt, int32_t offset) const {
    const NameField& first = members_.front().split.fields[field];
    const bool other = IsOneOf(first.word, kOtherCounts) && !ContentsCount(field, offset);
    if (other || first.is_other) return false;
    std::set<std::tuple<int64_t, int64_t, std::string_view>> seen;  // with attempt and stream
    std::set<int64_t> values;
    bool confirmed = false;
    for (const Member& member : members_) {
      int64_t value = member.ValueOf(field);
      if (!seen.emplace(value, member.ValueOf(attempt), member.split.stream).second) return false;
      values.insert(value);
      int32_t told = member.name->content_rank;
      if (told != kNone32 && told != value + offset) return false;
      confirmed |= told != kNone32;
    }
    auto count = static_cast<int64_t>(values.size());
    int64_t most = *values.rbegin();
    // One file may be missing; where a word or the content says what is counted, half of them.
    bool said = confirmed || IsOneOf(first.word, kProcessWords) || offset > 0;
    if (count < 2 && !confirmed && offset == 0) return false;
    return most <= (said ? 2 * count : count);
  }

  std::vector<Member> members_;
};

}  // namespace

std::vector<CountedNumbers> RanksOfNames(const std::vector<NumberedName>& names) {
  std::map<std::string, Family> families;
  std::vector<CountedNumbers> counted(names.size());
  std::set<std::string> masters;  // of Kubeflow's jobs, with "worker" in place of "master"
  for (size_t i = 0; i < names.size(); ++i) {
    SplitName split = Split(names[i].name);
    if (size_t at = split.pattern.find("master-#"); at != std::string::npos && !names[i].several) {
      masters.insert(split.pattern.substr(0, at) + "worker" + split.pattern.substr(at + 6));
      counted[i].rank = 0;
    } else if (!split.fields.empty()) {
      families[split.pattern].Add(i, std::move(split), names[i]);
    }
  }
  for (const auto& [pattern, family] : families)
    family.Settle(masters.contains(pattern) ? 1 : 0, counted);
  return counted;
}

}  // namespace debrief
