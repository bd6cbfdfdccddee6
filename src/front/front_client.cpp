// Connecting, uploading, copying, compiling.

#include "front/front_client.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "client/session.hpp"
#include "front/host_layout.hpp"
#include "seaway/version.hpp"

namespace seaway::front {
namespace {

std::string list_of(const std::vector<FrontDevice*>& devices) {
  std::map<std::uint32_t, std::string> islands;
  for (const FrontDevice* const device : devices) {
    islands[device->island] += " " + std::to_string(device->id);
  }
  std::string text;
  for (const auto& [island, ids] : islands) {
    text += (text.empty() ? "devices" : " and") + ids + " of island " + std::to_string(island);
  }
  return text;
}

bool is_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

}  // namespace

std::string name_of_program(std::string_view code) {
  constexpr std::size_t kNameMax = 100;
  for (const std::string_view prefix : {"jit_", "pmap_"}) {
    const std::size_t begin = code.find(prefix);
    if (begin == std::string_view::npos) continue;
    std::size_t end = begin;
    while (end < code.size() && end - begin < kNameMax && is_of_name(code[end])) ++end;
    return std::string(code.substr(begin, end - begin));
  }
  return "program";
}

FrontClient::FrontClient(Client client, std::vector<Slice> slices, std::vector<Mesh> meshes)
    : client_(std::move(client)), slices_(std::move(slices)), devices_(this, meshes) {}

Result<std::unique_ptr<FrontClient>> FrontClient::make(const FrontOptions& options) {
  ClientOptions client_options;
  client_options.tenant = options.tenant;
  client_options.weight = options.weight;
  client_options.when_full = WhenFull::kWait;  // Frameworks run ahead without looking back.
  if (options.ahead > 0) client_options.runs_in_flight_max = options.ahead;
  auto client = connect(options.cluster, client_options);
  if (!client.ok()) return client.status();
  return make(std::move(*client), options.cluster);
}

Result<std::unique_ptr<FrontClient>> FrontClient::make(Client client, const std::string& where) {
  const client::Wiring& wiring = client.session().wiring();
  std::vector<Slice> slices;
  std::vector<Mesh> meshes;
  for (std::uint32_t island = 0; island < wiring.islands; ++island) {
    auto slice = client.acquire_slice(
        {.devices = wiring.devices, .island = static_cast<std::int32_t>(island)});
    if (!slice.ok()) {
      return Status(slice.status().code(), "island " + std::to_string(island) +
                                               " of the cluster: " + slice.status().message());
    }
    meshes.push_back(slice->mesh());
    slices.push_back(std::move(*slice));
  }
  std::unique_ptr<FrontClient> front(
      new FrontClient(std::move(client), std::move(slices), std::move(meshes)));
  front->version_text_ = "Seaway " SEAWAY_VERSION ", " + std::to_string(wiring.islands) +
                         (wiring.islands == 1 ? " island" : " islands") + " of " +
                         std::to_string(wiring.devices) +
                         (wiring.devices == 1 ? " device" : " devices");
  if (!where.empty()) front->version_text_ += " at " + where;
  return front;
}

Result<std::unique_ptr<FrontBuffer>> FrontClient::put(TensorType type, const std::byte* data,
                                                      std::span<const std::int64_t> byte_strides,
                                                      FrontDevice& device) const {
  if (Status status = validate(type); !status.ok()) return status;
  std::vector<std::byte> dense;
  if (!is_dense(type, byte_strides)) {
    dense = make_dense(type, data, byte_strides);
    data = dense.data();
  }
  const auto elements = static_cast<std::size_t>(type.elements());
  Array array = client_.put_bytes(std::move(type), data, elements, NamedSharding(device.mesh, P()),
                                  HostBufferSemantics::kImmutableOnlyDuringCall);
  if (array.id() == 0) return array.error();
  return std::make_unique<FrontBuffer>(std::move(array), &device);
}

Result<std::unique_ptr<FrontBuffer>> FrontClient::copy(FrontBuffer& buffer, FrontDevice& target) {
  if (buffer.is_deleted()) return invalid_argument("a copy of what was deleted or donated");
  if (const auto recording = Recording::current(*target.client)) {
    return recording->add_copy(buffer, target);
  }
  auto array = buffer.array().reshard(NamedSharding(target.mesh, P()));
  if (!array.ok()) return array.status();
  return std::make_unique<FrontBuffer>(std::move(*array), &target);
}

Result<std::vector<FrontDevice*>> FrontClient::place(const pjrt::Placing& placing) const {
  std::vector<FrontDevice*> devices;
  for (std::uint32_t shard = 0; shard < placing.shards(); ++shard) {
    const std::int64_t id = placing.devices.empty() ? shard : placing.devices[shard];
    devices.push_back(devices_.find(id));
    if (devices.back() != nullptr) continue;
    return invalid_argument("a program is to be compiled for device " + std::to_string(id) +
                            ", and the cluster has " + std::to_string(devices_.size()));
  }
  std::set<std::uint32_t> islands;
  for (const FrontDevice* const device : devices) islands.insert(device->island);
  if (islands.size() == 1) return devices;
  return unimplemented(
      "one sharded program is to run on " + list_of(devices) +
      ": its collectives are those of one plugin in one process, and do not reach the devices of "
      "another island. Shard it over the devices of one island (device.island says which one), run "
      "programs of their own on the other islands, and move arrays between them by jax.device_put");
}

Result<std::shared_ptr<FrontExecutable>> FrontClient::compile(std::string_view code,
                                                              std::string_view format,
                                                              const std::string& options) {
  auto placing = pjrt::read_placing(options);
  if (!placing.ok()) return placing.status();
  auto devices = place(*placing);
  if (!devices.ok()) return devices.status();
  auto anywhere = pjrt::placed_options(options, {});
  if (!anywhere.ok()) return anywhere.status();
  std::string key = std::string(format) + '\n' + *anywhere + '\n' + std::string(code);
  const bool is_portable = placing->devices.empty();
  {
    std::lock_guard guard(mutex_);
    const auto found = functions_.find(key);
    if (const auto record = found == functions_.end() ? nullptr : found->second.lock()) {
      return std::make_shared<FrontExecutable>(*this, Function(record), std::move(*placing),
                                               std::move(*devices), is_portable);
    }
  }
  auto function = client_.foreign(name_of_program(code), {.code = std::string(code),
                                                          .format = std::string(format),
                                                          .options = *anywhere,
                                                          .shards = placing->shards()});
  if (!function.ok()) return function.status();
  {
    std::lock_guard guard(mutex_);
    std::erase_if(functions_, [](const auto& entry) { return entry.second.expired(); });
    functions_[std::move(key)] = function->record();
  }
  return std::make_shared<FrontExecutable>(*this, std::move(*function), std::move(*placing),
                                           std::move(*devices), is_portable);
}

}  // namespace seaway::front
