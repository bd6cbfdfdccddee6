// Settings: who goes before whom, what is refused, and what people are told then.

#include "config.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace seaway::tools {
namespace {

Result<Settings> of_file(std::string text) {
  return read_settings({.default_directory = "/run/seaway",
                        .file_text = std::move(text),
                        .file_name = "cluster.toml",
                        .variables = {},
                        .flags = {}});
}

Result<Settings> of_flag(std::string key, std::string value) {
  return read_settings({.default_directory = "/run/seaway",
                        .file_text = {},
                        .file_name = {},
                        .variables = {},
                        .flags = {{std::move(key), std::move(value)}}});
}

Result<Settings> of_variable(std::string name, std::string value) {
  return read_settings({.default_directory = "/run/seaway",
                        .file_text = {},
                        .file_name = {},
                        .variables = {{std::move(name), std::move(value)}},
                        .flags = {}});
}

std::string told(const Result<Settings>& settings) { return settings.to_string(); }

const Setting& setting(const Settings& settings, std::string_view key) {
  return *std::ranges::find_if(settings.all, [key](const Setting& one) { return one.key == key; });
}

TEST(Settings, AreDefaultsWhenNobodySaysAnything) {
  const Settings settings = of_file("").value();

  ClusterConfig expected;
  expected.directory = "/run/seaway";
  EXPECT_EQ(settings.config, expected);
  EXPECT_EQ(settings.all.size(), 19u);
  for (const Setting& one : settings.all) EXPECT_EQ(one.origin, "default") << one.key;
}

TEST(Settings, OfAFileReachEachMember) {
  const Settings settings = of_file(R"(islands = 2
devices = 3
hosts = 3
device_memory = "64MiB"
host_memory = 4096
threads = 5
backend = "pjrt:/plugin.so"
listen = "tls:0.0.0.0:0"
join = "tls:[fe80::1]:4711"
advertise = "host.example.org"
directory = "/run/other"
token_file = "token"
ca_file = "ca.pem"
cert_file = "worker.pem"
key_file = "worker.key"
log_level = "debug"
heartbeat_ms = 10
silence_ms = 20
drain_ms = 30)")
                                .value();

  const ClusterConfig expected = {.islands = 2,
                                  .devices = 3,
                                  .hosts = 3,
                                  .device_memory = std::uint64_t{64} << 20,
                                  .host_memory = 4096,
                                  .threads = 5,
                                  .backend = "pjrt:/plugin.so",
                                  .listen = "tls:0.0.0.0:0",
                                  .join = "tls:[fe80::1]:4711",
                                  .advertise = "host.example.org",
                                  .directory = "/run/other",
                                  .token_file = "token",
                                  .ca_file = "ca.pem",
                                  .cert_file = "worker.pem",
                                  .key_file = "worker.key",
                                  .log_level = "debug",
                                  .heartbeat_ms = 10,
                                  .silence_ms = 20,
                                  .drain_ms = 30};
  EXPECT_EQ(settings.config, expected);
  for (std::size_t index = 0; index < settings.all.size(); ++index) {
    EXPECT_EQ(settings.all[index].origin, "cluster.toml:" + std::to_string(index + 1));
  }
}

TEST(Settings, AFlagGoesBeforeAVariableBeforeTheFileBeforeADefault) {
  const ConfigSources sources = {.default_directory = "/run/seaway",
                                 .file_text = "islands = 2\ndevices = 2\n\nthreads = 2",
                                 .file_name = "cluster.toml",
                                 .variables = {{"SEAWAY_ISLANDS", "3"}, {"SEAWAY_DEVICES", "3"}},
                                 .flags = {{"islands", "4"}}};

  const Settings settings = read_settings(sources).value();

  EXPECT_EQ(settings.config.islands, 4u);
  EXPECT_EQ(settings.config.devices, 3u);
  EXPECT_EQ(settings.config.threads, 2u);
  EXPECT_EQ(setting(settings, "islands").origin, "--islands");
  EXPECT_EQ(setting(settings, "devices").origin, "$SEAWAY_DEVICES");
  EXPECT_EQ(setting(settings, "threads").origin, "cluster.toml:4");
  EXPECT_EQ(setting(settings, "join").origin, "default");
}

TEST(Settings, AWrongValueIsToldWithItsPlaceAndWhatIsAllowed) {
  EXPECT_EQ(told(of_file("devices = 1\n  islands = 0")),
            "INVALID_ARGUMENT: cluster.toml:2:13: islands = 0: allowed is a number from 1 to 1024");
  EXPECT_EQ(told(of_file("islands = '2'")),
            "INVALID_ARGUMENT: cluster.toml:1:11: islands = 2 is a string: allowed is a number "
            "from 1 to 1024");
  EXPECT_EQ(told(of_file("listen = [1]")).substr(0, 64),
            "INVALID_ARGUMENT: cluster.toml:1:10: listen = [...] is a list: a");
  EXPECT_EQ(told(of_flag("device_memory", "64Mib")),
            "INVALID_ARGUMENT: --device-memory: device_memory = 64Mib: allowed is a number of "
            "bytes, or a size such as 64MiB or 1GB, above 0");
  EXPECT_EQ(told(of_variable("SEAWAY_LOG_LEVEL", "loud")),
            "INVALID_ARGUMENT: $SEAWAY_LOG_LEVEL: log_level = loud: allowed is error, warning, "
            "info or debug");
}

TEST(Settings, AnUnknownKeyIsAnErrorThatNamesTheNearest) {
  EXPECT_EQ(told(of_file("\ndevice = 4")),
            "INVALID_ARGUMENT: cluster.toml:2:1: no setting is called 'device'; did you mean "
            "devices?");
  EXPECT_EQ(told(of_file("[cluster]\nislands = 2")),
            "INVALID_ARGUMENT: cluster.toml:1:2: no setting is called 'cluster'; there are: "
            "islands devices hosts device_memory host_memory threads backend listen join advertise "
            "directory "
            "token_file "
            "ca_file cert_file key_file log_level heartbeat_ms silence_ms drain_ms");
  EXPECT_EQ(told(of_flag("isles", "4")).substr(0, 56),
            "INVALID_ARGUMENT: --isles: no setting is called 'isles';");
}

TEST(Settings, ALongUnknownKeyIsComparedWithNothing) {
  const std::string key = "device_memory" + std::string(51, 'x');

  EXPECT_NE(told(of_flag(key, "1")).find("did you mean device_memory?"), std::string::npos);
  EXPECT_EQ(told(of_flag(key + "x", "1")).find("did you mean"), std::string::npos);
}

TEST(Settings, TheFirstMistakeOfAFileIsTold) {
  EXPECT_NE(told(of_file("zebra = 1\nalpaca = 1")).find("cluster.toml:1:1: "), std::string::npos);
}

TEST(Settings, WhatIsNoTomlIsToldWithItsPlace) {
  const std::string text = told(of_file("islands = 2\ndevices = = 3"));

  EXPECT_EQ(text.substr(0, 57), "INVALID_ARGUMENT: cluster.toml:2:11: this is no TOML: Err")
      << text;
  EXPECT_FALSE(of_file("islands = 2\nislands = 2").ok());
}

TEST(Settings, AHeadOfATableThatIsNoneIsNoEndOfTheProcess) {
  for (const char* text : {"[.", "[[=", "[[[1]]]", "[", "[[", "a.", "a.="}) {
    EXPECT_EQ(of_file(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(Settings, LettersBeyondAsciiAreInCommentsAndEscapes) {
  EXPECT_EQ(of_file("# gr\xc3\xbc\xc3\x9f\n \t# \xca\x9a\nislands = 2").value().config.islands, 2u);
  EXPECT_EQ(of_file("directory = \"/caf\\u00e9\"").value().config.directory, "/caf\xc3\xa9");
  EXPECT_EQ(told(of_file("islands = 2\ndirectory = '/caf\xc3\xa9'")),
            "INVALID_ARGUMENT: cluster.toml:2:18: a letter beyond ASCII; in a string write it as "
            "\\u00e9, elsewhere only lines that begin with # have such letters");
  for (const char* text : {"\n\n\xca\x9a", "a # \xc3\xbc", "directory = \"\"\"\\\n#\xc3\xbc\"\"\"",
                           "directory = '''\n#\xc3\xbc'''"}) {
    EXPECT_EQ(of_file(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(Settings, AVariableOfAnotherProgramIsLeftAlone) {
  EXPECT_TRUE(of_variable("SEAWAY_CLUSTER", "embedded").ok());
  EXPECT_TRUE(of_variable("SEAWAY_DEVICES_THAT_SOMEBODY_ELSE_COUNTS", "x").ok());
  EXPECT_TRUE(of_variable("ISLANDS", "x").ok());
  EXPECT_TRUE(of_variable("SEAWAY_ISLANDS", "").ok());
  EXPECT_EQ(told(of_variable("SEAWAY_ISLAND", "2")),
            "INVALID_ARGUMENT: $SEAWAY_ISLAND is no setting; did you mean $SEAWAY_ISLANDS? Unset "
            "it, or correct it");
}

TEST(Settings, EachNumberHasItsBounds) {
  const std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>> bounds = {
      {"islands", 1, 1024},     {"devices", 1, 65'536},      {"hosts", 1, 64},
      {"threads", 0, 1024},     {"heartbeat_ms", 1, 60'000}, {"silence_ms", 2, 600'000},
      {"drain_ms", 0, 600'000},
  };
  for (const auto& [key, min, max] : bounds) {
    // A heartbeat that leaves room for the silences that are tried, and the other way round.
    const auto allowed = [&key = key](std::uint64_t value) {
      ConfigSources sources = {.default_directory = "d",
                               .file_text = {},
                               .file_name = {},
                               .variables = {},
                               .flags = {{key, std::to_string(value)}}};
      if (key == "heartbeat_ms") sources.flags.emplace_back("silence_ms", "600000");
      if (key == "silence_ms") sources.flags.emplace_back("heartbeat_ms", "1");
      return read_settings(sources).ok();
    };
    EXPECT_TRUE(allowed(min)) << key;
    EXPECT_TRUE(allowed(max)) << key;
    EXPECT_FALSE(allowed(max + 1)) << key;
    if (min > 0) {
      EXPECT_FALSE(allowed(min - 1)) << key;
    }
  }
  EXPECT_FALSE(of_file("threads = -1").ok());
  EXPECT_FALSE(of_file("device_memory = 0").ok());
  EXPECT_TRUE(of_file("device_memory = 1").ok());
}

TEST(Settings, AnAddressIsASocketOrAHostWithAPort) {
  for (const char* right :
       {"unix:/run/a.sock", "tcp:127.0.0.1:65535", "tcp:localhost:0", "tcp:[::1]:1"}) {
    EXPECT_TRUE(of_flag("listen", right).ok()) << right;
  }
  for (const char* wrong :
       {"", "unix", "unix:", "tcp:localhost", "tcp:localhost:65536", "tcp:localhost:", "tcp::1",
        "tcp:[1]:1", "tcp:[]:1", "http:a:1", "tcp:local host:1", "unix:/a\nb"}) {
    EXPECT_FALSE(of_flag("listen", wrong).ok()) << wrong;
  }
  EXPECT_TRUE(of_flag("join", "tcp:localhost:1").ok());
  EXPECT_FALSE(of_flag("join", "tcp:localhost:0").ok());
}

TEST(Settings, AProcessMayListenAtSeveralAddresses) {
  EXPECT_EQ(of_flag("listen", "unix:/a,tcp://localhost:0")->config.listen,
            "unix:/a,tcp:localhost:0");
  for (const char* wrong : {"unix:/a,tcp:10.0.0.7:1", "unix:/a,tcp:localhost:", "tls:h:1,unix:"}) {
    EXPECT_FALSE(of_flag("listen", wrong).ok()) << wrong;
  }
  std::string many = "unix:/a";
  for (int i = 1; i < 8; ++i) many += ",tcp:localhost:0";
  EXPECT_TRUE(of_flag("listen", many).ok());
  EXPECT_FALSE(of_flag("listen", many + ",tcp:localhost:0").ok());
}

TEST(Settings, AnAdvertisedHostIsAHost) {
  for (const char* right : {"host.example.org", "10.0.0.7", "[::1]"}) {
    EXPECT_TRUE(of_flag("advertise", right).ok()) << right;
  }
  for (const char* wrong : {"", "a b", "tls:a", "[]"}) {
    EXPECT_FALSE(of_flag("advertise", wrong).ok()) << wrong;
  }
}

TEST(Settings, WhatIsNotEncryptedStaysOnThisMachine) {
  EXPECT_NE(
      told(of_flag("listen", "tcp:10.0.0.7:4711")).find("or, within this machine, tcp:HOST:PORT"),
      std::string::npos);
  EXPECT_FALSE(of_flag("join", "tcp:example.org:4711").ok());
}

TEST(Settings, APathOfASocketFitsTheSystem) {
  EXPECT_TRUE(of_flag("listen", "unix:" + std::string(107, 'a')).ok());
  EXPECT_FALSE(of_flag("listen", "unix:" + std::string(108, 'a')).ok());
}

TEST(Settings, APathHasALimit) {
  EXPECT_TRUE(of_flag("directory", std::string(4096, 'a')).ok());
  EXPECT_FALSE(of_flag("directory", std::string(4097, 'a')).ok());
  EXPECT_FALSE(of_flag("directory", "").ok());
}

TEST(Settings, AFileHasALimit) {
  std::string text(ConfigLimits::kFileBytesMax - 2, 'x');

  EXPECT_TRUE(of_file("#\n" + text.replace(0, 1, "#")).ok());
  EXPECT_EQ(told(of_file("#\n" + text + "x")),
            "RESOURCE_EXHAUSTED: cluster.toml has 1048577 bytes; settings have at most 1048576");
}

TEST(Settings, AHostThatIsLateOnceIsNotGivenUp) {
  EXPECT_TRUE(of_file("heartbeat_ms = 500").ok());
  EXPECT_EQ(told(of_file("heartbeat_ms = 501")),
            "INVALID_ARGUMENT: silence_ms = 1000 (default) is less than twice heartbeat_ms = 501 "
            "(cluster.toml:1): one heartbeat that is late would end a process");
}

TEST(Settings, ACertificateAndItsKeyComeTogether) {
  EXPECT_EQ(told(of_flag("cert_file", "a.pem")),
            "INVALID_ARGUMENT: cert_file = a.pem (--cert-file) needs key_file, too: set both or "
            "neither");
  EXPECT_NE(told(of_flag("key_file", "a.key")).find("needs cert_file, too"), std::string::npos);
  EXPECT_EQ(told(of_flag("listen", "tls:h:1")),
            "INVALID_ARGUMENT: listen = tls:h:1 (--listen) needs cert_file and key_file; `seaway "
            "cert issue` makes both");
  EXPECT_EQ(told(of_flag("join", "tls:h:1")),
            "INVALID_ARGUMENT: join = tls:h:1 (--join) needs ca_file, to know the controller by; "
            "`seaway cert init` makes it");
}

TEST(Settings, AMessageIsOneLineThatATerminalCanShow) {
  const std::string text = told(of_flag("log_level", "\x1b[2J\n" + std::string(100, 'a')));

  EXPECT_NE(text.find("log_level = ?[2J?" + std::string(75, 'a') + "...: allowed"),
            std::string::npos)
      << text;
}

TEST(Settings, HaveTheirNamesOnTheCommandLineAndInTheEnvironment) {
  EXPECT_EQ(flag_of("device_memory"), "--device-memory");
  EXPECT_EQ(variable_of("device_memory"), "SEAWAY_DEVICE_MEMORY");
}

}  // namespace
}  // namespace seaway::tools
