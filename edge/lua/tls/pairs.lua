-- Certificates with their keys as OpenSSL has them, kept per worker: parsing is what a handshake would wait for.
-- It is done by libcrypto itself: `parse_pem_cert` and `parse_pem_priv_key` of ngx.ssl take four times as long, most of it looking for a
-- decoder that knows the key. Records: `c:<id>` a leaf with its key, `i:<hash>` a certificate above leaves, which they share; what stands
-- under a hash never changes.
local cjson = require "cjson.safe"
local ffi = require "ffi"
local memo = require "core.memo"
local problems = require "core.problems"
local store = require "core.store"
local C, decode_base64 = ffi.C, ngx.decode_base64

ffi.cdef [[
  void *d2i_X509(void **to, const unsigned char **from, long length);
  int X509_up_ref(void *certificate);
  void X509_free(void *certificate);
  int X509_check_private_key(const void *certificate, const void *key);
  void *OPENSSL_sk_new_null(void);
  int OPENSSL_sk_push(void *stack, const void *item);
  void OPENSSL_sk_pop_free(void *stack, void (*free)(void *));
  void *d2i_ECPrivateKey(void **to, const unsigned char **from, long length);
  void *d2i_RSAPrivateKey(void **to, const unsigned char **from, long length);
  void EC_KEY_free(void *key);
  void RSA_free(void *key);
  void *EVP_PKEY_new(void);
  int EVP_PKEY_assign(void *key, int type, void *of);
  void EVP_PKEY_free(void *key);
  void ERR_clear_error(void);
]]

local M = {}

-- About 15 KB a pair; a crowd of names that are asked for once does not drive out the busy ones.
local pairs_max, issuers_max = 1000, 500
local parsed, issuers

local function empty() parsed, issuers = memo.new(pairs_max), memo.new(issuers_max) end
empty()

local from = ffi.new "const unsigned char *[1]"

-- read: a d2i function of libcrypto. → what it made, or nil; all of the text has to be one
local function read_der(read, text)
  from[0] = text
  local start = from[0]
  local made = read(nil, from, #text)
  -- what it left there would be taken for a failure of the connection
  C.ERR_clear_error()
  if made == nil then return nil end
  return made, from[0] - start == #text
end

local function certificate(text)
  local made, whole = read_der(C.d2i_X509, text)
  if made == nil then error "no certificate" end
  made = ffi.gc(made, C.X509_free)
  if not whole then error "something stands behind the certificate" end
  return made
end

-- By the type a document names: EVP_PKEY_EC, EVP_PKEY_RSA
local kinds = {
  ec = { id = 408, read = C.d2i_ECPrivateKey, free = C.EC_KEY_free },
  rsa = { id = 6, read = C.d2i_RSAPrivateKey, free = C.RSA_free },
}

local function private_key(kind, text)
  local made, whole = read_der(kind.read, text)
  if made == nil then error "no private key" end
  local key = C.EVP_PKEY_new()
  if C.EVP_PKEY_assign(key, kind.id, made) ~= 1 then
    kind.free(made)
    C.EVP_PKEY_free(key)
    error "no private key"
  end
  key = ffi.gc(key, C.EVP_PKEY_free)
  if not whole then error "something stands behind the private key" end
  return key
end

local function issuer(hash)
  local found = memo.get(issuers, hash)
  if found then return found end
  local text = store.certificate("i:" .. hash)
  if not text then return nil end
  found = certificate(decode_base64(cjson.decode(text).der))
  memo.put(issuers, hash, found)
  return found
end

local function free_chain(chain) C.OPENSSL_sk_pop_free(chain, C.X509_free) end

local function push(chain, one)
  C.X509_up_ref(one)
  C.OPENSSL_sk_push(chain, one)
end

-- record: of `c:<id>`. → leaf, key. Raises what cannot be read, or does not belong together.
function M.read(record)
  local leaf = certificate(assert(decode_base64(record.leaf), "the certificate is no base64"))
  local kind = assert(kinds[record.type], "no such type of key")
  local key = private_key(kind, assert(decode_base64(record.key), "the key is no base64"))
  local fits = C.X509_check_private_key(leaf, key) == 1
  C.ERR_clear_error()
  assert(fits, "the key is not the certificate's")
  return leaf, key
end

-- record: of `i:<hash>`. Raises what cannot be read.
function M.read_issuer(record) certificate(assert(decode_base64(record.der), "the certificate is no base64")) end

local function load(text)
  local record = cjson.decode(text)
  local leaf, key = M.read(record)
  local chain, whole = ffi.gc(C.OPENSSL_sk_new_null(), free_chain), true
  push(chain, leaf)
  for _, hash in ipairs(record.issuers) do
    -- One that has not come: the browser may know it, and finds no certificate at all worse.
    local above = issuer(hash)
    if above then push(chain, above) else whole = false end
  end
  local said = record.ocsp
  local answer = said and decode_base64(said.answer)
  return { chain = chain, key = key, ocsp = answer, ocsp_until = answer and said["until"] }, whole
end

-- → {chain, key, ocsp, ocsp_until} for ngx.ssl and ngx.ocsp, or nil: there is no such record, or it cannot be read
function M.of(id)
  local pair = memo.get(parsed, id)
  if pair then return pair end
  local text = store.certificate("c:" .. id)
  if not text then return nil end
  local ok, made, whole = pcall(load, text)
  if not ok then
    problems.note("record", "certificate " .. id .. " cannot be read: " .. tostring(made))
    return nil
  end
  if whole then memo.put(parsed, id, made) end
  return made
end

store.watch("c", function(key) memo.drop(parsed, tonumber(key:sub(3))) end)
store.watch("*", empty)

return M
