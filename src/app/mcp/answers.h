// What the tools and resources of `debrief mcp` answer. Called in a Child.
#pragma once

#include <map>
#include <string>

#include "app/commands/commands.h"
#include "app/mcp/roots.h"
#include "mcp/protocol.h"

namespace debrief {

// Reports that were opened before, and room for the next one: folders below `folder`, each with the
// name that clients give it.
struct OpenReports {
  std::string folder;
  std::map<std::string, std::string> paths;  // by name: the job that it is of
  std::string next;                          // the name of the next one
};

mcp::Outcome AnswerWork(const mcp::Work& work, const Roots& roots, const OpenReports& reports,
                        const GlobalOptions& global);

// Seconds that a piece of work may take.
int SecondsFor(const mcp::Work& work);

}  // namespace debrief
