// One function a command; each returns the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/diagnostics.h"

namespace debrief {

struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  int jobs = 0;  // 0: as many as the machine has
};

struct ReportOptions {
  std::vector<std::string> paths;
  std::string output = "debrief_out";
  bool overwrite = false;
  bool no_store = false;
  bool parquet = false;
  std::vector<std::string> with;  // outputs that are only written on request
  std::optional<Severity> fail_on;
};
int RunReport(const ReportOptions& options, const GlobalOptions& global);

struct ListOptions {
  std::string what;  // inputs, analyses, outputs, tables
};
int RunList(const ListOptions& options, const GlobalOptions& global);

struct QueryOptions {
  std::string output;  // folder of a report, or a .duckdb file
  std::string sql;     // empty: a prompt
  std::string format = "table";
};
int RunQueryCommand(const QueryOptions& options, const GlobalOptions& global);

// For tests: every importer that claims each file, one line a file.
int RunSniff(const std::vector<std::string>& files);

}  // namespace debrief
