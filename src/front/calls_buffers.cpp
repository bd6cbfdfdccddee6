// Buffers: arrays of Seaway's, one on each device that has a shard.

#include "front/calls.hpp"
#include "front/host_layout.hpp"
#include "pjrt/plugin.hpp"

namespace seaway::front {
namespace {

Result<abi::Buffer*> hand_out(Result<std::unique_ptr<FrontBuffer>> buffer) {
  if (!buffer.ok()) return buffer.status();
  return new_buffer(std::move(*buffer));
}

Status client_buffer_from_host(abi::ClientBufferFromHostBuffer& args) {
  const auto dtype = pjrt::dtype_of(args.type);
  if (!dtype.ok()) return dtype.status();
  TensorType type{*dtype, Shape(args.sizes, args.sizes + args.rank)};
  const auto* const layout = static_cast<const abi::MemoryLayout*>(args.device_layout);
  if (Status status = check_row_major(type, layout); !status.ok()) return status;
  if (args.byte_strides_count != 0 && args.byte_strides_count != args.rank) {
    return invalid_argument(std::to_string(args.byte_strides_count) + " strides of " +
                            to_string(type));
  }
  FrontDevice* const device = args.memory ? of(args.memory)->device : of(args.device);
  auto buffer = hand_out(
      of(args.client)
          ->put(std::move(type), static_cast<const std::byte*>(args.data),
                {args.byte_strides, args.byte_strides ? args.byte_strides_count : 0}, *device));
  if (!buffer.ok()) return buffer.status();
  args.buffer = *buffer;
  args.done_with_host = new_event(Status());  // It was read just now.
  return {};
}

Status buffer_destroy(abi::BufferDestroy& args) {
  delete of(args.buffer);
  return {};
}

Status buffer_element_type(abi::BufferElementType& args) {
  args.type = pjrt::element_type(of(args.buffer)->type().dtype);
  return {};
}

Status buffer_dimensions(abi::BufferDimensions& args) {
  args.sizes = of(args.buffer)->type().shape.data();
  args.rank = of(args.buffer)->type().shape.size();
  return {};
}

Status buffer_unpadded_dimensions(abi::BufferUnpaddedDimensions& args) {
  args.sizes = of(args.buffer)->type().shape.data();
  args.rank = of(args.buffer)->type().shape.size();
  return {};
}

Status buffer_dynamic_dimensions(abi::BufferDynamicDimensionIndices& args) {
  args.indices = nullptr;
  args.count = 0;
  return {};
}

Status buffer_layout(abi::BufferGetMemoryLayout& args) {
  const std::span<const std::int64_t> order = minor_to_major(of(args.buffer)->type().shape.size());
  args.layout.type = abi::LayoutType::kTiled;
  args.layout.tiled = {};
  args.layout.tiled.head.struct_size = abi::size_of<abi::TiledLayout>();
  args.layout.tiled.minor_to_major = order.data();
  args.layout.tiled.minor_to_major_size = order.size();
  return {};
}

Status buffer_bytes(abi::BufferOnDeviceSizeInBytes& args) {
  args.bytes = of(args.buffer)->type().bytes();
  return {};
}

Status buffer_device(abi::BufferDevice& args) {
  args.device = of(args.buffer)->device->memory.device_handle;
  return {};
}

Status buffer_memory(abi::BufferMemory& args) {
  args.memory = of(args.buffer)->device->memory_handle;
  return {};
}

Status buffer_delete(abi::BufferDelete& args) {
  of(args.buffer)->delete_now();
  return {};
}

Status buffer_is_deleted(abi::BufferIsDeleted& args) {
  args.is_deleted = of(args.buffer)->is_deleted();
  return {};
}

/// Its bytes are on a host of the cluster, and not here.
Status buffer_is_on_cpu(abi::BufferIsOnCpu& args) {
  args.is_on_cpu = false;
  return {};
}

Status copy_to(abi::Buffer* source, FrontDevice& target, abi::Buffer*& copy) {
  auto made = FrontClient::copy(*of(source), target);
  auto buffer = hand_out(std::move(made));
  if (!buffer.ok()) return buffer.status();
  copy = *buffer;
  return {};
}

Status buffer_copy_to_device(abi::BufferCopyToDevice& args) {
  return copy_to(args.buffer, *of(args.device), args.copy);
}

Status buffer_copy_to_memory(abi::BufferCopyToMemory& args) {
  return copy_to(args.buffer, *of(args.memory)->device, args.copy);
}

Status buffer_to_host(abi::BufferToHostBuffer& args) {
  const FrontBuffer& buffer = *of(args.buffer);
  const TensorType& type = buffer.type();
  const auto* const layout = static_cast<const abi::MemoryLayout*>(args.layout);
  if (Status status = check_row_major(type, layout); !status.ok()) return status;
  if (args.target == nullptr) {
    args.target_size = type.bytes();
    return {};
  }
  if (args.target_size < type.bytes()) {
    return invalid_argument("a value of " + std::to_string(type.bytes()) +
                            " bytes is to go to a room of " + std::to_string(args.target_size));
  }
  args.event = new_awaited_event(
      buffer.array().to_host(std::span(static_cast<std::byte*>(args.target), type.bytes())));
  return {};
}

Status buffer_ready_event(abi::BufferReadyEvent& args) {
  args.event = new_awaited_event(of(args.buffer)->array().ready());
  return {};
}

// An array stays where it is as long as its buffer, as far as anybody here can see.
Status buffer_increase_references(abi::BufferIncreaseExternalReferenceCount&) { return {}; }
Status buffer_decrease_references(abi::BufferDecreaseExternalReferenceCount&) { return {}; }

Status buffer_pointer(abi::BufferOpaqueDeviceMemoryDataPointer&) {
  return unimplemented(
      "the bytes of a Seaway array are on a host of its cluster, and have no address here: copy "
      "the value to the host");
}

}  // namespace

void offer_buffers(Table& table) {
  table.offer<client_buffer_from_host>();
  table.offer<buffer_destroy>();
  table.offer<buffer_element_type>();
  table.offer<buffer_dimensions>();
  table.offer<buffer_unpadded_dimensions>();
  table.offer<buffer_dynamic_dimensions>();
  table.offer<buffer_layout>();
  table.offer<buffer_bytes>();
  table.offer<buffer_device>();
  table.offer<buffer_memory>();
  table.offer<buffer_delete>();
  table.offer<buffer_is_deleted>();
  table.offer<buffer_is_on_cpu>();
  table.offer<buffer_copy_to_device>();
  table.offer<buffer_copy_to_memory>();
  table.offer<buffer_to_host>();
  table.offer<buffer_ready_event>();
  table.offer<buffer_increase_references>();
  table.offer<buffer_decrease_references>();
  table.offer<buffer_pointer>();
}

}  // namespace seaway::front
