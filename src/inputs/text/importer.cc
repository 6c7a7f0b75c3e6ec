// Plain text that no other importer takes: stdout and stderr of ranks, notes, tables. Recognised; a
// reader for the output of ranks comes with the Flight Recorder part.
#include "inputs/importer.h"

#include "inputs/sniffing.h"

namespace debrief::inputs::text {

namespace {

Recognition Sniff(const SniffInput& input) {
  return {.mine = input.json == nullptr && !input.head.empty() && LooksLikeText(input.head)};
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "text",
               .sentence = "plain text, for example stdout and stderr of a rank",
               .example = "stdout_rank3.txt",
               .makes = {},
               .fallback = true},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::text
