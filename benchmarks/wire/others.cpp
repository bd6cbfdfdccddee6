// A server in a child of this process, and a client in this one.

#include "benchmarks/wire/others.hpp"

#include <capnp/ez-rpc.h>
#include <echo.capnp.h>

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <future>

#include "benchmarks/support/measure.hpp"
#include "benchmarks/wire/ends.hpp"

namespace seaway::benchmarks {
namespace {

constexpr std::size_t kPayloadBytes = 40;

class EchoServer final : public Echo::Server {
 protected:
  kj::Promise<void> echo(EchoContext context) override {
    context.getResults().setPayload(context.getParams().getPayload());
    return kj::READY_NOW;
  }
};

double us_since(std::uint64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) / 1e3; }

struct CafConfig : caf::actor_system_config {
  CafConfig() {
    load<caf::io::middleman>();
    set("scheduler.max-threads", 1);
  }
};

}  // namespace

std::vector<double> capnp_rpc_us(const std::string& address, int rounds) {
  Note note;
  const Child server([&] {
    capnp::EzRpcServer rpc(kj::heap<EchoServer>(), address.c_str());
    auto& scope = rpc.getWaitScope();
    const unsigned port = rpc.getPort().wait(scope);
    note.write(port == 0 ? address : address + ":" + std::to_string(port));
    kj::NEVER_DONE.wait(scope);
  });
  std::vector<double> samples;
  try {
    capnp::EzRpcClient rpc(note.read().c_str());
    Echo::Client echo = rpc.getMain<Echo>();
    const std::vector<kj::byte> payload(kPayloadBytes);
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t begin_ns = now_ns();
      auto request = echo.echoRequest();
      request.setPayload(kj::arrayPtr(payload.data(), payload.size()));
      request.send().wait(rpc.getWaitScope());
      samples.push_back(us_since(begin_ns));
    }
  } catch (const kj::Exception&) {
    return {};
  }
  return samples;
}

std::vector<double> caf_net_us(int rounds) {
  Note note;
  const Child server([&note] {
    CafConfig config;
    caf::actor_system system(config);
    const auto echo = system.spawn(
        []() -> caf::behavior { return {[](const std::string& text) { return text; }}; });
    const auto port = system.middleman().publish(echo, 0, "127.0.0.1");
    note.write(port ? std::to_string(*port) : "");
    std::promise<void>().get_future().wait();
  });
  const std::string port = note.read();
  if (port.empty()) return {};
  CafConfig config;
  caf::actor_system system(config);
  const auto remote =
      system.middleman().remote_actor("127.0.0.1", static_cast<std::uint16_t>(std::stoi(port)));
  if (!remote) return {};
  std::vector<double> samples;
  std::promise<void> done;
  system.spawn([&samples, &done, rounds, echo = *remote](caf::event_based_actor* self) {
    auto begin_ns = std::make_shared<std::uint64_t>(now_ns());
    self->send(echo, std::string(kPayloadBytes, 'x'));
    return caf::behavior{[=, &samples, &done](const std::string& text) {
      samples.push_back(us_since(*begin_ns));
      if (samples.size() == static_cast<std::size_t>(rounds)) {
        done.set_value();
        return self->quit();
      }
      *begin_ns = now_ns();
      self->send(echo, text);
    }};
  });
  done.get_future().wait();
  return samples;
}

}  // namespace seaway::benchmarks
