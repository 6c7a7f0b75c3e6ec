// Plug-in point 3: model -> what people read. One way to show is one folder src/outputs/<name>/
// that defines
//
//   const Output& debrief::outputs::<name>::Describe();
//
// An output writes into the folder or the stream that it is given, escapes what comes from inputs,
// and gives the same bytes for the same model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/model.h"

namespace debrief {

// Where text goes: app/ passes stdout, tests a string.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void Write(std::string_view text) = 0;
};

// One that keeps what it is given.
class StringSink final : public TextSink {
 public:
  void Write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct OutputContext {
  std::string folder;        // the output folder; exists; empty when nothing may be written
  std::string file;          // where to write instead, for an output of one file that was asked for
  TextSink* text = nullptr;  // for outputs that are streams
  int width = 100;           // of the terminal
  bool colour = false;
  int threads = 1;                    // an output may use
  bool parquet = false;               // --parquet
  bool single_file = false;           // --single-file
  bool has_report = true;             // the report is written as well: false with --no-report
  std::string_view findings_of = {};  // console: only findings of rules that begin so, and trouble
  std::string_view frames = {};       // collapsed: only those of "host" or "python"; empty: all
};

// Where an output of one file writes; empty when nothing may be written.
inline std::string PathOf(const OutputContext& context, std::string_view file) {
  if (!context.file.empty()) return context.file;
  return context.folder.empty() ? "" : context.folder + "/" + std::string(file);
}

struct OutputInfo {
  std::string_view name;       // the folder's name
  std::string_view sentence;   // what it makes
  std::string_view file = {};  // what it writes into the output folder; empty: a stream
  bool on_request = false;  // a file that is only written when the user names the output (--with)
};

inline constexpr bool kOnRequest = true;

struct Output {
  OutputInfo info;
  Status (*write)(const Model& model, const OutputContext& context) = nullptr;
};

// All outputs, in order of name (generated from the folders).
std::span<const Output* const> AllOutputs();

// Null when there is no such output.
inline const Output* FindOutput(std::string_view name) {
  for (const Output* output : AllOutputs())
    if (output->info.name == name) return output;
  return nullptr;
}

}  // namespace debrief
