"""The kit is set up from a bundle, in an empty home, where every request is refused."""

import os
import subprocess
import sys

import pytest

from protocol_lab.site.bundle import bundle

pytestmark = pytest.mark.rarely

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
