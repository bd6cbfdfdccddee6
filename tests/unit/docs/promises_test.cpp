// Promises of docs/promises.md that no room's own tests hold.

#include <gtest/gtest.h>

#include "shelf.hpp"

namespace shelves {
namespace {}  // namespace
}  // namespace shelves
