// The data of the report's page, apart from the run itself: islands, bytes under a name, that the
// page reads when a view first asks for one. They are packed as gzip, then as base64, so that no
// text from an input can be taken for markup or code, and lie
//
//   beside the page   report_data/NAME.js: debriefIsland("NAME","BASE64") and a line end; a script
//   is
//                     the only thing that a page from file:// may load
//   in the page       <script type="text/plain" data-island="NAME">BASE64</script> (--single-file)
//
// web/src/run/islands.ts reads them. A name is made of lower case letters, digits, '_' and '/'.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/model.h"

namespace debrief::outputs::html {

// Who takes an island: its name and its bytes.
using IslandSink = std::function<Status(std::string_view name, std::string_view bytes)>;

class Islands {
 public:
  // `folder` exists; empty: they are kept for the page.
  explicit Islands(std::string folder) : folder_(std::move(folder)) {}

  bool in_page() const { return folder_.empty(); }
  const std::string& folder() const { return folder_; }

  // From any thread. Costs packing and writing.
  Status Add(std::string_view name, std::string_view bytes);

  IslandSink Sink() {
    return [this](std::string_view name, std::string_view bytes) { return Add(name, bytes); };
  }

  // Elements of those that are kept, in order of name.
  std::string Elements() const;

 private:
  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> kept_;  // base64 by name
};

// Adds all that views of this model read, with up to `threads` threads.
Status AddIslands(const Model& model, int threads, Islands& islands);

// The page: style, script and the run inside, and the islands that are kept for it. Same model,
// same bytes.
std::string MakePage(const Model& model, const Islands& islands);

}  // namespace debrief::outputs::html
