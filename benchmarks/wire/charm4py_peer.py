#!/usr/bin/env python3
"""Two chares of charm4py, in two processes, hand some bytes to each other and back.

python3 -m charmrun.start +p2 charm4py_peer.py ROUNDS FILE; writes microseconds, one a round trip, as
JSON, and then says `played`."""
import json
import time

from charm4py import Chare, Future, Group, charm

PAYLOAD = bytes(40)
WARM_ROUNDS = 50


class Player(Chare):
    def begin(self, rounds, done):
        self.rounds_left = rounds
        self.done = done
        self.samples_us = []
        self.throw()

    def throw(self):
        self.thrown_s = time.perf_counter()
        self.thisProxy[1].throw_back(PAYLOAD)

    def throw_back(self, payload):
        self.thisProxy[0].catch(payload)

    def catch(self, payload):
        self.samples_us.append((time.perf_counter() - self.thrown_s) * 1e6)
        self.rounds_left -= 1
        if self.rounds_left > 0:
            self.throw()
        else:
            self.done.send(self.samples_us)


def main(arguments):
    players = Group(Player)
    done = Future()
    players[0].begin(WARM_ROUNDS + int(arguments[1]), done)
    samples_us = done.get()[WARM_ROUNDS:]
    with open(arguments[2], "w") as file:
        json.dump(samples_us, file)
    print("played", flush=True)
    exit()


charm.start(main)
