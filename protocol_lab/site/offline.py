"""Writes the service worker, which keeps the site in the browser for visits without a network."""

import hashlib
import json
from pathlib import Path

WORKER = "offline.js"
"""Its name. It lies in the site's folder, since a service worker serves only what is below it."""

_NOT_KEPT = (".map", ".inv", ".buildinfo", ".nojekyll", WORKER)


def write_worker(folder: Path) -> None:
    """Write the service worker of a built site. It changes when any file of the site does."""
    files = sorted(
        each.relative_to(folder).as_posix()
        for each in folder.rglob("*")
        if each.is_file() and not each.name.endswith(_NOT_KEPT) and "_sources" not in each.parts
    )
    digest = hashlib.sha256()
    for name in files:
        digest.update(name.encode())
        digest.update((folder / name).read_bytes())
    kept = json.dumps({"name": f"lab-{digest.hexdigest()[:12]}", "files": files})
    script = (Path(__file__).parent / "js" / WORKER).read_text(encoding="utf-8")
    (folder / WORKER).write_text(f"const KEPT = {kept};\n{script}", encoding="utf-8")
