/** What the script of a join line does when something is wrong on the machine; that it works is shown in system/join.test.ts. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { testFolder } from '#system/engines.ts';

const script = readFileSync(new URL('../src/services/join.sh', import.meta.url), 'utf8');
const main = 'main "$@"\n';
assert.ok(script.endsWith(main));
const isRoot = process.getuid?.() === 0;
const { SHELL_TRACE: trace, ...env } = process.env;

/** As far as the script calls it. WAIT: a file that it waits for when it joins. */
const agent = `import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
const after = name => process.argv[process.argv.indexOf(name) + 1];
if (process.argv.includes('--help')) console.log('--take DIR');
else if (process.argv.includes('--take')) copyFileSync(after('--take') + '/identity.json', after('--data') + '/identity.json');
else {
  while (process.env.WAIT && !existsSync(process.env.WAIT)) await new Promise(done => setTimeout(done, 20));
  writeFileSync(after('--beside') + '/identity.json', 'joined');
}
`;

/** A machine on which a node is served by nobody yet; functions of the script that would change ours are replaced. */
class Machine {
  readonly home = testFolder('script');
  readonly prefix = join(this.home, 'programs');
  readonly data = join(this.home, 'data');
  readonly #stand: string;

  constructor() {
    writeFileSync(join(this.home, 'agent.mjs'), agent);
    this.#stand = `
check_machine() { missing=''; }
make_user() { :; }
as_node() { "$@" 9>&-; }
download() { :; }
unpack() { [ -d "$2" ] || { mkdir -p "$2"; cp '${this.home}/agent.mjs' "$2"; ln -s '${process.execPath}' "$2/node"; }; }
start_plainly() { say "started $(cat "$data/identity.json")"; stopped=''; }
wait_ready() { say 'It serves.'; }
chown() { :; }
`;
  }
  /** @param stand further functions in place of the script's own */
  command(stand = '', options = '--no-packages --no-systemd'): string[] {
    const values = { URL: 'https://cdn.test', TOKEN: 'token', CA: '', VERSION: '1-x', NODE: '24', PACKAGES: '', MANIFEST: '{}' };
    const more = { SIGNATURE: 's', KEY: 'k', APPLICATION: 'a'.repeat(64), RUNTIME: 'b'.repeat(64), MEGABYTES: '1' };
    const lines = Object.entries({ ...values, ...more }).map(([name, value]) => `BW_${name}='${value}'\n`);
    const file = join(this.home, `${Math.random()}.sh`);
    writeFileSync(file, `${lines.join('')}${script.slice(0, -main.length)}${this.#stand}${stand}\n${main}`);
    return [...(trace ? ['-x'] : []), file, '--prefix', this.prefix, '--data', this.data, ...options.split(' ')];
  }
  run(...how: Parameters<Machine['command']>): { status: number | null; said: string } {
    const { status, stdout, stderr } = spawnSync('sh', this.command(...how), { encoding: 'utf8', env, timeout: 60_000 });
    return { status, said: stdout + stderr };
  }
  get identity(): string {
    return readFileSync(join(this.data, 'identity.json'), 'utf8');
  }
}
const ended = (child: ChildProcess) => new Promise<number | null>(done => child.on('close', done));

test('of two lines at once on one machine the second is refused, and takes nothing away from the first', async () => {
  const machine = new Machine();
  const wait = join(machine.home, 'go');
  const first = spawn('sh', machine.command(), { stdio: 'ignore', env: { ...env, WAIT: wait } });
  const end = ended(first);
  assert.ok(await poll(() => existsSync(join(machine.prefix, 'joining/token')), 20_000, 20));
  const { status, said } = machine.run();
  assert.equal(status, 1, said);
  assert.match(said, /Another join line is at work in \S+, .*Nothing was changed\./);
  assert.ok(existsSync(join(machine.prefix, 'joining/token')), 'what the first one works with is there');
  writeFileSync(wait, '');
  assert.equal(await end, 0);
  assert.equal(machine.identity, 'joined');
  const again = machine.run();
  assert.equal(again.status, 0, again.said);
});

test('programs and what the node keeps are two folders, neither in the other', () => {
  const machine = new Machine();
  symlinkSync(machine.home, join(machine.home, 'link'));
  for (const pair of ['a a', 'a a/b', 'a/b a', 'a link/a/deep/b', 'link/a/b a']) {
    const [prefix, data] = pair.split(' ').map(name => join(machine.home, name));
    const { status, said } = machine.run('', `--dry-run --no-packages --no-systemd --prefix ${prefix} --data ${data}`);
    assert.equal(status, 1, pair);
    assert.match(said, /--prefix and --data must be two folders, and neither below the other/, pair);
  }
  assert.equal(machine.run('', `--dry-run --no-packages --no-systemd --data ${machine.prefix}-data`).status, 0);
  assert.ok(!existsSync(machine.prefix));
});

test('programs that root runs lie where nobody else can put others', { skip: !isRoot && 'gives folders away' }, () => {
  const machine = new Machine();
  const theirs = join(machine.home, 'theirs');
  mkdirSync(theirs);
  symlinkSync(machine.home, join(theirs, 'link'));
  const at = (prefix: string) => machine.run('', `--dry-run --no-packages --no-systemd --prefix ${join(theirs, prefix)}`);
  assert.equal(at('deep/programs').status, 0, at('deep/programs').said);
  const refused = (prefix: string) => {
    const { status, said } = at(prefix);
    assert.equal(status, 1, said);
    assert.match(said, new RegExp(`every folder above it must belong to root.* ${theirs} is not so\\.`));
  };
  chownSync(theirs, 65534, 65534);
  for (const prefix of ['programs', 'deep/programs', 'link/programs']) refused(prefix);
  chownSync(theirs, 0, 0);
  chmodSync(theirs, 0o777);
  refused('programs');
  chmodSync(theirs, 0o1777);
  assert.equal(at('programs').status, 0);
});
