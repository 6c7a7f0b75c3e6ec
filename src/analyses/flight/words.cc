#include <fmt/format.h>

#include <algorithm>

#include "analyses/flight/cause.h"
#include "base/text/rank_list.h"
#include "torch/user_frames.h"

namespace debrief::analyses::flight {

std::vector<int32_t> GlobalRanks(const Index& index, const std::vector<int32_t>& positions) {
  std::vector<int32_t> ranks;
  for (int32_t position : positions)
    ranks.push_back(index.ranks[static_cast<size_t>(position)].rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string GroupInWords(const Index& index, const Group& group) {
  std::string_view name = index.Text(group.description);
  if (name.empty() || name == "undefined") name = index.Text(group.name);
  return fmt::format("{} [{}]", name, FoldNumbers(GlobalRanks(index, group.members)));
}

Frame UserFrame(const Index& index, const Unit& unit) {
  auto frames = UserFrames(index.model.pools, index.Site(unit));
  return frames.empty() ? Frame() : index.model.pools.GetFrame(frames.front());
}

std::string SiteInWords(const Index& index, const Unit& unit) {
  Frame frame = UserFrame(index, unit);
  if (frame.file == StringId::kNone) return {};
  std::string_view file = index.Text(frame.file);
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), frame.line);
}

}  // namespace debrief::analyses::flight
