#!/usr/bin/env python3
"""Clusters over TLS, as people start them: who is let in, and what each refusal says."""
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

COMMAND = os.path.abspath(os.environ["SEAWAY_COMMAND"])
PATIENCE_S = 180


def until(holds, what):
    """Waits for `holds()`, which is not to take long but may."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"it never happened: {what}")
        time.sleep(0.01)


class ClusterOverTls(unittest.TestCase):
    """One cluster for all tests of a class: two keys of authorities, a controller, schedulers and hosts."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="seaway")
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith("SEAWAY_")}
        cls.processes = []
        for authority in ("keys", "others"):
            cls.done("cert", "init", "--cluster", "blue", "--directory", cls.path(authority))
        for role, name in (("controller", "controller"), ("worker/1", "worker"), ("host/7", "host7"),
                           ("client/ann", "ann"), ("admin/root", "admin")):
            cls.done("cert", "issue", role, "--ip", "127.0.0.1", "--name", name, "--directory", cls.path("keys"))
        cls.done("cert", "issue", "worker/1", "--ip", "127.0.0.1", "--name", "worker", "--directory",
                 cls.path("others"))
        os.mkdir(cls.path("run"), 0o700)
        for name, role, expires in (("ann", "client", "0"), ("bob", "client", "0"), ("worker", "worker", "0"),
                                    ("old", "client", "1s")):
            cls.token(name, role, expires)
        os.mkdir(cls.path("far"), 0o700)
        cls.start("controller", "controller", "--directory", cls.path("run"), "--silence-ms", "30000",
                  "--devices", "4", "--islands", "2", "--options", "device_memory=64MiB")
        with open(cls.path("run/controller.address"), encoding="utf-8") as file:
            cls.address = file.read().strip()
        for island in ("0", "1"):
            for role in ("scheduler", "host"):
                cls.start(role, "worker", "--island", island, "--directory", cls.path("far"), "--join", cls.address)

    @classmethod
    def tearDownClass(cls):
        for process in cls.processes:
            process.kill()
            process.communicate()
            process.stdout.close()
        subprocess.run(["rm", "-rf", cls.place], check=True)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.place, name)

    @classmethod
    def seaway(cls, *words):
        return subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=PATIENCE_S, cwd=cls.place,
                              env=cls.environment)

    @classmethod
    def done(cls, *words):
        done = cls.seaway(*words)
        assert done.returncode == 0, done.stderr
        return done

    @classmethod
    def token(cls, name, role="client", expires="0"):
        done = cls.done("token", "create", "--tenant", name, "--role", role, "--expires", expires, "--store",
                        cls.path("run/tokens"), "--out", cls.path(name + ".token"))
        return re.search(r"token (\w+):", done.stderr)[1]

    @classmethod
    def start(cls, role, name, *words):
        process = subprocess.Popen([COMMAND, role, "--listen", "tls:127.0.0.1:0", *cls.certificates(name), *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=cls.environment)
        cls.processes.append(process)
        line = process.stdout.readline()
        assert "listens at tls:127.0.0.1:" in line, line + process.communicate()[0]
        return process

    @classmethod
    def certificates(cls, name, authority="keys"):
        return ["--ca-file", cls.path(f"{authority}/ca.pem"), "--cert-file", cls.path(f"{authority}/{name}.pem"),
                "--key-file", cls.path(f"{authority}/{name}.key")]

    def shown(self, token):
        return ["--ca-file", self.path("keys/ca.pem"), "--token-file", self.path(token + ".token")]

    def run_there(self, *shown, demo="fig2", address=None):
        return self.seaway("run", demo, "--cluster", address or self.address.replace("tls:", "tls://"), *shown)

    def expect_refused(self, done, *parts):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for part in parts:
            self.assertIn(part, done.stderr + done.stdout)

    def audit(self):
        with open(self.path("run/audit.log"), encoding="utf-8") as file:
            return file.read()


class SecurityTest(ClusterOverTls):
    def test_digits_are_learnt_with_a_token_over_tls(self):
        done = self.run_there(*self.shown("ann"), demo="digits")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertGreaterEqual(float(re.search(r"accuracy  (\S+) %", done.stdout)[1]), 96)
        self.assertRegex(self.audit(), r"Z accepted client \d+, life 1, as token \w+ of tenant ann from 127\.0\.0\.1")
        self.assertEqual(os.stat(self.path("run/audit.log")).st_mode & 0o777, 0o600)

    def test_a_certificate_of_a_client_will_do_as_well(self):
        done = self.run_there(*self.certificates("ann"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_status_is_for_whoever_is_known(self):
        done = self.seaway("status", "--cluster", self.address, *self.shown("ann"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^  host +1  life 1 +there tls:127\.0\.0\.1:\d+$")
        self.expect_refused(self.seaway("status", "--cluster", self.address, "--ca-file", self.path("keys/ca.pem")),
                            "nothing was shown")

    def test_a_client_ends_no_cluster(self):
        self.expect_refused(self.seaway("down", "--cluster", self.address, *self.shown("ann")),
                            "may not end the cluster; it takes its owner on its machine, or a token of an admin")

    def test_a_server_that_cannot_prove_its_name_gets_no_token(self):
        wrong = ["--ca-file", self.path("others/ca.pem"), "--token-file", self.path("ann.token")]
        self.expect_refused(self.run_there(*wrong), "UNAUTHENTICATED", "see ca_file")
        by_name = self.address.replace("127.0.0.1", "localhost")
        self.expect_refused(self.run_there(*self.shown("ann"), address=by_name), "UNAUTHENTICATED",
                            "ostname mismatch")

    def test_whoever_talks_without_tls_is_told_so(self):
        self.expect_refused(self.run_there(*self.shown("ann"), address=self.address.replace("tls:", "tcp:")),
                            "PROTOCOL_ERROR", "the other end talks TLS and this one does not")

    def test_what_only_workers_may_be_takes_a_worker(self):
        far = ["--directory", self.path("far"), "--join", self.address, "--join-timeout", "1", "--island", "1"]
        listen = ["--listen", "tls:127.0.0.1:0"]
        self.expect_refused(self.seaway("host", *far, *listen, *self.certificates("ann")),
                            "may not be the host of island 1; it takes a token or a certificate of a worker")
        self.expect_refused(self.seaway("host", *far, *listen, *self.certificates("host7")),
                            "may not be the host of island 1; it takes a certificate of that role, or of worker/..")
        self.expect_refused(self.seaway("host", *far, *listen, *self.certificates("worker", "others")),
                            "see ca_file")
        self.expect_refused(self.run_there(*self.shown("worker")), "PERMISSION_DENIED", "may not run programs")

    def test_a_secret_that_others_can_read_is_not_used(self):
        self.token("loose")
        os.chmod(self.path("loose.token"), 0o644)
        self.expect_refused(self.run_there(*self.shown("loose")), "chmod 600")

    def test_a_revoked_token_ends_what_runs_with_it(self):
        number = self.token("dora")
        running = subprocess.Popen([COMMAND, "run", "digits", "--cluster", self.address, *self.shown("dora")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        until(lambda: "of tenant dora" in self.audit() or running.poll() is not None, "it is there")
        running.send_signal(signal.SIGSTOP)
        self.done("token", "revoke", number, "--store", self.path("run/tokens"))
        until(lambda: re.search(f"ended the session of process \\d+.*: token {number} was revoked", self.audit()),
              "its session is over")
        running.send_signal(signal.SIGCONT)
        _, errors = running.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(running.returncode, 0)
        self.assertIn("was revoked", errors)


class AuditOfRefusalsTest(ClusterOverTls):
    """Ten refusals of an address within a minute are written down: these are not to be behind those of other tests."""

    def test_nobody_is_let_in_who_shows_nothing_or_what_is_over(self):
        self.expect_refused(self.run_there("--ca-file", self.path("keys/ca.pem")), "UNAUTHENTICATED",
                            "nothing was shown")
        number = self.token("carl")
        self.assertEqual(self.run_there(*self.shown("carl")).returncode, 0)
        self.done("token", "revoke", number, "--store", self.path("run/tokens"))
        until(lambda: f"token {number} of tenant carl was revoked" in self.audit(), "the controller has heard")
        refused = self.run_there(*self.shown("carl"))
        self.expect_refused(refused, "UNAUTHENTICATED")
        time_of_birth = os.stat(self.path("old.token")).st_mtime
        until(lambda: time.time() > time_of_birth + 2, "the token is over")
        expired = self.run_there(*self.shown("old"))
        self.expect_refused(expired, "UNAUTHENTICATED")
        # Who is refused does not learn why; who runs the cluster does.
        self.assertEqual(refused.stderr.split(":", 2)[2:], expired.stderr.split(":", 2)[2:])
        self.assertRegex(self.audit(), r"refused 127\.0\.0\.1:\d+: .*revoked")
        self.assertRegex(self.audit(), r"refused 127\.0\.0\.1:\d+: .*expired")


class UpOverTlsTest(unittest.TestCase):
    def test_up_makes_what_it_takes(self):
        place = tempfile.mkdtemp(prefix="seaway")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SEAWAY_")}
        up = subprocess.Popen([COMMAND, "up", "--directory", place, "--silence-ms", "30000", "--islands", "2",
                               "--devices", "4", "--listen", "tls:127.0.0.1:0", "--tls", "auto"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        try:
            lines = []
            for line in up.stdout:
                lines.append(line)
                if line.startswith("from elsewhere: "):
                    break
            self.assertTrue(lines and lines[-1].startswith("from elsewhere: tls:127.0.0.1:"),
                            lines or up.communicate())
            words = lines[-1].split()[2:]
            done = subprocess.run([COMMAND, "run", "fig2", "--cluster", *words], capture_output=True, text=True,
                                  timeout=PATIENCE_S, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            # Its owner needs none of it on this machine.
            done = subprocess.run([COMMAND, "run", "fig2", "--cluster", f"unix:{place}/ctl.sock"],
                                  capture_output=True, text=True, timeout=PATIENCE_S, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            up.send_signal(signal.SIGINT)
            up.communicate(timeout=PATIENCE_S)
            subprocess.run(["rm", "-rf", place], check=True)


if __name__ == "__main__":
    unittest.main()
