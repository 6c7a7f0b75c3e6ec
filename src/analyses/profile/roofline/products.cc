// Matrix products: one, a batch of them, or groups of different sizes.
#include <algorithm>

#include "analyses/profile/roofline/families.h"

namespace debrief::analyses::profile_roofline {

namespace {

struct Matrices {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

// "c10::Float4_e2m1fn_x2" holds two values in a byte.
bool IsPackedType(std::string_view type) {
  return type.size() > 3 && type.ends_with("_x2") && type.find("loat4") != std::string_view::npos;
}

std::optional<Matrices> MatricesOf(const OpModel& model, const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  Matrices found;
  found.k = a.back();
  if (model.is_linear) {
    found.m = ProductOf(a) / std::max<int64_t>(1, found.k);
    found.n = b.front();
    return b.size() > 2 ? std::nullopt : std::optional(found);
  }
  if (a.size() > 3 || b.size() > 3) return std::nullopt;
  // Where the inputs of a template stand is a convention: their sizes must agree.
  const bool is_template = model.name == "triton_tem";
  if (is_template && (b.size() < 2 || b[b.size() - 2] != found.k)) return std::nullopt;
  if (a.size() == 3) found.batch = a[0];
  if (a.size() > 1) found.m = a[a.size() - 2];
  if (b.size() > 1) found.n = b.back();
  return found;
}

// Bytes of an element of the output: as an argument says, else by the inputs.
int64_t OutWidth(const OpModel& model, const OpArgs& args, size_t out_type) {
  const int64_t width = BytesOfType(args.TypeOf(model.first));
  const int64_t told = BytesOfScalarType(args.ValueOf(out_type));
  if (told > 0) return told;
  if (width != 1) return width;
  return model.name == "aten::_int_mm" ? 4 : 2;
}

}  // namespace

// A layer of an LSTM or GRU: x [time, batch, width] and the weights [gates * hidden, width] and
// [gates * hidden, hidden], used once for each step and sequence; the biases follow them. A
// backward does each product twice, for the input and for the weight, and reads and writes twice
// as much.
static Work RecurrentWork(const OpModel& model, const OpArgs& args) {
  const Dims &x = args.DimsOf(0), &input = args.DimsOf(1), &state = args.DimsOf(2);
  const int64_t width = BytesOfType(args.TypeOf(0));
  if (x.size() != 3 || input.size() != 2 || state.size() != 2 || width == 0) return std::nullopt;
  const int64_t times = model.name.ends_with("_backward") ? 2 : 1;
  const int64_t of_input = ProductOf({2 * times, x[0], x[1], input[0], input[1]});
  const int64_t of_state = ProductOf({2 * times, x[0], x[1], state[0], state[1]});
  const int64_t y = ProductOf({x[0], x[1], state[1]});
  if (of_input == 0 || of_state == 0 || std::max({of_input, of_state, y}) > kMostWork / 64)
    return std::nullopt;
  const int64_t bytes = args.StoredBytes(0) + args.StoredBytes(1) + args.StoredBytes(2) + y * width;
  return OpWork{
      .flops = of_input + of_state, .bytes = times * bytes, .model_flops = of_input + of_state};
}

int64_t OddSizeOf(std::string_view op, const OpArgs& args) {
  const OpModel* model = FindModel(op);
  if (model == nullptr || model->category != Category::kGemm || model->is_recurrent) return 0;
  const int64_t width = BytesOfType(args.TypeOf(model->first));
  const auto shape = MatricesOf(*model, args.DimsOf(model->first), args.DimsOf(model->first + 1));
  if (!shape || width == 0 || width > 2) return 0;
  const int64_t step = 16 / width;
  for (int64_t size : {shape->m, shape->n, shape->k}) {
    if (size > step && size % step != 0) return size;
  }
  return 0;
}

Work GemmWork(const OpModel& model, const OpArgs& args, Definition definition) {
  if (model.is_recurrent) return RecurrentWork(model, args);
  const size_t a = model.first, b = a + 1;
  auto shape = MatricesOf(model, args.DimsOf(a), args.DimsOf(b));
  const int64_t width = BytesOfType(args.TypeOf(a));
  if (!shape || width == 0) return std::nullopt;
  const bool is_scaled = model.name == "aten::_scaled_mm",
             parity = definition == Definition::kTraceLens;
  if (IsPackedType(args.TypeOf(a)) && !parity) shape->k *= 2;
  const auto& [batch, m, n, k] = *shape;
  const std::string_view beta = args.ValueOf(3);
  const bool is_unused = model.bias == 0 && (beta == "0" || beta == "0.");
  const bool has_bias =
      model.bias != kNoArgument && args.IsTensor(model.bias) && !(parity ? is_scaled : is_unused);
  OpWork work;
  work.model_flops = ProductOf({2, batch, m, n, k});
  if (work.model_flops == 0 || work.model_flops > kMostWork) return std::nullopt;
  work.flops = work.model_flops + (has_bias ? batch * m * n : 0);
  if (parity) {
    const int64_t out = is_scaled && width == 1 ? 2 : width;
    work.bytes = batch * ((m * k + k * n + (has_bias ? n : 0)) * width + m * n * out);
    return work;
  }
  work.bytes = args.StoredBytes(a) + args.StoredBytes(b) +
               batch * m * n * OutWidth(model, args, is_scaled ? 6 : kNoArgument);
  if (has_bias) work.bytes += args.StoredBytes(model.bias);
  if (is_scaled) work.bytes += args.StoredBytes(2) + args.StoredBytes(3);
  return work;
}

// Sizes of the groups are not recorded; their sum is a dimension, so they are not needed:
//   [M,K] x [G,K,N]   rows by group           [G,M,K] x [K,N]   columns by group
//   [M,K] x [K,N]     K by group: G outputs   [G,M,K] x [G,K,N] all of the same size
Work GroupedGemmWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const Dims &a = args.DimsOf(0), &b = args.DimsOf(1);
  const int64_t width = BytesOfType(args.TypeOf(0));
  if (a.size() < 2 || b.size() < 2 || a.size() > 3 || b.size() > 3 || width == 0)
    return std::nullopt;
  const int64_t k = a.back(), m = a[a.size() - 2];
  const bool is_transposed = model.lengths == kNoArgument && b[b.size() - 2] != k;
  const int64_t n = is_transposed ? b[b.size() - 2] : b.back();
  const bool all_equal = a.size() == 3 && b.size() == 3,
             is_ragged_k = a.size() == 2 && b.size() == 2;
  int64_t outputs = 1;
  if (all_equal) outputs = a[0];
  if (is_ragged_k && args.IsTensor(model.lengths)) outputs = args.Elements(model.lengths);
  OpWork work;
  work.flops = work.model_flops = ProductOf({2, m, n, k, all_equal ? outputs : 1});
  const int64_t out = ProductOf({outputs, m, n});
  if (work.flops == 0 || work.flops > kMostWork || out == 0 || out > kMostWork / 16)
    return std::nullopt;
  if (definition == Definition::kTraceLens) {
    work.bytes = (args.Elements(0) + args.Elements(1)) * width + out * BytesOfType(args.TypeOf(1));
    return work;
  }
  const size_t out_type = model.lengths == kNoArgument ? kNoArgument : model.lengths == 2 ? 4 : 7;
  work.bytes = args.StoredBytes(0) + args.StoredBytes(1) + out * OutWidth(model, args, out_type);
  if (model.lengths == 4) work.bytes += args.StoredBytes(2) + args.StoredBytes(3);
  return work;
}

}  // namespace debrief::analyses::profile_roofline
