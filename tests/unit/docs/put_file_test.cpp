// The code of docs/processes.md about files.

#include <gtest/gtest.h>

#include <numeric>
#include <seaway/seaway.hpp>
#include <vector>

#include "unit/transport/scratch_file.hpp"

namespace seaway {
namespace {

/// The sum of a file of eight rows of 64 numbers.
Result<float> sum_of(const Client& client, const std::string& path) {
  // [put_file]
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) return file.status();
  Slice slice = client.acquire_slice({.devices = 2, .mesh = {{"data", 2}}}).value();
  NamedSharding rows(slice.mesh(), P("data"));
  Array weights = client.put_file(*file, f32({8, 64}), rows);  // Returns at once; nothing is read.
  // [/put_file]
  const auto all = weights.to_host<float>().get();
  if (!all.ok()) return all.status();
  return std::accumulate(all->begin(), all->end(), 0.0f);
}

TEST(PutFile, IsAsTheDocumentationSays) {
  const Client client = connect("embedded:devices=2").value();
  const ScratchFile file(std::vector<float>(512, 0.5f));

  EXPECT_EQ(sum_of(client, file.path()).value(), 256);
  EXPECT_EQ(sum_of(client, file.path() + ".gone").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace seaway
