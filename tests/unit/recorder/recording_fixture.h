// A recording in a folder of its own, and what is read back from it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "debrief/recorder.h"
#include "recorder/reader.h"

namespace debrief::recorder {

struct Kept {
  RecordType type;
  unsigned flags;
  uint32_t name, track, tid;
  std::vector<uint64_t> values;
};

class Keeper : public RecordSink {
 public:
  void OnRecord(const RecordView& record) override {
    kept.push_back({record.type,
                    record.flags,
                    record.name,
                    record.track,
                    record.tid,
                    {record.values.begin(), record.values.end()}});
    if (record.type == RecordType::kOp || record.type == RecordType::kOpEnd)
      ops.push_back(UnpackOp(record));
  }
  std::vector<Kept> kept;
  std::vector<OpShapes> ops;
};

class RecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/recorder_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    path_ = folder_ + "/run.dbr";
  }
  void TearDown() override {
    dbr_close(handle_);
    unlink(path_.c_str());
    unlink((path_ + ".copy").c_str());
    rmdir(folder_.c_str());
  }
  void Open(uint32_t policy = DBR_STOP, uint64_t bytes = 4 << 20, uint32_t flags = 0) {
    dbr_options options;
    dbr_options_init(&options);
    options.policy = policy;
    options.max_bytes = bytes;
    options.rank = 3;
    options.world_size = 8;
    options.process_name = "trainer";
    options.flags = flags;
    ASSERT_EQ(dbr_open(path_.c_str(), &options, &handle_), DBR_OK);
  }
  static std::vector<char> Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  ReadRecording Read(const std::string& path, Keeper& keeper) {
    const std::vector<char> bytes = Bytes(path);
    return ReadDbr(std::as_bytes(std::span(bytes)), keeper);
  }
  std::string folder_, path_;
  dbr_recording* handle_ = nullptr;
};

inline dbr_id Name(const std::string& text) { return dbr_name(text.data(), text.size()); }

}  // namespace debrief::recorder
