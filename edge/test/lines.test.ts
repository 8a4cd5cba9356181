/** What an origin sends line by line is bounded: a line that never ends stands in no worker's memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { domain, site, startEdge } from './harness.ts';
import { startLua } from './lua.ts';

const endless = 100e6;
const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n';

test('a status line, a field, fields or the length of a chunk without end are not read on, and the next request is served', async () => {
  await using edge = await startEdge({ workers: 1 });
  let begin = '';
  let part = '';
  let sent = 0;
  const origin = net.createServer(socket => {
    socket.on('error', () => {});
    socket.once('data', () => {
      if (!part) return void socket.end(`${early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
      socket.write(begin);
      const piece = Buffer.from(part.repeat(Math.ceil(1e6 / part.length)));
      const more = () => {
        for (; sent < endless; sent += piece.length) if (!socket.write(piece)) return void socket.once('drain', more);
        socket.destroy();
      };
      more();
    });
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  try {
    const { port } = origin.address() as net.AddressInfo;
    const one = domain(1, 'a.test', [port]);
    one.upstreams[0]!.maxFails = 0;
    await edge.putDocuments([site(1)], [one]);
    const good = async (path: string) => {
      part = '';
      const { status, body } = await edge.ask('a.test', path);
      return [status, body];
    };
    // the first may be answered by nginx, which takes the interim answer for the final one
    await edge.ask('a.test', '/learn').catch(() => {});
    assert.deepEqual(await good('/learned'), [200, 'ok']);
    for (const [what, first, more] of [
      ['status', 'HTTP/1.1 200 ', 'a'],
      ['name', 'HTTP/1.1 200 OK\r\n', 'a'],
      ['value', 'HTTP/1.1 200 OK\r\nX: ', 'a'],
      ['fields', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'],
      ['chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1', 'a'],
      ['extension', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', 'a'],
    ] as const) {
      [begin, part, sent] = [first, more, 0];
      const answer = await edge.ask('a.test', `/${what}`).catch(() => ({ status: 0 }));
      assert.equal(answer.status, 502, what);
      assert.ok(sent < endless / 2, `${what}: ${sent} bytes were taken`);
      assert.deepEqual(await good(`/after-${what}`), [200, 'ok']);
    }
  } finally {
    origin.close();
  }
});

test('lines come whole however they are cut; what is too long or takes too long is given up, and what follows is kept for its reader', async () => {
  await using lua = await startLua();
  const found = await lua.run(`
    local lines = require "core.lines"
    local function of(...)
      local parts, at = { ... }, 0
      return lines.of { receiveany = function(_, most)
        at = at + 1
        if not parts[at] then return nil, "closed" end
        assert(#parts[at] <= most)
        return parts[at]
      end }
    end
    local out, ever = {}, math.huge
    local function say(value) out[#out + 1] = tostring(value) end
    local one = of("HTTP/1.1 200", " OK\\r", "\\nA: b\\n\\r\\nbo", "dy")
    for _ = 1, 3 do say(one:line(100, ever)) end
    say(one:some(1)) say(one:some(10)) say(one:some(10)) say(one:some(10))
    say(of("12345\\n"):line(5, ever))
    say(of("123456\\n"):line(5, ever))
    say(of("1234", "56"):line(5, ever))
    say(of("12"):line(5, ever))
    say(of("1", "2", "\\n"):line(5, require("core.clock").now() - 1))
    return table.concat(out, "|")
  `);
  assert.equal(found, 'HTTP/1.1 200 OK|A: b||b|o|dy|nil|12345|nil|nil|nil|nil');
});
