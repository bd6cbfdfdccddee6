#!/usr/bin/env python3
"""A cluster of two islands with four devices each trains its model on one processor with 256 MiB."""
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import unittest

from processes_test import COMMAND, PATIENCE_S, processes_of, until

MEMORY_BYTES = 256 << 20
PROCESSES = ["controller", "host 0", "host 1", "scheduler 0", "scheduler 1", "up"]
# Instrumented code is not what small machines run.
IS_SANITIZED = bool(os.environ.get("SEAWAY_SANITIZED"))


def on_a_small_machine():
    """Of a child and all that it starts: no process may have more memory of its own than all may have together."""
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    if not IS_SANITIZED:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def kilobytes(process, *names):
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        text = file.read()
    return [int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) for name in names]


def listening_of(process):
    """The ports and the Unix sockets that it listens at."""
    inodes = set()
    for name in os.listdir(f"/proc/{process}/fd"):
        try:
            inodes.update(re.findall(r"^socket:\[(\d+)\]$", os.readlink(f"/proc/{process}/fd/{name}")))
        except OSError:
            continue  # It was of a connection that has ended.
    ports, paths = [], []
    for table in ("tcp", "tcp6"):
        if os.path.exists(f"/proc/{process}/net/{table}"):
            with open(f"/proc/{process}/net/{table}", encoding="ascii") as file:
                for words in map(str.split, file.readlines()[1:]):
                    if words[3] == "0A" and words[9] in inodes:
                        ports.append(int(words[1].rpartition(":")[2], 16))
    with open(f"/proc/{process}/net/unix", encoding="ascii") as file:
        for words in map(str.split, file.readlines()[1:]):
            if words[3] == "00010000" and words[6] in inodes:
                paths.append(words[7])
    return ports, sorted(paths)


class SmallMachineTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="seaway")
        self.up = None

    def tearDown(self):
        if self.up:
            self.up.send_signal(signal.SIGINT)
            self.up.communicate(timeout=PATIENCE_S)
        until(lambda: not processes_of(self.directory), "all processes of the cluster have ended")
        subprocess.run(["rm", "-rf", self.directory], check=True)

    def start(self, *words):
        self.up = subprocess.Popen([COMMAND, "up", "--directory", self.directory, "--silence-ms", "30000",
                                    "--islands", "2", "--devices", "4", *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   preexec_fn=on_a_small_machine)
        line = self.up.stdout.readline()
        self.assertRegex(line, r"^ready in [\d.]+ s: ", line)
        processes = {name: number for number, name in processes_of(self.directory).items()}
        self.assertEqual(sorted(processes), PROCESSES)
        return processes

    def run_digits(self):
        """How much memory the client had at most."""
        client = subprocess.Popen([COMMAND, "run", "digits", "--cluster", f"unix:{self.directory}/ctl.sock"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  preexec_fn=on_a_small_machine)
        # OpenBLAS wants 128 MiB of addresses for each product that is under way, and asks for ever if there are none.
        patience = threading.Timer(PATIENCE_S, client.kill)
        patience.start()
        output = client.stdout.read()
        patience.cancel()
        client.stdout.close()
        _, status, usage = os.wait4(client.pid, 0)
        client.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(client.returncode, 0, output)
        self.assertGreaterEqual(float(re.search(r"accuracy  (\S+) %", output)[1]), 96)
        return usage.ru_maxrss

    def test_digits_are_learnt_on_one_processor_with_256_mib(self):
        processes = self.start()
        for number in processes.values():
            self.assertEqual(len(os.sched_getaffinity(number)), 1)
            if not IS_SANITIZED:
                self.assertEqual(resource.prlimit(number, resource.RLIMIT_DATA)[0], MEMORY_BYTES)

        client_kb = self.run_digits()

        found = {name: kilobytes(number, "VmHWM", "RssFile", "VmData") for name, number in processes.items()}
        # Pages of files are those of the command and of the system's libraries, which all of them share;
        # the client's are counted once more.
        own_kb = sum(most - file for most, file, _ in found.values())
        all_kb = own_kb + max(file for _, file, _ in found.values()) + client_kb
        for name, (most, file, data) in sorted(found.items()):
            print(f"{name:12} at most {most:6} kB, of which {file:6} kB of files; may write to {data:6} kB")
        print(f"{'client':12} at most {client_kb:6} kB")
        print(f"all of them: {all_kb} kB; with shared pages counted for each: "
              f"{sum(most for most, _, _ in found.values()) + client_kb} kB")
        if not IS_SANITIZED:
            self.assertLess(all_kb * 1024, MEMORY_BYTES)
        self.assertEqual(sorted(processes_of(self.directory).values()), PROCESSES)

    def test_each_process_listens_at_one_socket(self):
        processes = self.start()
        sockets = {"controller": "ctl", "host 0": "host0", "host 1": "host1", "scheduler 0": "scheduler0",
                   "scheduler 1": "scheduler1"}
        for name, number in processes.items():
            paths = [f"{self.directory}/{sockets[name]}.sock"] if name in sockets else []
            self.assertEqual(listening_of(number), ([], paths), name)

    def test_who_is_reached_from_elsewhere_has_one_port_and_says_in_its_file_which(self):
        processes = self.start("--listen", "tls:127.0.0.1:0", "--tls", "auto")
        self.run_digits()
        seen = set()
        for name, number in processes.items():
            ports, paths = listening_of(number)
            if name == "up":
                self.assertEqual((ports, paths), ([], []))
                continue
            # Who is reached from this machine alone has none.
            is_local = name.startswith("scheduler")
            self.assertEqual((len(ports), len(paths)), (0 if is_local else 1, 1), name)
            with open(f"{self.directory}/{name.replace(' ', '')}.address", encoding="utf-8") as file:
                addresses = file.read().split()
            self.assertEqual(sorted(addresses), [f"tls:127.0.0.1:{port}" for port in ports] + [f"unix:{paths[0]}"])
            seen.update(ports)
        self.assertEqual(len(seen), 3)


if __name__ == "__main__":
    unittest.main()
