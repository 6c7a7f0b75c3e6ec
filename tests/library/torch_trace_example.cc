// The example of docs/torch_trace_library.md: lists the graphs of a log, and the files of its tree.
#include <cstdio>
#include <debrief/torch_trace.hpp>

int main(int count, char** words) {
  using namespace debrief::torch_trace;
  if (count != 2) return std::fputs("usage: torch_trace_example LOG\n", stderr), 2;
  Expected<Log> log = OpenLog(words[1]);
  if (!log.ok()) return std::fprintf(stderr, "%s\n", log.error().c_str()), 1;
  for (size_t i = 0; i < log->size(); ++i) {
    const Entry entry = log->entry(i);
    if (entry.payload.empty()) continue;
    std::printf("%s %s %s: %zu bytes%s\n", entry.compile_id.c_str(), entry.kind.c_str(),
                entry.name.c_str(), entry.payload.size(), entry.payload_holds ? "" : ", not whole");
  }
  Expected<std::vector<File>> files = ParsePath(words[1], {});
  if (!files.ok()) return std::fprintf(stderr, "%s\n", files.error().c_str()), 1;
  for (const File& file : *files) std::printf("%s\n", file.path.c_str());
  return 0;
}
