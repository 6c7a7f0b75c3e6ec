#!/usr/bin/env bash
set -euo pipefail
export EVIDENCE=${EVIDENCE:-/shared/logs/run1}
mkdir -p "$EVIDENCE"
export TORCH_FR_BUFFER_SIZE=20000 TORCH_NCCL_DUMP_ON_TIMEOUT=1
export TORCH_FR_DUMP_TEMP_FILE="$EVIDENCE/nccl_trace_rank_"
export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET NCCL_DEBUG_FILE="$EVIDENCE/nccl.%h.%p.log"
export PYTHONFAULTHANDLER=1 PYTHONUNBUFFERED=1
export TORCH_DISTRIBUTED_DEBUG=INFO
export TORCH_TRACE=$EVIDENCE/torch_trace
ulimit -c unlimited
exec torchrun --standalone --nproc-per-node 8 --log-dir "$EVIDENCE" --tee 3 train.py "$@"
