"""Builds the package with a C++20 compiler and setuptools alone: `pip install ./python`, in a checkout of debrief.

The recorder becomes a library of its own inside the package. It has the name that an installed one has, so an engine in C++
in the same process that links libdebrief_recorder.so.1 gets this one, and both record into one file.
"""
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "libdebrief_recorder.so.1"
FLAGS = ["-std=c++20", "-O2", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"]


class BuildBoth(build_ext):
    """The recorder first: the extension is linked with it."""

    def build_extensions(self):
        sources = [str(path) for path in sorted(ROOT.glob("src/recorder/*.cc")) if path.name != "reader.cc"]
        includes = [str(ROOT / "include"), str(ROOT / "src")]
        objects = self.compiler.compile(sources, output_dir=self.build_temp, include_dirs=includes, extra_preargs=FLAGS)
        package = Path(self.get_ext_fullpath("debrief_recorder._recorder")).parent
        package.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(objects, str(package / LIBRARY), extra_postargs=[f"-Wl,-soname,{LIBRARY}", "-Wl,--as-needed"])
        for extension in self.extensions:
            extension.extra_objects = [str(package / LIBRARY)]
        super().build_extensions()


setup(ext_modules=[Extension("debrief_recorder._recorder", sorted(glob("src/*.cc")), include_dirs=[str(ROOT / "include")],
                             extra_compile_args=FLAGS, extra_link_args=["-Wl,-rpath,$ORIGIN", "-Wl,--as-needed"],
                             language="c++")],
      cmdclass={"build_ext": BuildBoth})
