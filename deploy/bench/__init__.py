"""`memlane bench`: measures a running Memlane through its public HTTP API."""
