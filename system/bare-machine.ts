/**
 * A bare Debian as a second machine: a root of its own, made of what this machine's own package sources offer (debootstrap(8)), its own
 * processes and mounts, and the network of second-machine.ts, from which it reaches nothing but us and, through us, those package sources.
 * It is what a machine is before anything was installed for a node; systemd is none there.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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
  end(): void;
}

/** Where this machine has its packages from, and its release's name. */
function packageSource(): { uri: string; suite: string } | undefined {
  const texts = globSync(['/etc/apt/sources.list', '/etc/apt/sources.list.d/*.{list,sources}']).map(file =>
    readFileSync(file, 'utf8'),
  );
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const named = (text: string) =>
    new RegExp(`^URIs:\\s*(http://\\S+)[\\s\\S]*?^Suites:.*\\b${suite}\\b(?!-)`, 'm').exec(text)?.[1] ??
    new RegExp(`^deb (?:\\[.*?\\] )?(http://\\S+) ${suite} `, 'm').exec(text)?.[1];
  const uri = texts.map(named).find(found => found !== undefined);
  return suite && uri ? { uri, suite } : undefined;
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

export async function bareMachine({ ours, prefix }: SecondMachine): Promise<BareMachine> {
  const home = mkdtempSync(join(tmpdir(), 'breakwater-bare-'));
  const root = join(home, 'root');
  const { uri, suite } = packageSource()!;
  const { program, env } = debootstrap(join(home, 'aside'));
  // a machine of a provider has these two; nothing that a node needs
  execFileSync(program, ['--variant=minbase', '--include=curl,ca-certificates', suite, root, uri], {
    env,
    stdio: 'pipe',
    timeout: 500_000,
  });
  const door = await packageDoor(ours, uri);
  const { port } = door.address() as AddressInfo;
  rmSync(join(root, 'etc/apt/sources.list.d'), { recursive: true, force: true });
  writeFileSync(join(root, 'etc/apt/sources.list'), `deb ${uri} ${suite} main\n`);
  writeFileSync(join(root, 'etc/apt/apt.conf.d/90door'), `Acquire::http::Proxy "http://${ours}:${port}";\n`);

  const [first, ...words] = [
    ...prefix,
    'setpriv',
    '--pdeathsig',
    'KILL',
    '--',
    'unshare',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
  ];
  const begin = `mount -t proc proc ${root}/proc && for one in null zero full random urandom tty; do
      rm -f ${root}/dev/$one && : >${root}/dev/$one && mount --bind /dev/$one ${root}/dev/$one; done
    mkdir -p ${root}/dev/shm && mount -t tmpfs -o mode=1777 tmpfs ${root}/dev/shm
    exec chroot ${root} sleep infinity`;
  const holder: ChildProcess = spawn(first!, [...words, 'sh', '-euc', begin], { stdio: 'ignore' });
  const childOf = (pid: number) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  const end = () => {
    door.closeAllConnections();
    door.close();
    holder.kill('SIGKILL');
    spawnSync('sh', ['-c', `for i in $(seq 100); do rm -rf --one-file-system ${home} 2>/dev/null && break; sleep 0.1; done`]);
  };
  const isUp = () => {
    try {
      return readFileSync(`/proc/${childOf(holder.pid!)}/cmdline`, 'utf8').startsWith('sleep');
    } catch {
      return false;
    }
  };
  if (!(await poll(isUp, 20_000, 50))) {
    end();
    throw new Error('the bare machine does not start');
  }
  const inside = (line: string) => {
    const at = ['--target', String(childOf(holder.pid!)), '--mount', '--pid', '--net', '--root', '--wd=/'];
    return [
      'nsenter',
      [...at, '/usr/bin/env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'sh', '-c', line],
    ] as const;
  };
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
    end,
  };
}
