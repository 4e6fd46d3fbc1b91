"""BookKeeper: how ledgers are written, fenced, recovered and chained. One spec a module."""

TITLE = "BookKeeper"
