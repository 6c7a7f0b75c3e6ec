// What the process gives up before it reads inputs (base/sandbox.h), and the one program that it
// may still want then: a browser, started by a helper that was forked before.
#pragma once

#include <string>

#include "app/commands/commands.h"
#include "base/status.h"

namespace debrief {

// Before Confine(): forks the helper when stdout is a terminal and there is a display.
void PrepareBrowser();

// Shows a page, once. Failing is no error, nor is that there is no helper.
void OpenInBrowser(const std::string& page);

// Programs and the network are out of reach from now on, unless --no-sandbox was given or the
// kernel cannot. Not in builds with sanitizers, which start programs of their own.
void Confine(const GlobalOptions& global);

// A page that leads to `address`, readable by this user alone, until the object ends: arguments of
// programs are seen by everybody on the machine, and an address may hold a secret.
class RedirectPage {
 public:
  static Result<RedirectPage> Write(const std::string& folder, const std::string& address);
  RedirectPage(RedirectPage&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ~RedirectPage();

  const std::string& path() const { return path_; }

 private:
  explicit RedirectPage(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace debrief
