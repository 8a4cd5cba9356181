/**
 * Writes access log lines as nginx does: gathered in a buffer, written when it is full or a while old, `access.log` opened anew on USR1.
 * Each buffer goes out in two write() calls, so that a kill between them leaves a torn line. Every file it ever opens is hard-linked into
 * `truth`: what stands there in the end is what must have arrived.
 *
 *   node writer.ts LOGDIR TRUTH NODE LINES_PER_SECOND
 */
import fs from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';

const [logDir, truth, node, rate] = process.argv.slice(2) as [string, string, string, string];
const link = path.join(logDir, 'access.log');
const boot = randomBytes(5).toString('hex');
let fd = open();

function open() {
  const made = fs.openSync(link, 'a', 0o644);
  const stat = fs.fstatSync(made);
  try {
    fs.linkSync(fs.realpathSync(link), path.join(truth, `${node}-${stat.ino}`));
  } catch {
    // linked already, or rotated away between the two calls: /proc still knows the file
    if (!fs.existsSync(path.join(truth, `${node}-${stat.ino}`))) {
      fs.linkSync(fs.readlinkSync(`/proc/self/fd/${made}`), path.join(truth, `${node}-${stat.ino}`));
    }
  }
  return made;
}

process.on('SIGUSR1', () => {
  flush();
  const old = fd;
  fd = open();
  fs.closeSync(old);
});

const pause = new Int32Array(new SharedArrayBuffer(4));
let held: string[] = [];
function flush() {
  if (held.length === 0) return;
  const bytes = Buffer.from(held.join(''), 'latin1');
  held = [];
  const cut = Math.floor(Math.random() * bytes.length);
  fs.writeSync(fd, bytes, 0, cut);
  // Long enough that a kill often falls between the two.
  Atomics.wait(pause, 0, 0, 20);
  fs.writeSync(fd, bytes, cut);
}

let serial = 0;
const methods = ['GET', 'GET', 'GET', 'POST', 'HEAD', 'PURGE'];
const statuses = [200, 200, 200, 304, 404, 929, 502];
const pick = <T>(of: readonly T[]) => of[Math.floor(Math.random() * of.length)]!;
function line() {
  const status = pick(statuses);
  const site = Math.floor(Math.random() * 4);
  return (
    '\x1e' +
    [
      (Date.now() / 1000).toFixed(3),
      site || '-',
      site ? site * 10 + Math.floor(Math.random() * 2) : '-',
      `h${site}.example`,
      pick(methods),
      `/p/${Math.floor(Math.random() * 50)}?q=\\x22a\\x5Cb\\xE6\\xBC\\xA2${serial}`,
      pick(['HTTP/1.1', 'HTTP/2.0', 'HTTP/1.0', '-']),
      status,
      Math.floor(Math.random() * 100_000),
      Math.random() < 0.8 ? `10.0.${node}.${Math.floor(Math.random() * 200)}` : `2001:db8::${Math.floor(Math.random() * 500)}`,
      pick(['HIT', 'MISS', 'EXPIRED', '-', 'STALE']),
      pick(['-', '1234', '12, 34 : 56']),
      pick(['-', '0.010', '0.010, 0.200 : 0.003']),
      '0.012',
      pick(['-', 'https://r.example/x?y']),
      `agent/${Math.floor(Math.random() * 20)}`,
      status === 929 ? '5:77' : '-',
      `${boot}-${node}-${++serial}`,
    ].join('\t') +
    '\n'
  );
}

setInterval(() => {
  for (let i = Math.ceil((Number(rate) / 50) * (0.5 + Math.random())); i > 0; i--) held.push(line());
  if (held.length > 200) flush();
}, 20);
setInterval(flush, 200);
