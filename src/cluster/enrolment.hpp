// Enrolment: which processes a cluster has, which life of each it is, and where it listens.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/peers.hpp"
#include "cluster/shape.hpp"
#include "seaway/status.hpp"

namespace seaway::cluster {

/// A native function that the program of a host or an annex has registered.
struct NativeName {
  std::string name;
  std::uint64_t fingerprint = 0;
};

/// Kept by the controller's process, who tells others of each other. A pure core. The lives that it
/// gives are later than all that an earlier life of the controller gave: of two processes one may
/// have begun anew with the next controller while the other has not heard yet that the last one is
/// gone, and remembers.
class Enrolment {
 public:
  /// Client numbers are not used again: so many sessions may begin in one life of the controller.
  static constexpr std::uint32_t kClientsMax = (1u << 24) - 2;
  /// Of each role, in each of so many lives of the controller. A life has 32 bits: which one it is
  /// of the role's is in the lower half, and the upper half is the same for all lives that one
  /// controller gives.
  static constexpr std::uint32_t kLivesMax = 65'535;
  static constexpr std::uint32_t kControllerLivesMax = 65'535;
  /// Who is there at once. Beyond it a number that nobody has come with is taken back.
  static constexpr std::size_t kClientsAtOnce = 1024;
  /// Native functions of one host.
  static constexpr std::size_t kNativesMax = 4096;

  explicit Enrolment(const Shape& shape, std::uint32_t controller_life = 1)
      : shape_(shape), lives_before_((controller_life - 1) << 16) {}

  struct Place {
    transport::ProcessId process = 0;
    RoleName name;
    std::uint32_t life = 0;
    bool is_there = false;  // Its conversation with the controller is open.
    std::string address;    // Empty: nobody connects to it.
    std::vector<NativeName> natives = {};
  };

  /// A new life of a scheduler, a host or an annex, or a new client, whose index is given. Errors:
  /// kInvalidArgument for an island or a host that the cluster does not have, or for a controller;
  /// kResourceExhausted when that role is played already, or beyond the limits.
  Result<Place> enrol(const RoleName& name);
  /// Errors: kInvalidArgument for an address that is none or too long, or for an earlier life;
  /// kResourceExhausted for too many native functions.
  Status announce(transport::ProcessId process, std::uint32_t life, const std::string& address,
                  std::vector<NativeName> natives = {});
  /// Whether each host and annex that has said where it listens knows that function. Errors:
  /// kNotFound for one that does not, kInvalidArgument for one to which it is something else, with
  /// both fingerprints.
  Status check_native(const NativeName& native) const;
  /// Errors: kNotFound when it has not said where it listens.
  Result<std::string> find(transport::ProcessId process) const;
  /// Who may talk as that process. Errors: kPermissionDenied for somebody who was never enrolled.
  Result<Place> admit(transport::ProcessId process) const;

  void came(transport::ProcessId process);
  /// A client is forgotten; others may come back.
  void went(transport::ProcessId process);

  std::vector<Place> places() const;

 private:
  Status check_place(const RoleName& name) const;
  void forget_absent_client();

  const Shape shape_;
  const std::uint32_t lives_before_;
  std::uint32_t last_client_ = 0;
  std::size_t clients_ = 0;
  std::map<transport::ProcessId, Place> places_;
};

}  // namespace seaway::cluster
