"""Tests in a browser; a package, since its fixtures end with it."""
