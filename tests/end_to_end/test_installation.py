"""The kit is installed as a package, by `pip install FOLDER` and `uvx`, and from a bundle.

pip and uvx fetch what pyproject.toml declares, without Spark, into an environment of their own; the
bundle is set up in an empty home, where every request is refused.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from uv import find_uv_bin

from protocol_lab.site.bundle import bundle
from tests import ROOT

pytestmark = pytest.mark.rarely

CHECK = ("protocol-lab", "check", "kafka.kip_320", "--set", "replicas=2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The files of the kit, without those that tools have left in its folder."""
    copied = tmp_path_factory.mktemp("kit") / "kit"
    left = (".git", ".venv", "__pycache__", "*.egg-info", "build", ".*_cache", "site", "bench")
    shutil.copytree(ROOT, copied, ignore=shutil.ignore_patterns(*left, ".hypothesis"))
    return copied


def run(place: Path, *words: object) -> str:
    """Run a program in this folder, where Python finds nothing of the kit; returns its output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words],
        env=environment | {"UV_PYTHON": sys.executable},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pip_installs_a_program_that_starts_and_no_tests(folder, tmp_path):
    here = tmp_path / "environment"
    venv.create(here, with_pip=True)
    python = here / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(tmp_path, python, "-m", "pip", "install", "--quiet", folder)
    listed = run(tmp_path, python, "-m", "pip", "show", "--files", "replication-protocol-lab")
    files = [line.strip() for line in listed.split("Files:\n")[1].splitlines()]
    packages = {each.split("/")[0] for each in files if each.endswith(".py")}
    # The example that `new` copies is in a folder for data.
    assert packages - {".."} == {
        "protocol_lab",
        "real_systems",
        *(each.name for each in ROOT.glob("*_spec")),
    }
    assert "holds" in run(tmp_path, python.with_name(CHECK[0]), *CHECK[1:])
    assert "my_protocol.py" in run(tmp_path, python.with_name(CHECK[0]), "new", "my_protocol")


def test_uvx_runs_a_command_from_the_folder(folder, tmp_path):
    assert "holds" in run(tmp_path, find_uv_bin(), "tool", "run", "--from", folder, *CHECK)


REFUSED = "http://127.0.0.1:9"


def test_a_bundle_sets_the_kit_up_without_a_network(tmp_path):
    stick, home = tmp_path / "stick", tmp_path / "home"
    home.mkdir()
    bundle(stick, [], [], with_spark=False)
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), REFUSED)
    settings = {"HOME": str(home), "PIP_CONFIG_FILE": os.devnull, "PATH": os.defpath, **proxies}
    words = ["--from", str(stick), "--without-spark", "check", "kafka.finite_replicated_log"]
    done = subprocess.run(
        [sys.executable, stick / "kit" / "lab.py", *words],
        env=settings,
        cwd=stick,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    assert "holds" in done.stdout
    spark = [*words[:3], "check", "kafka.finite_replicated_log", "--engine", "spark"]
    refused = subprocess.run(
        [sys.executable, stick / "kit" / "lab.py", *spark],
        env=settings,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert "python3 lab.py --with-spark" in refused.stderr
    assert "Traceback" not in refused.stderr
