"""What we found in your files: read by the command line in a process of its own, kept beside the draft."""

from __future__ import annotations

import threading

from unmask.web.settings import Settings


class Looks:
    """Files that are being looked over."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()

    def close(self) -> None:
        pass
