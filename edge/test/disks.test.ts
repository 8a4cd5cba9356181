/** What an origin claims to send takes no more of the disk's room from others than a disk may have written meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallDisk } from '#system/small-disk.ts';
import { startLua } from './lua.ts';

const mb = 1024 * 1024;

test(
  'one huge claimed length leaves the others their room; what may have been written is taken off',
  { timeout: 60_000 },
  async t => {
    // nothing is written: a disk in memory has the size it is told
    using large = smallDisk(t, 'size=2g');
    using small = smallDisk(t, 'size=100m');
    if (!large || !small) return;
    await using lua = await startLua();
    let looks = 0;
    /** Whether each of these answers, in megabytes, has too little room. All within one look at the disk: the clock stands still. */
    const tight = async ({ folder }: { folder: string }, ...lengths: (number | 'unknown')[]) => {
      const said = await lua.run(`
      local clock, disks = require "core.clock", require "core.disks"
      local kept, at = clock.now, clock.now() + ${++looks}
      clock.now = function() return at end
      disks.setup { cache = "${folder}", temp = "${folder}", logs = "${folder}" }
      local out = {}
      for i, length in ipairs { ${lengths.map(length => (length === 'unknown' ? false : length * mb)).join(', ')} } do
        out[i] = tostring(disks.tight(length or nil))
      end
      clock.now = kept
      return table.concat(out, " ")`);
      return said.split(' ').map(word => word === 'true');
    };
    assert.deepEqual(await tight(large, 900, 900, 100, 'unknown'), [false, false, false, false]);
    assert.deepEqual(await tight(large, 4000, 100, 'unknown'), [true, false, false], 'what has no room itself takes none');
    assert.deepEqual(await tight(small, 40), [false]);
    assert.deepEqual(await tight(small, ...Array.from({ length: 8 }, () => 1), 40), [
      ...Array.from({ length: 8 }, () => false),
      true,
    ]);
  },
);
