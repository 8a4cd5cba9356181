/** A machine on which the script of a join line runs, with what it downloads and starts replaced. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from '#system/engines.ts';

export const script = readFileSync(new URL('../src/services/join.sh', import.meta.url), 'utf8');
const main = 'main "$@"\n';
assert.ok(script.endsWith(main));
export const isRoot = process.getuid?.() === 0;
const { SHELL_TRACE: trace, ...environment } = process.env;
export const env = environment;

/** As far as the script calls it. WAIT: a file that it waits for when it joins. REFUSE: it would not start with what it is asked about. */
export const agent = `import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
const after = name => process.argv[process.argv.indexOf(name) + 1];
if (process.argv.includes('--help')) console.log('--take DIR --check');
else if (process.argv.includes('--check')) {
  console.log('judges', process.argv.slice(2).join(' '));
  process.exitCode = process.env.REFUSE ? 1 : 0;
} else if (process.argv.includes('--take')) copyFileSync(after('--take') + '/identity.json', after('--data') + '/identity.json');
else {
  while (process.env.WAIT && !existsSync(process.env.WAIT)) await new Promise(done => setTimeout(done, 20));
  console.log('joins with', process.argv.slice(2).join(' '));
  writeFileSync(after('--beside') + '/identity.json', 'joined');
}
`;

/** A machine on which a node is served by nobody yet; functions of the script that would change ours are replaced. */
export class Machine {
  readonly home = testFolder('script');
  readonly prefix = join(this.home, 'programs');
  readonly data = join(this.home, 'data');
  readonly #stand: string;

  constructor() {
    for (const part of ['application', 'runtime']) mkdirSync(join(this.home, part));
    writeFileSync(join(this.home, 'application/agent.mjs'), agent);
    symlinkSync(process.execPath, join(this.home, 'runtime/node'));
    this.#stand = `
check_machine() { missing=''; }
make_user() { :; }
as_node() { "$@" 9>&-; }
download() { tar -czf "$tmp/$1" -C "${this.home}/$1" .; }
start_plainly() { stopped=''; }
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
    return [...(trace ? ['-x'] : []), file, '--prefix', this.prefix, '--data', this.data, ...options.split(' ').filter(Boolean)];
  }
  run(...how: Parameters<Machine['command']>): { status: number | null; said: string } {
    const { status, stdout, stderr } = spawnSync('sh', this.command(...how), { encoding: 'utf8', env, timeout: 60_000 });
    return { status, said: stdout + stderr };
  }
  get identity(): string {
    return readFileSync(join(this.data, 'identity.json'), 'utf8');
  }
}
export const ended = (child: ChildProcess) => new Promise<number | null>(done => child.on('close', done));
