// What a bundle says of itself: manifest.json for programs, REDACTED.md for people. Neither has a
// value that was replaced.
#pragma once

#include <string>

#include "app/bundle/bundle.h"

namespace debrief::bundle {

std::string ManifestJson(const Contents& contents, const Choice& choice);
std::string ManifestText(const Contents& contents, const Choice& choice);
// For the terminal: a few lines.
std::string Summary(const Contents& contents, const Choice& choice, const std::string& output);

}  // namespace debrief::bundle
