// Envelopes over conversations: what comes in is handled in its order, what goes out has bytes.

#include "cluster/actors.hpp"

#include <algorithm>
#include <utility>

#include "actor/engine_waiter.hpp"
#include "app/client_envelopes.hpp"
#include "app/undeliverable.hpp"

namespace seaway::cluster {

using actor::Role;
using app::Envelope;
using app::kHub;
using app::SiloId;
using transport::ProcessId;

namespace {

/// Ids of a silo's calls and meshes begin anew after so many lives, when nobody remembers what was
/// in the first of them.
constexpr std::uint32_t kLivesMax = 4095;

std::string text(std::uint64_t number) { return std::to_string(number); }

}  // namespace

Actors::Actors(actor::Engine& engine, Peers& peers, ActorsOptions options)
    : engine_(engine),
      peers_(peers),
      options_(std::move(options)),
      self_(silo_of(options_.name)),
      waiter_(actor::make_engine_waiter(engine)),
      door_(std::make_shared<app::Door>()) {
  epochs_[kHub] = kUnheard;
  for (std::uint32_t host = 0; host < options_.shape.all_hosts(); ++host) {
    epochs_[app::silo_of_host(host)] = kUnheard;
  }
  epochs_[self_] = options_.life;
  app::Silo::Wiring wiring;
  wiring.id = self_;
  wiring.epoch = (options_.life - 1) % kLivesMax + 1;
  wiring.engine = &engine;
  wiring.network = this;
  wiring.door = door_;
  wiring.waiter = waiter_;
  wiring.seed = options_.seed;
  wiring.limits = options_.limits;
  wiring.client_of = options_.client_of;
  auto silo = std::make_unique<app::Silo>(std::move(wiring));
  silo_ = silo.get();
  const Frame poke = Frame::make(1, [](auto words) { words[0] = 0; });
  door_->open(engine.spawn("actors", std::move(silo)), poke, actor::gate_of(engine));
}

Actors::~Actors() { *is_here_ = false; }

Result<std::shared_ptr<app::ClientCaller>> Actors::open() {
  if (self_ >= kSilosMax) {
    return resource_exhausted("the cluster has had " + text(options_.name.index) +
                              " clients, and one more cannot use actors; restart the controller");
  }
  const auto tenant =
      options_.tenant_of ? options_.tenant_of(options_.name.index) : transport::kNoTenant;
  auto caller = std::make_shared<app::ClientCaller>(options_.name.index, tenant, *silo_);
  std::lock_guard guard(caller_mutex_);
  caller_ = caller;
  return caller;
}

void Actors::end_calls(const Status& why) {
  std::shared_ptr<app::ClientCaller> caller;
  {
    std::lock_guard guard(caller_mutex_);
    caller = caller_.lock();
  }
  if (caller) caller->end(why);
}

void Actors::lose(ProcessId process, const Status& why) {
  options_.lose ? options_.lose(process, why) : peers_.begin_anew(process, why);
}

SiloId Actors::silo_of(const RoleName& name) const {
  const Shape& shape = options_.shape;
  if (name.role == Role::kClient) return app::silo_of_client(name.index, shape.all_hosts());
  return name.role == Role::kController ? kHub : app::silo_of_host(host_number(name, shape));
}

ProcessId Actors::process_of_silo(SiloId silo) const {
  if (silo == kHub) return process_of({Role::kController, 0}, options_.shape);
  if (!is_client(silo)) {
    return process_of(role_of_host(app::host_of_silo(silo), options_.shape), options_.shape);
  }
  // Clients know each other through the hub.
  const RoleName client{Role::kClient, silo - options_.shape.all_hosts()};
  const RoleName next = is_client(self_) ? RoleName{Role::kController, 0} : client;
  return process_of(next, options_.shape);
}

std::uint32_t Actors::epoch(SiloId silo) const {
  const auto found = epochs_.find(silo);
  return found == epochs_.end() ? 0 : found->second;
}

void Actors::for_each_up(const std::function<void(SiloId)>& use) const {
  for (const auto& [silo, epoch] : epochs_) {
    if (epoch != 0) use(silo);
  }
}

/// An island's host begins anew when it has lost one of its annexes; these outlive each other and
/// their host.
bool Actors::ends_with(SiloId silo, SiloId lost) const {
  const auto is_host = [this](SiloId one) { return one != kHub && !is_client(one); };
  if (silo == lost || !is_host(silo) || !is_host(lost)) return silo == lost;
  const Shape& shape = options_.shape;
  const RoleName name = role_of_host(app::host_of_silo(silo), shape);
  const RoleName other = role_of_host(app::host_of_silo(lost), shape);
  return name.role == Role::kHost && other.role == Role::kAnnex &&
         actor::island_of_annex(other.index) == name.index;
}

void Actors::set_epoch(SiloId silo, std::uint32_t epoch) {
  if (epoch == 0 && is_client(silo)) {
    epochs_.erase(silo);
  } else {
    epochs_[silo] = epoch;
  }
}

void Actors::on_news(const PeerNews& news) {
  if (news.name.role == Role::kIsland) return;
  const SiloId silo = silo_of(news.name);
  const std::uint32_t epoch = news.is_lost ? 0 : std::max(news.life, 1u);
  const std::uint32_t before = this->epoch(silo);
  set_epoch(silo, epoch);
  const bool is_over = before != kUnheard && before != epoch;
  if (is_client(silo) && !news.is_lost && options_.tenant_of) {
    tenants_[silo] = options_.tenant_of(news.name.index);
  }
  put({.silo = silo, .is_lost = news.is_lost, .life_before = is_over ? before : 0});
  if (is_hub() && is_client(silo)) tell_clients(silo, epoch);
  if (news.is_lost) tenants_.erase(silo);
}

transport::TenantKey Actors::tenant_of(SiloId client) const {
  const auto found = tenants_.find(client);
  return found == tenants_.end() ? transport::kNoTenant : found->second;
}

/// All of one, and one that has come of all others of its tenant.
void Actors::tell_clients(SiloId client, std::uint32_t epoch) {
  const transport::TenantKey tenant = tenant_of(client);
  for (const auto& [other, life] : epochs_) {
    if (!is_client(other) || other == client || tenant_of(other) != tenant) continue;
    peers_.send_to_silo(process_of_silo(other), other, app::encode_news({client, epoch}));
    if (epoch == 0) continue;
    peers_.send_to_silo(process_of_silo(client), client, app::encode_news({other, life}));
  }
}

void Actors::on_frame(ProcessId from, SiloId to, Frame frame) {
  const RoleName sender = role_of(from, options_.shape);
  const bool is_clients = sender.role == Role::kClient;
  // Now: the client may be lost when the frame is read.
  const auto tenant = is_clients ? tenant_of(silo_of(sender)) : transport::kNoTenant;
  put({.silo = to, .is_frame = true, .from = from, .tenant = tenant, .frame = std::move(frame)});
}

/// Not at once: it may be told within something that the silo does.
void Actors::put(Event event) {
  waiting_bytes_ += event.frame.size_bytes();
  events_.push_back(std::move(event));
  early_.empty() ? drain_later() : limit_waiting();
}

void Actors::drain_later() {
  if (events_.empty() || std::exchange(is_draining_, true)) return;
  engine_.post([this, here = is_here_] {
    if (*here) drain();
  });
}

/// The words for which an array waits come on a conversation of their own: nothing that waits here
/// is needed for them, and who sends it is not made to wait.
void Actors::limit_waiting() {
  const bool is_much =
      events_.size() > options_.waiting_max || waiting_bytes_ > options_.waiting_bytes_max;
  if (!is_much || std::exchange(is_giving_up_, true)) return;
  engine_.post([this, here = is_here_] {
    if (!*here) return;
    is_giving_up_ = false;
    if (early_.empty()) return;
    arrays_->give_up_early(resource_exhausted(
        "an array was announced by another actor before its maker has said how it is made; " +
        text(events_.size()) + " messages of " + text(waiting_bytes_) +
        " bytes wait for that, and the limits are " + text(options_.waiting_max) + " and " +
        text(options_.waiting_bytes_max) + ": the session of the actors on the maker's host ends"));
    go_on();
  });
}

void Actors::drain() {
  is_draining_ = false;
  for (std::size_t left = events_.size(); left > 0 && early_.empty(); --left) {
    Event event = std::move(events_.front());
    events_.pop_front();
    waiting_bytes_ -= event.frame.size_bytes();
    if (event.is_frame) {
      read(event);
    } else if (!event.batch.empty()) {
      door_->deliver(event.batch);
    } else {
      hear_of(event);
    }
  }
}

void Actors::hear_of(const Event& event) {
  // What came before the word is looked at before it.
  silo_->receive({});
  const bool is_end = event.life_before != 0 || (event.is_lost && is_client(event.silo));
  if (arrays_ && is_end) arrays_->on_silo_lost(event.silo, event.life_before);
  event.is_lost ? silo_->on_silo_lost(event.silo) : silo_->on_silo_back(event.silo);
}

void Actors::go_on() {
  if (early_.empty() || arrays_->is_early()) return;
  door_->deliver(early_);
  early_.clear();
  drain_later();
}

/// A process sends in the name of its own silo; the hub also relays for clients to clients.
Status Actors::check_sender(const Event& event) const {
  const auto sender = app::read_sender(event.frame);
  if (!sender.ok()) return sender.status();
  const bool is_relayed = event.from == process_of({Role::kController, 0}, options_.shape) &&
                          is_client(self_) && is_client(*sender);
  if (process_of_silo(*sender) == event.from || is_relayed) return {};
  return protocol_error("process " + text(event.from) + " may not send for " +
                        app::silo_name(*sender, hosts()));
}

void Actors::read(Event& event) {
  if (event.silo != self_) return relay(event);
  // Before anything else of the frame is read: arrays beside it are taken while it is.
  Status status = check_sender(event);
  Result<app::Batch> batch = status;
  if (status.ok()) {
    batch = app::decode_batch(event.frame, engine_.clock().now_ns(), kSilosMax,
                              {options_.types, nullptr, arrays_});
    status = batch.status();
  }
  if (status.ok() && is_client(batch->from)) {
    const std::uint32_t client = client_of_silo(batch->from);
    // The hub relays only between clients of one tenant.
    const bool is_relayed = is_client(self_);
    const auto tenant =
        is_relayed && options_.tenant_of ? options_.tenant_of(options_.name.index) : event.tenant;
    status = app::authorize_client_batch(*batch, {client, batch->from, tenant}, hosts());
  }
  if (!status.ok()) {
    return lose(event.from, status);
  }
  for (const app::SiloNews& news : batch->news) {
    if (event.from != process_of({Role::kController, 0}, options_.shape)) break;
    if (!is_client(news.silo) || news.silo == self_) continue;
    set_epoch(news.silo, news.epoch);
    silo_->receive({});
    news.epoch == 0 ? silo_->on_silo_lost(news.silo) : silo_->on_silo_back(news.silo);
  }
  if (epoch(batch->from) == 0 || batch->envelopes.empty()) return;
  if (arrays_ && arrays_->is_early()) {
    early_ = std::move(batch->envelopes);
  } else {
    door_->deliver(batch->envelopes);
  }
}

void Actors::relay(const Event& event) {
  const SiloId to = event.silo;
  if (!is_hub() || !is_client(to) || epoch(to) == 0) return;
  if (Status status = check_sender(event); !status.ok()) {
    return lose(event.from, status);
  }
  if (role_of(event.from, options_.shape).role != Role::kClient) {
    return lose(event.from,
                protocol_error("process " + text(event.from) + " may not send through the hub"));
  }
  // A client of another tenant is treated as one that does not exist.
  if (event.tenant != tenant_of(to)) return;
  peers_.send_to_silo(process_of_silo(to), to, event.frame);
}

void Actors::send(SiloId, SiloId to, std::vector<Envelope>& batch) {
  if (epoch(to) != 0) {
    std::vector<Envelope> whole;
    whole.reserve(batch.size());
    if (arrays_) arrays_->begin(to, epoch(to));
    for (Envelope& envelope : batch) {
      if (Status status = app::check_travels(envelope, arrays_); !status.ok()) {
        // In its place among the others.
        send_frames(to, whole);
        whole.clear();
        send_instead(to, envelope, status);
      } else {
        whole.push_back(std::move(envelope));
      }
    }
    send_frames(to, whole);
  }
  batch.clear();
}

void Actors::send_frames(SiloId to, std::span<Envelope> batch) {
  if (batch.empty()) return;
  Frame frame =
      app::encode_batch(self_, batch, engine_.clock().now_ns(), {nullptr, nullptr, arrays_});
  if (frame.size_bytes() <= options_.frame_bytes_max) {
    if (arrays_) arrays_->commit();
    return peers_.send_to_silo(process_of_silo(to), to, std::move(frame));
  }
  if (arrays_) arrays_->discard();
  if (batch.size() > 1) {
    send_frames(to, batch.first(batch.size() / 2));
    return send_frames(to, batch.subspan(batch.size() / 2));
  }
  send_instead(to, batch.front(),
               resource_exhausted("a message of " + text(frame.size_bytes()) + " bytes to " +
                                  app::silo_name(to, hosts()) + "; the limit is " +
                                  text(options_.frame_bytes_max) + ": send it in parts"));
}

void Actors::send_instead(SiloId to, const Envelope& envelope, const Status& why) {
  app::Undeliverable word = app::undeliverable(envelope, to, why);
  if (word.instead) send_frames(to, std::span(&*word.instead, 1));
  if (word.back) put({.silo = self_, .batch = {*std::move(word.back)}});
}

}  // namespace seaway::cluster
