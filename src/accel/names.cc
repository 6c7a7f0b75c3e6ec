#include "accel/names.h"

#include "base/text/strings.h"

namespace debrief::accel {

NameTraits TraitsOf(std::string_view name) {
  auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  NameTraits traits{};
  traits.cmpt_exec = has("Cmpt Exec");
  traits.prep = has(" Prep");
  traits.sp_dma_in = has(" DmaI");
  traits.sp_dma_out = has(" DmaO");
  traits.rdma = has("Rdma");
  traits.sen_rdma = traits.rdma && has("SenRdma");
  traits.all_reduce = has("AllReduce");
  traits.all_reduce_full = traits.all_reduce && has("AllReduce_all_reduce");
  traits.hcoll = has("HCOLL");
  traits.ends_cmpt_prep = name.ends_with("Cmpt Prep");
  traits.ends_cmpt_exec = name.ends_with("Cmpt Exec");
  return traits;
}

NameTraits NameTraitsCache::Of(StringId name) {
  const auto index = static_cast<size_t>(name);
  if (index >= known_.size()) {
    known_.resize(strings_.size() + strings_.size() / 2 + 1);
    traits_.resize(known_.size());
  }
  if (!known_[index]) {
    known_[index] = true;
    traits_[index] = TraitsOf(strings_.Get(name));
  }
  return traits_[index];
}

std::string WithPlaceholders(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const bool mark = name[at] == '_' || name[at] == '-';
    size_t end = at + 1;
    while (mark && end < name.size() && IsDigit(name[end])) ++end;
    if (end > at + 1) {
      out += "_[N]";
      at = end;
    } else {
      out += name[at++];
    }
  }
  return out;
}

}  // namespace debrief::accel
