/**
 * A bare Debian as a second machine: a root of its own, made of what this machine's own package sources offer (debootstrap(8)), its own
 * processes and mounts, and the network of second-machine.ts, from which it reaches nothing but us and, through us, those package sources.
 * It is what a machine is before anything was installed for a node: without an init, as a container is, or started by Debian's own systemd
 * with cgroups of its own, as a virtual machine is.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '#server/store/engine-process.ts';
import type { SecondMachine } from './second-machine.ts';

export interface BareMachine {
  /** A line in its shell, as root. */
  sh(line: string): { status: number | null; out: string; err: string };
  /** the same, while others go on */
  run(line: string): Promise<{ status: number | null; said: string }>;
  /** Down and up again, on the disk as it is; with systemd alone. */
  reboot(): Promise<void>;
  /** where its disk lies here */
  root: string;
  end(): void;
}

interface Kind {
  /** Debian's systemd is its first process */
  hasSystemd?: boolean;
  /** path there → path here: seen there, and not changed */
  shown?: Record<string, string>;
}

/** Where this machine has its packages from, and its release's name; another one is asked for by TEST_BARE_SUITE. */
function packageSource(): { uri: string; suite: string } | undefined {
  const texts = globSync(['/etc/apt/sources.list', '/etc/apt/sources.list.d/*.{list,sources}']).map(file =>
    readFileSync(file, 'utf8'),
  );
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const named = (text: string) =>
    new RegExp(`^URIs:\\s*(http://\\S+)[\\s\\S]*?^Suites:.*\\b${suite}\\b(?!-)`, 'm').exec(text)?.[1] ??
    new RegExp(`^deb (?:\\[.*?\\] )?(http://\\S+) ${suite} `, 'm').exec(text)?.[1];
  const uri = texts.map(named).find(found => found !== undefined);
  return suite && uri ? { uri, suite: process.env['TEST_BARE_SUITE'] ?? suite } : undefined;
}

/** Why there can be none here. */
export function lacksBareMachine(): string | false {
  if (!process.env['TEST_BARE_MACHINE']) return 'takes minutes and package sources: TEST_BARE_MACHINE=1 asks for it';
  if (process.getuid?.() !== 0) return 'takes root';
  if (!packageSource()) return 'takes Debian, with package sources by http';
  return (
    spawnSync('unshare', ['--mount', '--pid', '--net', '--fork', 'true']).status !== 0 && 'takes the right to make namespaces'
  );
}

/** Where cgroups of version 2 (cgroups(7)) are to be had, which systemd keeps its services apart by. */
const cgroups = () => /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/self/mounts', 'utf8'))?.[1];
/** Why none with systemd can be here. */
export function lacksBootedMachine(): string | false {
  const lacks = lacksBareMachine();
  if (lacks) return lacks;
  const own = join(cgroups() ?? '/proc', `breakwater-try-${process.pid}`);
  try {
    mkdirSync(own);
    rmdirSync(own);
    return false;
  } catch {
    return 'takes cgroups of version 2, and the right to make some';
  }
}

/** debootstrap, unpacked aside where it is not installed. */
function debootstrap(aside: string): { program: string; env: NodeJS.ProcessEnv } {
  if (spawnSync('debootstrap', ['--version']).status === 0) return { program: 'debootstrap', env: process.env };
  mkdirSync(aside);
  execFileSync('apt-get', ['download', 'debootstrap'], { cwd: aside, stdio: 'pipe' });
  for (const file of readdirSync(aside)) execFileSync('dpkg-deb', ['-x', file, '.'], { cwd: aside });
  return {
    program: join(aside, 'usr/sbin/debootstrap'),
    env: { ...process.env, DEBOOTSTRAP_DIR: join(aside, 'usr/share/debootstrap') },
  };
}

/** Hands on what apt asks for, from that one source. */
async function packageDoor(host: string, source: string): Promise<http.Server> {
  const server = http.createServer((request, answer) => {
    if (request.method !== 'GET' || !request.url!.startsWith(source)) return void answer.writeHead(403).end();
    const { 'proxy-connection': _, ...headers } = request.headers;
    http
      .get(request.url!, { headers }, from => {
        answer.writeHead(from.statusCode!, from.headers);
        from.pipe(answer);
      })
      .on('error', () => answer.destroy());
  });
  await new Promise<void>(done => server.listen(0, host, done));
  return server;
}

/** What it sees of ours is mounted; the rest is its own. $1: its root */
const devices = `for one in null zero full random urandom tty; do
      rm -f $1/dev/$one && : >$1/dev/$one && mount --bind /dev/$one $1/dev/$one; done
    mkdir -p $1/dev/shm && mount -t tmpfs -o mode=1777 tmpfs $1/dev/shm`;
const plainly = (shown: string) => `mount -t proc proc $1/proc
    ${devices}
    ${shown}
    exec chroot $1 sleep infinity`;
// as systemd asks of whoever starts it in a container (systemd.io/CONTAINER_INTERFACE): settings of the kernel, its modules and the clock are not its own
const bySystemd = (shown: string) => `mount --bind $1 $1
    ${shown}
    mount -t proc proc $1/proc
    for one in sys/net sys; do mount --bind $1/proc/$one $1/proc/$one; done
    mount -o remount,bind,ro $1/proc/sys && mount --bind /proc/sys/net $1/proc/sys/net
    mount -t sysfs -o ro sysfs $1/sys && mount -t cgroup2 cgroup2 $1/sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs $1/dev
    ${devices}
    mkdir $1/dev/pts && mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts $1/dev/pts
    ln -s pts/ptmx $1/dev/ptmx && ln -s /proc/self/fd $1/dev/fd
    mount -t tmpfs -o mode=755 tmpfs $1/run && mount -t tmpfs -o mode=1777 tmpfs $1/tmp
    hostname bare && cd $1 && mkdir -p .host && pivot_root . .host && umount -l .host
    exec env -i container=bare PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      setpriv --bounding-set=-sys_module,-sys_rawio,-sys_time /sbin/init`;

export async function bareMachine({ ours, prefix }: SecondMachine, { hasSystemd, shown = {} }: Kind = {}): Promise<BareMachine> {
  const home = mkdtempSync(join(tmpdir(), 'breakwater-bare-'));
  const root = join(home, 'root');
  const { uri, suite } = packageSource()!;
  const { program, env } = debootstrap(join(home, 'aside'));
  // a machine of a provider has these; nothing that a node needs
  const packages = `curl,ca-certificates${hasSystemd ? ',systemd-sysv,dbus' : ''}`;
  execFileSync(program, ['--variant=minbase', `--include=${packages}`, suite, root, uri], {
    env,
    stdio: 'pipe',
    timeout: 500_000,
  });
  const door = await packageDoor(ours, uri);
  const { port } = door.address() as AddressInfo;
  rmSync(join(root, 'etc/apt/sources.list.d'), { recursive: true, force: true });
  writeFileSync(join(root, 'etc/apt/sources.list'), `deb ${uri} ${suite} main\n`);
  writeFileSync(join(root, 'etc/apt/apt.conf.d/90door'), `Acquire::http::Proxy "http://${ours}:${port}";\n`);

  const group = hasSystemd && join(cgroups()!, `breakwater-bare-${process.pid}`);
  let holder: ChildProcess;
  const start = () => {
    for (const path of Object.keys(shown)) mkdirSync(join(root, path), { recursive: true });
    const mount = ([there, here]: [string, string]) => `mount --bind ${here} $1${there} && mount -o remount,bind,ro $1${there}`;
    const begin = (hasSystemd ? bySystemd : plainly)(Object.entries(shown).map(mount).join('\n'));
    // into a cgroup of its own before that becomes the root of all it sees
    const [grouped, apart] = group
      ? [
          ['sh', '-euc', `mkdir -p ${group} && echo $$ >${group}/cgroup.procs && exec "$@"`, 'sh'],
          ['--uts', '--ipc', '--cgroup'],
        ]
      : [[], []];
    const unshare = ['unshare', '--mount', '--pid', ...apart, '--fork', '--kill-child'];
    const words = [...prefix, ...grouped, 'setpriv', '--pdeathsig', 'KILL', '--', ...unshare, 'sh', '-euc', begin, 'sh', root];
    holder = spawn(words[0]!, words.slice(1), { stdio: 'ignore' });
  };
  const childOf = (pid: number) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  const end = () => {
    door.closeAllConnections();
    door.close();
    holder.kill('SIGKILL');
    const rest = group ? `find ${group} -depth -type d -exec rmdir {} + 2>/dev/null;` : '';
    const line = `for i in $(seq 100); do ${rest} rm -rf --one-file-system ${home} 2>/dev/null && [ ! -d '${group || ''}' ] && break; sleep 0.1; done`;
    spawnSync('sh', ['-c', line]);
  };
  const isUp = () => {
    try {
      const first = readFileSync(`/proc/${childOf(holder.pid!)}/cmdline`, 'utf8');
      if (!hasSystemd) return first.startsWith('sleep');
      return (
        first.startsWith('/sbin/init') &&
        spawnSync(...inside('systemctl is-system-running'))
          .stdout.toString()
          .startsWith('running')
      );
    } catch {
      return false;
    }
  };
  const inside = (line: string) => {
    const spaces = ['--mount', '--pid', '--net', ...(hasSystemd ? ['--uts', '--ipc', '--cgroup'] : [])];
    const at = ['--target', String(childOf(holder.pid!)), ...spaces, '--root', '--wd=/'];
    return [
      'nsenter',
      [...at, '/usr/bin/env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'sh', '-c', line],
    ] as const;
  };
  start();
  if (!(await poll(isUp, 60_000, 50))) {
    end();
    throw new Error('the bare machine does not start');
  }
  return {
    sh(line) {
      const { status, stdout, stderr } = spawnSync(...inside(line), { encoding: 'utf8', timeout: 400_000 });
      return { status, out: stdout, err: stderr };
    },
    run(line) {
      const child = spawn(...inside(line), { stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
      return new Promise(done => child.on('close', status => done({ status, said })));
    },
    async reboot() {
      const down = new Promise(done => holder.once('exit', done));
      spawnSync(...inside('systemctl reboot'), { timeout: 60_000 });
      await down;
      start();
      if (!(await poll(isUp, 60_000, 50))) throw new Error('the bare machine does not start again');
    },
    root,
    end,
  };
}
