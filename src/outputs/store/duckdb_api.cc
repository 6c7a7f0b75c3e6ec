#include "outputs/store/duckdb_api.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <fstream>

namespace debrief::outputs::store {

namespace {

constexpr const char* kLibrary = "libduckdb.so";
constexpr const char* kRemedy =
    "Run make, or install debrief again; with --no-store everything else works without it.";

// The folder of the running program, with a slash at its end.
std::string ProgramFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return "./";
  std::string_view text(path, static_cast<size_t>(length));
  return std::string(text.substr(0, text.rfind('/') + 1));
}

Result<std::string> FindLibrary() {
  std::string folder = ProgramFolder();
  std::string candidates[] = {folder + kLibrary, folder + "../lib/debrief/" + kLibrary};
  for (std::string& candidate : candidates) {
    if (access(candidate.c_str(), F_OK) == 0) return std::move(candidate);
  }
  return Status(Code::kNotFound, fmt::format("the DuckDB library is missing: looked for {} and {}",
                                             candidates[0], candidates[1]))
      .Remedy(kRemedy);
}

// DuckDB does not survive everywhere that memory runs out. So it is not loaded where a limit on the
// address space (ulimit -v) leaves less than it takes for small tables.
Status CheckRoom() {
  constexpr uint64_t kLeast = 350'000'000;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  uint64_t pages = 0;  // that are mapped: the first number of the file
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t used = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (used + kLeast <= limit.rlim_cur) return {};
  return Status(Code::kLimit,
                fmt::format("no room for DuckDB: {} MB of address space are allowed "
                            "(ulimit -v), {} are in use, and it takes {}",
                            limit.rlim_cur / 1'000'000, used / 1'000'000, kLeast / 1'000'000))
      .Remedy("Allow more, or write no tables: --no-store");
}

struct Loaded {
  DuckDbApi api;
  Status status;
};

Loaded FindAndLoad() {
  Loaded loaded;
  auto file = FindLibrary();
  loaded.status = file.ok() ? CheckRoom() : file.status();
  if (loaded.status.ok()) loaded.status = LoadDuckDbFrom(file.value(), loaded.api);
  return loaded;
}

}  // namespace

Status LoadDuckDbFrom(const std::string& file, DuckDbApi& api) {
  // The handle is kept for good: DuckDB has threads and exit handlers, it cannot be unloaded
  // safely.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Status(Code::kUnsupported, fmt::format("cannot load the DuckDB library: {}", dlerror()))
        .Remedy(kRemedy);
  }
  const char* missing = nullptr;
#define DEBRIEF_DUCKDB_LOOKUP(name)                                                    \
  api.name.function =                                                                  \
      reinterpret_cast<decltype(api.name)::Function>(dlsym(library, "duckdb_" #name)); \
  if (api.name.function == nullptr) missing = "duckdb_" #name;
  DEBRIEF_DUCKDB_FUNCTIONS(DEBRIEF_DUCKDB_LOOKUP)
#undef DEBRIEF_DUCKDB_LOOKUP
  if (missing == nullptr) return {};
  return Status(Code::kUnsupported,
                fmt::format("{} is another version of DuckDB: it has no {}", file, missing))
      .Remedy(kRemedy);
}

Result<const DuckDbApi*> LoadDuckDb() {
  static const Loaded kLoaded = FindAndLoad();
  if (!kLoaded.status.ok()) return kLoaded.status;
  return &kLoaded.api;
}

}  // namespace debrief::outputs::store
