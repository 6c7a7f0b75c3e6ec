// How fast the store is written: 5 M rows of table `input` (four INTEGER, four BIGINT, three text
// columns) into a temporary folder. The rows are counted and summed by SQL before a time is
// printed.
//
//   store_rows rows=5000000 seconds=1.234 rows_per_s=4051864
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "outputs/output.h"
#include "outputs/store/query.h"
#include "outputs/store/store.h"
#include "scratch_folder.h"
#include "tables/input.h"

namespace debrief {
namespace {

constexpr int64_t kRows = 5'000'000;
constexpr int64_t kNames = 300;

void Fill(Model& model) {
  auto& table = model.tables.Edit<InputTable>();
  for (int64_t i = 0; i < kRows; ++i) {
    auto text = [&](const char* prefix, int64_t count) {
      return model.pools.Intern(prefix + std::to_string(i * 7919 % count));
    };
    InputRow row;
    row.job = 0;
    row.rank = static_cast<int32_t>(i % 64);
    row.input = static_cast<int32_t>(i);
    row.path = text("void at::native::vectorized_elementwise_kernel_", kNames);
    row.kind = text("kind_", 12);
    if (i % 3 == 0) row.state = text("state_", 4);
    row.bytes = i * 1009 % 1'000'003;
    row.start_ns = 1'700'000'000'000'000'000 + i * 1300;
    table.Add(row);
  }
}

std::string Expected() {
  int64_t bytes = 0;
  for (int64_t i = 0; i < kRows; ++i) bytes += i * 1009 % 1'000'003;
  return "rows,bytes,names,states\n" + std::to_string(kRows) + "," + std::to_string(bytes) + "," +
         std::to_string(kNames) + "," + std::to_string((kRows + 2) / 3) + "\n";
}

Status Check(const std::string& folder) {
  ASSIGN_OR_RETURN(auto database, outputs::store::OpenStore(folder));
  StringSink sink;
  TRY(outputs::store::RunQuery(database,
                               "SELECT count(*) AS rows, sum(bytes) AS bytes, "
                               "count(DISTINCT path) AS names, count(state) AS states FROM input",
                               {outputs::store::QueryFormat::kCsv}, sink));
  if (sink.text() == Expected()) return {};
  return Status(Code::kInvalid, "the store holds\n" + sink.text() + "and not\n" + Expected());
}

Status Run(const std::string& folder) {
  Model model;
  Fill(model);
  OutputContext context;
  context.folder = folder;
  auto start = std::chrono::steady_clock::now();
  TRY(outputs::store::Describe().write(model, context));
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  TRY(Check(folder));
  std::printf("store_rows rows=%lld seconds=%.3f rows_per_s=%.0f\n", static_cast<long long>(kRows),
              seconds.count(), static_cast<double>(kRows) / seconds.count());
  return {};
}

}  // namespace
}  // namespace debrief

int main() { return debrief::RunInScratchFolder("store", debrief::Run); }
