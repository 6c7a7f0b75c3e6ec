"""Small changes of files, from a seed: what a disk, a cut connection or somebody with bad intent makes of them."""
import gzip
import re

HUGE = (b"99999999999999999999", b"-1", b"1e308", b"NaN", b"0", b"-9223372036854775808", b"4294967296", b"18446744073709551615", b"0.0000001", b"null")
NASTY = (b"\x1b[2J\x1b]0;x\x07", b"\0\0\0\0", "\u202e\u2066".encode(), b"\xff\xfe\xfd", b"\xc2\x9b31m", b"=cmd|' /C calc'!A0", b"../../../etc/passwd",
         b"</script><script>", b"%n%s%s", b"\\u0000", b'"', b"\\", b"{", b"]", b"\r\n", b"'; DROP TABLE x; --")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
MOST_BYTES = 1 << 20  # of a file that is mutated; of larger ones the beginning is


def place(dice, data):
    return dice.randrange(len(data) + 1)


def block(dice, data, most=4096):
    """A random piece: (where it begins, where it ends)."""
    begin = place(dice, data)
    return begin, min(len(data), begin + dice.randint(1, most))


def flip(dice, data, _):
    out = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 8, 64))):
        if out:
            out[dice.randrange(len(out))] ^= 1 << dice.randrange(8)
    return bytes(out)


def cut(dice, data, _):
    return data[:place(dice, data)]


def behead(dice, data, _):
    return data[place(dice, data):]


def remove(dice, data, _):
    begin, end = block(dice, data)
    return data[:begin] + data[end:]


def repeat(dice, data, _):
    begin, end = block(dice, data)
    return data[:end] + data[begin:end] * dice.choice((1, 2, 50)) + data[end:]


def move(dice, data, _):
    begin, end = block(dice, data)
    rest = data[:begin] + data[end:]
    at = place(dice, rest)
    return rest[:at] + data[begin:end] + rest[at:]


def splice(dice, data, other):
    """The beginning of one file, the end of another."""
    return data[:place(dice, data)] + other[place(dice, other):]


def noise(dice, data, _):
    at = place(dice, data)
    return data[:at] + dice.randbytes(dice.choice((1, 4, 100, 5000))) + data[at:]


def number(dice, data, _):
    found = list(NUMBER.finditer(data[:200_000]))
    if not found:
        return noise(dice, data, b"")
    for each in sorted(dice.sample(found, min(len(found), dice.choice((1, 1, 3, 30)))), key=lambda match: -match.start()):
        data = data[:each.start()] + dice.choice(HUGE) + data[each.end():]
    return data


def word(dice, data, _):
    """32 or 64 bits of a binary format become a limit."""
    width = dice.choice((1, 2, 4, 8))
    if len(data) < width:
        return data
    at = dice.randrange(len(data) - width + 1)
    value = dice.choice((0, 1, (1 << 8 * width) - 1, 1 << (8 * width - 1), (1 << (8 * width - 1)) - 1, 1 << 30))
    return data[:at] + (value % (1 << 8 * width)).to_bytes(width, dice.choice(("little", "big"))) + data[at + width:]


def nest(dice, data, _):
    at, depth = place(dice, data), dice.choice((30, 1000, 20000))
    opening = dice.choice((b"[", b'{"a":', b"(", b"<", b"[[{"))
    return data[:at] + opening * depth + data[at:]


def stretch(dice, data, _):
    at = place(dice, data)
    return data[:at] + dice.choice((b"a", b"9", b" ", b"\n", b",", b"\0", b"\x80")) * dice.choice((100, 5000, 200_000)) + data[at:]


def nasty(dice, data, _):
    at = place(dice, data)
    return data[:at] + dice.choice(NASTY) + data[at:]


def quoted(dice, data, _):
    """Nasty bytes inside of a text, where they reach what is printed."""
    found = [match.end() for match in re.finditer(rb'": ?"', data[:200_000])]
    if not found:
        return nasty(dice, data, b"")
    at = dice.choice(found)
    return data[:at] + dice.choice((b"\\u001b[31m", "\u202e".encode(), b"=1+1", b"\x1b[31m", b"\\u0000", b"x" * 5000)) + data[at:]


def lines(dice, data, _):
    """Lines in another order, twice, or none."""
    all_lines = data[:300_000].splitlines(keepends=True)
    what = dice.randrange(3)
    if what == 0:
        dice.shuffle(all_lines)
    elif what == 1:
        all_lines = [line for line in all_lines for _ in range(dice.choice((1, 1, 1, 3)))]
    else:
        all_lines = [line for line in all_lines if dice.random() > 0.2]
    return b"".join(all_lines)


def empty(dice, data, _):
    return dice.choice((b"", b"\n", b"\xef\xbb\xbf" + data, b"{}", b"[]", data.replace(b"\n", b"\r\n")))


WAYS = (flip, flip, flip, cut, cut, behead, remove, repeat, move, splice, noise, number, number, word, word, nest, stretch, nasty, quoted, quoted,
        lines, empty)
SUFFIXES = (".json", ".log", ".gz", ".zst", ".tar", ".zip", ".pickle", ".pftrace", ".txt", ".dbr", "", ".json.gz", ".tar.gz", ".err", ".jsonl")


def mutate(dice, data, other):
    """One to three changes; what is packed is sometimes changed inside."""
    data, other = data[:MOST_BYTES], other[:MOST_BYTES]
    packed = data[:2] == b"\x1f\x8b" and dice.random() < 0.5
    if packed:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError):
            packed = False
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        data = dice.choice(WAYS)(dice, data, other)
    return gzip.compress(data, mtime=0) if packed else data


def rename(dice, path):
    """Now and then the name promises something else."""
    if dice.random() > 0.08:
        return path
    changed = path.with_name(path.name.split(".")[0] + dice.choice(SUFFIXES))
    return path if changed.exists() else path.rename(changed)
