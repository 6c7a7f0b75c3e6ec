// Which programs debrief may start for its user: $XDG_CONFIG_HOME/debrief/hooks.toml, else
// ~/.config/debrief/hooks.toml. Nothing is fetched, sent or started unless it is written there or
// on the command line.
//
//   post_run = "curl -sf -T - https://host/findings"       gets findings.json on its stdin
//
//   [fetch]                                                 by the scheme of the address
//   s3 = "aws s3 cp --recursive {url} {out}"
//
//   [publish]
//   rsync = "rsync -a {out}/ {path}/"
//
// Of TOML: tables, keys with one string each ("" with escapes, '' without), comments.
// docs/hooks.md has templates for S3, GCS, HTTP and rsync.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief {

struct HookConfig {
  std::string file;                            // where it was read; empty: there is none
  std::string post_run;                        // command line; empty: none
  std::map<std::string, std::string> fetch;    // by scheme
  std::map<std::string, std::string> publish;  // by scheme
};

// kInvalid with the line when it is no such file.
Result<HookConfig> ParseHookConfig(std::string_view text);

// The file of this user; none is no error. One that others may write to is refused.
Result<HookConfig> ReadHookConfig();

// Where that file would be.
std::string HookConfigPath();

}  // namespace debrief
