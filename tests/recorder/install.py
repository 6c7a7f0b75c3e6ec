#!/usr/bin/env python3
"""Installs the build below a folder of its own, and uses what is there as others would.

usage: install.py --build FOLDER

The program of examples/tiny-inference with find_package, a program in C with pkg-config and with find_package in a project
that knows no C++, the Python package, and an engine in C++ that Python loads and that shares its recording.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dbr import Recording

ROOT = Path(__file__).resolve().parents[2]

C_PROGRAM = r"""
#include <debrief/recorder.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  dbr_recording* recording = NULL;
  const uint64_t dims[] = {4, 8};
  const dbr_shape shape = {dims, 2};
  const dbr_op_info info = {&shape, 1, DBR_F32, &shape, 0};
  if (count != 2 || dbr_open(words[1], NULL, &recording) != DBR_OK) return 1;
  dbr_begin(dbr_name("relu", strlen("relu")));
  dbr_end_op(&info);
  return dbr_close(recording) == DBR_OK ? 0 : 1;
}
"""
C_PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(relu LANGUAGES C)
find_package(debrief_recorder 0.1 REQUIRED)
add_executable(relu relu.c)
target_link_libraries(relu PRIVATE debrief::recorder)
"""
READER = r"""
#include <debrief/op_trace.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>
using namespace debrief::op_trace;
int main(int, char** words) {
  std::ifstream file(words[1], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const Loaded loaded = LoadRecording(std::as_bytes(std::span(bytes)));
  for (const OpSummary& op : SummariseOps(*loaded.trace)) std::printf("%s %d\n", op.operation.c_str(), static_cast<int>(op.count));
}
"""
READER_PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(reader LANGUAGES CXX)
find_package(debrief_recorder 0.1 REQUIRED)
add_executable(reader reader.cc)
target_link_libraries(reader PRIVATE debrief::op_trace)
set_target_properties(reader PROPERTIES CXX_STANDARD 20)
"""
ENGINE = """
#include <debrief/recorder.hpp>
extern "C" __attribute__((visibility("default"))) int Step(int value) {
  DEBRIEF_SCOPE("engine step");
  return value + 1;
}
"""
SHARING = """
import ctypes, sys, debrief_recorder as recorder
engine = ctypes.CDLL(sys.argv[2])
with recorder.open(sys.argv[1]):
    with recorder.scope("python step"):
        assert engine.Step(1) == 2
"""


def run(*words, **options):
    """Its standard output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def names_in(path):
    return [record.name for record in Recording(path).records if record.name]


def check_files(prefix):
    wanted = ["bin/debrief", "include/debrief/recorder.h", "include/debrief/recorder.hpp", "include/debrief/op_trace.hpp",
              "lib/libdebrief_recorder.a", "lib/libdebrief_op_trace.a",
              "lib/libdebrief_recorder.so", "lib/libdebrief_recorder.so.1", "lib/pkgconfig/debrief_recorder.pc",
              "lib/cmake/debrief_recorder/debrief_recorderConfig.cmake",
              "lib/cmake/debrief_recorder/debrief_recorderConfigVersion.cmake"]
    for name in wanted:
        assert (prefix / name).exists(), f"{name} was not installed"
    assert "usage" in run(prefix / "bin/debrief", "--help").lower()


def check_example(prefix, scratch):
    build, path = scratch / "tiny", scratch / "tiny.dbr"
    run("cmake", "-S", ROOT / "examples/tiny-inference", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    tokens = run(build / "tiny_inference", path, "--tokens", 6).split()
    assert len(tokens) == 6 and len(set(tokens)) > 1, tokens
    # Two devices, six tokens, four layers: an all_reduce of each.
    assert names_in(path).count("all_reduce") == 2 * 6 * 4, names_in(path).count("all_reduce")
    check_killed(scratch)


def check_killed(scratch):
    """Killed from outside: what it had recorded is there, and nothing else is wrong with the file."""
    path = scratch / "killed.dbr"
    process = subprocess.Popen([scratch / "tiny/tiny_inference", path, "--tokens", "0"])
    deadline = time.monotonic() + 60
    # A name that the devices look up before their first token.
    while not (path.exists() and b"cached values" in path.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    process.kill()
    process.wait()
    found = Recording(path)
    assert found.closed == 0 and found.named("matmul"), "a killed program left nothing"


def check_c(prefix, scratch):
    (scratch / "relu.c").write_text(C_PROGRAM)
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "debrief_recorder", env=environment).split()
    folder = run("pkg-config", "--variable=libdir", "debrief_recorder", env=environment).strip()
    for compiler in filter(shutil.which, ("cc", "clang-19")):
        run(compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", scratch / "relu.c", "-o", scratch / "relu",
            *flags, f"-Wl,-rpath,{folder}")
        run(scratch / "relu", scratch / "relu.dbr")
        assert names_in(scratch / "relu.dbr") == ["relu"]
    assert "libdebrief_recorder.so.1" in run("readelf", "-d", scratch / "relu")


def check_c_project(prefix, scratch):
    folder = scratch / "project"
    folder.mkdir()
    (folder / "relu.c").write_text(C_PROGRAM)
    (folder / "CMakeLists.txt").write_text(C_PROJECT)
    run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "build")
    run(folder / "build/relu", scratch / "static.dbr")
    assert names_in(scratch / "static.dbr") == ["relu"]
    needed = run("readelf", "-d", folder / "build/relu")
    assert "libstdc++" not in needed and "libdebrief" not in needed, needed


def check_reader(prefix, scratch):
    """A program that adds up what another recorded."""
    folder = scratch / "reader"
    folder.mkdir()
    (folder / "reader.cc").write_text(READER)
    (folder / "CMakeLists.txt").write_text(READER_PROJECT)
    run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "build")
    assert run(folder / "build/reader", scratch / "static.dbr") == "relu 1\n"


def check_python(prefix, scratch):
    """An engine in C++ and Python in one process: one recording."""
    (scratch / "engine.cc").write_text(ENGINE)
    engine = scratch / "libengine.so"
    run("g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", scratch / "engine.cc", "-o", engine, f"-I{prefix}/include",
        f"-L{prefix}/lib", "-ldebrief_recorder", f"-Wl,-rpath,{prefix}/lib")
    package = next(prefix.glob("lib/python*/site-packages"))
    path = scratch / "shared.dbr"
    run(sys.executable, "-c", SHARING, path, engine, env={**os.environ, "PYTHONPATH": str(package)})
    assert names_in(path) == ["engine step", "python step"], names_in(path)


def check_setuptools(prefix, scratch):
    """`pip install ./python` without pip: what it calls. Needs setuptools that reads pyproject.toml."""
    probe = "import setuptools; print(int(setuptools.__version__.split('.')[0]) >= 61)"
    if subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True).stdout != "True\n":
        return print("install: setuptools 61 is not here; the package was not built with it")
    copy = scratch / "checkout"
    for name in ("python", "src/recorder", "include"):
        shutil.copytree(ROOT / name, copy / name)
    run(sys.executable, "setup.py", "-q", "build", "--build-lib", scratch / "pip", cwd=copy / "python")
    run(sys.executable, "-c", SHARING.replace("engine.Step(1) == 2", "engine"), scratch / "pip.dbr", scratch / "libengine.so",
        env={**os.environ, "PYTHONPATH": str(scratch / "pip")})
    assert names_in(scratch / "pip.dbr") == ["python step"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    build = parser.parse_args().build
    with tempfile.TemporaryDirectory() as folder:
        prefix, scratch = Path(folder, "prefix"), Path(folder, "scratch")
        scratch.mkdir()
        run("cmake", "--install", build, "--prefix", prefix)
        check_files(prefix)
        for check in (check_example, check_c, check_c_project, check_reader, check_python, check_setuptools):
            check(prefix, scratch)
    print("install: the recorder is found and works from C, C++ and Python")


main()
