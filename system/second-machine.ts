/**
 * A second machine, as far as this one lets us: a network of its own (network_namespaces(7)) joined to ours by a cable of two ends. Where
 * that is not permitted it is this machine under its outer address, with folders and ports of its own.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

export interface SecondMachine {
  /** by which it reaches us */
  ours: string;
  /** before a command that shall run on it */
  prefix: string[];
  /** it has a network of its own */
  isApart: boolean;
  end(): void;
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** @throws when there is no way at all: no right to make a network, and no address but loopback */
export function secondMachine(): SecondMachine {
  return apart() ?? beside();
}

function apart(): SecondMachine | undefined {
  if (spawnSync('unshare', ['--net', '--', 'true']).status !== 0) return undefined;
  // of the range for tests of networks (RFC 2544), and few runs at a time
  const [third, fourth] = [Math.floor(Math.random() * 256), Math.floor(Math.random() * 64) * 4];
  const [ours, theirs] = [`198.18.${third}.${fourth + 1}`, `198.18.${third}.${fourth + 2}`];
  const cable = `bw${process.pid % 1_000_000}`;
  // ends with us, and its network with it
  const holder: ChildProcess = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'unshare', '--net', '--', 'sleep', 'infinity'], {
    stdio: 'ignore',
  });
  const end = () => {
    spawnSync('ip', ['link', 'delete', `${cable}a`]);
    holder.kill('SIGKILL');
  };
  const inside = ['nsenter', `--net=/proc/${holder.pid}/ns/net`, '--'];
  try {
    waitForNetwork(holder.pid!);
    run('ip', 'link', 'add', `${cable}a`, 'type', 'veth', 'peer', 'name', `${cable}b`, 'netns', String(holder.pid));
    run('ip', 'address', 'add', `${ours}/30`, 'dev', `${cable}a`);
    run('ip', 'link', 'set', `${cable}a`, 'up');
    for (const line of [`address add ${theirs}/30 dev ${cable}b`, `link set ${cable}b up`, 'link set lo up'])
      run(inside[0]!, ...inside.slice(1), 'ip', ...line.split(' '));
  } catch {
    end();
    return undefined;
  }
  return { ours, prefix: inside, isApart: true, end };
}

/** The holder is there before it has its network. */
function waitForNetwork(pid: number): void {
  const netOf = (of: number | string) => execFileSync('readlink', [`/proc/${of}/ns/net`], { encoding: 'utf8' });
  const mine = netOf('self');
  const until = performance.now() + 20_000;
  while (netOf(pid) === mine) {
    if (performance.now() > until) throw new Error('no network of its own');
    spawnSync('sleep', ['0.01']);
  }
}

function beside(): SecondMachine {
  const outer = Object.values(networkInterfaces())
    .flat()
    .find(one => one && !one.internal && one.family === 'IPv4');
  if (!outer) throw new Error('this machine has no address but loopback, and may make no network');
  return { ours: outer.address, prefix: [], isApart: false, end: () => {} };
}
