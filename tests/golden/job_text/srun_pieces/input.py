"""Output under srun --label: it cuts lines at 1024 bytes, and the pieces of two tasks alternate."""
from pathlib import Path

PIECE = 1024


def labelled(task, line):
    pieces = [line[at:at + PIECE] for at in range(0, len(line), PIECE)]
    if pieces and len(pieces[-1]) == PIECE:
        pieces.append("")
    return [f"{task}: {piece}\n" for piece in pieces]


def alternately(*tasks):
    return [piece for pieces in zip(*tasks) for piece in pieces]


text = [f"{task}: step {step} loss 2.5\n" for step in range(5) for task in range(4)]
text += ["2: Traceback (most recent call last):\n", '2:   File "train.py", line 88, in <module>\n', "2:     model(batch)\n"]
shapes = ", ".join(f"torch.Size([{number}, 4096])" for number in range(90))
text += alternately(labelled(2, f"RuntimeError: shapes do not match: {shapes}, at the end of a long line"),
                    labelled(1, "[rank1]: W1116 10:00:00.000000 77 train.py:12] " + "warning " * 300))
# A line that is as long as a piece, and one whose rest never comes.
text += labelled(3, "x" * PIECE) + ["0: bye\n"] + labelled(0, "RuntimeError: " + "y" * 3000)[:-1]
Path("input").mkdir()
Path("input/slurm-4711.out").write_text("".join(text))
