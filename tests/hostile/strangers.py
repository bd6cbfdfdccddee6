#!/usr/bin/env python3
"""One stranger: a process without token or certificate that disturbs an address: strangers.py BEHAVIOUR ADDRESS CA SOURCE.

Prints `ready` and goes on until it is killed. BEHAVIOUR is one of BEHAVIOURS, or `idle` or `spin`, which are those
processes without connections.
"""
import os
import selectors
import socket
import ssl
import struct
import sys
import time

HELD = 16  # Connections that one stranger holds at once.


class Stranger:
    def __init__(self, address, ca_file, source):
        self.is_tls = address.startswith("tls:")
        host, _, port = address.partition(":")[2].rpartition(":")
        self.target = (host, int(port))
        self.source = source
        self.context = ssl.create_default_context(cafile=ca_file)

    def dial(self):
        line = socket.socket()
        line.settimeout(10)
        line.bind((self.source, 0))
        line.connect(self.target)
        return line

    def opened(self):
        line = self.dial()
        return self.context.wrap_socket(line, server_hostname=self.target[0]) if self.is_tls else line

    def hello(self):
        """The first half of what a handshake of TLS begins with; over TCP half a frame's table."""
        if not self.is_tls:
            return struct.pack("<I", 0)
        heard, said = ssl.MemoryBIO(), ssl.MemoryBIO()
        try:
            self.context.wrap_bio(heard, said, server_hostname=self.target[0]).do_handshake()
        except ssl.SSLWantReadError:
            pass
        hello = said.read()
        return hello[:len(hello) // 2]

    def refused(self):
        """Sends something wrong, and goes on sending for as long as the connection takes it."""
        noise = b"\x55" * 65536
        line = self.opened()
        try:
            line.sendall(b"\xff" * 16)
            while True:
                line.sendall(noise)
        finally:
            line.close()

    def handshakes(self):
        self.opened().close()

    def resets(self):
        line = self.dial()
        line.sendall(self.hello())
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()

    def slow(self):
        """A byte a second on each of several connections."""
        self.hold(self.opened, lambda line: line.send(b"\0"))

    def half_open(self):
        """Begins a handshake, and says nothing more."""
        hello = self.hello()

        def begun():
            line = self.dial()
            line.sendall(hello)
            return line
        self.hold(begun, lambda line: None)

    @staticmethod
    def hold(make, disturb):
        with selectors.DefaultSelector() as selector:
            while True:
                try:
                    while len(selector.get_map()) < HELD:
                        selector.register(make(), selectors.EVENT_READ)
                except OSError:
                    pass  # Refused for now.
                end = time.monotonic() + 1
                while (left := end - time.monotonic()) > 0:
                    for key, _ in selector.select(timeout=left):
                        selector.unregister(key.fileobj)  # Its time is over, or it was refused.
                        key.fileobj.close()
                for key in list(selector.get_map().values()):
                    try:
                        disturb(key.fileobj)
                    except OSError:
                        selector.unregister(key.fileobj)
                        key.fileobj.close()


# With what the same processes do that have no connections.
BEHAVIOURS = {"refused": "spin", "handshakes": "spin", "resets": "spin", "slow": "idle", "half_open": "idle"}


def main():
    behaviour, address, ca_file, source = sys.argv[1:]
    stranger = Stranger(address, ca_file, source)
    parent = os.getppid()
    print("ready", flush=True)
    while os.getppid() == parent:
        if behaviour == "idle":
            time.sleep(1)
        elif behaviour != "spin":
            try:
                getattr(stranger, behaviour)()
            except OSError:
                pass  # That is what was to happen.


if __name__ == "__main__":
    main()
