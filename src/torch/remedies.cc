#include "torch/remedies.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/strings.h"
#include "torch/remedies/tables.h"

namespace debrief {

namespace {

// The bytes of "1024.00 MiB is free" behind `mark`; 0 where there are none.
double BytesBehind(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + mark.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {" KiB", 1024.}, {" MiB", 1024. * 1024}, {" GiB", 1024. * 1024 * 1024}};
  for (const auto& [unit, bytes] : kUnits) {
    if (text.starts_with(unit)) return number * bytes;
  }
  return 0;
}

// "Tried to allocate 1024.00 MiB. GPU 0 has ... of which 109.83 GiB is free": not the GPU is full.
bool IsLimited(std::string_view error) {
  const double wanted = BytesBehind(error, "Tried to allocate ");
  return wanted > 0 && BytesBehind(error, " of which ") > 2 * wanted;
}

}  // namespace

std::string_view RemedyOf(std::string_view error) {
  if (IsLimited(error))
    return "The GPU has enough free memory: look for a limit of this process "
           "(set_per_process_memory_fraction, per_process_memory_fraction, MIG), or a device that "
           "filled for a moment only.";
  for (const auto& table :
       {remedies::OfMachines(), remedies::OfPrograms(), remedies::OfServices()}) {
    const auto fits = std::ranges::find_if(table, [&](const remedies::Remedy& remedy) {
      return std::ranges::any_of(remedy.words, [&](std::string_view word) {
        return !word.empty() && Contains(error, word);
      });
    });
    if (fits != table.end()) return fits->next;
  }
  return {};
}

}  // namespace debrief
