// DiskSpill: a file of this machine without a name, written and read by threads of its own.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actor/background.hpp"
#include "actor/engine.hpp"
#include "base/unnamed_file.hpp"
#include "store/spill_file.hpp"

namespace seaway::store {

/// The file takes room as it is written, and keeps it for as long as its process lives. What it
/// holds is bytes of memory as they are. Writes and reads have threads apart: none of the one kind
/// waits for one of the other.
class DiskSpill final : public SpillFile {
 public:
  /// The first write that fails behind one that did not, for the log. On the control thread.
  using Tell = std::function<void(const Status& why)>;

  /// The engine outlives it.
  DiskSpill(actor::Engine& engine, std::unique_ptr<UnnamedFile> file, Tell tell = {});
  ~DiskSpill() override;

  void write(std::shared_ptr<SpillJob> job, Done done) override;
  void read(std::shared_ptr<SpillJob> job, Done done) override;
  void close() override;

 private:
  void start(actor::Background& threads, std::shared_ptr<SpillJob> job, bool is_write, Done done);
  void note_write(const Status& status);

  actor::Engine& engine_;
  const std::unique_ptr<UnnamedFile> file_;
  const Tell tell_;
  bool has_failed_ = false;  // The last write; control thread.
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
  std::unique_ptr<actor::Background> writing_, reading_;  // End first: they use the others.
};

}  // namespace seaway::store
