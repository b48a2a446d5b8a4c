"""deploy/Dockerfile: its instructions, and what its first stage builds in a clean root."""

from __future__ import annotations

import re
import shlex
import shutil

from deploy.clean_root import CleanRoot
from deploy.clone import PIP

from testbed.servers.process import ROOT

DOCKERFILE = ROOT / "deploy/Dockerfile"


def instructions():
    """Returns the Dockerfile's stages, each as its instructions: word and arguments."""
    text = re.sub(r"(?m)^#.*\n", "", DOCKERFILE.read_text("utf-8")).replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line]
    starts = [number for number, (word, _) in enumerate(lines) if word == "FROM"]
    return [lines[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def one(stage, wanted):
    """Returns the arguments of an instruction that a stage has once."""
    (found,) = (arguments for word, arguments in stage if word == wanted)
    return found


BUILD, IMAGE = instructions()
PROGRAMS = "/opt/headroom/bin:/usr/bin:/bin"  # the image's PATH, but for what is this machine's
ENVIRONMENT = {
    name: value for name, _, value in (word.partition("=") for word in shlex.split(one(IMAGE, "ENV"))) if name != "PATH"
} | {"PATH": PROGRAMS}


def build(folder):
    """Returns a clean root with what the first stage builds."""
    root = CleanRoot(folder)
    directory = "/"
    for word, arguments in BUILD:
        if word == "WORKDIR":
            directory = arguments
        elif word == "COPY":
            *names, target = arguments.split()
            there = root.place(target if target.startswith("/") else f"{directory}/{target}")
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, there, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, there)
        elif word == "RUN":
            root.run(re.sub(r"--mount=\S+", "", arguments), directory=directory, environment={"HOME": "/root", **PIP})
    return root
