// debrief fetch URL, debrief publish OUT URL: by the programs that the user named in hooks.toml for
// the scheme of the address. debrief itself has no network.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "app/commands/commands.h"
#include "app/folders/output_folder.h"
#include "app/hooks/config.h"
#include "app/hooks/program.h"
#include "app/shell_word.h"
#include "app/terminal.h"
#include "base/paths.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

struct Address {
  std::string scheme;
  std::string path;  // behind ://
};

Result<Address> ParseAddress(const std::string& url) {
  const size_t colon = url.find("://");
  const bool is_scheme =
      colon != std::string::npos && colon > 0 &&
      std::all_of(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
        return IsLower(c) || IsDigit(c) || c == '+' || c == '.' || c == '-';
      });
  if (!is_scheme || colon + 3 == url.size()) {
    return Status(Code::kUsage, fmt::format("{} is no address", url))
        .Remedy("Write SCHEME://PLACE, for example s3://bucket/job7");
  }
  return Address{url.substr(0, colon), url.substr(colon + 3)};
}

// The command line for a scheme; kNotFound says what to write, and where.
Result<std::string> CommandFor(std::string_view table, const std::string& scheme) {
  ASSIGN_OR_RETURN(HookConfig config, ReadHookConfig());
  const auto& commands = table == "fetch" ? config.fetch : config.publish;
  if (auto found = commands.find(scheme); found != commands.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, command] : commands) known.push_back(name);
  return Status(Code::kNotFound,
                fmt::format("no program is named for {}:// ({})", scheme,
                            known.empty() ? "none is for any scheme"
                                          : fmt::format("there are {}", fmt::join(known, ", "))))
      .Remedy(fmt::format("Write {} = \"COMMAND\" under [{}] in {}; docs/hooks.md has templates",
                          scheme, table, HookConfigPath()));
}

Result<std::string> AbsolutePath(const std::string& path) {
  std::error_code error;
  std::string absolute = fs::absolute(path, error).lexically_normal().string();
  if (error) return Status(Code::kIo, error.message()).At({.file = path});
  while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
  return absolute;
}

// What was fetched gets its name when all of it is there.
Status Fetch(const FetchOptions& options) {
  ASSIGN_OR_RETURN(const Address address, ParseAddress(options.url));
  ASSIGN_OR_RETURN(const std::string command, CommandFor("fetch", address.scheme));
  ASSIGN_OR_RETURN(const std::string target, AbsolutePath(options.output));
  if (IsThere(target)) {
    return Status(Code::kUsage, fmt::format("{} exists", options.output))
        .Remedy("Choose another folder with -o");
  }
  const ScratchFolder part(target + ".part-");
  if (part.path().empty())
    return Status(Code::kDenied, "cannot make a folder beside it").At({.file = target});
  const std::string out = part.path() + "/" + fs::path(target).filename().string();
  TRY(RunHook(command, {{"url", options.url}, {"path", address.path}, {"out", out}}));
  if (!IsThere(out))
    return {Code::kIo, fmt::format("`{}` succeeded, but left nothing at {{out}}", command)};
  std::error_code renamed;
  fs::rename(out, target, renamed);
  if (renamed) return Status(Code::kIo, renamed.message()).At({.file = target});
  return {};
}

Status Publish(const PublishOptions& options) {
  ASSIGN_OR_RETURN(const Address address, ParseAddress(options.url));
  ASSIGN_OR_RETURN(const std::string command, CommandFor("publish", address.scheme));
  ASSIGN_OR_RETURN(const std::string folder, AbsolutePath(options.output));
  if (!IsOutputFolder(folder)) {
    return Status(Code::kUsage, fmt::format("{} is no folder that debrief wrote", options.output))
        .Remedy("Make one first: debrief PATH -o DIR");
  }
  return RunHook(command, {{"url", options.url}, {"path", address.path}, {"out", folder}});
}

}  // namespace

int RunFetch(const FetchOptions& options, const GlobalOptions& global) {
  if (Status status = Fetch(options); !status.ok()) return Fail(status);
  if (!global.quiet)
    PrintNote(fmt::format("wrote {0}; next: debrief {0}", ShellWord(options.output)));
  return 0;
}

int RunPublish(const PublishOptions& options, const GlobalOptions& global) {
  if (Status status = Publish(options); !status.ok()) return Fail(status);
  if (!global.quiet) PrintNote(fmt::format("sent {} to {}", options.output, options.url));
  return 0;
}

}  // namespace debrief
