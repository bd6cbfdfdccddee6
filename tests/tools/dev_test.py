#!/usr/bin/env python3
"""./dev on machines that are not this one: fake package tools stand in for Debian's."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class DevTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tree = Path(directory.name) / "a tree"
        self.bin = Path(directory.name) / "bin"
        self.calls = Path(directory.name) / "calls"
        (self.tree / "tools").mkdir(parents=True)
        self.bin.mkdir()
        self.calls.touch()
        shutil.copy(ROOT / "dev", self.tree / "dev")
        (self.tree / "tools/packages.txt").write_text("# all\nmeson  configures\ng++  compiles\n")
        self.release = Path(directory.name) / "os-release"
        self.release.write_text('ID=debian\nVERSION_ID="12"\n')
        self.fake("dpkg-query", 'echo "meson installed"; exit 1')
        self.fake("apt-get", f'echo "apt-get $*" >>"{self.calls}"')
        self.fake("id", "echo 0")
        # sudo and env run what they are given, as the real ones do.
        self.fake("sudo", f'echo sudo >>"{self.calls}"; exec "$@"')
        self.fake("meson", 'mkdir -p "$2"; touch "$2/build.ninja"')
        self.fake("ninja", 'echo "ninja: no work to do."')

    def fake(self, name, body):
        (self.bin / name).write_text(f"#!/bin/bash\n{body}\n")
        (self.bin / name).chmod(0o755)

    def dev(self, *arguments, **environment):
        return subprocess.run(
            [str(self.tree / "dev"), *arguments], cwd="/", capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
            env={"PATH": f"{self.bin}:/usr/bin:/bin", "SEAWAY_OS_RELEASE": str(self.release),
                 **environment})

    def test_missing_packages_are_named_with_the_reason_and_installed(self):
        done = self.dev("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("installing 1 missing packages:\n  g++  compiles\n", done.stderr)
        calls = self.calls.read_text()
        self.assertRegex(calls, r"install --no-install-recommends g\+\+\n")
        self.assertNotIn("update", calls)
        self.assertNotIn("sudo", calls)

    def test_nothing_missing_calls_no_package_tool(self):
        self.fake("dpkg-query", "echo 'meson installed'; echo 'g++ installed'")
        done = self.dev("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls.read_text(), "")
        self.assertTrue((self.tree / "build/build.ninja").exists())

    def test_sudo_is_used_and_announced_only_when_not_root(self):
        self.fake("id", "echo 1000")
        done = self.dev("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("using sudo for apt-get, because you are not root", done.stderr)
        self.assertIn("sudo", self.calls.read_text())

    def test_package_lists_are_fetched_when_they_do_not_serve(self):
        fetched = self.calls.parent / "fetched"
        self.fake("apt-get", f'echo "apt-get $*" >>"{self.calls}"\n'
                             f'[[ $* == *update* ]] && touch "{fetched}"; [ -e "{fetched}" ]')
        done = self.dev("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fetching the package lists", done.stderr)

    def test_a_failed_installation_shows_why_and_stops(self):
        self.fake("apt-get", "echo 'E: no such package'; exit 100")
        done = self.dev("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no such package", done.stderr)

    def test_another_system_gets_the_list_of_what_is_needed(self):
        self.release.write_text("ID=fedora\nVERSION_ID=40\n")
        done = self.dev("demo")
        self.assertEqual(done.returncode, 1)
        self.assertIn("this is not Debian 12 but 'fedora 40'", done.stderr)
        self.assertIn("  g++  compiles\n", done.stderr)
        self.assertIn("SEAWAY_SKIP_PACKAGES=1 ./dev demo", done.stderr)
        self.assertEqual(self.dev("build", SEAWAY_SKIP_PACKAGES="1").returncode, 0)

    def test_a_failed_configuration_shows_the_end_of_its_output(self):
        self.fake("meson", "echo 'meson.build:1: ERROR: no compiler'; exit 1")
        done = self.dev("build", SEAWAY_SKIP_PACKAGES="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ERROR: no compiler", done.stderr)

    def test_the_program_gets_its_arguments_and_standard_output(self):
        self.dev("build", SEAWAY_SKIP_PACKAGES="1")
        program = self.tree / "build/tools/seaway/seaway"
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/bash\nprintf "%s|" "$@"; exit 7\n')
        program.chmod(0o755)
        for arguments, expected in ((["demo"], "demo|digits|"), (["demo", "fig2"], "demo|fig2|"),
                                    (["demo", "--quick"], "demo|digits|--quick|"),
                                    (["bench"], "bench|list|"), (["seaway", "a b"], "a b|")):
            done = self.dev(*arguments, SEAWAY_SKIP_PACKAGES="1")
            self.assertEqual((done.returncode, done.stdout), (7, expected))

    def test_what_needs_a_plugin_that_is_not_there_is_not_run_and_has_not_passed(self):
        done = self.dev("test", "jax")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "0 passed, 0 failed, jax not run\n")
        self.assertIn("there is no plugin in build/jax; ./dev jax fetches one", done.stderr)

    def test_without_a_gpu_or_its_plugin_nothing_has_passed(self):
        gpu = self.tree / "gpu"
        for device, reason in ((gpu, f"there is no GPU ({gpu})"), (self.tree, "there is no CUDA plugin")):
            done = self.dev("test", "gpu", SEAWAY_GPU=str(device), SEAWAY_CUDA_PLUGIN="")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout, "0 passed, 0 failed, gpu not run\n")
            self.assertIn("not run: " + reason, done.stderr)

    def fetched_jax(self):
        """What ./dev jax has left in build/jax on a machine with no newer Python."""
        jax = self.tree / "build/jax"
        (jax / "include").mkdir(parents=True)
        (jax / "venv/bin").mkdir(parents=True)
        (self.tree / "tools/jax_packages.txt").write_text("plugin==1\n")
        (self.tree / "tools/jax_python.txt").write_text("jax==1\n")
        (self.tree / "tools/jax_newer_python.txt").write_text("jax==2 --hash=sha256:0\n")
        (self.tree / "tools/make_wheel.py").write_text("print('a.whl')\n")
        (self.tree / "tools/run_tests.py").write_text("import sys\nprint(sys.argv[2:])\n")
        for name in ("plugin.so", "include/pjrt_c_api.h"):
            (jax / name).touch()
        for name in ("python", "pip"):
            program = jax / "venv/bin" / name
            program.write_text(f'#!/bin/bash\necho "${{0#*build/}}" "$@" >>"{self.calls}"\n')
            program.chmod(0o755)
        (jax / "packages.txt").write_text("plugin==1\njax==1\n")
        for name in ("python3.13", "python3.12"):
            self.fake(name, "exit 1")
        return jax

    def newer_python(self, jax):
        """A Python that makes environments, by copying the one that is there."""
        self.fake("python3.12", f'[ "$1" = -c ] || cp -r "{jax}/venv" "$3"')

    def test_a_plugin_that_was_fetched_is_not_fetched_again(self):
        self.fetched_jax()
        done = self.dev("jax", "--steps", "3", SEAWAY_SKIP_PACKAGES="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a plugin and JAX are in build/jax already", done.stderr)
        self.assertIn("demos/jax/train.py --steps 3", self.calls.read_text())

    def test_a_newer_jax_is_fetched_once_where_there_is_a_python_for_it(self):
        self.newer_python(self.fetched_jax())
        for fetches in (1, 0):
            self.calls.write_text("")
            done = self.dev("jax", SEAWAY_SKIP_PACKAGES="1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.calls.read_text().count("jax/newer/venv/bin/pip download"), fetches)

        tested = self.dev("test", "jax", SEAWAY_SKIP_PACKAGES="1")
        self.assertEqual(tested.stdout, "['--suite', 'jax']\n")
        self.assertRegex(self.calls.read_text(), "jax/newer/venv/bin/pip install .*a.whl")

    def test_a_newer_jax_that_is_not_there_is_not_run_and_the_reason_is_said(self):
        jax = self.fetched_jax()
        done = self.dev("jax", SEAWAY_SKIP_PACKAGES="1")
        self.assertIn("JAX 2 not fetched: no Python 3.12 or 3.13 here", done.stderr)
        tested = self.dev("test", "jax", SEAWAY_SKIP_PACKAGES="1")
        self.assertIn("'JAX 2 not run: no Python 3.12 or 3.13 here'", tested.stdout)

        self.newer_python(jax)
        tested = self.dev("test", "jax", SEAWAY_SKIP_PACKAGES="1")
        self.assertIn("'JAX 2 not run: ./dev jax has not fetched it'", tested.stdout)

    def test_bad_usage_exits_1_and_help_exits_0(self):
        self.assertEqual(self.dev("help").returncode, 0)
        for arguments in (["bild"], ["build", "extra"], ["check", "extra"]):
            self.assertEqual(self.dev(*arguments, SEAWAY_SKIP_PACKAGES="1").returncode, 1)


if __name__ == "__main__":
    unittest.main()
