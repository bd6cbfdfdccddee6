// A job goes to a thread, and its end comes back to the control thread.

#include "store/disk_spill.hpp"

#include <utility>

namespace seaway::store {
namespace {

constexpr std::size_t kWritersMax = 2, kReadersMax = 4;  // As SpillTiers has under way.

}  // namespace

DiskSpill::DiskSpill(actor::Engine& engine, std::unique_ptr<UnnamedFile> file, Tell tell)
    : engine_(engine),
      file_(std::move(file)),
      tell_(std::move(tell)),
      writing_(std::make_unique<actor::Background>(actor::Background::Limits{kWritersMax})),
      reading_(std::make_unique<actor::Background>(actor::Background::Limits{kReadersMax})) {}

DiskSpill::~DiskSpill() { close(); }

void DiskSpill::write(std::shared_ptr<SpillJob> job, Done done) {
  if (writing_) start(*writing_, std::move(job), true, std::move(done));
}

void DiskSpill::read(std::shared_ptr<SpillJob> job, Done done) {
  if (reading_) start(*reading_, std::move(job), false, std::move(done));
}

void DiskSpill::start(actor::Background& threads, std::shared_ptr<SpillJob> job, bool is_write,
                      Done done) {
  threads.submit([this, job = std::move(job), is_write, done = std::move(done),
                  here = std::weak_ptr<bool>(is_here_)] {
    Status status = move_shards(*job, is_write, [this, is_write](std::uint64_t offset, auto bytes) {
      return is_write ? file_->write_at(offset, bytes) : file_->read_at(offset, bytes);
    });
    engine_.post([this, is_write, done, here, status = std::move(status)] {
      if (here.expired()) return;
      if (is_write) note_write(status);
      done(status);
    });
  });
}

void DiskSpill::note_write(const Status& status) {
  if (status.code() == StatusCode::kCancelled) return;
  if (!status.ok() && !has_failed_ && tell_) tell_(status);
  has_failed_ = !status.ok();
}

void DiskSpill::close() {
  is_here_.reset();
  writing_.reset();
  reading_.reset();
}

}  // namespace seaway::store
