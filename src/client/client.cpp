// The public Client and Slice, on a session.

#include "seaway/client.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/limits.hpp"
#include "client/capture.hpp"
#include "client/frames.hpp"
#include "client/session.hpp"
#include "function/capture.hpp"

namespace seaway {
namespace {

Status empty_client() {
  return invalid_argument("this Client is empty: it was default-made or moved from");
}

Status takes_another_number(const std::string& name, std::size_t count) {
  return invalid_argument("the body of \"" + name + "\" cannot be called with " +
                          std::to_string(count) +
                          " values; let it take as many as there are parameters, or a span");
}

}  // namespace

struct Client::Owner {
  std::shared_ptr<void> keep_alive;  // Goes last.
  std::shared_ptr<client::Session> session;

  bool is_lent = false;  // Then the session ends without it.

  Owner(std::shared_ptr<client::Session> own, std::shared_ptr<void> cluster)
      : keep_alive(std::move(cluster)), session(std::move(own)) {}
  ~Owner() {
    if (!is_lent) session->close();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
};

Client client::make_client(std::shared_ptr<Session> session, std::shared_ptr<void> keep_alive) {
  return Client(std::make_shared<Client::Owner>(std::move(session), std::move(keep_alive)));
}

Client client::lend_client(std::shared_ptr<Session> session) {
  auto owner = std::make_shared<Client::Owner>(std::move(session), nullptr);
  owner->is_lent = true;
  return Client(std::move(owner));
}

Client debug_client(ClientOptions options) {
  client::Wiring wiring;
  wiring.client = 1;
  return client::make_client(client::make_session(std::move(wiring), std::move(options)), nullptr);
}

client::Session& Client::session() const { return *owner_->session; }

Result<Slice> Client::acquire_slice(const SliceRequest& request) const {
  if (!owner_) return empty_client();
  auto slice = session().acquire_slice(request);
  if (!slice.ok()) return slice.status();
  return Slice(std::move(slice).value());
}

Array Client::put_bytes(TensorType type, const std::byte* data, std::size_t elements,
                        const NamedSharding& sharding, HostBufferSemantics semantics) const {
  if (!owner_) return {};
  client::Record* record = session().put(std::move(type), data, elements, sharding, semantics);
  Array array(record->cells());
  // Uploads have no Run: its handle goes at once, and the array's own stays.
  record->run_handles = 0;
  record->unreference();
  return array;
}

Array Client::put_file(const MappedFile& file, TensorType type, const NamedSharding& sharding,
                       std::uint64_t offset) const {
  if (!owner_) return {};
  client::Record* record = session().put_file(std::move(type), file.source(), offset, sharding);
  Array array(record->cells());
  record->run_handles = 0;
  record->unreference();
  return array;
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  auto source = transport::SourceFile::open(path);
  if (!source.ok()) return source.status();
  return MappedFile(std::move(*source));
}

std::uint64_t MappedFile::bytes() const { return source_ ? source_->bytes() : 0; }

Result<Function> Client::capture_function(std::string name, const TensorBody& body,
                                          std::vector<TensorType> parameters,
                                          FunctionOptions options, const bool& takes) const {
  if (!owner_) return empty_client();
  if (Status status = limits::check_name(name, "function name"); !status.ok()) return status;
  function::AxisSizes axes;
  if (options.mesh) {
    auto slice = session().find_slice(*options.mesh);
    if (!slice.ok()) return slice.status();
    axes = options.mesh->axes();
  }
  for (const TensorType& parameter : parameters) {
    if (Status status = validate(parameter); !status.ok()) return status;
  }
  auto graph = function::capture(name, axes, parameters, body);
  if (!takes) return takes_another_number(name, parameters.size());
  if (!graph.ok()) return graph.status();
  auto function = std::make_shared<client::FunctionDefinition>();
  function->info.name = std::move(name);
  function->info.parameters = std::move(parameters);
  for (std::size_t i = 0; i < graph->outputs.size(); ++i) {
    function->info.outputs.push_back(graph->output_type(i));
  }
  function->info.axes = std::move(axes);
  function->graph = std::move(graph).value();
  auto defined = session().define_function(std::move(function), std::move(options.mesh),
                                           {std::move(options.in), std::move(options.out)});
  if (!defined.ok()) return defined.status();
  return Function(std::move(defined).value());
}

Result<Function> Client::native(std::string name, NativeFunction native) const {
  if (!owner_) return empty_client();
  if (Status status = limits::check_name(name, "function name"); !status.ok()) return status;
  if (Status status = limits::check(limits::kScratchBytes, native.scratch_bytes,
                                    "native function \"" + name + "\"");
      !status.ok()) {
    return status;
  }
  if (!native.body) return invalid_argument("native function \"" + name + "\" has no body");
  for (const auto* types : {&native.parameters, &native.outputs}) {
    for (const TensorType& type : *types) {
      if (Status status = validate(type); !status.ok()) return status;
    }
  }
  function::NativeFunction internal_form;
  internal_form.name = std::move(name);
  internal_form.parameters = std::move(native.parameters);
  internal_form.outputs = std::move(native.outputs);
  internal_form.scratch_bytes = native.scratch_bytes;
  internal_form.cost_ns = native.cost_ns;
  internal_form.idempotent = native.idempotent;
  internal_form.irregular = native.irregular;
  internal_form.body = std::move(native.body);
  auto defined = session().define_native(std::move(internal_form),
                                         {std::move(native.in), std::move(native.out)});
  if (!defined.ok()) return defined.status();
  return Function(std::move(defined).value());
}

Result<Function> Client::foreign(std::string name, ForeignFunction foreign) const {
  if (!owner_) return empty_client();
  const auto wrong = [&name](const std::string& what) {
    return "foreign function \"" + name + "\" " + what;
  };
  Status status = limits::check_name(name, "function name");
  if (status.ok()) status = limits::check_name(foreign.format, "format of a foreign function");
  if (!status.ok()) return status;
  if (foreign.code.empty()) return invalid_argument(wrong("has no code"));
  if (foreign.shards == 0) return invalid_argument(wrong("has no shards: at least one runs it"));
  status = limits::check(limits::kMeshDevices, foreign.shards, wrong("has too many shards"));
  if (!status.ok()) return status;
  const std::size_t bytes = foreign.code.size() + foreign.options.size();
  if (bytes > limits::kForeignBytes.max) {
    return resource_exhausted(wrong("has " + std::to_string(bytes) + " bytes; the limit is " +
                                    std::to_string(limits::kForeignBytes.max) +
                                    ": hand large constants over as arguments"));
  }
  const auto timeout_ns =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, foreign.timeout.count()));
  auto defined = session().define_foreign({.name = std::move(name),
                                           .format = std::move(foreign.format),
                                           .code = std::move(foreign.code),
                                           .options = std::move(foreign.options),
                                           .shards = foreign.shards},
                                          timeout_ns);
  if (!defined.ok()) return defined.status();
  return Function(std::move(defined).value());
}

Result<Program> Client::capture_program(std::string name, const ProgramBody& body,
                                        std::vector<ArraySpec> parameters, ProgramOptions options,
                                        const bool& takes) const {
  if (!owner_) return empty_client();
  if (Status status = limits::check_name(name, "program name"); !status.ok()) return status;
  client::Capture capture(session(), name, options);
  std::vector<Traced> values;
  for (const ArraySpec& parameter : parameters) values.push_back(capture.add_parameter(parameter));
  std::vector<Traced> outputs;
  try {
    outputs = body(values);
  } catch (const std::exception& exception) {
    return user_function_error("the body of program \"" + name + "\" threw: " + exception.what());
  } catch (...) {
    return user_function_error("the body of program \"" + name + "\" threw something unknown");
  }
  if (!takes) return takes_another_number(name, parameters.size());
  auto program = capture.finish(outputs);
  if (!program.ok()) return program.status();
  return Program(std::move(program).value());
}

std::string Client::why() const { return owner_ ? session().why(0) : empty_client().to_string(); }

Result<std::string> Client::stats() const {
  if (!owner_) return empty_client();
  return session().ask(
      "stats", [this](std::uint64_t request) { return client::frames::stats(id(), request); });
}

Status Client::drain() const {
  if (!owner_) return empty_client();
  if (debug()) return {};
  return session()
      .ask("drain", [this](std::uint64_t request) { return client::frames::drain(id(), request); })
      .status();
}

void Client::set_debug(bool on) {
  if (owner_) session().set_debug(on);
}

bool Client::debug() const { return owner_ && session().debug(); }

std::uint32_t Client::id() const { return owner_ ? session().id() : 0; }

std::string Client::to_string() const {
  if (!owner_) return "client (empty)";
  return "client " + std::to_string(id()) + " of tenant \"" + options().tenant + "\"";
}

const ClientOptions& Client::options() const {
  static const ClientOptions defaults;
  return owner_ ? session().options() : defaults;
}

const Mesh& Slice::mesh() const {
  static const Mesh none;
  return record_ ? record_->mesh : none;
}

bool Slice::is_released() const { return !record_ || record_->is_released; }

Status Slice::release() {
  if (!record_) return invalid_argument("this Slice is empty");
  return record_->session->release_slice(*record_);
}

Status Slice::rebind() {
  if (!record_) return invalid_argument("this Slice is empty");
  return record_->session->rebind_slice(*record_);
}

std::string Slice::to_string() const {
  return record_ ? "slice " + client::name_of(record_->mesh.slice()) + " " +
                       record_->mesh.to_string() + (is_released() ? " (released)" : "")
                 : "slice (empty)";
}

}  // namespace seaway
