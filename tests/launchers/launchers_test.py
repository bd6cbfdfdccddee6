#!/usr/bin/env python3
"""A cluster started by Slurm and by mpirun, on emulated nodes; units of systemd, manifests of Kubernetes."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]
DEPLOY = os.environ["SEAWAY_DEPLOY"]
RANK = os.path.join(DEPLOY, "rank.sh")
NODES = 4
DIGITS_DEVICES = "4"

SLURM_CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={dir}/run/munge.sock
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/run/spool.%n
SlurmctldPidFile={dir}/run/slurmctld.pid
SlurmdPidFile={dir}/run/slurmd.%n.pid
SlurmctldLogFile={dir}/log/slurmctld.log
SlurmdLogFile={dir}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
KillWait=2
SlurmdTimeout=5
{nodes}
PartitionName=p Nodes=n[1-{count}] Default=YES State=UP
"""


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not in {seconds} s: {what}")
        time.sleep(0.02)


def free_ports(count):
    """Ports one behind the other that nobody has now."""
    for base in range(21000, 60000, count + 1):
        sockets = []
        try:
            for port in range(base, base + count):
                one = socket.socket()
                sockets.append(one)
                one.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise AssertionError("no ports are free")


def processes(*words):
    """Process ids whose command line has all the words, in their order of numbers."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                line = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if all(word in line for word in words):
            found.append(int(name))
    return sorted(found)


def alive(pid):
    """Whether a process runs: one that its parent has not yet looked at does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def rank_of(pid):
    """What Slurm has told a process; None: nothing."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return None
    return next((word[13:].decode() for word in words if word.startswith(b"SLURM_PROCID=")), None)


class Launcher(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="seaway")
        os.chmod(self.scratch, 0o755)  # munged insists.
        self.directory = os.path.join(self.scratch, "job")
        self.address = f"unix:{self.directory}/ctl.sock"
        self.environment = {**os.environ, "SEAWAY_COMMAND": COMMAND, "SEAWAY_RANK": RANK,
                            "SEAWAY_SHARED": self.scratch}

    def tearDown(self):
        until(lambda: not processes("--directory", self.directory), "all roles have ended")
        shutil.rmtree(self.scratch, ignore_errors=True)

    def seaway(self, *words):
        return subprocess.run([COMMAND, *words, "--cluster", self.address], capture_output=True, text=True,
                              timeout=120)

    def wait(self):
        done = self.seaway("status", "--wait", "60")
        self.assertEqual(done.returncode, 0, done.stderr)

    def places(self, role):
        done = self.seaway("status", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [place for place in json.loads(done.stdout)["processes"] if place["role"] == role]

    def hosts(self):
        return {place["index"]: place["there"] for place in self.places("host")}

    def annexes(self):
        return {f"{place['island']}.{place['host']}": place["there"] for place in self.places("annex")}

    def check_digits(self):
        done = self.seaway("run", "digits")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class MpiTest(Launcher):
    @contextlib.contextmanager
    def job(self, *words):
        """A cluster of NODES ranks, which is ready, and is stopped in the end."""
        job = subprocess.Popen(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(NODES), RANK,
                                self.directory, "--devices", DIGITS_DEVICES, *words],
                               env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            self.wait()
            yield
            self.assertEqual(self.seaway("down").returncode, 0)
        finally:
            job.terminate()
            output, _ = job.communicate(timeout=60)
        self.assertNotIn(b"again and again", output)

    def test_mpirun_starts_an_island_a_rank_and_ends_with_the_cluster(self):
        with self.job():
            self.assertEqual(self.hosts(), {island: True for island in range(NODES)})
            self.check_digits()

    def test_with_hosts_an_island_has_so_many_ranks(self):
        with self.job("--hosts", "2"):
            self.assertEqual(self.hosts(), {0: True, 1: True})
            self.assertEqual(self.annexes(), {"0.1": True, "1.1": True})
            self.check_digits()

    def test_ranks_that_make_no_islands_are_refused(self):
        ranks = {"PMI_RANK": "0", "PMI_SIZE": "4"}
        for words, variables, count in ((["--hosts", "3"], {}, "3"), (["--hosts=0"], {}, "0"),
                                        ([], {"SEAWAY_HOSTS": "5"}, "5"), (["--hosts"], {}, "?")):
            done = subprocess.run([RANK, self.directory, *words], env={**self.environment, **ranks, **variables},
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"rank.sh: 4 ranks are no islands of {count} hosts each; start a multiple of "
                                 "--hosts\n"))


class SlurmTest(Launcher):
    def setUp(self):
        super().setUp()
        self.dir = os.path.join(self.scratch, "slurm")
        for name in ("state", "log", "run"):
            os.makedirs(os.path.join(self.dir, name))
        key = os.path.join(self.dir, "key")
        with open(key, "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(key, 0o400)
        host, port = subprocess.check_output(["hostname", "-s"], text=True).strip(), free_ports(NODES + 1)
        nodes = "\n".join(f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + i} CPUs=4 "
                          "RealMemory=1000" for i in range(1, NODES + 1))
        self.conf = os.path.join(self.dir, "slurm.conf")
        with open(self.conf, "w") as file:
            file.write(SLURM_CONF.format(host=host, port=port, user="root", dir=self.dir, nodes=nodes,
                                         count=NODES))
        self.environment["SLURM_CONF"] = self.conf
        self.job = None
        run = lambda *words: subprocess.run(words, check=True, env=self.environment, timeout=60)
        run("munged", f"--key-file={key}", f"--socket={self.dir}/run/munge.sock",
            f"--pid-file={self.dir}/run/munged.pid", f"--log-file={self.dir}/log/munged.log",
            f"--seed-file={self.dir}/seed")
        run("slurmctld", "-f", self.conf, "-c")
        for i in range(1, NODES + 1):
            run("slurmd", "-f", self.conf, "-N", f"n{i}", "-c")

    def pid_of(self, name):
        try:
            with open(f"{self.dir}/run/{name}.pid") as file:
                return int(file.read())
        except (OSError, ValueError):
            return None

    def tearDown(self):
        if self.job:
            self.job.terminate()
            self.job.communicate(timeout=60)
        # Slurm's daemons are not what is tested: a slurmd that is told to end may first wait for minutes
        # for a thread of its own, so each is asked, and then not asked.
        for name in [f"slurmd.n{i}" for i in range(1, NODES + 1)] + ["slurmctld", "munged"]:
            pid = self.pid_of(name)
            if pid and alive(pid):
                os.kill(pid, signal.SIGTERM)
                try:
                    until(lambda: not alive(pid), name, 10)
                except AssertionError:
                    os.kill(pid, signal.SIGKILL)
                    until(lambda: not alive(pid), f"{name} has ended")
        super().tearDown()

    def start(self):
        self.job = subprocess.Popen(["srun", f"-N{NODES}", f"-n{NODES}", "--kill-on-bad-exit=0", RANK,
                                     self.directory, "--devices", DIGITS_DEVICES],
                                    env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.wait()

    def test_srun_starts_an_island_a_node_and_others_outlive_the_death_of_one(self):
        self.start()
        self.check_digits()
        node = self.pid_of(f"slurmd.n{NODES}")
        island = str(NODES - 1)
        # A machine that loses its power says nothing: its daemon, the step on it, and all that it runs.
        ranks = [pid for pid in processes("bash", RANK, self.directory) if rank_of(pid) == island]
        dead = [node, *ranks, *processes("--directory", self.directory, "--island", island)]
        for pid in dead:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

        until(lambda: self.hosts() == {i: i != NODES - 1 for i in range(NODES)}, "its host is lost")
        self.check_digits()
        self.assertEqual(self.seaway("down").returncode, 0)

    def test_sbatch_runs_a_program_on_a_cluster_of_its_own(self):
        output = os.path.join(self.scratch, "job.out")
        self.environment["SEAWAY_CONTROLLER_WORDS"] = f"--devices {DIGITS_DEVICES}"
        submitted = subprocess.run(
            ["sbatch", "--parsable", "-N", str(NODES), "-o", output, os.path.join(DEPLOY, "slurm/seaway.sbatch"),
             "bash", "-c", f"{COMMAND} run digits --cluster $SEAWAY_CLUSTER"],
            env=self.environment, capture_output=True, text=True, cwd=self.scratch, timeout=60)
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        number = submitted.stdout.strip()
        self.directory = os.path.join(self.scratch, f"seaway-{number}")

        def state():
            done = subprocess.run(["scontrol", "show", "job", number], env=self.environment, text=True,
                                  capture_output=True, timeout=60)
            return next((word[9:] for word in done.stdout.split() if word.startswith("JobState=")), "")

        until(lambda: state() not in ("", "PENDING", "CONFIGURING", "RUNNING", "COMPLETING"), "the job has ended",
              120)
        with open(output) as file:
            said = file.read()
        self.assertEqual(state(), "COMPLETED", said)
        self.assertIn("ends", said)  # `seaway down`, after the program.


class ManifestsTest(unittest.TestCase):
    def test_units_of_systemd_are_right(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in sorted(os.listdir(os.path.join(DEPLOY, "systemd"))):
                with open(os.path.join(DEPLOY, "systemd", name)) as file:
                    unit = file.read().replace("/usr/bin/seaway", COMMAND)
                path = os.path.join(directory, name.replace("@", "@0"))
                with open(path, "w") as file:
                    file.write(unit)
                done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True,
                                      timeout=60)
                # Unknown keys leave the exit code at 0.
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), name)

    def test_commands_in_units_and_manifests_take_their_words(self):
        """Each flag and variable that they use is one of the command's."""
        for role in ("controller", "scheduler", "host", "status"):
            words = subprocess.run([COMMAND, role, "--help"], capture_output=True, text=True, check=True,
                                   timeout=30).stdout
            for flag in {"controller": ["--islands", "--devices", "--config"], "status": ["--cluster"]}.get(
                    role, ["--island", "--config", "--join-timeout"]):
                self.assertIn(flag, words, role)

    @unittest.skipUnless(os.access(os.environ["KUBERNETES_VALIDATE"], os.X_OK), "kubernetes-validate is not there")
    def test_manifests_of_kubernetes_fit_their_schemas(self):
        path = os.path.join(DEPLOY, "kubernetes", "seaway.yaml")
        done = subprocess.run([os.environ["KUBERNETES_VALIDATE"], "--strict", "-k", "1.35", path],
                              capture_output=True, text=True, timeout=120)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        # An unknown kind only warns.
        self.assertFalse([line for line in said.splitlines() if line.startswith("WARN")], said)
        self.assertEqual(said.count(" passed for resource "), 4, said)


if __name__ == "__main__":
    missing = [tool for tool in ("munged", "slurmctld", "slurmd", "srun", "sbatch", "mpirun", "systemd-analyze")
               if not shutil.which(tool)]
    if missing:
        sys.exit(f"launchers_test: {', '.join(missing)} missing; `./dev launchers` installs them")
    unittest.main()
