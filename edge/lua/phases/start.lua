-- Start of the master (before workers exist) and of each worker.
local beats = require "core.beats"
local cache_age = require "core.cache_age"
local compression = require "cache.compression"
local disks = require "core.disks"
local ffi = require "ffi"
local invalidation = require "cache.invalidation"
local ports = require "core.ports"
local quic = require "core.quic"
local relays = require "core.relays"
local store = require "core.store"
local strict = require "tls.strict"
local sweep = require "core.sweep"
local trusts = require "core.trusts"

ffi.cdef "int chmod(const char *path, unsigned int mode);"

local M = {}

-- The way of a cache hit through a phase is longer than what LuaJIT takes for one trace by default ("trace too long"), and what is
-- not one trace runs in its interpreter. Every call that ends a function counts as a turn of a loop ("loop unroll limit reached"), and
-- nearly all of lua-resty-core does: a miss has more than the 15 that are usual.
require("jit.opt").start("maxrecord=40000", "maxirconst=8000", "maxsnap=4000", "loopunroll=200")

function M.master(facts)
  cache_age.setup(facts.cache_age)
  invalidation.setup(facts.cache, facts.inactive)
  disks.setup(facts)
  compression.setup(facts.brotli)
  strict.setup(facts.https)
  trusts.setup(facts.trusts)
  ports.setup(facts.ports, facts.entrances)
  relays.setup(facts.relays)
  store.load(facts.epoch, facts.snapshot)
end

-- The folder of the socket is closed to others already. nginx itself opens sockets for everybody; where the worker owns this one
-- (nginx was not started by root), it narrows that as well.
function M.worker(socket)
  ffi.C.chmod(socket, tonumber("600", 8))
  beats.start()
  sweep.start()
  quic.start()
end

return M
