#!/usr/bin/env python3
"""Output in UTF-16 of both byte orders, with characters of two units, one half of such and an odd end; and bytes that only begin like it."""
from pathlib import Path

folder = Path("input")
folder.mkdir(exist_ok=True)
TEXT = "step 0 loss 2.5\nstep 1 loss nan \U0001F600\nRuntimeError: gr\u00fc\u00dfe\n"
folder.joinpath("rank0.log").write_bytes(TEXT.encode("utf-16"))
folder.joinpath("rank1.log").write_bytes(b"\xfe\xff" + TEXT.encode("utf-16-be") + b"\xd8\x00\x00x\x00")
folder.joinpath("other.bin").write_bytes(b"\xff\xfe\x01\x02\x03\x04")
