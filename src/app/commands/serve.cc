// debrief serve: a report with SQL in the browser, on this machine alone, until it is interrupted.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cstdio>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/confine.h"
#include "app/interrupts.h"
#include "app/terminal.h"
#include "outputs/store/store.h"
#include "serve/guards.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "serve/sql_process.h"

namespace debrief {

namespace {

class SteadyClock final : public Clock {
 public:
  int64_t NowNs() const override {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
};

// A page and tables of different runs would contradict each other.
void WarnOfOtherRun(const std::string& folder) {
  auto database = outputs::store::OpenStore(folder);
  if (!database.ok()) return;
  if (Status same = outputs::store::CheckRun(folder, database.value()); !same.ok())
    PrintError(same);
}

Status Run(const ServeOptions& options, const GlobalOptions& global) {
  ASSIGN_OR_RETURN(serve::ReportFiles files, serve::ReportFiles::Open(options.output));
  WarnOfOtherRun(options.output);
  std::optional<std::string> token = serve::MakeToken();
  if (!token) return Status(Code::kIo, "the system gives no random numbers");
  SteadyClock clock;
  serve::StoreApi store(options.output, TemporaryFolder(), clock);
  ASSIGN_OR_RETURN(auto queries, serve::SqlProcess::Start(store, {}, [&] { Confine(global); }));
  uint16_t port = options.port;
  ASSIGN_OR_RETURN(UniqueFd listener, serve::ListenLocally(port));
  Confine(global);
  serve::Routes routes(std::move(files), *queries, *token, port);
  std::string address = fmt::format("http://127.0.0.1:{}/{}/", port, *token);
  StdoutSink().Write(
      fmt::format("{}{}\n", address, global.quiet ? "" : "  (Ctrl+C stops the server)"));
  std::optional<RedirectPage> page;
  if (options.open) {
    ASSIGN_OR_RETURN(RedirectPage written, RedirectPage::Write(TemporaryFolder(), address));
    OpenInBrowser(page.emplace(std::move(written)).path());
  }
  signal(SIGPIPE, SIG_IGN);  // a reader that leaves while a file is sent is no reason to end
  UniqueFd stop = StopSignals();
  if (!stop.valid()) return Status(Code::kIo, "cannot wait for signals");
  return serve::Serve(std::move(listener), stop.get(), routes, clock, {});
}

}  // namespace

int RunServe(const ServeOptions& options, const GlobalOptions& global) {
  Status status = CheckPaths({&options.output, 1});
  if (status.ok()) status = Run(options, global);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace debrief
