// TLS by OpenSSL between two buffers; bytes get from them to a stream of KJ's and back.

#include "transport/tls.hpp"

#include <arpa/inet.h>
#include <kj/debug.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "transport/tls_handshake.hpp"

namespace seaway::transport {
namespace {

template <class T, void (*kFree)(T*)>
struct Free {
  void operator()(T* it) const { kFree(it); }
};
using SslContext = std::unique_ptr<SSL_CTX, Free<SSL_CTX, SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Free<SSL, SSL_free>>;
using Certificate = std::unique_ptr<X509, Free<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY, EVP_PKEY_free>>;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

constexpr std::size_t kRecordBytes = std::size_t{16} << 10;  // The most that a record holds.
constexpr std::size_t kAtOnceBytes = 16 * kRecordBytes;  // Are encrypted before they are written.
constexpr std::size_t kChannelBytes = 32;
// A record with a fatal alert: protocol_version (RFC 8446, 6.2).
constexpr std::array<unsigned char, 7> kProtocolAlert = {21, 3, 3, 0, 2, 2, 70};
constexpr std::string_view kChannelLabel = "EXPORTER-seaway-channel";

/// What OpenSSL has complained of last; nothing of it is left.
std::string complaint() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (error == 0) return "no reason was given";
  const char* const reason = ERR_reason_error_string(error);
  return reason ? reason : "error " + std::to_string(error);
}

Bio bio_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Status not_pem(const char* what) {
  return invalid_argument(std::string("the ") + what + " is no PEM: " + complaint());
}

Status use_authority(SSL_CTX* context, const std::string& text) {
  const Bio bio = bio_of(text);
  const Certificate authority(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!authority) return not_pem("certificate of the authority");
  // Callers are told whom this process trusts, so that they show the right one.
  if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
      SSL_CTX_add_client_CA(context, authority.get()) != 1) {
    return invalid_argument("the authority cannot be used: " + complaint());
  }
  return {};
}

Status use_own(SSL_CTX* context, const CertifiedKey& own) {
  const Bio certificate_text = bio_of(own.certificate), key_text = bio_of(own.key);
  const Certificate certificate(
      PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  if (!certificate) return not_pem("certificate");
  // A key that asks for a password would ask for it here.
  const auto no_password = [](char*, int, int, void*) { return 0; };
  const Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, no_password, nullptr));
  if (!key) return not_pem("key");
  if (SSL_CTX_use_certificate(context, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return invalid_argument("the key is not that of the certificate: " + complaint());
  }
  return {};
}

bool is_number(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

/// The name or the address that the other end is to show.
void expect_host(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
  if (is_number(host)) {
    KJ_REQUIRE(X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1, "no memory");
    return;
  }
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  KJ_REQUIRE(X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
                 SSL_set_tlsext_host_name(ssl, host.c_str()) == 1,
             "no memory");
}

/// A certificate is not accepted; the connection has ended; what comes is not what TLS says.
constexpr auto kRefusal = kj::Exception::Type::FAILED;
constexpr auto kEnd = kj::Exception::Type::DISCONNECTED;
constexpr auto kNonsense = kj::Exception::Type::UNIMPLEMENTED;

kj::Exception broken(kj::Exception::Type type, const std::string& why) {
  return kj::Exception(type, __FILE__, __LINE__, kj::heapString(why.c_str(), why.size()));
}

/// An alert of the other end's about what this end has shown.
bool is_about_certificate(unsigned long error) {
  switch (ERR_GET_REASON(error)) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

class TlsStream final : public kj::AsyncIoStream {
 public:
  TlsStream(std::shared_ptr<const Tls::Context> context, Ssl ssl, kj::Own<kj::AsyncIoStream> inner)
      : context_(std::move(context)),
        ssl_(std::move(ssl)),
        inner_(kj::mv(inner)),
        came_(kj::heapArray<kj::byte>(kRecordBytes + 512)) {
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    // An empty buffer is not the end: more may come.
    BIO_set_mem_eof_return(SSL_get_rbio(ssl_.get()), -1);
  }

  SSL* ssl() { return ssl_.get(); }
  std::shared_ptr<const Tls::Context> context() const { return context_; }
  /// Nothing is said or heard here any more. Null when something waits to be read.
  Ssl release() {
    if (SSL_pending(ssl_.get()) > 0 || BIO_pending(SSL_get_rbio(ssl_.get())) > 0) return nullptr;
    return std::move(ssl_);
  }

  /// Until both ends agree, or one has given up.
  kj::Promise<void> shake() {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    const int reason = SSL_get_error(ssl_.get(), done);
    if (done != 1 && reason != SSL_ERROR_WANT_READ) {
      // The other end is told by an alert, if it still listens.
      kj::Exception why = handshake_failure();
      // OpenSSL has no word for who does not talk TLS at all; such a one is told as well.
      BIO* const out = SSL_get_wbio(ssl_.get());
      if (why.getType() == kNonsense && BIO_pending(out) == 0) {
        BIO_write(out, kProtocolAlert.data(), static_cast<int>(kProtocolAlert.size()));
      }
      return flush().catch_([](kj::Exception&&) {}).then([why = kj::mv(why)]() mutable {
        return kj::Promise<void>(kj::mv(why));
      });
    }
    return flush().then([this, done]() -> kj::Promise<void> {
      if (done == 1) return kj::READY_NOW;
      return hear().then([this](bool is_there) -> kj::Promise<void> {
        if (is_there) return shake();
        return broken(kEnd, "the connection ended within the handshake of TLS");
      });
    });
  }

  kj::Promise<std::size_t> tryRead(void* target, std::size_t least, std::size_t most) override {
    return read(static_cast<kj::byte*>(target), least, most, 0);
  }

  kj::Promise<void> write(const void* source, std::size_t size) override {
    one_ = kj::arrayPtr(static_cast<const kj::byte*>(source), size);
    return write(kj::arrayPtr(&one_, 1));
  }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    return write_from(pieces, 0);
  }

  kj::Promise<void> whenWriteDisconnected() override { return inner_->whenWriteDisconnected(); }
  void shutdownWrite() override {
    if (std::exchange(is_said_, true)) return;
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
    farewell_ = flush()
                    .then([this]() { inner_->shutdownWrite(); }, [](kj::Exception&&) {})
                    .eagerlyEvaluate(nullptr);
  }
  void abortRead() override { inner_->abortRead(); }
  kj::Maybe<int> getFd() const override { return inner_->getFd(); }

 private:
  kj::Exception handshake_failure() {
    const unsigned long error = ERR_peek_last_error();
    const long verified = SSL_get_verify_result(ssl_.get());
    const bool is_verification = ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED;
    const std::string why = complaint();
    if (is_verification) return broken(kRefusal, X509_verify_cert_error_string(verified));
    return broken(is_about_certificate(error) ? kRefusal : kNonsense, why);
  }

  /// What has gathered for the other end goes there.
  kj::Promise<void> flush() {
    char* begin = nullptr;
    BIO* const out = SSL_get_wbio(ssl_.get());
    const auto size = static_cast<std::size_t>(BIO_get_mem_data(out, &begin));
    if (size == 0) return kj::READY_NOW;
    auto bytes = kj::heapArray<kj::byte>(reinterpret_cast<const kj::byte*>(begin), size);
    static_cast<void>(BIO_reset(out));
    auto written = inner_->write(bytes.begin(), bytes.size());
    return written.attach(kj::mv(bytes));
  }

  /// Waits for bytes; false: there will be none.
  kj::Promise<bool> hear() {
    return inner_->tryRead(came_.begin(), 1, came_.size()).then([this](std::size_t count) {
      if (count > 0) {
        BIO_write(SSL_get_rbio(ssl_.get()), came_.begin(), static_cast<int>(count));
      }
      return count > 0;
    });
  }

  kj::Promise<std::size_t> read(kj::byte* target, std::size_t least, std::size_t most,
                                std::size_t got) {
    while (got < most) {
      std::size_t count = 0;
      ERR_clear_error();
      const int done = SSL_read_ex(ssl_.get(), target + got, most - got, &count);
      got += count;
      if (done == 1) continue;
      const int reason = SSL_get_error(ssl_.get(), done);
      if (reason == SSL_ERROR_ZERO_RETURN) return got;
      if (reason != SSL_ERROR_WANT_READ) {
        const unsigned long error = ERR_peek_last_error();
        return broken(is_about_certificate(error) ? kRefusal : kEnd, "TLS: " + complaint());
      }
      if (got >= least) return got;
      return hear().then([=, this](bool is_there) -> kj::Promise<std::size_t> {
        if (is_there) return read(target, least, most, got);
        return broken(kEnd, "the connection was cut off, for TLS ends with a farewell");
      });
    }
    return got;
  }

  /// From byte `offset` of the first piece on. Small pieces share a record.
  kj::Promise<void> write_from(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces,
                               std::size_t offset) {
    std::size_t taken = 0;
    while (pieces.size() > 0 && taken < kAtOnceBytes) {
      const std::size_t room = std::min(kRecordBytes - gathered_.size(), kAtOnceBytes - taken);
      const std::size_t part = std::min(room, pieces[0].size() - offset);
      gathered_.append(reinterpret_cast<const char*>(pieces[0].begin()) + offset, part);
      taken += part;
      offset += part;
      if (offset == pieces[0].size()) {
        pieces = pieces.slice(1, pieces.size());
        offset = 0;
      }
      if (gathered_.size() == kRecordBytes && !encrypt()) return unwritable();
    }
    if (!encrypt()) return unwritable();
    if (pieces.size() == 0) return flush();
    return flush().then([this, pieces, offset]() { return write_from(pieces, offset); });
  }
  bool encrypt() {
    std::size_t count = 0;
    ERR_clear_error();
    const bool is_done = gathered_.empty() ||
                         SSL_write_ex(ssl_.get(), gathered_.data(), gathered_.size(), &count) == 1;
    gathered_.clear();
    return is_done;
  }
  static kj::Promise<void> unwritable() { return broken(kEnd, "TLS: " + complaint()); }

  const std::shared_ptr<const Tls::Context> context_;
  Ssl ssl_;
  kj::Own<kj::AsyncIoStream> inner_;
  kj::Array<kj::byte> came_;
  kj::ArrayPtr<const kj::byte> one_;
  std::string gathered_;
  bool is_said_ = false;  // That nothing more will be written.
  kj::Promise<void> farewell_ = kj::READY_NOW;
};

/// OpenSSL upon the socket itself.
class TlsSocket final : public DataSocket {
 public:
  TlsSocket(std::shared_ptr<const Tls::Context> context, Ssl ssl, Descriptor socket)
      : context_(std::move(context)), socket_(std::move(socket)), ssl_(std::move(ssl)) {
    SSL_set_fd(ssl_.get(), socket_.number());
    SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_AUTO_RETRY);
  }

  Step read(std::span<const Piece> pieces) override {
    return each(pieces, [this](Piece piece, std::size_t& count) {
      return SSL_read_ex(ssl_.get(), piece.data(), piece.size(), &count);
    });
  }
  Step write(std::span<const ConstPiece> pieces) override {
    return each(pieces, [this](ConstPiece piece, std::size_t& count) {
      return SSL_write_ex(ssl_.get(), piece.data(), piece.size(), &count);
    });
  }
  int descriptor() const override { return socket_.number(); }

 private:
  template <class Pieces, class Call>
  Step each(const Pieces& pieces, const Call& call) {
    Step step;
    for (auto piece : pieces) {
      while (!piece.empty()) {
        std::size_t count = 0;
        ERR_clear_error();
        const int done = call(piece, count);
        if (done != 1) {
          const int reason = SSL_get_error(ssl_.get(), done);
          step.is_blocked = reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
          step.has_ended = !step.is_blocked;
          ERR_clear_error();
          return step;
        }
        step.bytes += count;
        piece = piece.subspan(count);
      }
    }
    return step;
  }

  const std::shared_ptr<const Tls::Context> context_;
  const Descriptor socket_;
  const Ssl ssl_;
};

/// Who is at the other end, and what is this connection's alone.
TlsOutcome look_at(SSL* ssl) {
  TlsOutcome outcome;
  if (X509* const shown = SSL_get0_peer_certificate(ssl); shown) {
    const Bio text(BIO_new(BIO_s_mem()));
    char* begin = nullptr;
    if (PEM_write_bio_X509(text.get(), shown) == 1) {
      const auto size = static_cast<std::size_t>(BIO_get_mem_data(text.get(), &begin));
      auto facts = read_certificate(std::string_view(begin, size));
      if (!facts.ok()) {
        outcome.status = {StatusCode::kUnauthenticated, facts.status().message()};
        return outcome;
      }
      outcome.peer = std::move(*facts);
    }
  }
  std::array<unsigned char, kChannelBytes> channel;
  if (SSL_export_keying_material(ssl, channel.data(), channel.size(), kChannelLabel.data(),
                                 kChannelLabel.size(), nullptr, 0, 0) != 1) {
    outcome.status = {StatusCode::kUnauthenticated, "TLS: " + complaint()};
    return outcome;
  }
  outcome.channel.assign(reinterpret_cast<const char*>(channel.data()), channel.size());
  return outcome;
}

Status status_of(const kj::Exception& exception, const std::string& host) {
  const std::string why = exception.getDescription().cStr();
  if (exception.getType() == kRefusal) {
    return {StatusCode::kUnauthenticated,
            host.empty()
                ? "the caller's certificate is not accepted: " + why
                : "the certificates of this end and of " + host + " do not go together: " + why +
                      "; see ca_file, and the names that its certificate was issued for"};
  }
  if (exception.getType() == kNonsense) {
    return protocol_error("TLS 1.3 was not agreed on: " + why +
                          "; a tls: address talks with tls: addresses alone");
  }
  return {StatusCode::kHostLost, why};
}

}  // namespace

struct Tls::Context {
  SslContext ssl;
  bool has_own = false;
};

namespace {

Result<std::shared_ptr<const Tls::Context>> make_context(const TlsFiles& files) {
  auto context = std::make_shared<Tls::Context>();
  context->ssl.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* const ssl = context->ssl.get();
  if (!ssl) return resource_exhausted("no memory for TLS: " + complaint());
  SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(ssl, TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  // Who is known once is asked again; and what nobody reads would break the end of a connection.
  SSL_CTX_set_num_tickets(ssl, 0);
  // A caller may show a certificate or something else; what he shows has to be right.
  SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_verify_depth(ssl, 1);
  if (Status status = use_authority(ssl, files.authority); !status.ok()) return status;
  context->has_own = !files.own.certificate.empty() || !files.own.key.empty();
  if (context->has_own) {
    if (Status status = use_own(ssl, files.own); !status.ok()) return status;
  }
  return std::shared_ptr<const Tls::Context>(std::move(context));
}

}  // namespace

Tls::Tls(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
Tls::~Tls() = default;

Result<std::shared_ptr<Tls>> Tls::make(const TlsFiles& files) {
  auto context = make_context(files);
  if (!context.ok()) return context.status();
  return std::shared_ptr<Tls>(new Tls(std::move(*context)));
}

Status Tls::reload(const TlsFiles& files) {
  auto context = make_context(files);
  if (!context.ok()) return context.status();
  const std::lock_guard lock(mutex_);
  context_ = std::move(*context);
  return {};
}

std::shared_ptr<const Tls::Context> Tls::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

bool Tls::can_listen() const { return context()->has_own; }

kj::Promise<TlsOutcome> shake_hands(const Tls& tls, kj::Own<kj::AsyncIoStream> stream,
                                    std::string host) {
  auto begun = kj::evalNow([&]() -> kj::Promise<TlsOutcome> {
    const auto context = tls.context();
    Ssl ssl(SSL_new(context->ssl.get()));
    KJ_REQUIRE(ssl != nullptr, "no memory for a connection");
    if (host.empty()) {
      SSL_set_accept_state(ssl.get());
    } else {
      expect_host(ssl.get(), host);
      SSL_set_connect_state(ssl.get());
    }
    auto wrapped = kj::heap<TlsStream>(context, std::move(ssl), kj::mv(stream));
    TlsStream& its = *wrapped;
    return its.shake().then([wrapped = kj::mv(wrapped)]() mutable {
      TlsOutcome outcome = look_at(wrapped->ssl());
      if (outcome.status.ok()) outcome.stream = kj::Own<kj::AsyncIoStream>(kj::mv(wrapped));
      return outcome;
    });
  });
  return begun.catch_([host = std::move(host)](kj::Exception&& exception) {
    TlsOutcome outcome;
    outcome.status = status_of(exception, host);
    return outcome;
  });
}

bool is_tls(kj::AsyncIoStream& stream) { return dynamic_cast<TlsStream*>(&stream) != nullptr; }

Result<std::unique_ptr<DataSocket>> take_tls(kj::AsyncIoStream& stream, Descriptor socket) {
  auto& own = dynamic_cast<TlsStream&>(stream);
  auto context = own.context();
  Ssl ssl = own.release();
  if (!ssl) return protocol_error("bytes came before they were asked for");
  return std::unique_ptr<DataSocket>(
      std::make_unique<TlsSocket>(std::move(context), std::move(ssl), std::move(socket)));
}

}  // namespace seaway::transport
