// Lines around tracebacks, which say how one exception belongs to another, and lines that a process
// prints instead of a traceback when it cannot start or aborts.
#pragma once

#include <cstdint>
#include <string_view>

#include "inputs/job_text/line_class.h"

namespace debrief::inputs::job_text {

// kTraceback and the classes of lines between tracebacks; kOther for any other line.
LineClass ClassOfTracebackLine(std::string_view text);

// The traceback stands in the message of the exception above it: that of a data loader's worker, of
// another rank's checkpoint, of a member of an exception group.
bool IsInsideMessage(std::string_view text);

// "ValueError: text", "torch._dynamo.exc.Unsupported": an exception by its name alone, also where
// no traceback stands above it. LooksLikeException() would take "Epoch: 3", too.
bool IsNamedException(std::string_view text);

// "Training completed in 12.1 s": the program says that it came to its end.
bool IsNormalEnd(std::string_view text);

// The same of the last line of a text, where a word is enough: "rank 1 finished", "all done". Not
// of a part of the work ("epoch 3 done"), and not what a shell says ("Job finished").
bool IsClosingLine(std::string_view text);

// Does the line say that something failed or ends? "FAILED 0 of 120 tests" does not.
bool SaysFailure(std::string_view text);

// The last line of a text that names an error, and nothing before it says what failed:
// "ModuleNotFoundError: No module named 'x'", "[ERROR] could not read shard 17".
bool IsLastError(std::string_view text);

// The last line of Python's unit tests that passed: "OK", "OK (skipped=3)".
bool IsEndOfTests(std::string_view text);

// The exception whose name or message goes on in the next line: "backend='inductor' raised:".
bool GoesOnInNextLine(std::string_view text);

// Exceptions of an exception group stand behind bars: "  | ValueError: text". `text` without them.
std::string_view WithoutBars(std::string_view text);

// Last words of the C library: "free(): invalid pointer", a failed assert().
bool IsAbortText(std::string_view text);

// What ends a process before its program has begun: unknown arguments, no such file, a shell that
// does not find the launcher, a library that is too old.
bool IsNoStart(std::string_view text);

// Tools that give up before any program runs: pdsh whose ssh fails, Hydra that cannot read the
// command (its last line; what is wrong stands above it).
bool IsNoStartOfTool(std::string_view text);
inline constexpr std::string_view kEndOfHydra = "Set the environment variable HYDRA_FULL_ERROR=1";

// Of the log that pyxis quotes when a container does not start, or the line behind it.
bool IsLineOfContainerLog(std::string_view text);

// "----------Begin global rank 3 STDERR----------" -> 3; of the line that ends the block kNone32.
int32_t RankOfBlock(std::string_view text);

}  // namespace debrief::inputs::job_text
