// Any sequence of first words: connections that introduce themselves, ask to be enrolled, say where
// they listen and ask for others. Who is enrolled has a number of his own, whatever others say.

#include <set>
#include <variant>

#include "base/check.hpp"
#include "cluster/enrolment.hpp"
#include "cluster/enrolment_messages.hpp"
#include "target.hpp"
#include "transport/introduction.hpp"

namespace seaway::fuzz {
namespace {

constexpr std::uint32_t kIslands = 2;

struct Asked {
  cluster::Enrolment& enrolment;
  std::set<std::pair<transport::ProcessId, std::uint32_t>>& lives;

  void operator()(const cluster::EnrolQuestion& question) const {
    const auto place = enrolment.enrol(question.name);
    if (!place.ok()) {
      const StatusCode code = place.status().code();
      SEAWAY_CHECK(code == StatusCode::kInvalidArgument || code == StatusCode::kResourceExhausted);
      return;
    }
    SEAWAY_CHECK(lives.insert({place->process, place->life}).second, place->process, place->life);
    SEAWAY_CHECK(enrolment.admit(place->process).ok());
    const auto read = cluster::read_enrolled(cluster::enrolled_frame(
        {place->process, place->name.index, place->life, 7, "embedded", 1, 2}));
    SEAWAY_CHECK(read.ok() && read->process == place->process && read->life == place->life);
  }
  void operator()(const cluster::AnnounceQuestion& question) const {
    const Status status =
        enrolment.announce(question.process, question.life, question.address, question.natives);
    if (!status.ok()) return;
    const auto found = enrolment.find(question.process);
    SEAWAY_CHECK(found.ok() && *found == question.address);
    SEAWAY_CHECK(question.address.size() <= 256);
  }
  void operator()(const cluster::FindQuestion& question) const {
    const auto found = enrolment.find(question.process);
    SEAWAY_CHECK(!found.ok() || !found->empty());
  }
  void operator()(const cluster::StatusQuestion&) const {
    SEAWAY_CHECK(enrolment.places().size() < 10'000);
  }
  void operator()(const cluster::NativeQuestion& question) const {
    const StatusCode code = enrolment.check_native(question.native).code();
    SEAWAY_CHECK(code == StatusCode::kOk || code == StatusCode::kNotFound ||
                 code == StatusCode::kInvalidArgument);
  }
  void operator()(const cluster::VouchQuestion& question) const {
    for (const transport::ProcessId process : question.processes) {
      const auto place = enrolment.admit(process);
      SEAWAY_CHECK(place.ok() || place.status().code() == StatusCode::kPermissionDenied);
    }
  }
  void operator()(const cluster::StopQuestion&) const {}
  void operator()(const cluster::MemoryQuestion&) const {}  // Not the controller's to answer.
  void operator()(const cluster::FileQuestion&) const {}    // Nor this.
  void operator()(const cluster::WhyQuestion&) const {}
  void operator()(const cluster::DrainQuestion& question) const {
    const auto again = cluster::read_question(cluster::to_frame(question));
    SEAWAY_CHECK(again.ok() && std::get<cluster::DrainQuestion>(*again).how == question.how);
  }
};

}  // namespace

void handshake(std::span<const std::uint8_t> input) {
  cluster::Enrolment enrolment(kIslands);
  std::set<std::pair<transport::ProcessId, std::uint32_t>> lives;
  Said said;
  for (Sayings sayings(input); sayings.next(said);) {
    // Some go again, as their connections break.
    if (said.from == 1) enrolment.came(said.number);
    if (said.from == 2) enrolment.went(said.number);
    Frame frame = said.frame;
    if (said.to == 0) {
      const auto introduction = transport::read_introduction(frame);
      if (!introduction.ok()) {
        SEAWAY_CHECK(introduction.status().code() == StatusCode::kProtocolError);
        continue;
      }
      if (const auto* talk = std::get_if<transport::Talk>(&introduction->what)) {
        const auto place = enrolment.admit(talk->from);
        SEAWAY_CHECK(place.ok() || place.status().code() == StatusCode::kPermissionDenied);
        continue;
      }
      frame = std::get<Frame>(introduction->what);
    }
    const auto question = cluster::read_question(frame);
    if (question.ok()) {
      std::visit(Asked{enrolment, lives}, *question);
    } else {
      SEAWAY_CHECK(question.status().code() == StatusCode::kProtocolError);
    }
  }
}

}  // namespace seaway::fuzz
