// What stands before nearly every line of a text, and is a mark for that reason alone:
//
//   worker-0: text                                 pdsh: the host
//   vllm-1  | text                                 docker compose: the service
//   [2026-11-15 23:22:09] text                     ts, a terminal, a log service: when the line
//   came Nov 15 23:22:09 text     23:22:09.123 text
//
// A logger puts times before its own lines, too. Here they stand before lines that no logger
// writes: tracebacks, NCCL's, those with a mark of their own.
#pragma once

#include <string_view>

#include "torch/prefixes/line_prefix.h"

namespace debrief {

// Do most lines begin with a host? `stamps`: behind a time.
bool HasHosts(std::string_view head, bool stamps);
bool TakeHost(PeeledLine& line);

// Do most lines begin with a time that somebody else than the process put there?
bool HasStamps(std::string_view head);
bool TakeStamp(PeeledLine& line);

}  // namespace debrief
