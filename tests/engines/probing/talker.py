"""A server on this machine that says to each connection what a test tells it to, byte by byte if need be."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

Says = Callable[[bytes], Iterable[bytes]]


def with_status(status: str, *headers: str, body: bytes = b"") -> bytes:
    """An answer as a plain server writes it."""
    head = "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *headers, ""))
    return head.encode() + body


class Talker:
    """Listens, keeps the requests that came, and answers each with the pieces that ``says`` gives."""

    def __init__(self) -> None:
        self.says: Says = lambda _request: [with_status("200 OK")]
        self.got: list[bytes] = []
        self.ended = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listening.getsockname()[1])

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop, and wait until every connection is over."""
        self.ended.set()
        # Whoever waits for a connection is woken by one.
        with socket.create_connection(("127.0.0.1", self.port)):
            pass
        for thread in self._threads:
            thread.join()
        self._listening.close()

    def _listen(self) -> None:
        while not self.ended.is_set():
            connection, _ = self._listening.accept()
            thread = threading.Thread(target=self._talk, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            request = b""
            try:
                while b"\r\n\r\n" not in request:
                    piece = connection.recv(4_096)
                    if not piece:
                        return
                    request += piece
                self.got.append(request)
                for part in self.says(request):
                    if self.ended.is_set():
                        return
                    connection.sendall(part)
            except OSError:
                return


@contextmanager
def talker() -> Iterator[Talker]:
    """A server for as long as the block lasts."""
    it = Talker()
    try:
        yield it
    finally:
        it.close()
