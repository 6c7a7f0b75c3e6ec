// Writes the packets of a Perfetto trace, all of one sequence.
//
// Names, categories and texts go into the file once, under the number that they have in the pools
// of the model; a packet that is the first to use one carries it along.
//
// Writing uses protozero, whose headers need exceptions; packet_writer.cc is the only file that
// sees that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes/output_file.h"
#include "base/json/cursor.h"
#include "model/model.h"

namespace debrief::outputs::perfetto {

struct TrackInfo {
  uint64_t uuid = 0;
  uint64_t parent = 0;  // 0: none
  std::string name;
  std::string labels;  // of a process
  int32_t pid = 0, tid = 0;
  enum class Kind : uint8_t { kProcess, kThread, kPlain, kCounter } kind = Kind::kPlain;
  int32_t order = 0;  // among its siblings
};

class PacketWriter {
 public:
  // Both must outlive the writer.
  PacketWriter(const Pools& pools, OutputFile& file);

  // The times of the trace count from 1970.
  Status AddClocks(int64_t time);
  Status AddTrack(const TrackInfo& track);

  // One event is Begin, what it has, and End.
  void Begin(int32_t type, int64_t time, uint64_t track);
  void Category(StringId category);
  void Category(std::string_view category);
  void Named(StringId name);
  void Named(std::string_view name);
  void Flow(uint64_t id, bool ends);
  void Counter(double value);
  // What is null is not written.
  void Annotate(std::string_view key, int32_t value);
  void Annotate(std::string_view key, int64_t value);
  void Annotate(std::string_view key, uint8_t value);
  void Annotate(std::string_view key, double value);
  void Annotate(std::string_view key, StringId value);
  void Annotate(std::string_view key, ListId value);
  void AnnotateText(std::string_view key, std::string_view value);
  // A dictionary under `key`, for arguments that have no column; entries come one after the other.
  void BeginEntries() { entries_.clear(); }
  void AddEntry(std::string_view key, JsonValue value);
  void EndEntries(std::string_view key);
  Status End();

 private:
  // Which numbers of the pools are in the file.
  class Told {
   public:
    bool IsNew(uint32_t id) {
      if (id >= told_.size()) told_.resize(std::max<size_t>(id + 1, told_.size() * 2));
      const bool is_new = !told_[id];
      told_[id] = true;
      return is_new;
    }

   private:
    std::vector<bool> told_;
  };

  void Intern(uint32_t field, uint64_t iid, std::string_view text);
  uint64_t KeyNumber(std::string_view key);
  uint64_t EntryNumber(std::string_view key);
  // The value of an annotation, and what is inside of it.
  void PutJson(JsonValue value, std::string& annotation);
  // The number of a text, which goes into the file when it is the first time.
  uint64_t InternOnce(uint32_t field, StringId id, Told& told);
  template <typename Add>
  void AddAnnotation(std::string_view key, Add add);
  Status WritePacket();

  const Pools& pools_;
  OutputFile& file_;
  std::string packet_, event_, interned_, annotation_, small_;
  std::unordered_map<const char*, uint64_t> keys_;  // by the address of the constant
  std::unordered_map<std::string, uint64_t> entry_keys_;
  std::string entries_;
  Told names_, categories_, texts_;
  bool is_first_ = true;
};

}  // namespace debrief::outputs::perfetto
