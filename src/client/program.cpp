// The public Program and Run, on a session's records.

#include "seaway/program.hpp"

#include <utility>

#include "client/record.hpp"
#include "client/registry.hpp"
#include "client/session.hpp"

namespace seaway {
namespace {

const client::ProgramRecord& empty_program() {
  static const client::ProgramRecord record;
  return record;
}

Status empty_run() {
  return invalid_argument("this Run is empty: it was default-made, moved from, or its Program was");
}

/// The functions of `program` by name, for as long as it lives.
program::FunctionNames names_of(const client::ProgramRecord& program) {
  return [&program](FunctionId id) {
    const auto found = program.functions.find(id);
    return found == program.functions.end() ? "" : found->second->info.name;
  };
}

/// An array that never was, with the reason.
Array failed_array(std::shared_ptr<client::Session> session, Status status) {
  auto origin = std::make_shared<client::Origin>();
  origin->session = std::move(session);
  origin->outputs.resize(1);
  origin->output_specs = {0};
  origin->name = "nothing";
  client::Record* record = client::Record::make_failed(std::move(origin), 1, std::move(status));
  Array array(record->cells());
  record->run_handles = 0;
  record->unreference();
  return array;
}

}  // namespace

Run::Run(const Run& other) : record_(other.record_) {
  if (record_) record_->run_handles.fetch_add(1, std::memory_order_relaxed);
}

Run::~Run() {
  if (record_) record_->drop_run();
}

std::uint64_t Run::id() const { return record_ ? record_->id : 0; }

std::size_t Run::size() const { return record_ ? record_->size : 0; }

Array Run::output(std::size_t index) const {
  if (!record_) return {};
  if (index >= record_->size) {
    return failed_array(record_->origin->session,
                        invalid_argument("output " + std::to_string(index) + " of " + to_string() +
                                         ", which has " + std::to_string(record_->size)));
  }
  client::ArrayCell* cell = record_->cells() + index;
  cell->handles.fetch_add(1, std::memory_order_relaxed);
  return Array(cell);
}

std::vector<Array> Run::outputs() const {
  std::vector<Array> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(output(i));
  return all;
}

Future<void> Run::status() const {
  return record_ ? record_->outcome() : Future<void>::of(empty_run());
}

Status Run::error() const { return record_ ? record_->error() : empty_run(); }

void Run::cancel() {
  if (record_) record_->origin->session->cancel_run(*record_);
}

std::string Run::why() const {
  if (!record_ || !record_->is_pending()) return to_string();
  return record_->origin->session->why(record_->id);
}

std::string Run::to_string() const {
  return record_ ? "run " + record_->to_string() : "run (empty)";
}

const std::string& Program::name() const { return record_ ? record_->name : empty_program().name; }

std::uint64_t Program::id() const { return record_ ? record_->graph.id : 0; }

const std::vector<ArraySpec>& Program::parameters() const {
  return record_ ? record_->graph.parameters : empty_program().graph.parameters;
}

const std::vector<ArraySpec>& Program::outputs() const {
  return record_ ? record_->outputs : empty_program().outputs;
}

std::size_t Program::node_count() const { return record_ ? record_->graph.nodes.size() : 0; }

Run Program::execute(std::span<const Array> arguments, ExecuteOptions options, Site site) const {
  if (!record_) return Run();
  return Run(record_->session->execute(record_, arguments, options, site));
}

std::string Program::to_string() const {
  return record_ ? record_->graph.to_string(names_of(*record_)) : "program (empty)";
}

std::string Program::to_dot() const {
  return record_ ? record_->graph.to_dot(names_of(*record_)) : "";
}

std::string Program::to_json() const {
  return record_ ? record_->graph.to_json(names_of(*record_)) : "{}";
}

}  // namespace seaway
