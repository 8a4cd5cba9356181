-- Start of the master (before workers exist) and of each worker.
local disks = require "core.disks"
local ffi = require "ffi"
local invalidation = require "cache.invalidation"
local store = require "core.store"

ffi.cdef "int chmod(const char *path, unsigned int mode);"

local M = {}

function M.master(facts)
  invalidation.setup(facts.cache, facts.inactive)
  disks.setup(facts)
  store.load(facts.epoch, facts.snapshot)
end

-- The folder of the socket is closed to others already. nginx itself opens sockets for everybody; where the worker owns this one
-- (nginx was not started by root), it narrows that as well.
function M.worker(socket) ffi.C.chmod(socket, tonumber("600", 8)) end

return M
