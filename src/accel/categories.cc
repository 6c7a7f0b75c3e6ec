#include "accel/categories.h"

namespace debrief::accel {

namespace {

bool CatHas(const Event& event, const Run& run, std::string_view part) {
  return run.Text(event.cat).find(part) != std::string_view::npos;
}

bool IsFlex(const Event& event, const Run& run) { return run.DialectOf(event) == Dialect::kFlex; }

// "Memcpy (HtoD)", and without --compat also "Memcpy HtoD (Pageable -> Device)", which is what
// Kineto writes.
bool IsMemcpy(const Event& event, const Run& run, std::string_view direction) {
  std::string_view name = run.Text(event.name);
  const size_t at = name.find("emcpy ");
  if (at == std::string_view::npos || at == 0 || (name[at - 1] | 0x20) != 'm') return false;
  name.remove_prefix(at + 6);
  if (name.starts_with("(") && name.substr(1).starts_with(direction))
    return name.substr(1 + direction.size()).starts_with(")");
  return !run.options.compat && name.starts_with(direction);
}

}  // namespace

bool IsDeviceEvent(const Event& event, Run& run) {
  if (IsFlex(event, run)) return event.Has(key::kTS1);
  return CatHas(event, run, "gpu") || CatHas(event, run, "kernel");
}

bool IsKernel(const Event& event, Run& run) {
  return IsFlex(event, run) ? run.Traits(event).ends_cmpt_exec : CatHas(event, run, "kernel");
}

bool IsPrep(const Event& event, Run& run) { return run.Traits(event).ends_cmpt_prep; }

bool IsCollective(const Event& event, Run& run) {
  return IsFlex(event, run) ? event.Has(key::kCollGroup) : run.Traits(event).hcoll;
}

bool IsCopyIn(const Event& event, Run& run) {
  return IsFlex(event, run) ? run.Traits(event).sp_dma_in : IsMemcpy(event, run, "HtoD");
}

bool IsCopyOut(const Event& event, Run& run) {
  return IsFlex(event, run) ? run.Traits(event).sp_dma_out : IsMemcpy(event, run, "DtoH");
}

}  // namespace debrief::accel
