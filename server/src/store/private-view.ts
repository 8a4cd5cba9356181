/**
 * Breakwater lies below a folder that only root may enter (a clone in /root): its parts run as users of their own and could not reach
 * their programs. Instead of a right to read everything they get a view of their own (mount_namespaces(7)): there the closed folder is
 * empty but for what they must reach, under the same path.
 */
import { spawnSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { StartError } from './start-error.ts';

interface Closed {
  /** The outermost folder that may not be entered. */
  folder: string;
  /** What lies below all closed folders on the way. */
  open: string;
}

/** The command that runs what follows it in such a view; empty when every path can be reached as it is. Errors: StartError. */
export async function viewOf(paths: readonly string[], cwd: string): Promise<string[]> {
  const closed = (await Promise.all(paths.map(closedOn))).filter(one => one !== undefined);
  if (closed.length === 0) return [];
  const folders = outermost(closed.map(one => one.folder));
  const opened = outermost(closed.map(one => one.open));
  if (!canMount() || opened.length > 7) {
    throw new StartError(
      `${opened[0]} lies below ${folders[0]}, which only its owner may enter: run \`chmod o+x ${folders[0]}\`, or move it, for example below /opt.`,
    );
  }
  const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const script = [
    // held open, for their names are covered in a moment
    ...opened.map((path, n) => `exec ${n + 3}<${quote(path)}`),
    ...folders.map(path => `mount -t tmpfs -o mode=0711,size=64k,nosuid,nodev tmpfs ${quote(path)}`),
    ...opened.flatMap((path, n) => [
      `if [ -d /proc/self/fd/${n + 3} ]; then mkdir -p ${quote(path)}; else mkdir -p ${quote(dirname(path))}; : >${quote(path)}; fi`,
      `mount -c --rbind /proc/self/fd/${n + 3} ${quote(path)}`,
      `exec ${n + 3}<&-`,
    ]),
    `cd ${quote(cwd)}`,
    'exec "$@"',
  ];
  return ['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-ec', `umask 022\n${script.join('\n')}`, 'sh'];
}

async function closedOn(path: string): Promise<Closed | undefined> {
  const whole = resolve(path);
  let folder: string | undefined;
  let open = whole;
  let below = whole;
  for (let at = dirname(whole); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) {
      if (folder === undefined) open = below; // the deepest one: below it all may be seen
      folder = at;
    }
    if (at === sep) break;
    below = at;
  }
  return folder === undefined ? undefined : { folder, open };
}

/** Without those that lie within others. */
function outermost(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)];
  const within = (path: string, other: string) => path !== other && !relative(other, path).startsWith('..');
  return unique.filter(path => !unique.some(other => within(path, other)));
}

let mountable: boolean | undefined;
/** Containers often may not, even as root. */
function canMount(): boolean {
  mountable ??=
    spawnSync('unshare', ['--mount', '--propagation', 'private', '--', 'mount', '-t', 'tmpfs', 'tmpfs', join(sep, 'mnt')], {
      stdio: 'ignore',
    }).status === 0;
  return mountable;
}
