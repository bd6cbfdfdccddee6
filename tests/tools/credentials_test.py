#!/usr/bin/env python3
"""Settings, tokens and certificates, as people meet them in `seaway config`, `token` and `cert`."""
import os
import stat
import subprocess
import tempfile
import unittest

COMMAND = os.environ["SEAWAY_COMMAND"]


class CredentialsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def seaway(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("SEAWAY_")}
        environment["XDG_RUNTIME_DIR"] = self.directory
        return subprocess.run([os.path.abspath(COMMAND), *arguments], capture_output=True, text=True,
                              timeout=30, cwd=self.directory, env={**environment, **variables})

    def expect_private(self, name):
        self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600, name)


class ConfigTest(CredentialsTest):
    def test_each_setting_is_shown_with_its_origin(self):
        self.write("cluster.toml", "islands = 2\n\ndevice_memory = '64MiB'\ndevices = 2\n")
        done = self.seaway("config", "check", "cluster.toml", "--devices", "8",
                           SEAWAY_LISTEN="unix:ctl.sock")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertEqual(len(done.stdout.splitlines()), 19)
        for key, value, origin in (("islands", "2", "cluster.toml:1"),
                                   ("device_memory", "67108864", "cluster.toml:3"),
                                   ("devices", "8", "--devices"),
                                   ("listen", "unix:ctl.sock", r"\$SEAWAY_LISTEN"),
                                   ("join", "-", "default"),
                                   ("backend", "cpu", "default"),
                                   ("directory", f"{self.directory}/seaway", "default"),
                                   ("silence_ms", "1000", "default")):
            self.assertRegex(done.stdout, rf"(?m)^{key} +{value} +{origin}$")

    def test_without_a_runtime_directory_it_is_one_of_the_user(self):
        done = self.seaway("config", "check", XDG_RUNTIME_DIR="")
        self.assertIn(f"/seaway-{os.getuid()} ", done.stdout)

    def test_a_wrong_file_is_told_with_its_place_and_exits_1(self):
        self.write("cluster.toml", "islands = 2\ndevice = 4\n")
        done = self.seaway("config", "check", "cluster.toml")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr, "seaway: INVALID_ARGUMENT: cluster.toml:2:1: no setting is called "
                                      "'device'; did you mean devices?\n")

    def test_a_file_that_cannot_be_read_exits_1(self):
        for path, why in (("absent.toml", "No such file or directory"), (".", "Is a directory")):
            done = self.seaway("config", "check", path)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"seaway: NOT_FOUND: cannot read {path}: {why}\n")

    def test_a_file_has_a_limit(self):
        self.write("cluster.toml", "#" * (1 << 20))
        self.assertEqual(self.seaway("config", "check", "cluster.toml").returncode, 0)
        for more in (1, 2):
            self.write("cluster.toml", "#" * ((1 << 20) + more))
            done = self.seaway("config", "check", "--config", "cluster.toml")
            self.assertEqual(done.returncode, 1)
            self.assertIn("RESOURCE_EXHAUSTED", done.stderr)

    def test_an_empty_flag_is_wrong(self):
        done = self.seaway("config", "check", "--join=")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--join", done.stderr)

    def test_each_setting_is_in_the_documentation(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/configuration.md")
        with open(path) as file:
            page = file.read()
        for line in self.seaway("config", "check").stdout.splitlines():
            key = line.split()[0]
            row = f"| `{key}` | `--{key.replace('_', '-')}` | `SEAWAY_{key.upper()}` |"
            self.assertIn(row, page)


class TokenTest(CredentialsTest):
    def create(self, *more):
        done = self.seaway("token", "create", "--tenant", "physics", "--role", "client", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def listed(self):
        done = self.seaway("token", "list")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split() for line in done.stdout.splitlines()[1:]]

    def test_a_token_is_printed_once_and_kept_as_a_hash(self):
        done = self.create("--quota", "1GiB")
        token = done.stdout.strip()
        self.assertRegex(token, r"^swt_[\w-]{43}$")
        self.assertNotIn(token, done.stderr)
        self.assertNotIn(token[4:], self.read("seaway/tokens"))
        self.expect_private("seaway/tokens")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("seaway")).st_mode), 0o700)
        (one,) = self.listed()
        self.assertEqual(one[1:], ["client", "never", "1073741824B", "active", "physics"])
        self.assertIn(f"token {one[0]}: ", done.stderr)

    def test_a_token_goes_to_a_new_file_for_its_owner_alone(self):
        done = self.create("--out", "physics.token")
        self.assertEqual(done.stdout, "")
        self.assertRegex(self.read("physics.token"), r"^swt_[\w-]{43}\n$")
        self.expect_private("physics.token")
        before = self.read("physics.token")
        again = self.seaway("token", "create", "--tenant", "a", "--role", "client", "--out",
                            "physics.token")
        self.assertEqual(again.returncode, 1)
        self.assertIn("File exists", again.stderr)
        self.assertEqual(self.read("physics.token"), before)
        self.assertEqual(len(self.listed()), 1)

    def test_no_two_tokens_are_alike(self):
        tokens = {self.create().stdout for _ in range(5)}
        self.assertEqual(len(tokens), 5)
        self.assertEqual(len({one[0] for one in self.listed()}), 5)

    def test_a_revoked_token_says_so(self):
        self.create()
        self.create("--expires", "30d")
        first, second = self.listed()
        self.assertRegex(second[2], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        done = self.seaway("token", "revoke", first[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([one[4] for one in self.listed()], ["revoked", "active"])

    def test_an_unknown_id_is_refused_and_nothing_changes(self):
        self.create()
        before = self.read("seaway/tokens")
        done = self.seaway("token", "revoke", "abc")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no token has the id 'abc'; `seaway token list` shows all", done.stderr)
        self.assertEqual(self.read("seaway/tokens"), before)
        self.assertEqual(os.listdir(self.path("seaway")), ["tokens"])

    def test_wrong_terms_exit_1_and_make_nothing(self):
        for more in (["--tenant", "a b", "--role", "client"], ["--tenant", "a", "--role", "root"],
                     ["--tenant", "a", "--role", "client", "--expires", "5"],
                     ["--tenant", "a", "--role", "client", "--expires", "1ms"],
                     ["--tenant", "a", "--role", "client", "--quota", "1gib"], ["--role", "client"]):
            self.assertEqual(self.seaway("token", "create", *more, "--out", "out").returncode, 1, more)
            self.assertFalse(os.path.exists(self.path("out")))

    def test_a_store_has_its_own_place(self):
        self.create("--store", "other")
        self.assertEqual(os.listdir(self.directory), ["other"])
        done = self.seaway("token", "list", "--store", "other")
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertEqual(self.seaway("token", "list", "--store", "absent").returncode, 1)

    def test_a_damaged_store_is_told_with_its_line(self):
        self.create("--store", "tokens")
        with open(self.path("tokens"), "a") as file:
            file.write("nonsense\n")
        for verb in (["list"], ["revoke", "a"],
                     ["create", "--tenant", "a", "--role", "admin", "--out", "out"]):
            done = self.seaway("token", *verb, "--store", "tokens")
            self.assertEqual(done.returncode, 1)
            self.assertIn("tokens:3: a token has 7 words", done.stderr)
        self.assertEqual(os.listdir(self.directory), ["tokens"])

    def test_a_directory_that_others_can_write_to_is_refused(self):
        os.mkdir(self.path("seaway"))
        os.chmod(self.path("seaway"), 0o777)
        done = self.seaway("token", "create", "--tenant", "a", "--role", "client")
        self.assertEqual(done.returncode, 2)
        self.assertIn("PERMISSION_DENIED", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_a_store_that_another_process_changes_is_left_alone(self):
        self.write("tokens.new", "")
        done = self.seaway("token", "create", "--tenant", "a", "--role", "client", "--store", "tokens")
        self.assertEqual(done.returncode, 1)
        self.assertIn("another process is changing the tokens", done.stderr)


class CertTest(CredentialsTest):
    def init(self, directory, *more):
        return self.seaway("cert", "init", "--cluster", "blue", "--directory", directory, *more)

    def issue(self, directory, *more):
        return self.seaway("cert", "issue", *more, "--directory", directory)

    def openssl(self, *arguments):
        return subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=30,
                              cwd=self.directory)

    def test_openssl_accepts_what_is_issued(self):
        done = self.init("keys")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.issue("keys", "worker/17", "--dns", "host.example.org", "--ip", "10.0.0.7",
                          "--dns", "localhost")
        self.assertEqual(done.returncode, 0, done.stderr)
        for purpose in ("sslserver", "sslclient"):
            verified = self.openssl("verify", "-x509_strict", "-purpose", purpose, "-CAfile",
                                    "keys/ca.pem", "keys/worker-17.pem")
            self.assertEqual(verified.stdout, "keys/worker-17.pem: OK\n", verified.stderr)
        text = self.openssl("x509", "-in", "keys/worker-17.pem", "-noout", "-text").stdout
        for part in ("URI:seaway://blue/worker/17, DNS:host.example.org, DNS:localhost, "
                     "IP Address:10.0.0.7", "CA:FALSE", "prime256v1", "ecdsa-with-SHA256",
                     "TLS Web Server Authentication, TLS Web Client Authentication"):
            self.assertIn(part, text)
        named = self.openssl("verify", "-CAfile", "keys/ca.pem", "-verify_hostname", "host.example.org",
                             "keys/worker-17.pem")
        self.assertEqual(named.returncode, 0, named.stderr)
        self.assertEqual(self.openssl("pkey", "-in", "keys/worker-17.key", "-check", "-noout").returncode,
                         0)
        self.assertEqual(sorted(os.listdir(self.path("keys"))),
                         ["ca.key", "ca.pem", "worker-17.key", "worker-17.pem"])
        for name in os.listdir(self.path("keys")):
            self.expect_private(os.path.join("keys", name))

    def test_openssl_refuses_it_under_another_authority(self):
        for directory in ("keys", "others"):
            self.assertEqual(self.init(directory).returncode, 0)
        self.assertEqual(self.issue("keys", "controller").returncode, 0)
        verified = self.openssl("verify", "-CAfile", "others/ca.pem", "keys/controller.pem")
        self.assertNotEqual(verified.returncode, 0)

    def test_nothing_is_overwritten(self):
        self.init("keys")
        self.issue("keys", "worker/1")
        before = {name: self.read(f"keys/{name}") for name in os.listdir(self.path("keys"))}
        os.remove(self.path("keys/worker-1.key"))
        for done in (self.init("keys"), self.issue("keys", "worker/1")):
            self.assertEqual(done.returncode, 1)
            self.assertIn("File exists", done.stderr)
        del before["worker-1.key"]
        after = {name: self.read(f"keys/{name}") for name in os.listdir(self.path("keys"))}
        self.assertEqual(after, before)

    def test_days_say_how_long_it_is_valid(self):
        self.init("keys", "--days", "10")
        done = self.issue("keys", "worker/1", "--days", "11")
        self.assertEqual(done.returncode, 1)
        # A second later it is not all of ten.
        self.assertRegex(done.stderr, "which has (10|9) days left")
        self.assertEqual(self.issue("keys", "worker/1", "--days", "9", "--name", "one").returncode, 0)
        soon = self.openssl("x509", "-in", "keys/one.pem", "-noout", "-checkend", str(8 * 86400))
        self.assertEqual(soon.returncode, 0)
        late = self.openssl("x509", "-in", "keys/one.pem", "-noout", "-checkend", str(10 * 86400))
        self.assertEqual(late.returncode, 1)

    def test_wrong_names_exit_1_and_write_nothing(self):
        self.assertEqual(self.seaway("cert", "init", "--cluster", "Blue").returncode, 1)
        self.assertEqual(self.seaway("cert", "issue", "controller").returncode, 1)
        self.assertEqual(os.listdir(self.directory), [])
        self.init("keys")
        for wrong in (["Worker"], ["worker/1", "--dns", "a b"], ["worker/1", "--ip", "here"],
                      ["worker/1", "--days", "0"], ["worker/1", "--days", "1000001"]):
            self.assertEqual(self.issue("keys", *wrong).returncode, 1, wrong)
        self.assertEqual(sorted(os.listdir(self.path("keys"))), ["ca.key", "ca.pem"])


class HelpTest(CredentialsTest):
    def test_help_of_each_verb_has_an_example_and_exit_codes(self):
        for verb, inner in (("config", ["check"]), ("token", ["create", "list", "revoke"]),
                            ("cert", ["init", "issue"])):
            self.assertRegex(self.seaway(verb, "--help").stdout, rf"example: seaway {verb} \w")
            for word in inner:
                done = self.seaway(verb, word, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertRegex(done.stdout, rf"example: seaway {verb} {word}")
                self.assertIn("exit codes:", done.stdout)


if __name__ == "__main__":
    unittest.main()
