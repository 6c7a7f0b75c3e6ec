// Makes the seeds of recording_reader_fuzzer.cc: recordings of all kinds of records, packed.
//
//   seeds_recording_reader FOLDER
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "../recorder/content.h"
#include "recording_pack.h"

using namespace debrief::recorder;
using namespace debrief::recorder::test;

namespace {

void RecordSome(const std::string& path, Load load, uint64_t count) {
  dbr_recording* recording;
  if (dbr_open(path.c_str(), nullptr, &recording) != DBR_OK) _exit(1);
  dbr_meta("model", "tiny");
  const std::string text(5000, 'x');  // a string in several parts
  dbr_thread_name(dbr_name(text.data(), text.size()));
  std::thread([&] {
    Writer other(1, load);
    for (uint64_t i = 0; i < 3; ++i) other.Write(i);
  }).join();
  Writer writer(0, load);
  for (uint64_t i = 0; i < count; ++i) writer.Write(i);
  dbr_close(recording);
}

void Pack(const std::string& from, const std::string& to) {
  std::ifstream file(from, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const std::vector<uint8_t> packed = PackRecording(std::as_bytes(std::span(bytes)));
  std::ofstream(to, std::ios::binary)
      .write(reinterpret_cast<const char*>(packed.data()),
             static_cast<std::streamsize>(packed.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1], path = folder + "/whole.dbr";
  const struct {
    const char* name;
    Load load;
    uint64_t count;
  } seeds[] = {{"few", Load::kMixed, 2},
               {"kinds", Load::kMixed, 60},
               {"names", Load::kNames, 20},
               {"long", Load::kLong, 2}};
  for (const auto& seed : seeds) {
    RecordSome(path, seed.load, seed.count);
    Pack(path, folder + "/" + seed.name);
  }
  unlink(path.c_str());
  return 0;
}
