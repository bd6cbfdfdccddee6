// Which small worlds there are.

#include "sim/exhaustive/small_worlds.hpp"

#include "sim/exhaustive/call_world.hpp"
#include "sim/exhaustive/conversation_world.hpp"

namespace seaway::exhaustive {

std::vector<SmallWorld> small_worlds() {
  std::vector<SmallWorld> all;
  for (const auto& some : {conversation_worlds(), call_worlds(), island_worlds(), host_worlds()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::vector<SmallWorld> conversation_worlds() {
  const auto make = [](std::string name, std::string about, ConversationSpec spec) {
    return SmallWorld{std::move(name), std::move(about),
                      [spec](Limits limits) { return explore(ConversationWorld(spec), limits); }};
  };
  return {
      make("talk-cuts", "a conversation of 2 frames each way; its connection breaks twice",
           {.frames = 2, .cuts_max = 2}),
      make("talk-repeats", "the same; what came is brought again, and the connection breaks",
           {.frames = 2, .cuts_max = 1, .repeats_max = 1}),
      make("talk-lives", "the same; an end begins a new life, and the connection breaks",
           {.frames = 2, .cuts_max = 1, .lives_max = 1}),
      make("talk-silence", "the same; an end hears nothing for too long and gives the other one up",
           {.frames = 2, .silences_max = 1}),
      make("talk-attempts",
           "the same, each conversation with its own epoch; silence, a new life and a cut",
           {.frames = 2, .cuts_max = 1, .lives_max = 1, .silences_max = 1, .has_attempts = true}),
      make("talk-payload",
           "a conversation of a frame and a payload in chunks each way; it breaks, and repeats",
           {.frames = 1, .payloads = 1, .cuts_max = 1, .repeats_max = 1}),
      make("talk-parts",
           "a conversation of a frame in two packets each way; it breaks, and repeats",
           {.frames = 1, .cuts_max = 1, .repeats_max = 1, .has_parts = true}),
  };
}

std::vector<SmallWorld> call_worlds() {
  const auto make = [](std::string name, std::string about, CallSpec spec) {
    return SmallWorld{std::move(name), std::move(about),
                      [spec](Limits limits) { return explore(CallWorld(spec), limits); }};
  };
  const std::vector<AskedCall> calls = {
      {.member = 0}, {.member = 0, .is_relayed = true}, {.member = 1}};
  const std::vector<AskedCall> fewer = {{.member = 0, .is_relayed = true}, {.member = 1}};
  const std::vector<AskedCall> repeated = {{.member = 0, .options = {.retries = 1, .once = true}}};
  return {
      make("calls", "3 calls of 2 members on 2 hosts, one of which asks the other one",
           {.calls = calls}),
      make("calls-cancel", "2 calls, one of which is given up", {.calls = fewer, .cancels_max = 1}),
      make("calls-member", "2 calls; a member is killed", {.calls = fewer, .member_kills_max = 1}),
      make("calls-host", "2 calls; a host dies", {.calls = fewer, .host_kills_max = 1}),
      make("calls-again", "a call that may be sent again; a host dies, and is back later",
           {.calls = repeated, .host_kills_max = 1, .do_hosts_return = true}),
  };
}

}  // namespace seaway::exhaustive
