// What debrief_fuzz can fuzz: every importer, the reader of recordings alone, and what
// else reads bytes of strangers (other_fuzzers.cc).
#pragma once

#include <cstdint>
#include <span>

namespace debrief {

struct Importer;

void FuzzImporter(const Importer& importer, std::span<const uint8_t> data);
void FuzzRecordingReader(std::span<const uint8_t> data);
void FuzzAccel(std::span<const uint8_t> data);
void FuzzDiscovery(std::span<const uint8_t> data);
void FuzzArchive(std::span<const uint8_t> data);
void FuzzSql(std::span<const uint8_t> data);
void FuzzFindings(std::span<const uint8_t> data);
void FuzzMcp(std::span<const uint8_t> data);
void FuzzDoctor(std::span<const uint8_t> data);
void FuzzRedact(std::span<const uint8_t> data);

}  // namespace debrief
