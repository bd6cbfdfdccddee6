// NativeRegistry: the native functions that this process knows, by name. Code never travels.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "function/executable.hpp"

namespace seaway::function {

/// Thread-safe. Names are given once; a later registration of the same name is refused.
class NativeRegistry {
 public:
  bool add(const std::string& name, std::shared_ptr<const Executable> executable) {
    std::lock_guard guard(mutex_);
    return functions_.emplace(name, std::move(executable)).second;
  }
  std::shared_ptr<const Executable> find(const std::string& name) const {
    std::lock_guard guard(mutex_);
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Executable>> functions_;
};

}  // namespace seaway::function
