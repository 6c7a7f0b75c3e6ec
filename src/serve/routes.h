// Which address gives what, and who may ask (guards.h).
//
//   /TOKEN/                    the report, index.html
//   /TOKEN/findings.json
//   /TOKEN/report_data/...     what the page reads
//   /TOKEN/api/tables, query   SQL (store_api.h)
#pragma once

#include <optional>
#include <string>

#include "serve/report_files.h"
#include "serve/server.h"
#include "serve/store_api.h"

namespace debrief::serve {

class Routes final : public Handler {
 public:
  Routes(ReportFiles files, StoreApi& store, std::string token, uint16_t port)
      : files_(std::move(files)), store_(store), token_(std::move(token)), port_(port) {}

  bool IsSlow(const Request& request) const override;
  Response Answer(const Request& request, CancelToken& cancel) override;

 private:
  // The answer to a request that breaks a rule.
  std::optional<Response> Refuse(const Request& request) const;

  ReportFiles files_;
  StoreApi& store_;
  std::string token_;
  uint16_t port_;
};

}  // namespace debrief::serve
