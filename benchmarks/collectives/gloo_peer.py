#!/usr/bin/env python3
"""All-reduces of PyTorch over gloo, between processes of this machine.

gloo_peer.py PROCESSES ELEMENTS ROUNDS PINNED FILE; writes microseconds, one a call of rank 0, as JSON,
and then says `reduced`."""
import json
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

WARM_ROUNDS = 3


def work(rank, processes, port, elements, rounds, is_pinned, path):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    if is_pinned:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    dist.init_process_group("gloo", rank=rank, world_size=processes)
    values = torch.ones(elements)
    samples_us = []
    for _ in range(WARM_ROUNDS + rounds):
        values.fill_(1)
        begin_s = time.perf_counter()
        dist.all_reduce(values)
        samples_us.append((time.perf_counter() - begin_s) * 1e6)
    if values[0].item() != processes or values[-1].item() != processes:
        sys.exit("a sum is wrong")
    if rank == 0:
        with open(path, "w") as file:
            json.dump(samples_us[WARM_ROUNDS:], file)
        print("reduced", flush=True)
    dist.barrier()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes, elements, rounds, is_pinned = (int(word) for word in sys.argv[1:5])
    mp.start_processes(work, args=(processes, port, elements, rounds, is_pinned, sys.argv[5]),
                       nprocs=processes, start_method="fork")
