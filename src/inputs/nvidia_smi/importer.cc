// Samples that nvidia-smi wrote: --query-gpu as CSV, and dmon. docs/formats/nvidia_smi.md
#include "inputs/importer.h"

#include <array>
#include <string_view>

#include "base/text/strings.h"
#include "inputs/nvidia_smi/sheet.h"
#include "inputs/records/host_metrics.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"

namespace debrief::inputs::nvidia_smi {

namespace {

constexpr DiagnosticKind kSmiLine = {"nvidia_smi.bad_line", Severity::kWarning,
                                     "a line does not fit the head of its table; left out",
                                     "Look at the line: two programs may write into one file."};

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr || !LooksLikeText(input.head)) return {};
  return {.mine = SmiSheet::IsHead(Trimmed(FirstPrinted(input.head)))};
}

class SmiReader final : public TextReader {
 public:
  using TextReader::TextReader;

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    (void)range;
    SmiSheet sheet;
    return ForEachLine(source, [&](std::string_view line, int64_t number) {
      SmiSample sample;
      if (!sheet.Add(Trimmed(line), sample)) {
        part.diagnostics.Add(kSmiLine, who_.input, {.line = number});
        return;
      }
      const HostSeries::Subject subject{
          .host = sample.host, .gpu = sample.gpu, .uuid = sample.uuid, .bus_id = sample.bus_id};
      for (const SmiValue& each : sample.values)
        HostSeries(who_, subject, each.source, part).Add(sample.time_ns, each.value);
    });
  }
};

constexpr std::array<std::string_view, 1> kMakes = {"host_sample"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "nvidia_smi",
               .sentence = "samples of nvidia-smi: clocks, temperatures, power, use of GPUs",
               .example = "nvidia-smi.csv",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<SmiReader>};
  return kImporter;
}

}  // namespace debrief::inputs::nvidia_smi
