// A trace out of JSON: of either form, keys in any order.
//
// kCorrect takes what is there: a missing key is its default. kReference refuses such a document,
// as the first op traces did. A duration that is null, which they wrote for NaN, is not known.
// Broken JSON is refused by both.
#include <algorithm>

#include "debrief/op_trace.hpp"
#include "op_trace/json_text.h"

namespace debrief::op_trace {
namespace {

std::optional<Dtype> DtypeOf(std::string_view name) {
  for (unsigned number = 1; !DtypeName(static_cast<Dtype>(number)).empty(); ++number) {
    if (DtypeName(static_cast<Dtype>(number)) == name) return static_cast<Dtype>(number);
  }
  return std::nullopt;
}

class TraceReader {
 public:
  TraceReader(std::string_view text, Behaviour behaviour) : json_(text), behaviour_(behaviour) {}

  Loaded Read() {
    Trace trace(behaviour_);
    bool has_entries = false, has_total = false, has_metadata = false;
    std::string key;
    json_.Begin('{');
    while (json_.NextKey(key)) {
      if (key == "entries") {
        has_entries = ReadEntries(trace);
      } else if (key == "metadata") {
        has_metadata = ReadMetadata(trace);
      } else if (key == "total_duration_us" && behaviour_ == Behaviour::kReference) {
        has_total = json_.Null() || json_.Double().has_value();
      } else {
        json_.Skip();
      }
    }
    const bool whole =
        has_entries && (behaviour_ == Behaviour::kCorrect || (has_total && has_metadata));
    if (json_.AtEnd() && whole) {
      loaded_.trace = std::move(trace);
    } else if (loaded_.problem.empty()) {
      loaded_.problem = json_.ok() ? "a key of an op trace is missing"
                                   : "broken JSON at byte " + std::to_string(json_.offset());
    }
    return std::move(loaded_);
  }

 private:
  bool ReadEntries(Trace& trace) {
    json_.Begin('[');
    while (json_.NextElement()) {
      const size_t place = json_.offset();
      Entry entry;
      fields_ = 0;
      ReadEntry(entry);
      if (!json_.ok()) return false;
      if (fields_ < 8 && behaviour_ == Behaviour::kReference) {
        loaded_.problem = "the entry at byte " + std::to_string(place) + " lacks a key";
        return false;
      }
      if (entry.operation.empty() && behaviour_ == Behaviour::kCorrect) {
        loaded_.warnings.push_back("the entry at byte " + std::to_string(place) +
                                   " has no operation; left out");
      } else {
        trace.Add(std::move(entry));
      }
    }
    return json_.ok();
  }

  void ReadEntry(Entry& entry) {
    std::string key;
    json_.Begin('{');
    while (json_.NextKey(key)) {
      if (!ReadOldField(key, entry) && !ReadNewField(key, entry)) json_.Skip();
    }
  }

  // The eight of the first op traces.
  bool ReadOldField(std::string_view key, Entry& entry) {
    ++fields_;
    if (key == "step") return ReadCount(entry.step);
    if (key == "operation") return json_.String(entry.operation), true;
    if (key == "device_id") {
      if (!json_.Null()) json_.String(entry.device.emplace());
      return true;
    }
    if (key == "input_shapes") {
      json_.Begin('[');
      while (json_.NextElement()) ReadShape(entry.input_shapes.emplace_back());
      return true;
    }
    if (key == "output_shape") {
      if (!json_.Null()) ReadShape(entry.output_shape.emplace());
      return true;
    }
    if (key == "duration_us") return ReadDuration(entry);
    if (key == "output_elements") return ReadCount(entry.output_elements);
    if (key == "memory_bytes") return ReadCount(entry.memory_bytes);
    --fields_;
    return false;
  }

  bool ReadNewField(std::string_view key, Entry& entry) {
    if (key == "dtype") {
      std::string name;
      if (!json_.Null() && json_.String(name))
        entry.dtype = DtypeOf(name).value_or(Dtype::kUnknown);
    } else if (key == "memory_assumed") {
      json_.Bool(entry.memory_assumed);
    } else if (key == "open") {
      json_.Bool(entry.open);
    } else if (key == "start_ns") {
      uint64_t start = 0;
      if (!json_.Null() && ReadCount(start))
        entry.start_ns = static_cast<int64_t>(std::min<uint64_t>(start, INT64_MAX));
    } else if (key == "thread") {
      ReadCount(entry.thread);
    } else {
      return false;
    }
    return true;
  }

  bool ReadCount(uint64_t& number) {
    number = json_.Count().value_or(0);
    return true;
  }

  bool ReadDuration(Entry& entry) {
    if (json_.Null()) {
      entry.duration_ns.reset();
    } else {
      entry.WithDurationUs(json_.Double().value_or(0));
    }
    return true;
  }

  void ReadShape(Shape& shape) {
    json_.Begin('[');
    while (json_.NextElement()) shape.push_back(json_.Count().value_or(0));
  }

  bool ReadMetadata(Trace& trace) {
    std::string key, value;
    json_.Begin('{');
    while (json_.NextKey(key) && json_.String(value)) trace.SetMetadata(key, value);
    return json_.ok();
  }

  JsonPull json_;
  Behaviour behaviour_;
  Loaded loaded_;
  unsigned fields_ = 0;  // of the first op traces, in the entry that is read
};

}  // namespace

Loaded FromJson(std::string_view text, Behaviour behaviour) {
  return TraceReader(text, behaviour).Read();
}

}  // namespace debrief::op_trace
