// How many bytes the tensors of an entry have.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::analyses::flight {

// Bytes of tensors "[[4, 4], [8]]" of types "Float, Half": 80. One type may stand for all of them.
// -1 when sizes or types do not tell, or when they are too large to be true.
int64_t TensorBytes(std::string_view sizes, std::string_view dtypes);

}  // namespace debrief::analyses::flight
