"""`python -m deploy.bench`: the same commands as `memlane bench`."""

from deploy.bench.cli import app

app()
