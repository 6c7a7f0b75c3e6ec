// Attention: scores of all queries and keys, and what follows from them.
#include <algorithm>
#include <cstdint>

#include "analyses/profile/roofline/families.h"

namespace debrief::analyses::profile_roofline {

namespace {

struct Heads {
  int64_t batch = 0, heads = 0, tokens = 0, width = 0;
};

// Packed sequences have no batch: [tokens, heads, width].
std::optional<Heads> HeadsOf(const Dims& dims, bool heads_first) {
  if (dims.size() == 3 && !heads_first) return Heads{1, dims[1], dims[0], dims[2]};
  if (dims.size() != 4) return std::nullopt;
  return heads_first ? Heads{dims[0], dims[1], dims[2], dims[3]}
                     : Heads{dims[0], dims[2], dims[1], dims[3]};
}

// Twice the pairs of a query and a key that are computed: TraceLens halves all of them.
int64_t PairsTwice(int64_t queries, int64_t keys, bool is_causal, Definition definition) {
  if (!is_causal) return ProductOf({2, queries, keys});
  if (definition == Definition::kTraceLens) return ProductOf({queries, keys});
  if (keys >= queries) return ProductOf({2, queries, keys}) - ProductOf({queries, queries - 1});
  return ProductOf({keys, keys + 1}) + ProductOf({2, queries - keys, keys});
}

// Of sequences of different lengths, packed into one, only their number and the longest are known:
// the least work is that of one of this length and others that are all alike.
int64_t PackedPairsTwice(const Heads& q, const Heads& k, int64_t sequences, int64_t longest,
                         bool is_causal, Definition definition) {
  if (sequences <= 1) return PairsTwice(q.tokens, k.tokens, is_causal, definition);
  const int64_t most = std::min({longest, q.tokens, k.tokens});
  const int64_t queries = (q.tokens - most) / (sequences - 1);
  const int64_t keys = (k.tokens - most) / (sequences - 1);
  const int64_t others =
      queries == 0 || keys == 0
          ? 0
          : ProductOf({sequences - 1, PairsTwice(queries, keys, is_causal, definition)});
  const int64_t longest_pairs = PairsTwice(most, most, is_causal, definition);
  return std::max(longest_pairs, others) > kMostWork ? 0 : longest_pairs + others;
}

// "True", or of memory-efficient attention the number of its kind of mask.
bool IsCausal(const OpModel& model, const OpArgs& args) {
  const std::string_view value = args.ValueOf(model.causal);
  return value == "True" || value == "1" || value == "2";
}

struct Pairs {
  int64_t twice = 0;
  bool is_bound = false;  // the least that it can be
};

Pairs PairsOf(const OpModel& model, const OpArgs& args, const Heads& q, const Heads& k,
              Definition definition) {
  const bool is_causal = IsCausal(model, args);
  const bool is_packed = model.lengths != kNoArgument && args.IsTensor(model.lengths);
  if (!is_packed) return {PairsTwice(q.tokens, k.tokens, is_causal, definition)};
  const int64_t sequences = args.Elements(model.lengths) - 1;
  const Dims longest = NumbersOf(args.ValueOf(model.lengths + 2));
  const int64_t most = longest.empty() ? q.tokens : longest[0];
  if (sequences < 1 || most < 1) return {};
  return {PackedPairsTwice(q, k, sequences, most, is_causal, definition), sequences > 1};
}

// Sums of the rows of scores, which a backward needs.
int64_t BytesOfSums(const OpModel& model, const OpArgs& args, const Heads& q) {
  const bool writes = model.sums == 0 || args.IsTrue(model.sums);
  return writes ? 4 * q.batch * q.heads * q.tokens : 0;
}

}  // namespace

Work AttentionWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const size_t first = model.first;
  const auto q = HeadsOf(args.DimsOf(first), model.heads_first);
  const auto k = HeadsOf(args.DimsOf(first + 1), model.heads_first);
  const auto v = HeadsOf(args.DimsOf(first + 2), model.heads_first);
  const bool parity = definition == Definition::kTraceLens;
  if (!q || !k || !v || (parity && IsCausal(model, args) && q->tokens != k->tokens))
    return std::nullopt;
  const Pairs pairs = PairsOf(model, args, *q, *k, definition);
  const int64_t width = parity ? 2 : BytesOfType(args.TypeOf(first));
  const int64_t forward = ProductOf({q->batch, q->heads, pairs.twice, q->width + v->width});
  if (forward == 0 || forward > kMostWork || width == 0) return std::nullopt;
  const int64_t queries = q->batch * q->tokens * q->heads, keys = k->batch * k->tokens * k->heads;
  const int64_t moved = ProductOf({queries + keys, q->width + v->width});
  if (moved == 0 || moved > kMostWork / 64) return std::nullopt;
  OpWork work;
  if (pairs.is_bound) work.estimated = "lengths of packed sequences are not recorded: the least";
  const bool has_mask = model.bias != kNoArgument && args.IsTensor(model.bias) && !parity;
  if (has_mask) work.bytes = args.StoredBytes(model.bias);
  if (model.category == Category::kAttention) {
    work.flops = work.model_flops = forward;
    work.bytes += width * (queries + keys) * (q->width + v->width);
    if (!parity) work.bytes += BytesOfSums(model, args, *q);
    return work;
  }
  // All fused kernels compute the scores once more; reads q k v o do, writes dq dk dv.
  work.flops = ProductOf({q->batch, q->heads, pairs.twice, 3 * q->width + 2 * v->width});
  if (k->heads > 0 && q->heads > k->heads)
    work.flops += ProductOf({q->batch, k->tokens, q->width + v->width, q->heads / k->heads - 1});
  work.model_flops = 2 * forward;
  work.bytes += width * (2 * queries * (q->width + v->width) + 2 * keys * (q->width + v->width)) +
                4 * q->batch * q->heads * q->tokens;
  return work;
}

}  // namespace debrief::analyses::profile_roofline
