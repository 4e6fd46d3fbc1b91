"""JupyterLab on the kit's notebooks, with the kit's settings; `lab.py` runs this module."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from protocol_lab.system.operating_system import is_macos, is_windows, user_number
from protocol_lab.system.process import crash

KIT = Path(__file__).parents[2]
START = "notebooks/00_start_here.ipynb"


def command_line(options: list[str]) -> list[str]:
    """The words that start JupyterLab; without a display it only prints the address."""
    words = [
        "jupyter-lab",
        "-y",
        "--log-level=WARN",
        f"--ServerApp.root_dir={KIT}",
        f"--LabApp.default_url=/lab/tree/{START}",
        *settings(Path(sys.prefix, "share", "jupyter", "lab")),
    ]
    if not has_display() and "--no-browser" not in options:
        words.append("--no-browser")
    if user_number() == 0:
        words.append("--allow-root")  # in a container there may be no other user
    return words + options


def settings(folder: Path) -> list[str]:
    """Options that start JupyterLab with the kit's settings, written into this folder.

    JupyterLab does not ask about news, and opens with its side bars closed. It saves a widget's
    state in the notebook, so that a stepper shows its last position even without a kernel. The dark
    theme has dark pictures. The user's own settings have precedence.
    """
    app_settings, workspaces = folder / "settings", folder / "workspaces"
    overrides = {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        },
        "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
    }
    _write_json(app_settings / "overrides.json", overrides)
    workspace = workspaces / "default-37a8.jupyterlab-workspace"  # the name JupyterLab gives it
    if not workspace.exists():
        closed = {"collapsed": True, "visible": True, "widgets": []}
        layout = {"layout-restorer:data": {"left": closed, "right": closed}}
        _write_json(workspace, {"data": layout, "metadata": {"id": "default"}})
    style = folder / "custom" / "custom.css"  # the name under which JupyterLab looks for it
    style.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(KIT / "protocol_lab" / "drawing" / "dark.css", style)
    return [
        # A language server that lies in the environment for the tests speaks up in dialogs.
        "--LanguageServerManager.autodetect=False",
        f"--LabApp.app_settings_dir={app_settings}",
        f"--LabApp.workspaces_dir={workspaces}",
        "--LabApp.custom_css=True",
        f"--ServerApp.tornado_settings=static_custom_path={style.parent}",
    ]


def write_kernel(folder: Path) -> None:
    """Write the kernel of the notebooks into a folder of Jupyter's: ipykernel's own, which starts
    without looking for its modules in the notebook's folder (-P)."""
    from ipykernel.kernelspec import get_kernel_dict

    kernel = get_kernel_dict()
    kernel["argv"].insert(1, "-P")
    _write_json(folder / "kernels" / "python3" / "kernel.json", kernel)


def compile_in_advance() -> None:
    """Start a process that compiles what first searches would wait for, while this one runs."""
    words = [sys.executable, "-P", "-m", "protocol_lab.prepare", str(os.getpid())]
    nothing = subprocess.DEVNULL
    with suppress(OSError):  # then the first searches compile
        subprocess.Popen(
            words, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )


def has_display() -> bool:
    """Would the person at the terminal see a browser that is started here?"""
    remote = ("CI", "CODESPACES", "BINDER_SERVICE_HOST", "REMOTE_CONTAINERS", "SSH_CONNECTION")
    if any(os.environ.get(name) for name in remote):
        return False
    if is_windows() or is_macos():
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _write_json(path: Path, content: object) -> None:
    """Write a file, and create its parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")


if __name__ == "__main__":
    try:
        from jupyterlab.labapp import main
    except ModuleNotFoundError as missing:
        sys.exit(crash(missing, sys.argv))

    write_kernel(Path(sys.prefix, "share", "jupyter"))
    print("Starting JupyterLab; press Ctrl-C to end it.", file=sys.stderr, flush=True)
    compile_in_advance()
    sys.argv = command_line(sys.argv[1:])
    sys.exit(main())
