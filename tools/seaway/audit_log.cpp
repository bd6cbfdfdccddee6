// One line, one write.

#include "audit_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/printable.hpp"
#include "private_files.hpp"

namespace seaway::tools {

void append_audit(const std::string& path, const std::string& line) {
  const std::string text = text_of_time(now_seconds()) + " " + printable(line) + "\n";
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool is_written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!is_written) {
    std::fprintf(stderr, "seaway: cannot write %s: %s: %s", path.c_str(), std::strerror(errno),
                 text.c_str());
  }
  if (file >= 0) ::close(file);
}

}  // namespace seaway::tools
