#include "model/rotated_inputs.h"

#include <string_view>
#include <tuple>

#include "base/text/rotated_names.h"
#include "tables/input.h"

namespace debrief {

std::map<int32_t, int32_t> NewestParts(const Model& model) {
  const auto& inputs = model.tables.Get<InputTable>();
  using Text = std::tuple<int32_t, int32_t, int32_t, std::string_view>;
  auto text_of = [&](size_t i, std::string_view path) {
    return Text(inputs.job[i], inputs.attempt[i], inputs.rank[i], path);
  };
  std::map<Text, int32_t> by_text;
  for (size_t i = 0; i < inputs.size(); ++i)
    by_text[text_of(i, model.pools.Text(inputs.path[i]))] = inputs.input[i];
  std::map<int32_t, int32_t> newest;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string_view path = model.pools.Text(inputs.path[i]);
    const std::string_view bare = BeforeRotation(path);
    const auto found = bare == path ? by_text.end() : by_text.find(text_of(i, bare));
    if (found != by_text.end()) newest[inputs.input[i]] = found->second;
  }
  return newest;
}

}  // namespace debrief
