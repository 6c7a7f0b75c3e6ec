#include "outputs/terminal/console/inputs_seen.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/input.h"

namespace debrief::outputs::console {

namespace {

std::string RanksOf(const std::set<int32_t>& ranks) {
  return RanksInWords(std::vector<int32_t>(ranks.begin(), ranks.end()));
}

// Of one kind what is not as with all others: "ranks 0-3; 8 duplicates not used".
std::string Peculiar(const InputsSeen& seen, const InputsOfKind& kind) {
  std::string words;
  auto add = [&](const std::string& text) { words += (words.empty() ? "" : "; ") + text; };
  if (!kind.ranks.empty() && kind.ranks != seen.ranks) add(RanksOf(kind.ranks));
  if (kind.read > 0 && kind.repeated > 0)
    add(fmt::format("{} not used", Plural(kind.repeated, "duplicate")));
  if (kind.failed > 0) add(fmt::format("{} failed to read", kind.failed));
  const size_t others = kind.unread - kind.failed;
  if (others > 0) add(kind.read > 0 ? fmt::format("{} not read", others) : "not read");
  return words;
}

void Count(const Model& model, const InputTable& inputs, size_t i, InputsSeen& seen) {
  const std::string_view name = model.pools.Text(inputs.kind[i]);
  const std::string_view state = model.pools.Text(inputs.state[i]);
  InputsOfKind& kind = seen.kinds[NounOf(name)];
  if (inputs.rank[i] != kNone32) kind.ranks.insert(inputs.rank[i]);
  if (state == "imported") {
    ++kind.read;
    seen.has_read = true;
    seen.has_dumps |= name == "flight_recorder";
    seen.has_outputs |= name == "job_text";
    if (inputs.rank[i] != kNone32) seen.ranks.insert(inputs.rank[i]);
    return;
  }
  // A dump that another file repeats is left out.
  if (name == "flight_recorder" && state == "skipped") {
    ++kind.repeated;
    return;
  }
  ++kind.unread;
  kind.failed += state == "failed" ? 1 : 0;
  if (inputs.bytes[i] != 0) ++seen.unread;  // an empty file has nothing to read
}

}  // namespace

std::string NounOf(std::string_view kind) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kNouns = {
      {{"flight_recorder", "Flight Recorder dump"},
       {"job_text", "output"},
       {"torch_trace", "compile log"},
       {"chrome_trace", "profile"},
       {"nsys", "profile"},
       {"rocpd", "profile"},
       {"perfetto", "profile"},
       {"flex", "accelerator profile"},
       {"aiu_compiler_log", "AIU compiler log"},
       {"memory_snapshot", "memory snapshot"},
       {"execution_trace", "execution trace"},
       {"chakra", "Chakra trace"},
       {"fr_trace_text", "fr_trace report"},
       {"process_stacks", "stack dump"},
       {"nccl_ras", "NCCL RAS report"},
       {"nccl_inspector", "NCCL Inspector log"},
       {"op_trace", "op trace"},
       {"recording", "recording"},
       {"torchcomms_clog", "torchcomms log"},
       {"unknown", "unknown file"}}};
  for (const auto& [name, noun] : kNouns) {
    if (name == kind) return std::string(noun);
  }
  return fmt::format("{} file", kind);
}

InputsSeen LookAtInputs(const Model& model, int32_t job) {
  const auto& inputs = model.tables.Get<InputTable>();
  InputsSeen seen;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (job == kNone32 || inputs.job[i] == job) Count(model, inputs, i, seen);
  }
  std::set<int32_t> damaged;
  for (const Diagnostic& diagnostic : model.diagnostics.all()) {
    const bool ours = diagnostic.input != kNone32 &&
                      (job == kNone32 || inputs.job[static_cast<size_t>(diagnostic.input)] == job);
    if (ours && diagnostic.kind->severity == Severity::kError) damaged.insert(diagnostic.input);
  }
  seen.damaged = damaged.size();
  return seen;
}

std::string ReadInWords(const InputsSeen& seen) {
  std::vector<std::string> all;
  for (const auto& [noun, kind] : seen.kinds) {
    if (kind.read > 0) all.push_back(Plural(kind.read, noun));
  }
  std::string words;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string_view before = i == 0 ? "" : i + 1 == all.size() ? " and " : ", ";
    words += fmt::format("{}{}", before, all[i]);
  }
  return words;
}

std::string InputsInWords(const InputsSeen& seen) {
  std::string words;
  for (const auto& [noun, kind] : seen.kinds) {
    const size_t count = kind.read > 0 ? kind.read : kind.unread + kind.repeated;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", Plural(count, noun));
    const std::string peculiar = Peculiar(seen, kind);
    if (!peculiar.empty()) words += fmt::format(" ({})", peculiar);
  }
  if (!seen.ranks.empty()) words += fmt::format("; {}", RanksOf(seen.ranks));
  return words;
}

}  // namespace debrief::outputs::console
