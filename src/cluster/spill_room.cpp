// One file for each host.

#include "cluster/spill_room.hpp"

#include <string>
#include <utility>

namespace seaway::cluster {

Result<std::unique_ptr<UnnamedFile>> make_spill_file(const EmbeddedOptions& options) {
  if (options.spill_memory == 0) return std::unique_ptr<UnnamedFile>();
  auto file = UnnamedFile::make(options.spill_directory.empty() ? temporary_directory()
                                                                : options.spill_directory);
  if (file.ok()) return file;
  return Status(file.status().code(),
                "cluster option spill_memory=" + std::to_string(options.spill_memory) + ": " +
                    file.status().message());
}

Result<std::unique_ptr<store::DiskSpill>> open_spill(const EmbeddedOptions& options,
                                                     actor::Engine& engine, Log log) {
  auto file = make_spill_file(options);
  if (!file.ok()) return file.status();
  if (!*file) return std::unique_ptr<store::DiskSpill>();
  return std::make_unique<store::DiskSpill>(
      engine, std::move(*file), [log = std::move(log)](const Status& why) {
        log(LogLevel::kWarning,
            "arrays stay in memory that were to go to the file: " + why.to_string());
      });
}

}  // namespace seaway::cluster
