// Files that hold several inputs, and databases, which say what they are only when they are opened:
// what FindInputs() needs for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes/source.h"
#include "inputs/found_input.h"

namespace debrief {

// A source that several inputs read, each as its own.
std::unique_ptr<Source> MakeSharedView(std::shared_ptr<const Source> source);

// The member as an input, without its bytes.
FoundInput MemberOfFile(const FoundInput& file, const InputMember& member);

// Names of the tables of a SQLite database; none when it cannot be opened.
std::vector<std::string> TableNamesOf(const Source& source);

// Takes the notes off files that cannot be read and lie beside one of the same name that is:
// report.nsys-rep beside report.sqlite repeats it.
void ForgiveUnread(std::vector<FoundInput>& found);

}  // namespace debrief
