// The tables of a report for scripts of its page.
//
//   api/tables                    {"tables": [{"name", "doc", "rows", "columns": [{"name", "type",
//   "doc"}]}]} api/query?sql=&limit=&offset= {"columns": [{"name", "type"}], "rows": [[...]],
//   "more": bool, "ms": n} api/query?sql=&format=csv     all rows, as a file to keep
//
// Errors are {"error": text} with status 400. The store is opened read-only when it is first asked
// for; SQL can neither write nor name another file nor change a setting (database.h).
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/threads/progress.h"
#include "outputs/store/database.h"
#include "serve/cancel.h"
#include "serve/http.h"

namespace debrief::serve {

// A quarter of the machine's memory, at most 2 GB: what one query may take.
uint64_t QueryMegabytes();

// The store of a report for SQL of others: read-only, without other files, with bounded memory.
// kNotFound when the report has none.
Result<outputs::store::Database> OpenForReaders(const std::string& folder);

Response JsonResponse(int status, std::string body);
Response CsvResponse(UniqueFd file, int64_t length);
Response ErrorResponse(const Status& status);

// Who answers api/tables and api/query: this process, or others for it (sql_process.h).
class SqlApi {
 public:
  virtual ~SqlApi() = default;

  // Any thread.
  virtual Response Tables(CancelToken& cancel) = 0;
  virtual Response Query(const Request& request, CancelToken& cancel) = 0;
};

class StoreApi final : public SqlApi {
 public:
  // `folder`: of the report; `temporary`: for CSV files on their way.
  StoreApi(std::string folder, std::string temporary, const Clock& clock)
      : folder_(std::move(folder)), temporary_(std::move(temporary)), clock_(clock) {}

  Response Tables(CancelToken& cancel) override;
  Response Query(const Request& request, CancelToken& cancel) override;

 private:
  Result<outputs::store::Connection> Connect();
  Result<std::string> TablesJson(CancelToken& cancel);
  Response Csv(outputs::store::Connection& connection, const std::string& sql, CancelToken& cancel);

  std::string folder_;
  std::string temporary_;
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<outputs::store::Database> database_;
  std::string tables_;  // made once: the store does not change
};

}  // namespace debrief::serve
