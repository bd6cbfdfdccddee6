// HMAC-SHA256 of what a pass is for.

#include "transport/pass.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>

#include "base/check.hpp"

namespace seaway::transport {
namespace {

constexpr std::string_view kPassLabel = "seaway pass ";
constexpr std::string_view kBindingLabel = "seaway token ";

std::string sign(std::string_view key, const std::string& text) {
  std::string sum(kPassKeyBytes, '\0');
  unsigned size = 0;
  const auto* const made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                reinterpret_cast<unsigned char*>(sum.data()), &size);
  SEAWAY_CHECK(made != nullptr && size == kPassKeyBytes, size);
  return sum;
}

bool are_equal(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace

std::string make_pass(std::string_view key, const PassHolder& holder) {
  std::string pass(sizeof(TenantKey), '\0');
  std::memcpy(pass.data(), &holder.tenant, sizeof(holder.tenant));
  return pass + sign(key, std::string(kPassLabel) + std::to_string(holder.cluster) + " " +
                              std::to_string(holder.process) + " " + std::to_string(holder.life) +
                              " " + std::to_string(holder.tenant));
}

bool check_pass(std::string_view key, PassHolder holder, std::string_view pass) {
  holder.tenant = tenant_of_pass(pass);
  return key.size() == kPassKeyBytes && are_equal(make_pass(key, holder), pass);
}

TenantKey tenant_of_pass(std::string_view pass) {
  TenantKey tenant = kNoTenant;
  if (pass.size() == kPassBytes) std::memcpy(&tenant, pass.data(), sizeof(tenant));
  return tenant;
}

TenantKey tenant_key(std::string_view tenant) {
  unsigned char sum[EVP_MAX_MD_SIZE];
  SEAWAY_CHECK(EVP_Digest(tenant.data(), tenant.size(), sum, nullptr, EVP_sha256(), nullptr) == 1);
  TenantKey key = kNoTenant;
  std::memcpy(&key, sum, sizeof(key));
  return key == kNoTenant ? kNoTenant + 1 : key;
}

std::string bind_token(std::string_view token, std::string_view channel) {
  return sign(token, std::string(kBindingLabel).append(channel));
}

bool is_bound(std::string_view token, std::string_view channel, std::string_view binding) {
  return are_equal(bind_token(token, channel), binding);
}

std::string make_pass_key() {
  std::string key(kPassKeyBytes, '\0');
  SEAWAY_CHECK(
      RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size())) == 1,
      key.size());
  return key;
}

}  // namespace seaway::transport
