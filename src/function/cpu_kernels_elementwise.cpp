// Elementwise kernels: one operation over all shards, or a program of them tile by tile.

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "function/cpu_kernels.hpp"

namespace seaway::function::cpu {
namespace {

constexpr std::size_t kTile = 512;  // Elements; sixteen registers of 2 KiB fit the L1 cache.
constexpr std::size_t kRegistersMax = kProgramOperationsMax + kProgramInputsMax;
constexpr std::size_t kSlotsMax = kProgramInputsMax + kRegistersMax + kProgramOperationsMax;
constexpr std::size_t kGrain = 4096;  // Elements; pieces are whole grains.

/// Operand step of the elements within one shard: 0 for scalars.
struct TinyDetails final : Details {
  std::vector<std::size_t> element_steps;  // out, then operands.
};

/// One operation, few elements: the loop over the shards is the inner one.
void run_tiny(const Step& step, const Tables& tables, const Work& work) {
  std::byte* bases[4] = {};
  std::size_t strides[4] = {};
  const std::size_t operands = step.in.size();
  const ShardedBuffer out = tables.at(step.out[0]);
  bases[0] = out.shard(work.shard_begin);
  strides[0] = out.stride;
  for (std::size_t i = 0; i < operands; ++i) {
    const ShardedBuffer in = tables.at(step.in[i]);
    bases[i + 1] = in.shard(work.shard_begin);
    strides[i + 1] = in.stride;
  }
  const std::size_t shards = work.shard_end - work.shard_begin;
  if (step.elements == 1) {
    step.strided(bases[0], bases[1], bases[2], bases[3], strides, shards);
    return;
  }
  const auto& steps = static_cast<const TinyDetails&>(*step.details).element_steps;
  for (std::size_t i = 0; i < step.elements; ++i) {
    step.strided(bases[0], bases[1], bases[2], bases[3], strides, shards);
    for (std::size_t k = 0; k <= operands; ++k) bases[k] += steps[k];
  }
}

/// One operation, each operand dense or one element.
void run_single(const Step& step, const Tables& tables, const Work& work) {
  const auto& steps = static_cast<const TinyDetails&>(*step.details).element_steps;
  const Slice slice = slice_of(step.elements, work, step.pieces, kGrain);
  if (slice.begin >= slice.end) return;
  const ShardedBuffer out = tables.at(step.out[0]);
  ShardedBuffer in[3] = {};
  for (std::size_t i = 0; i < step.in.size(); ++i) in[i] = tables.at(step.in[i]);
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    const std::byte* operands[3] = {};
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      operands[i] = in[i].shard(s) + slice.begin * steps[i + 1];
    }
    step.dense(out.shard(s) + slice.begin * steps[0], operands[0], operands[1], operands[2],
               slice.end - slice.begin);
  }
}

/// Fills a register from an operand that is smaller than the program's shape.
struct Load {
  std::size_t input, slot;
  Access access;
  std::size_t length, element_bytes;
};
struct TileOperation {
  DenseFunction function;
  std::uint32_t out, a, b, c;  // Slots.
};
/// Where a slot points: at an input or output, moving with the tile, or at a register.
struct Slot {
  enum Kind : std::uint8_t { kInput, kOutput, kRegister } kind = kRegister;
  std::uint32_t index = 0;
  std::size_t element_step = 0;
};
struct ProgramDetails final : Details {
  std::vector<Slot> slots;
  std::vector<Load> loads;
  std::vector<TileOperation> operations;
};

template <class T>
void load_tile(const Load& load, const std::byte* source, std::byte* target, std::size_t begin,
               std::size_t count) {
  const T* in = reinterpret_cast<const T*>(source);
  T* out = reinterpret_cast<T*>(target);
  if (load.access == Access::kScalar) {
    std::fill_n(out, count, *in);
    return;
  }
  const bool is_periodic = load.access == Access::kPeriodic;
  std::size_t within = begin % load.length;
  std::size_t block = begin / load.length;
  while (count > 0) {
    const std::size_t run = std::min(count, load.length - within);
    if (is_periodic) {
      std::memcpy(out, in + within, run * sizeof(T));
    } else {
      std::fill_n(out, run, in[block]);
    }
    out += run;
    count -= run;
    within = 0;
    ++block;
  }
}

void run_program(const Step& step, const Tables& tables, const Work& work) {
  const auto& details = static_cast<const ProgramDetails&>(*step.details);
  const Slice slice = slice_of(step.elements, work, step.pieces, kGrain);
  alignas(64) std::byte registers[kRegistersMax][kTile * 4];
  std::byte* bases[kSlotsMax];
  std::byte* pointers[kSlotsMax];
  for (std::size_t s = work.shard_begin; s < work.shard_end; ++s) {
    for (std::size_t i = 0; i < details.slots.size(); ++i) {
      const Slot& slot = details.slots[i];
      bases[i] = slot.kind == Slot::kInput    ? tables.at(step.in[slot.index]).shard(s)
                 : slot.kind == Slot::kOutput ? tables.at(step.out[slot.index]).shard(s)
                                              : registers[slot.index];
    }
    for (std::size_t begin = slice.begin; begin < slice.end; begin += kTile) {
      const std::size_t count = std::min(kTile, slice.end - begin);
      for (std::size_t i = 0; i < details.slots.size(); ++i) {
        pointers[i] = bases[i] + begin * details.slots[i].element_step;
      }
      for (const Load& load : details.loads) {
        (load.element_bytes == 4 ? load_tile<std::uint32_t>
                                 : load_tile<std::uint8_t>)(load, pointers[load.input],
                                                            pointers[load.slot], begin, count);
      }
      for (const TileOperation& operation : details.operations) {
        operation.function(pointers[operation.out], pointers[operation.a], pointers[operation.b],
                           pointers[operation.c], count);
      }
    }
  }
}

/// Turns a program into slots, registers and tile operations.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const ElementProgram& program) : program_(program) {
    const std::size_t values = program.inputs.size() + program.operations.size();
    slot_of_.assign(values, 0);
    last_use_.assign(values, 0);
    for (std::size_t o = 0; o < program.operations.size(); ++o) {
      for (const std::size_t source : program.operations[o].sources) last_use_[source] = o;
    }
  }

  std::shared_ptr<const ProgramDetails> build() {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      const ProgramInput& input = program_.inputs[i];
      const std::size_t step = input.access == Access::kDense ? input.element_bytes : 0;
      slot_of_[i] = add_slot({Slot::kInput, static_cast<std::uint32_t>(i), step});
      if (input.access == Access::kPeriodic || input.access == Access::kRepeated) load(i);
    }
    for (std::size_t o = 0; o < program_.operations.size(); ++o) add_operation(o);
    SEAWAY_CHECK(details_->slots.size() <= kSlotsMax, details_->slots.size());
    return details_;
  }

 private:
  std::size_t add_slot(Slot slot) {
    details_->slots.push_back(slot);
    return details_->slots.size() - 1;
  }

  std::size_t take_register() {
    if (free_.empty()) return new_register();
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  std::size_t new_register() {
    SEAWAY_CHECK(registers_ < kRegistersMax, registers_);
    return add_slot({Slot::kRegister, registers_++, 0});
  }

  /// Makes slot_of_[input] a register that is filled at the start of each tile. Such a register
  /// serves nothing else, since the loads of a tile all come before its operations.
  void load(std::size_t i) {
    const ProgramInput& input = program_.inputs[i];
    const std::size_t slot = new_register();
    details_->loads.push_back({slot_of_[i], slot, input.access, input.length, input.element_bytes});
    slot_of_[i] = slot;
    is_loaded_.push_back(i);
  }

  bool is_scalar(std::size_t source) const {
    return source < program_.inputs.size() && program_.inputs[source].access == Access::kScalar &&
           std::find(is_loaded_.begin(), is_loaded_.end(), source) == is_loaded_.end();
  }

  void add_operation(std::size_t index) {
    const ProgramOperation& operation = program_.operations[index];
    const VectorKernels& kernels = vector_kernels();
    const auto find = [&] {
      unsigned scalars = 0;
      for (std::size_t i = 0; i < operation.sources.size(); ++i) {
        if (is_scalar(operation.sources[i])) scalars |= 1u << i;
      }
      return kernels.elementwise(operation.op, operation.compare, operation.operand,
                                 operation.result, scalars);
    };
    ElementFunctions functions = find();
    for (std::size_t i = 0; functions.dense == nullptr; ++i) {
      SEAWAY_CHECK(i < operation.sources.size(), static_cast<int>(operation.op));
      if (!is_scalar(operation.sources[i])) continue;
      load(operation.sources[i]);
      functions = find();
    }
    TileOperation tile{functions.dense, 0, 0, 0, 0};
    std::uint32_t* const slots[3] = {&tile.a, &tile.b, &tile.c};
    for (std::size_t i = 0; i < operation.sources.size(); ++i) {
      *slots[i] = static_cast<std::uint32_t>(slot_of_[operation.sources[i]]);
    }
    const std::size_t value = program_.inputs.size() + index;
    if (operation.output >= 0) {
      slot_of_[value] = add_slot(
          {Slot::kOutput, static_cast<std::uint32_t>(operation.output), size_of(operation.result)});
    } else {
      slot_of_[value] = take_register();
    }
    tile.out = static_cast<std::uint32_t>(slot_of_[value]);
    for (const std::size_t source : operation.sources) release(source, index);
    details_->operations.push_back(tile);
  }

  void release(std::size_t source, std::size_t index) {
    if (source < program_.inputs.size() || last_use_[source] != index) return;
    const std::size_t slot = slot_of_[source];
    if (details_->slots[slot].kind != Slot::kRegister) return;
    if (std::find(free_.begin(), free_.end(), slot) == free_.end()) free_.push_back(slot);
  }

  const ElementProgram& program_;
  std::shared_ptr<ProgramDetails> details_ = std::make_shared<ProgramDetails>();
  std::vector<std::size_t> slot_of_, last_use_, free_, is_loaded_;
  std::uint32_t registers_ = 0;
};

/// An output may lie on a dense operand that no later operation reads.
void find_in_place(const ElementProgram& program, Step& step) {
  for (std::size_t o = 0; o < program.operations.size(); ++o) {
    const ProgramOperation& operation = program.operations[o];
    if (operation.output < 0) continue;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const ProgramInput& input = program.inputs[i];
      if (input.access != Access::kDense || input.element_bytes != size_of(operation.result)) {
        continue;
      }
      bool is_read_later = false;
      for (std::size_t later = o + 1; later < program.operations.size(); ++later) {
        const auto& sources = program.operations[later].sources;
        is_read_later |= std::find(sources.begin(), sources.end(), i) != sources.end();
      }
      if (!is_read_later) {
        step.in_place.emplace_back(static_cast<std::uint32_t>(operation.output),
                                   static_cast<std::uint32_t>(i));
      }
    }
  }
}

/// Nanoseconds per 16 elements of the slower operations, in bytes of the cost model.
std::size_t weight_of(Op op) {
  switch (op) {
    case Op::kExponential:
    case Op::kLog:
    case Op::kTanh:
    case Op::kDivide:
    case Op::kSqrt:
    case Op::kRsqrt:
      return 4;
    case Op::kPower:
      return 60;
    default:
      return 1;
  }
}

}  // namespace

Step make_elementwise(const ElementProgram& program) {
  SEAWAY_CHECK(program.operations.size() <= kProgramOperationsMax, program.operations.size());
  SEAWAY_CHECK(program.inputs.size() <= kProgramInputsMax, program.inputs.size());
  Step step;
  step.elements = program.elements;
  std::size_t bytes_per_element = 0;
  for (const ProgramInput& input : program.inputs) {
    if (input.access == Access::kDense) bytes_per_element += input.element_bytes;
  }
  for (const ProgramOperation& operation : program.operations) {
    if (operation.output >= 0) bytes_per_element += size_of(operation.result);
    bytes_per_element += weight_of(operation.op);
  }
  step.cost_ns = cost_of(bytes_per_element * program.elements);
  step.pieces = pieces_for(step.cost_ns, (program.elements + kGrain - 1) / kGrain);
  find_in_place(program, step);

  const ProgramOperation& first = program.operations.front();
  bool is_simple = program.operations.size() == 1;
  auto details = std::make_shared<TinyDetails>();
  details->element_steps.push_back(size_of(first.result));
  unsigned scalars = 0;
  for (std::size_t i = 0; is_simple && i < first.sources.size(); ++i) {
    // A step of one operation lists its operands in order, once each.
    is_simple = first.sources[i] == i;
    if (!is_simple) break;
    const ProgramInput& input = program.inputs[i];
    is_simple = input.access == Access::kDense || input.access == Access::kScalar;
    const bool is_scalar = input.access == Access::kScalar;
    if (is_scalar) scalars |= 1u << i;
    details->element_steps.push_back(is_scalar ? 0 : input.element_bytes);
  }
  if (is_simple) {
    const ElementFunctions functions =
        vector_kernels().elementwise(first.op, first.compare, first.operand, first.result, scalars);
    step.dense = functions.dense;
    step.strided = functions.strided;
    step.details = details;
    if (program.elements <= kTinyElementsMax) {
      step.kernel = &run_tiny;
      return step;
    }
    if (functions.dense != nullptr) {
      step.kernel = &run_single;
      return step;
    }
  }
  step.details = ProgramBuilder(program).build();
  step.kernel = &run_program;
  return step;
}

}  // namespace seaway::function::cpu
