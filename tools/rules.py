"""The tables of tools/check.py: layers, fences, banned calls and their few exceptions."""
import re
from typing import NamedTuple

# A room may include rooms of earlier lines only; rooms of one line never include each other.
LAYERS = [
    ["base"],
    ["events"],
    ["wire"],
    ["transport"],
    ["actor"],
    ["app", "function", "store"],
    ["transfer", "collective"],
    ["program"],
    ["resources", "controller", "island", "device", "client"],
    ["model", "pjrt"],
    ["cluster"],
    ["sim", "front"],
    ["campaign"],
]


class Fence(NamedTuple):
    header: str  # Which headers, as a pattern over the whole name.
    inside: str  # Which files may include them, as a pattern over the whole path.
    why: str


# Files that turn values into messages and back; the only ones above the wire that know the format.
CODECS = r"(src|tests)/.*(codec|_messages|_actor|frames|fake_|door)[^/]*"

FENCES = [
    Fence(r"caf/.*",
          r"src/actor/.*|tests/support/.*|tests/unit/(actor|support)/.*|benchmarks/.*",
          "only src/actor and tests/support know CAF; use the actor facade"),
    Fence(r"(kj|capnp)/.*|.*\.capnp\.h",
          r"src/(wire|transport|actor)/.*|tests/support/.*|tests/unit/(wire|transport|actor)/.*|"
          r"benchmarks/.*|demos/.*|tools/seaway/templates/.*|tests/unit/(app|sim|campaign|docs)/.*|"
          r"tests/fuzz/.*|"
          r"include/seaway/app/(message|call)\.hpp|src/app/message\.cpp|" + CODECS,
          "only wire, transport, actor, users of the actor API and the files that translate "
          "messages know Cap'n Proto"),
    Fence(r"(oneapi/)?tbb/.*", r"src/function/.*",
          "only src/function runs kernels on threads"),
    Fence(r"cblas(_[\w]+)?\.h|openblas.*", r"src/function/.*",
          "only src/function multiplies matrices"),
    Fence(r"openssl/.*", r"src/transport/.*\.cpp|tests/unit/transport/.*",
          "only src/transport knows OpenSSL, and its headers do not"),
    Fence(r"isa-l/.*", r"src/transport/checksum\.cpp", "sums are transport::checksum()"),
    Fence(r"dlfcn\.h", r"src/pjrt/plugin\.cpp|tests/(unit/pjrt|jax)/.*",
          "only src/pjrt loads libraries"),
    Fence(r"pjrt_c_api\.h", r"tests/jax/.*",
          "a header that is fetched: Seaway's own words for it are src/pjrt/abi.hpp"),
    Fence(r"pjrt/(abi|abi_front|plugin|client)\.hpp",
          r"src/(pjrt|front)/.*|tests/(unit/(pjrt|front)|jax)/.*",
          "only src/pjrt calls plugins, and only src/front is one"),
    Fence(r"toml\+\+/.*", r"tools/seaway/config\.cpp", "only the settings of the command are TOML"),
]


class Banned(NamedTuple):
    name: str
    pattern: str  # Searched in code, after comments and literals are blanked.
    where: str  # In which files, as a pattern over the whole path.
    instead: str


# The outside world enters through the seams of these rooms; main programs make the real ones.
ABOVE_THE_SEAMS = r"include/.*|src/(?!base/|transport/|actor/).*"
# Nothing that is tested waits for the real world either.
WITH_TESTS = ABOVE_THE_SEAMS + r"|src/actor/.*|tests/(?!install/).*"

BANNED = [
    Banned("a clock", r"\b(steady_clock|system_clock|high_resolution_clock)\b|\bclock_gettime\s*\("
                      r"|\bgettimeofday\s*\(|\b_*rdtscp?\s*\(",
           ABOVE_THE_SEAMS, "take a const Clock&"),
    Banned("the time of day", r"(?<![\w.>])(std::)?time\s*\(\s*(0|NULL|nullptr|&)",
           WITH_TESTS, "take a const Clock&"),
    Banned("a random device", r"\brandom_device\b|\bs?rand\s*\(|\bgetrandom\s*\(",
           WITH_TESTS, "take a Random&, seeded by main()"),
    Banned("a thread", r"\bstd::j?thread\b|\bstd::async\b|\bthis_thread\b|\bpthread_create\b",
           ABOVE_THE_SEAMS, "hand the work to the actor facade or to function's kernels"),
    Banned("a sleep", r"\bsleep_(for|until)\b|\b(nano|u)sleep\s*\(|(?<![\w.>])sleep\s*\(\s*[\w(]",
           WITH_TESTS, "step the engine, or wait for the event itself"),
    Banned("the environment", r"\b(secure_)?getenv\b|\bsetenv\b",
           ABOVE_THE_SEAMS, "main() reads it and hands it in"),
    Banned("a file", r"\bfopen\b|\b(std::)?[io]?fstream\b|\bopen\s*\(\s*\w+\s*,\s*O_|<fstream>",
           ABOVE_THE_SEAMS, "return the bytes; main() or base writes them"),
    Banned("a socket", r"(?<![\w.>:])(::)?socket\s*\(|\bsys/socket\.h\b",
           ABOVE_THE_SEAMS, "connections are made in src/transport"),
    Banned("an order of addresses",
           r"\bunordered_(multi)?(map|set)\s*<\s*(const\s+)?[\w:]+(\s+const)?\s*\*",
           r"include/.*|src/.*", "key by id: iteration order would change from run to run"),
]

# (file, name of the banned call): reason. An entry that is not needed any more is an error.
TIMERS = "the sleep of an actor or of a simulated client is a timer: no thread stands still"
ALLOWED = {
    ("include/seaway/app/actor.hpp", "a sleep"): TIMERS,
    ("include/seaway/app/simulation.hpp", "a sleep"): TIMERS,
    ("src/app/member.cpp", "a sleep"): TIMERS,
    ("src/app/member.hpp", "a sleep"): TIMERS,
    ("src/app/silo.hpp", "a sleep"): TIMERS,
    ("src/sim/simulation.cpp", "a sleep"): TIMERS,
    ("src/sim/simulation.hpp", "a sleep"): TIMERS,
    ("src/cluster/cluster.cpp", "a thread"):
        "an embedded cluster that ends on its own control thread is taken apart by another one",
    ("src/cluster/process.cpp", "a thread"):
        "a process that ends on its own control thread is taken apart by another one",
    ("src/campaign/clean_range.cpp", "a file"):
        "what a campaign keeps from one run of its main() to the next",
    ("src/campaign/explore.cpp", "the environment"):
        "a user's test is a main() of a campaign: `seaway chaos user` tells it what to run",
    ("src/campaign/shrinking.cpp", "a file"):
        "a repro file outlives the test that failed, which is the main() of its exploration",
    ("src/campaign/user_campaign.cpp", "a file"): "a trace for people, of the same main()",
    ("src/front/settings.cpp", "the environment"):
        "a plugin is loaded by the main() of another program, which says by it where the cluster is",
    ("src/cluster/cluster.cpp", "the environment"):
        "connect() without a word asks $SEAWAY_CLUSTER: this is the main() of an embedded cluster",
}

# SEAWAY_FAULT, SEAWAY_MUTANT and SEAWAY_PROBE (src/base): where they are defined and tried, and
# where they may be used.
FAULT_POINTS_DEFINED = (r"src/base/(fault_point|mutant|probe)\.hpp|"
                        r"tests/unit/base/(fault_point|mutant)_\w*test\.cpp|"
                        r"tests/unit/sim/probes_test\.cpp")
FAULT_POINTS_INSIDE = r"src/\w+/\w+\.cpp"

FILE_LINES_MAX = 600
# What a newcomer reads from top to bottom to learn how an app of actors is built.
APP_DEMOS = ["pingpong", "skynet", "philosophers", "kv", "parameter_server", "pipeline_feed"]
APP_DEMO_LINES_MAX = 150
# Those of programs; those of the actor API, in a directory of their own, are counted apart.
PUBLIC_HEADERS_MAX = 15
APP_HEADERS_MAX = 14
README_PROGRAM_LINES_MAX = 30
# Top directories in which people and machines keep their work.
MACHINE_DIRECTORIES = ["home", "root", "work", "tmp", "mnt", "Users"]
# How docs/promises.md names a test, and where it is.
PROMISE_TEST = re.compile(r"\[`(\w+)\.(\w+)`\]\(([^)\s]+)\)")
