// One question to the kernel, and the descriptors of each process.

#include "connection_names.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fault_proxy.hpp"

namespace seaway::tools {
namespace {

namespace fs = std::filesystem;

/// The number of the socket that has a connection to the proxy; 0: it was closed. The kernel is
/// asked for this one alone: /proc/net/tcp takes milliseconds, for whom others would wait.
std::uint32_t socket_of(std::uint16_t port, std::uint16_t to_port) {
  struct Question {
    nlmsghdr head;
    inet_diag_req_v2 about;
  };
  Question question = {};
  question.head.nlmsg_len = sizeof(question);
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.about.sdiag_family = AF_INET;
  question.about.sdiag_protocol = IPPROTO_TCP;
  question.about.idiag_states = ~0U;
  inet_diag_sockid& connection = question.about.id;
  connection.idiag_sport = htons(port);
  connection.idiag_dport = htons(to_port);
  ::inet_pton(AF_INET, "127.0.0.1", connection.idiag_src);
  ::inet_pton(AF_INET, FaultProxy::kHost, connection.idiag_dst);
  connection.idiag_cookie[0] = connection.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  alignas(nlmsghdr) std::array<char, 4096> answer = {};
  const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  const bool is_asked = ::send(socket, &question, sizeof(question), 0) == sizeof(question);
  const ssize_t size = is_asked ? ::recv(socket, answer.data(), answer.size(), 0) : -1;
  if (socket >= 0) ::close(socket);
  constexpr std::size_t kLeast = NLMSG_HDRLEN + sizeof(inet_diag_msg);
  const auto& head = *reinterpret_cast<const nlmsghdr*>(answer.data());
  if (size < static_cast<ssize_t>(kLeast) || head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return 0;
  return reinterpret_cast<const inet_diag_msg*>(answer.data() + NLMSG_HDRLEN)->idiag_inode;
}

/// The sockets of a process, as "socket:[4711]".
bool has_socket(pid_t process, const std::string& inode) {
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (!error && target == inode) return true;
  }
  return false;
}

}  // namespace

void ConnectionNames::set(std::map<std::string, pid_t> processes) {
  const std::lock_guard lock(mutex_);
  processes_ = std::move(processes);
}

std::optional<std::string> ConnectionNames::find(std::uint16_t port, std::uint16_t to_port) const {
  const std::uint32_t number = socket_of(port, to_port);
  if (number == 0) return std::nullopt;
  const std::string inode = "socket:[" + std::to_string(number) + "]";
  const std::lock_guard lock(mutex_);
  for (const auto& [name, process] : processes_) {
    if (has_socket(process, inode)) return name;
  }
  return std::string();
}

}  // namespace seaway::tools
