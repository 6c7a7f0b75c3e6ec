// Help and dispatch; the options of each command are in command_options.h.
#pragma once

namespace debrief {

// Exit codes: 0 the work was done; 1 no report could be made; 2 wrong usage; 3 with --fail-on only:
// done, and a finding of that level or above exists.
int RunCommandLine(int argc, char** argv);

}  // namespace debrief
