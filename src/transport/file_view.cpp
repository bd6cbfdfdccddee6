// Mappings of files, and the signal that comes when there is nothing behind one of their pages.

#include "transport/file_view.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

namespace seaway::transport {
namespace {

constexpr std::uintptr_t kPage = 4096;

/// What the signal's handler looks at, which is told nothing but an address.
struct Guarded {
  std::atomic<bool> is_used = false;
  std::atomic<std::uintptr_t> begin = 0, end = 0;  // Of whole pages; empty: none.
  std::atomic<bool> is_torn = false;
};
std::array<Guarded, FileView::kViewsMax> guarded;
struct sigaction before;  // Who had the signal.

/// A page of zeros comes to where the file has none. Of other addresses whoever had the signal
/// before hears.
void on_bus_error(int, siginfo_t* about, void*) {
  const auto place = reinterpret_cast<std::uintptr_t>(about->si_addr);
  for (Guarded& one : guarded) {
    if (place < one.begin.load() || place >= one.end.load()) continue;
    one.is_torn.store(true);
    void* const page = reinterpret_cast<void*>(place / kPage * kPage);  // NOLINT
    const int error = errno;
    void* const zeros =
        ::mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (zeros != MAP_FAILED) return;
  }
  ::sigaction(SIGBUS, &before, nullptr);
  ::raise(SIGBUS);  // When this one has returned.
}

void hear_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGBUS, &action, &before);
  });
}

Status no_such(const std::string& path) {
  const std::string why = path + ": " + std::strerror(errno);
  if (errno == ENOENT || errno == ENOTDIR) return not_found(why);
  if (errno == EACCES || errno == EPERM) return {StatusCode::kPermissionDenied, why};
  if (errno == EMFILE || errno == ENFILE) return resource_exhausted(why);
  return invalid_argument(why);
}

/// How many bytes it has; an error: it is no file.
Result<std::uint64_t> bytes_of(const Descriptor& file) {
  struct stat about = {};
  if (::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return invalid_argument("it is no file");
  }
  return static_cast<std::uint64_t>(about.st_size);
}

}  // namespace

Result<std::shared_ptr<const SourceFile>> SourceFile::open(const std::string& path) {
  auto file = std::make_shared<const Descriptor>(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file->has_value()) return no_such(path);
  const auto bytes = bytes_of(*file);
  if (!bytes.ok()) return invalid_argument(path + ": " + bytes.status().message());
  return std::shared_ptr<const SourceFile>(new SourceFile(std::move(file), *bytes));
}

Result<std::shared_ptr<const SourceFile>> SourceFile::take(
    std::shared_ptr<const Descriptor> handed) {
  const auto bytes = handed ? bytes_of(*handed) : invalid_argument("nothing was handed over");
  if (!bytes.ok()) return protocol_error("what was handed over: " + bytes.status().message());
  return std::shared_ptr<const SourceFile>(new SourceFile(std::move(handed), *bytes));
}

Result<std::shared_ptr<FileView>> FileView::map(std::shared_ptr<const SourceFile> file,
                                                std::uint64_t offset, std::uint64_t bytes) {
  if (offset > file->bytes() || bytes > file->bytes() - offset) {
    return invalid_argument("bytes " + std::to_string(offset) + " to " +
                            std::to_string(offset + bytes) + " of a file that has " +
                            std::to_string(file->bytes()));
  }
  hear_bus_errors();
  const int descriptor = file->descriptor()->number();
  std::shared_ptr<FileView> view(new FileView(std::move(file), offset, bytes));
  for (std::size_t i = 0; i < kViewsMax && view->place_ == kViewsMax; ++i) {
    if (!guarded[i].is_used.exchange(true)) view->place_ = i;
  }
  if (view->place_ == kViewsMax) {
    return resource_exhausted(std::to_string(kViewsMax) +
                              " parts of files are mapped; free arrays that were put from some");
  }
  const std::uint64_t skipped = offset % kPage;
  const std::size_t mapped = (skipped + bytes + kPage - 1) / kPage * kPage;
  if (mapped == 0) return view;
  void* const pages = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                             descriptor, static_cast<off_t>(offset - skipped));
  if (pages == MAP_FAILED) {
    return resource_exhausted(std::to_string(mapped) + " bytes of a file are not to be mapped: " +
                              std::strerror(errno) + "; raise the limit of addresses (ulimit -v)");
  }
  view->pages_ = static_cast<std::byte*>(pages);
  view->mapped_ = mapped;
  view->base_ = view->pages_ + skipped;
  Guarded& guard = guarded[view->place_];
  guard.is_torn.store(false);
  guard.end.store(reinterpret_cast<std::uintptr_t>(pages) + mapped);
  guard.begin.store(reinterpret_cast<std::uintptr_t>(pages));
  return view;
}

FileView::~FileView() {
  if (place_ == kViewsMax) return;
  Guarded& guard = guarded[place_];
  guard.end.store(0);
  guard.begin.store(0);
  if (pages_) ::munmap(pages_, mapped_);
  guard.is_used.store(false);
}

bool FileView::is_torn() const { return guarded[place_].is_torn.load(); }

}  // namespace seaway::transport
