"""Where log lines leave the process: never slower, never longer-lived than the work they tell of.

Lines go through a bounded queue to one daemon thread that writes them. A full queue (the reader of our output
has stopped reading) or a closed pipe (it is gone) costs lines, which are counted, and never blocks a request.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
from typing import TextIO

_CLOSED: None = None


class LogSink:
    """Thread-safe. `write` returns at once; `flush` waits for what was written before it."""

    def __init__(self, stream: TextIO, capacity: int = 10_000) -> None:
        self._stream = stream
        self._capacity = capacity
        self._start_lock = threading.Lock()
        self.dropped = 0
        self._reset()
        atexit.register(self.close)

    def _reset(self) -> None:
        self._queue: queue.Queue[str | threading.Event | None] = queue.Queue(self._capacity)
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()

    def write(self, line: str) -> None:
        """Queue one line, without its line end; dropped and counted when the queue is full."""
        self._ensure_thread()
        try:
            self._queue.put_nowait(line)
        except queue.Full:
            self.dropped += 1

    def flush(self, timeout: float = 2.0) -> bool:
        """Wait until everything queued so far is written; False when that took longer than `timeout` seconds."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            return True
        reached = threading.Event()
        try:
            self._queue.put(reached, timeout=timeout)
        except queue.Full:
            return False
        return reached.wait(timeout)

    def close(self) -> None:
        """Write what is queued, for at most two seconds, and stop the thread."""
        thread = self._thread
        if thread is None or self._pid != os.getpid():
            return
        with contextlib.suppress(queue.Full):
            self._queue.put(_CLOSED, timeout=1.0)
        thread.join(timeout=2.0)

    def _ensure_thread(self) -> None:
        if self._pid != os.getpid():  # a fork copies the queue, but not the thread
            self._reset()
        if self._thread is not None and self._thread.is_alive():
            return
        with self._start_lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._drain, name="log-sink", daemon=True)
                self._thread.start()

    def _drain(self) -> None:
        unflushed = 0
        while (item := self._queue.get()) is not _CLOSED:
            text = item + "\n" if isinstance(item, str) else ""
            unflushed += bool(text)
            flush = not text or self._queue.empty()
            if not self._write_out(text, flush=flush):
                self.dropped += unflushed
                unflushed = 0
            elif flush:
                unflushed = 0
            if isinstance(item, threading.Event):
                item.set()
        self._write_out("", flush=True)

    def _write_out(self, text: str, *, flush: bool) -> bool:
        try:
            self._stream.write(text)
            if flush:
                self._stream.flush()
        except (OSError, ValueError):  # the pipe is gone, or the stream was closed under us
            return False
        return True
