#include "analyses/profile/roofline/generated_code.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyses/profile/roofline/families.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::profile_roofline {

namespace {

constexpr std::string_view kPathMark = "# kernel path: ", kNodeMark = "#   %",
                           kTargetMark = "call_function[target=torch.ops.",
                           kCodeMark = "async_compile.triton(", kDefMark = "def triton_";

// clang-format off
constexpr auto kWeights = std::to_array<std::pair<std::string_view, int64_t>>({
    {"add", 1}, {"sub", 1}, {"rsub", 1}, {"mul", 1}, {"div", 1}, {"relu", 1}, {"neg", 1}, {"abs", 1}, {"mean", 1}, {"sum", 1},
    {"eq", 1}, {"ne", 1}, {"lt", 1}, {"le", 1}, {"gt", 1}, {"ge", 1}, {"where", 1}, {"maximum", 1}, {"minimum", 1}, {"amax", 1},
    {"amin", 1}, {"max", 1}, {"min", 1}, {"clamp", 1}, {"clamp_min", 1}, {"clamp_max", 1}, {"threshold_backward", 1}, {"prod", 1},
    {"argmax", 1}, {"argmin", 1}, {"square", 1}, {"masked_fill", 1}, {"pow", 2}, {"sqrt", 2}, {"rsqrt", 2}, {"reciprocal", 2},
    {"var", 2}, {"var_mean", 3}, {"std", 3}, {"native_dropout", 2}, {"sigmoid_backward", 3}, {"tanh_backward", 3}, {"exp", 4},
    {"exp2", 4}, {"log", 4}, {"log1p", 4}, {"expm1", 4}, {"sigmoid", 4}, {"tanh", 4}, {"silu", 4}, {"sin", 4}, {"cos", 4}, {"erf", 4},
    {"silu_backward", 8}, {"softplus", 8}, {"gelu", 8}, {"gelu_backward", 12}, {"_softmax", 5}, {"_log_softmax", 5},
    {"_softmax_backward_data", 4}, {"_log_softmax_backward_data", 4}, {"native_layer_norm", 5}, {"native_layer_norm_backward", 9},
    {"native_batch_norm", 5}, {"native_batch_norm_backward", 9}, {"native_group_norm", 5}, {"mse_loss", 3}, {"cumsum", 1},
    // These only move data; their names stand here because names in a kernel's name are not parted clearly.
    {"_to_copy", 0}, {"_unsafe_view", 0}, {"native_dropout_backward", 1}, {"embedding", 0}, {"addmm", 0}, {"mm", 0}, {"bmm", 0},
    {"cat", 0}, {"clone", 0}, {"view", 0}, {"permute", 0}, {"transpose", 0}, {"t", 0}, {"expand", 0}, {"unsqueeze", 0},
    {"squeeze", 0}, {"slice", 0}, {"select", 0}, {"index", 0}, {"index_put", 0}, {"constant_pad_nd", 0}, {"copy", 0}, {"detach", 0}});
// clang-format on

constexpr bool IsReduction(std::string_view op) {
  return op == "sum" || op == "mean" || op == "amax" || op == "amin" || op == "max" ||
         op == "min" || op == "var" || op == "var_mean" || op == "std" || op == "prod" ||
         op == "argmax" || op == "argmin";
}

// The elements of "f32[32, 256][256, 1]cuda:0"; none when a size is a symbol.
std::optional<int64_t> ElementsOfType(std::string_view type) {
  const size_t open = type.find('['), close = type.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  const std::string_view sizes = type.substr(open, close - open + 1);
  const bool is_plain = std::ranges::all_of(
      sizes, [](char c) { return IsDigit(c) || c == '[' || c == ']' || c == ',' || c == ' '; });
  const int64_t elements = ProductOf(NumbersOf(sizes));
  if (!is_plain || elements <= 0 || elements > int64_t{1} << 40) return std::nullopt;
  return elements;
}

// The graph of one kernel, node by node.
class Fragment {
 public:
  // "%sin : Tensor "f32[8]..."[num_users=1] = call_function[target=torch.ops.aten.sin.default](..."
  void AddNode(std::string_view line, GeneratedKernel& kernel) {
    const std::string_view name = line.substr(0, line.find(' '));
    const size_t quote = line.find('"');
    const std::string_view type =
        quote < line.find(" = ") ? line.substr(quote + 1, line.find('"', quote + 1) - quote - 1)
                                 : std::string_view();
    const auto elements = ElementsOfType(type);
    if (elements) elements_[std::string(name)] = *elements;
    const size_t target = line.find(kTargetMark);
    if (target == std::string_view::npos) return;
    std::string_view op = line.substr(target + kTargetMark.size());
    op = op.substr(std::min(op.find('.') + 1, op.size()));  // the library
    op = op.substr(0, op.find_first_of(".]"));
    const int64_t weight = WeightOf(op);
    if (weight == 0) return;
    const auto worked_on = IsReduction(op) ? ElementsOfFirstArgument(line) : elements;
    if (worked_on)
      kernel.flops = std::min(kernel.flops + weight * *worked_on, kMostWork);
    else
      kernel.weight = std::min<int64_t>(kernel.weight + weight, 1 << 12);
  }

 private:
  std::optional<int64_t> ElementsOfFirstArgument(std::string_view line) const {
    const size_t args = line.find("(args = (%");
    if (args == std::string_view::npos) return std::nullopt;
    std::string_view name = line.substr(args + 9);
    name = name.substr(0, name.find_first_of(",) "));
    const auto found = elements_.find(name);
    return found == elements_.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::string, int64_t, std::less<>> elements_;
};

// The parameters of "def triton_poi_fused_sin_0(in_out_ptr0, in_ptr0, xnumel, XBLOCK : ...".
std::vector<Parameter> ParametersOf(std::string_view line) {
  std::vector<Parameter> parameters;
  const size_t open = line.find('(');
  if (open == std::string_view::npos) return parameters;
  for (std::string_view rest = line.substr(open + 1); !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = Trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (name.starts_with("in_out_ptr"))
      parameters.push_back(Parameter::kReadAndWritten);
    else if (name.starts_with("in_ptr"))
      parameters.push_back(Parameter::kRead);
    else if (name.starts_with("out_ptr"))
      parameters.push_back(Parameter::kWritten);
    else
      parameters.push_back(Contains(name, "numel") ? Parameter::kSize : Parameter::kOther);
  }
  return parameters;
}

std::string_view StemOfPath(std::string_view path) {
  path = FileName(Trimmed(path));
  return path.substr(0, path.rfind('.'));
}

// "add_addmm_sin" of "triton_poi_fused_add_addmm_sin_1"; names of ops have underscores of their
// own, so the longest that fits counts.
int64_t WeightOfName(std::string_view kernel) {
  const size_t fused = kernel.find("_fused_");
  if (fused == std::string_view::npos) return 0;
  std::string_view names = kernel.substr(fused + 7);
  int64_t weight = 0;
  while (!names.empty()) {
    size_t length = 0;
    int64_t found = 0;
    for (const auto& [op, weight_of_op] : kWeights) {
      const bool fits =
          names.starts_with(op) && (names.size() == op.size() || names[op.size()] == '_');
      if (!fits || op.size() <= length) continue;
      length = op.size();
      found = weight_of_op;
    }
    weight += found;
    if (length == 0) length = std::min(names.find('_', 1), names.size());
    names.remove_prefix(std::min(length + 1, names.size()));
  }
  return weight;
}

// Elements that the kernel goes through: the product of its sizes, which are its last numbers.
int64_t SizeOf(const OpArgs& args, const GeneratedKernel* generated) {
  Dims sizes;
  for (size_t i = 0; i < args.dims.size(); ++i) {
    const bool is_size = generated == nullptr || i >= generated->parameters.size() ||
                         generated->parameters[i] == Parameter::kSize;
    const Dims number = args.IsTensor(i) ? Dims() : NumbersOf(args.ValueOf(i));
    if (is_size && number.size() == 1 && number[0] > 0) sizes.push_back(number[0]);
  }
  if (!sizes.empty()) return ProductOf(sizes);
  int64_t largest = 0;
  for (size_t i = 0; i < args.dims.size(); ++i)
    largest = std::max(largest, args.IsTensor(i) ? args.Elements(i) : 0);
  return largest;
}

}  // namespace

int64_t WeightOf(std::string_view aten_op) {
  const auto found =
      std::ranges::find(kWeights, aten_op, &std::pair<std::string_view, int64_t>::first);
  return found == kWeights.end() ? 0 : found->second;
}

std::map<std::string, GeneratedKernel> KernelsIn(std::string_view code) {
  std::map<std::string, GeneratedKernel> kernels;
  GeneratedKernel* kernel = nullptr;
  Fragment fragment;
  bool is_code = false;
  while (!code.empty()) {
    const std::string_view line = Trimmed(TakeLine(code));
    if (line.starts_with(kPathMark)) {
      kernel = &kernels[std::string(StemOfPath(line.substr(kPathMark.size())))];
      *kernel = {};
      fragment = {};
      is_code = false;
    } else if (kernel == nullptr) {
      continue;
    } else if (Contains(line, kCodeMark)) {
      is_code = true;
    } else if (!is_code && line.starts_with(kNodeMark)) {
      fragment.AddNode(line.substr(kNodeMark.size() - 1), *kernel);
    } else if (is_code && line.starts_with(kDefMark)) {
      kernel->parameters = ParametersOf(line);
      kernel = nullptr;
    }
  }
  std::erase_if(kernels, [](const auto& each) { return each.second.parameters.empty(); });
  return kernels;
}

void GeneratedCode::Want(const Identity& who, std::string_view file) {
  wanted_[{who.job, who.attempt, who.rank}].emplace(StemOfPath(file));
}

void GeneratedCode::Find(const Model& model) {
  if (wanted_.empty()) return;
  const auto& entries = model.tables.Get<CompileEntryTable>();
  for (size_t row = 0; row < entries.size(); ++row) {
    if (model.pools.Text(entries.kind[row]) != "inductor_output_code") continue;
    const RankKey rank{entries.job[row], entries.attempt[row], entries.rank[row]};
    const auto wanted = wanted_.find(rank);
    if (wanted == wanted_.end() || wanted->second.empty()) continue;
    const auto lines = PayloadLines(model, entries, row);
    if (!lines.ok()) continue;
    for (auto& [stem, kernel] : KernelsIn(lines.value().text())) {
      if (wanted->second.erase(stem) > 0) found_[rank].emplace(stem, std::move(kernel));
    }
  }
}

const GeneratedKernel* GeneratedCode::KernelOf(const Identity& who, std::string_view file) const {
  const auto rank = found_.find({who.job, who.attempt, who.rank});
  if (rank == found_.end()) return nullptr;
  const auto found = rank->second.find(StemOfPath(file));
  return found == rank->second.end() ? nullptr : &found->second;
}

// Each pointer is read or written once, at most as much as the kernel goes through.
Work TritonWork(std::string_view op, const OpArgs& args, const CallFacts& facts) {
  const GeneratedKernel* generated = facts.generated;
  const int64_t size = SizeOf(args, generated);
  if (size <= 0 || size > int64_t{1} << 40) return std::nullopt;
  OpWork work;
  for (size_t i = 0; i < args.dims.size(); ++i) {
    if (!args.IsTensor(i)) continue;
    const bool is_both = generated != nullptr && i < generated->parameters.size() &&
                         generated->parameters[i] == Parameter::kReadAndWritten;
    work.bytes += std::min(args.Stored(i), size) * BytesOfType(args.TypeOf(i)) * (is_both ? 2 : 1);
  }
  if (work.bytes == 0) return std::nullopt;
  if (generated != nullptr) {
    work.flops = generated->flops + generated->weight * size;
  } else {
    work.flops = WeightOfName(op) * size;
    work.estimated = "by its name: the compile log of the rank does not have its code";
  }
  return work;
}

}  // namespace debrief::analyses::profile_roofline
