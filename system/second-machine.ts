/**
 * A second machine, as far as this one lets us: a network of its own (network_namespaces(7)) joined to ours by a cable of two ends. Where
 * that is not permitted it is this machine under its outer address, with folders and ports of its own.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

export interface SecondMachine {
  /** by which it reaches us */
  ours: string;
  /** by which we reach it */
  theirs: string;
  /** before a command that shall run on it */
  prefix: string[];
  /** it has a network of its own */
  isApart: boolean;
  /**
   * What we say to each other is swallowed, both ways: nothing is refused and nothing is closed. Visitors go on to its port alone. It takes
   * a network of its own, and nft(8).
   * @returns what ends that
   */
  split(visitors: number): () => void;
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
  const nft = (rules: string) =>
    execFileSync(inside[0]!, [...inside.slice(1), 'nft', '-f', '-'], { input: rules, stdio: ['pipe', 'ignore', 'pipe'] });
  const split = (visitors: number) => {
    nft(`table inet split {
      chain in { type filter hook input priority 0; iifname "${cable}b" tcp dport != ${visitors} drop; }
      chain out { type filter hook output priority 0; oifname "${cable}b" tcp sport != ${visitors} drop; }
    }`);
    return () => void nft('delete table inet split');
  };
  return { ours, theirs, prefix: inside, isApart: true, split, end };
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
  const split = () => {
    throw new Error('it has no network of its own');
  };
  return { ours: outer.address, theirs: outer.address, prefix: [], isApart: false, split, end: () => {} };
}
