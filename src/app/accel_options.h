// Flags of debrief accel: all of acelyzer's, so that its command lines work as they are.
#pragma once

#include <CLI/App.hpp>

#include "app/commands/commands.h"

namespace debrief {

CLI::App* AddAccel(CLI::App& app, accel::Arguments& options, GlobalOptions& global);

}  // namespace debrief
