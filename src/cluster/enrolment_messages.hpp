// Questions to the controller's process about the cluster itself, and answers, as frames.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/frame.hpp"
#include "cluster/enrolment.hpp"
#include "cluster/peers.hpp"
#include "controller/controller_core.hpp"
#include "seaway/status.hpp"

namespace seaway::cluster {

// See schemas/members.capnp.
struct EnrolQuestion {
  RoleName name;
  std::string tenant = {};
};
struct AnnounceQuestion {
  transport::ProcessId process = 0;
  std::uint32_t life = 0;
  std::string address;
  std::vector<NativeName> natives = {};
};
struct NativeQuestion {
  NativeName native;
};
struct FindQuestion {
  transport::ProcessId process = 0;
};
struct StatusQuestion {};
struct StopQuestion {};
struct WhyQuestion {
  RunId run = 0;  // 0: all that have no outcome.
};
struct VouchQuestion {
  std::vector<transport::ProcessId> processes;
};
struct DrainQuestion {
  IslandId island = 0;
  std::optional<controller::Drain> how;  // None: it ends.
};
struct MemoryQuestion {
  transport::ProcessId process = 0;  // Who asks,
  std::uint32_t life = 0;
  std::uint32_t of_life = 0;  // and whom.
  std::string pass;
};
/// With which the descriptor of a file comes.
struct FileQuestion {
  transport::ProcessId process = 0;  // A client,
  std::uint32_t life = 0;
  std::string pass;
  ArrayId array = 0;  // and an array of its, which lies in the file:
  std::uint64_t offset = 0, bytes = 0, stride = 0;
};
using Question = std::variant<EnrolQuestion, AnnounceQuestion, FindQuestion, StatusQuestion,
                              StopQuestion, WhyQuestion, NativeQuestion, VouchQuestion,
                              DrainQuestion, MemoryQuestion, FileQuestion>;

Frame to_frame(const Question& question);
/// Errors: kProtocolError.
Result<Question> read_question(const Frame& frame);

struct Enrolled {
  transport::ProcessId process = 0;
  std::uint32_t index = 0;
  std::uint32_t life = 0;
  std::uint64_t cluster = 0;
  std::string spec;
  std::uint64_t heartbeat_ns = 0, silence_ns = 0;
  std::string pass = {}, key = {}, tenant = {};
};

Frame enrolled_frame(const Enrolled& enrolled);
Frame address_frame(const std::string& address);
Frame status_frame(const std::string& json);
Frame done_frame();
Frame left_frame(const controller::ControllerCore::Left& left);
Frame unwelcome_frame(const std::vector<transport::ProcessId>& processes);
// Errors of all: kProtocolError, also for another answer.
Result<Enrolled> read_enrolled(const Frame& frame);
Result<std::string> read_address(const Frame& frame);
Result<std::string> read_status(const Frame& frame);
Status read_done(const Frame& frame);
Result<controller::ControllerCore::Left> read_left(const Frame& frame);
Result<std::vector<transport::ProcessId>> read_unwelcome(const Frame& frame);

}  // namespace seaway::cluster
