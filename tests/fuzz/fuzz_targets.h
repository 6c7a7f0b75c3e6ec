// What debrief_fuzz can fuzz: every importer, and the reader of recordings alone.
#pragma once

#include <cstdint>
#include <span>

namespace debrief {

struct Importer;

void FuzzImporter(const Importer& importer, std::span<const uint8_t> data);
void FuzzRecordingReader(std::span<const uint8_t> data);

}  // namespace debrief
