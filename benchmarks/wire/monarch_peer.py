#!/usr/bin/env python3
"""Two actors of Monarch, in two processes: one calls the other with some bytes and awaits them.

python3 monarch_peer.py ROUNDS FILE; writes microseconds, one a round trip, as JSON, and then says
`played`."""
import json
import os
import sys
import time

from monarch.actor import Actor, endpoint, this_host

PAYLOAD = bytes(40)
WARM_ROUNDS = 50


class Echo(Actor):
    @endpoint
    async def echo(self, payload):
        return payload


class Player(Actor):
    @endpoint
    async def play(self, other, rounds):
        samples_us = []
        for _ in range(rounds):
            called_s = time.perf_counter()
            await other.echo.call_one(PAYLOAD)
            samples_us.append((time.perf_counter() - called_s) * 1e6)
        return samples_us


processes = this_host().spawn_procs(per_host={"processes": 2})
echo = processes.slice(processes=0).spawn("echo", Echo)
player = processes.slice(processes=1).spawn("player", Player)
samples_us = player.play.call_one(echo, WARM_ROUNDS + int(sys.argv[1])).get()
with open(sys.argv[2], "w") as file:
    json.dump(samples_us[WARM_ROUNDS:], file)
print("played", flush=True)
# Its processes end with this one.
os._exit(0)
