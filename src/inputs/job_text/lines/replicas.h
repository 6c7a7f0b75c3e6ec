// What torchft says of replica groups: each trains on its own, and meets the others once a step. A
// group that dies comes back under the same name and another id, and the job goes on meanwhile.
//
//   [train_ddp_0:9f5b.../1 - step 17] reconfiguring for quorum_id=3 store_prefixed_addr='...'
//   [train_ddp_0:9f5b.../1 - step 0] healing required, fetching checkpoint metadata from ...
//   max_step=17 [train_ddp_1:77aa.../0 - step 17] peers need recovery from us [0]
//   [train_ddp_1:77aa.../0 - step 18] should_commit=False enough_replicas=True, errored=...
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

struct ReplicaLine {
  std::string_view replica;      // train_ddp_0
  std::string_view life;         // 9f5b..., another one after each start
  int32_t group_rank = kNone32;  // rank inside of the replica group
  int64_t step = kNone64;
  std::string_view what;     // quorum, healing, recovering, commit, discarded
  int64_t number = kNone64;  // of the quorum; of healing the step to come to
  std::string_view text;     // what follows the tag
};

// `text` has no prefix of a launcher. Nothing for lines without the tag, or that say something
// else.
std::optional<ReplicaLine> ParseReplica(std::string_view text);

}  // namespace debrief::inputs::job_text
