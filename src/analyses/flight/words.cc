#include "analyses/flight/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "torch/collective_names.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::flight {

namespace {

bool HasWord(const std::string& text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    auto is_letter = [&](size_t i) {
      return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
    };
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
  }
  return false;
}

}  // namespace

std::vector<int32_t> GlobalRanks(const Index& index, const std::vector<int32_t>& positions) {
  std::vector<int32_t> ranks;
  for (int32_t position : positions) ranks.push_back(index.GlobalRank(position));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string GroupInWords(const Index& index, const Group& group) {
  std::string_view name = index.Text(group.description);
  const bool is_backend = group.counted;  // torchcomms describes all groups of a backend alike
  if (name.empty() || name == "undefined" || is_backend) name = index.Text(group.name);
  return fmt::format("{} [{}]", name, FoldNumbers(GlobalRanks(index, group.members)));
}

Frame UserFrame(const Index& index, const Unit& unit) {
  auto frames = UserFrames(index.model.pools, index.Site(unit));
  if (frames.empty()) return Frame();
  Frame frame = index.model.pools.GetFrame(frames.front());
  // A stack without user code (autograd's thread, hooks of FSDP) has no line that helps anybody.
  return IsUserFile(index.Text(frame.file)) ? frame : Frame();
}

std::string SiteInWords(const Index& index, const Unit& unit) {
  Frame frame = UserFrame(index, unit);
  if (frame.file == StringId::kNone) return {};
  return fmt::format("{}:{}", FileName(index.Text(frame.file)), frame.line);
}

std::string AtSite(const Index& index, const Unit& unit) {
  std::string site = SiteInWords(index, unit);
  return site.empty() ? "" : " at " + site;
}

std::string_view NameInWords(const Index& index, const Unit& unit) {
  return timeline::PublicOp(index.OpName(unit));
}

std::string OpInWords(const Index& index, const Unit& unit) {
  return fmt::format("{} #{} of {}", NameInWords(index, unit), unit.seq,
                     GroupInWords(index, index.GroupOf(unit)));
}

std::string_view RoleOf(const Index& index, const Group& group) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {
      {{"expert", "ep"},
       {"ep", "ep"},
       {"tensor", "tp"},
       {"tp", "tp"},
       {"pipeline", "pp"},
       {"pp", "pp"},
       {"data", "dp"},
       {"dp", "dp"},
       {"fsdp", "dp"}}};
  std::string text(index.Text(group.description));
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [word, role] : kWords) {
    if (HasWord(text, word)) return role;
  }
  return group.members.size() == index.ranks.size() ? "world" : "";
}

}  // namespace debrief::analyses::flight
