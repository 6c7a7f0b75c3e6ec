// SQL of readers, each query in a process of its own.
//
//   server --- query, a socket for its answer ---> keeper (forked before the first thread)
//      ^                                              | fork
//      '------------- head, body or file ------------ one process a query, with bounded memory
//
// DuckDB counts most of the memory of a query, not all of it, and some functions cannot be
// interrupted: repeat('a', 1e9) alone took 5 GB and 39 s. A process has limits that nothing inside
// can get around, it ends when nobody waits for its answer, and what it breaks or changes ends
// with it. The keeper has loaded DuckDB and opened nothing, so that a process is made in a
// millisecond and no thread is lost in fork().
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/bytes/unique_fd.h"
#include "base/status.h"
#include "serve/store_api.h"

namespace debrief::serve {

struct SqlLimits {
  uint64_t memory_mb = QueryMegabytes();
  int seconds = 40;  // the server gives up before; this is for when it cannot
};

// For a process that runs a query: its memory, and no core files.
void LimitQueryProcess(const SqlLimits& limits);

class SqlProcess final : public SqlApi {
 public:
  // Forks: before any thread begins, and before descriptors are opened that queries must not have.
  // `api` answers in the processes; `confine` is called first in that which makes them.
  static Result<std::unique_ptr<SqlProcess>> Start(SqlApi& api, const SqlLimits& limits,
                                                   const std::function<void()>& confine);

  Response Tables(CancelToken& cancel) override;
  Response Query(const Request& request, CancelToken& cancel) override;

 private:
  explicit SqlProcess(UniqueFd keeper) : keeper_(std::move(keeper)) {}
  Response Ask(const std::string& question, CancelToken& cancel);

  UniqueFd keeper_;
  std::mutex mutex_;
  std::string tables_;  // asked once: the store does not change
};

}  // namespace debrief::serve
