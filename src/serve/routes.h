// Which address gives what, and who may ask (guards.h).
//
//   /TOKEN/                    the report, index.html
//   /TOKEN/findings.json
//   /TOKEN/report_data/...     what the page reads
//   /TOKEN/api/tables, query   SQL (store_api.h)
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "serve/http.h"
#include "serve/server.h"
#include "serve/store_api.h"

namespace debrief::serve {

// The files of a report as answers. Bytes are not read here: the answer holds the open file, and
// the server sends it piece by piece.
class ReportFiles {
 public:
  // kNotFound when `folder` is no report: it has no index.html.
  static Result<ReportFiles> Open(const std::string& folder);

  // `relative` is what SafeRelativePath() gave. 404 for what is not served, does not exist, is no
  // plain file, or is a link to something that is not served.
  Response Answer(const std::string& relative, const Request& request) const;

 private:
  ReportFiles(UniqueFd folder, std::string real_path)
      : folder_(std::move(folder)), real_path_(std::move(real_path)) {}

  UniqueFd folder_;
  std::string real_path_;  // without links
};

// By the end of the name.
std::string_view MimeType(std::string_view path);

class Routes final : public Handler {
 public:
  Routes(ReportFiles files, SqlApi& store, std::string token, uint16_t port)
      : files_(std::move(files)), store_(store), token_(std::move(token)), port_(port) {}

  bool IsSlow(const Request& request) const override;
  Response Answer(const Request& request, CancelToken& cancel) override;

 private:
  // The answer to a request that breaks a rule.
  std::optional<Response> Refuse(const Request& request) const;

  ReportFiles files_;
  SqlApi& store_;
  std::string token_;
  uint16_t port_;
};

}  // namespace debrief::serve
