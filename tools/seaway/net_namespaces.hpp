// NetNamespaces: a network of its own for each process of a campaign, and what is done to it.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "seaway/status.hpp"

namespace seaway::tools {

/// Each has one address, and a pair of veth to a switch, which this machine is on as well. What is
/// cut or dropped comes back when it was given back as often. All of it goes with this object.
/// Needs the rights of root, and `ip`. One thread.
class NetNamespaces {
 public:
  /// Of all that this process makes names begin like that.
  static std::string prefix();
  /// One for each of the names, in a subnet that nobody on this machine has. Errors:
  /// kPermissionDenied with what `ip` says; kResourceExhausted when all subnets are taken.
  static Result<std::unique_ptr<NetNamespaces>> make(const std::vector<std::string>& names);
  ~NetNamespaces();
  NetNamespaces(const NetNamespaces&) = delete;
  NetNamespaces& operator=(const NetNamespaces&) = delete;

  const std::string& address_of(const std::string& name) const { return places_.at(name).address; }
  /// This program there, with these words: the words of a command line whose first is a path.
  std::vector<std::string> command(const std::string& name,
                                   const std::vector<std::string>& words) const;

  /// Its cable is out: nothing comes or goes. Errors: what `ip` says, and then nothing has changed;
  /// what is given back is tried several times.
  Status cut(const std::string& name, bool is_cut);
  /// What `from` says to `to` gets lost on the way. Errors: the same.
  Status drop(const std::string& from, const std::string& to, bool is_dropped);

  /// That are there, and were made by this process.
  static std::vector<std::string> left();
  /// Removes what a process that is not there any more has made with that prefix.
  static void remove(const std::string& prefix);

 private:
  struct Place {
    std::string space, port, address;
  };
  NetNamespaces() = default;
  Status begin(const std::vector<std::string>& names);
  Status take_subnet();
  template <typename Key>
  Status change(std::map<Key, std::size_t>& counts, const Key& key, bool is_more,
                const std::vector<std::string>& words);

  std::string bridge_, subnet_;  // "10.213.7.".
  std::map<std::string, Place> places_;
  std::map<std::string, std::size_t> cuts_;
  std::map<std::pair<std::string, std::string>, std::size_t> drops_;
};

}  // namespace seaway::tools
