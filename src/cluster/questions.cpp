// Asking, and what the commands ask.

#include "cluster/questions.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "cluster/process.hpp"
#include "transport/socket_wires.hpp"

namespace seaway::cluster {

Result<Frame> ask_now(actor::IoEngine& engine, const std::string& address, std::uint64_t cluster,
                      const Question& question, std::uint64_t most_ns,
                      const transport::Credentials& shown) {
  std::optional<Result<Frame>> answer;
  std::atomic<bool> is_done = false;
  engine.post([&] {
    transport::ask(
        engine.loop(), address, cluster, to_frame(question), most_ns,
        [&](Result<Frame> said) {
          answer.emplace(std::move(said));
          is_done.store(true);
          engine.notify();
        },
        shown);
  });
  engine.wait([&is_done] { return is_done.load(); }, 0);
  return *std::move(answer);
}

Result<std::string> ask_status(const std::string& address, const Clock& clock,
                               std::uint64_t timeout_ns, const transport::Credentials& shown) {
  const auto engine = actor::make_io_engine(clock);
  if (!engine.ok()) return engine.status();
  auto answer = ask_now(**engine, address, 0, StatusQuestion{}, timeout_ns, shown);
  if (!answer.ok()) return answer.status();
  return read_status(*answer);
}

Result<std::string> ask_why(const std::string& address, RunId run, const Clock& clock,
                            std::uint64_t timeout_ns, const transport::Credentials& shown) {
  const auto engine = actor::make_io_engine(clock);
  if (!engine.ok()) return engine.status();
  auto answer = ask_now(**engine, address, 0, WhyQuestion{run}, timeout_ns, shown);
  if (!answer.ok()) return answer.status();
  return read_status(*answer);
}

std::string text_of(const controller::ControllerCore::Left& left) {
  const auto some = [](std::size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return some(left.slices, "slice") + ", " + some(left.arrays, "array") + ", " +
         some(left.parts, "part") + " of runs and " + some(left.reads, "read");
}

Result<controller::ControllerCore::Left> ask_to_drain(const std::string& address, IslandId island,
                                                      std::optional<controller::Drain> how,
                                                      const Clock& clock, std::uint64_t timeout_ns,
                                                      const transport::Credentials& shown) {
  const auto engine = actor::make_io_engine(clock);
  if (!engine.ok()) return engine.status();
  auto answer = ask_now(**engine, address, 0, DrainQuestion{island, how}, timeout_ns, shown);
  if (!answer.ok()) return answer.status();
  return read_left(*answer);
}

Status ask_to_stop(const std::string& address, const Clock& clock, std::uint64_t timeout_ns,
                   const transport::Credentials& shown) {
  const auto engine = actor::make_io_engine(clock);
  if (!engine.ok()) return engine.status();
  auto answer = ask_now(**engine, address, 0, StopQuestion{}, timeout_ns, shown);
  return answer.ok() ? read_done(*answer) : answer.status();
}

}  // namespace seaway::cluster
