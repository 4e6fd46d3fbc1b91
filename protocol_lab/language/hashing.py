"""A short hash of texts, for the names of folders and of machine code."""

import hashlib


def short_hash(*parts: str) -> str:
    """A hash of texts that is short enough for a folder's name."""
    digest = hashlib.sha256()
    for each in parts:
        digest.update(each.encode())
    return digest.hexdigest()[:24]
