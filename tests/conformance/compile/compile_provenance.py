"""Line mappings between the graphs and the code of a compilation, read from the files of a plain-text tree.

Written from the rules of the format (docs of the inputs), not from debrief's code, so that the two can be compared. Lines are
numbered from 1; those of Python code from the line with `# AOT ID:`.
"""
import json
import re

NODE_MAPS = ("preToPost", "postToPre", "cppCodeToPost", "postToCppCode")
DECLARATION = re.compile(r"^\s*\w+\s+.*_xnumel(_\d+)?\s*=")


def last_file(folder, *names):
    """Text of the file with the highest number whose name begins with the first of `names` that has any."""
    for name in names:
        found = [(int(match[1]), path) for path in folder.glob(f"{name}*")
                 if (match := re.search(r"_(\d+)\.(txt|json)$", path.name))]
        if found:
            return max(found)[1].read_text()
    return ""


def node_lines(graph):
    lines = {}
    for number, line in enumerate(graph.splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            lines[line.split("=")[0].split(":")[0].strip()] = number
    return lines


def first(lines, test, otherwise=0):
    return next((index for index, line in enumerate(lines) if test(line)), otherwise)


def code_lines(code):
    """Lines from the first that is not empty."""
    lines = code.split("\n")
    return lines[first(lines, lambda line: line.strip(), len(lines)):]


def python_kernel_lines(code, names):
    lines = code_lines(code)
    start = first(lines, lambda line: "def" in line and "call" in line and "(args)" in line)
    base = first(lines, lambda line: "# AOT ID:" in line)
    found = {}
    for name in names:
        pure, colon, _ = name.partition(":")
        handle = next((i for i in range(start, len(lines)) if name in lines[i]), None) if colon else None
        call = None if handle is None else next((i for i in range(handle + 1, len(lines)) if pure in lines[i]), None)
        indexes = [i for i in range(start, len(lines)) if pure in lines[i]] if call is None else [call]
        found[name] = [index + 1 - base for index in indexes]
    return found


def cpp_call_of(lines, start, name, pure):
    for handle in range(start, len(lines)):
        if name not in lines[handle] or lines[handle].strip().startswith(("def", "static inline void")):
            continue
        for index in range(handle + 1, len(lines)):
            if pure in lines[index] and "_xnumel = " not in lines[index] and not DECLARATION.match(lines[index]):
                return index
    return None


def cpp_kernel_lines(code, names):
    lines = code_lines(code)
    start = first(lines, lambda line: "::run_impl(" in line)
    found = {}
    for name in names:
        pure, colon, _ = name.rpartition(":")
        pure = pure if colon else name
        call = cpp_call_of(lines, start, name, pure) if colon else None
        indexes = [i for i in range(start, len(lines)) if pure in lines[i]] if call is None else [call]
        found[name] = [index + 1 for index in indexes]
    return found


def graph_map(names, sources, targets):
    mapped = {}
    for name, others in names.items():
        lines = [targets[other] for other in others if other in targets]
        if name in sources and lines:
            mapped[str(sources[name])] = lines
    return mapped


def code_maps(maps, kernels, post):
    """(code line -> post lines, post line -> code lines)."""
    forward, backward = {}, {}
    for name in sorted(kernels):
        targets = [post[node] for node in maps["cppCodeToPost"].get(name, []) if node in post]
        for line in kernels[name] if targets else []:
            forward[str(line)] = targets
    for node, names in maps["postToCppCode"].items():
        lines = [line for name in names for line in kernels.get(name, [])]
        if node in post and lines:
            backward[str(post[node])] = lines
    return forward, backward


def line_mappings(folder):
    """The mappings of the compilation whose files are in `folder`."""
    try:
        maps = json.loads(last_file(folder, "inductor_provenance_tracking_node_mappings"))
    except ValueError:
        maps = {}
    maps = {name: maps.get(name, {}) for name in NODE_MAPS}
    pre = node_lines(last_file(folder, "before_pre_grad_graph", "inductor_pre_grad_graph"))
    post = node_lines(last_file(folder, "after_post_grad_graph", "inductor_post_grad_graph"))
    names = sorted(maps["cppCodeToPost"])
    python = code_maps(maps, python_kernel_lines(last_file(folder, "inductor_output_code"), names), post)
    cpp = code_maps(maps, cpp_kernel_lines(last_file(folder, "inductor_aot_wrapper_code"), names), post)
    return {"preToPost": graph_map(maps["preToPost"], pre, post), "postToPre": graph_map(maps["postToPre"], post, pre),
            "pyCodeToPost": python[0], "postToPyCode": python[1], "cppCodeToPost": cpp[0], "postToCppCode": cpp[1]}
