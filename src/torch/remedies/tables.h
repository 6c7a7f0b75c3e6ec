// What libraries say of a reason, and what to do about it.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace debrief::remedies {

struct Remedy {
  std::array<std::string_view, 14> words;  // any of these; the empty ones are none
  std::string_view next;
};

// In this order the first that fits counts, in each table and of the tables: what is rarer stands
// before what is said in many messages.
std::span<const Remedy> OfMachines();
std::span<const Remedy> OfPrograms();
std::span<const Remedy> OfServices();

}  // namespace debrief::remedies
