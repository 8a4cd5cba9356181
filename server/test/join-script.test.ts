/** What the script of a join line does when something is wrong on the machine; that it works is shown in system/join.test.ts. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { poll } from '#server/store/engine-process.ts';
import { agent, ended, env, isRoot, Machine } from './join-machine.ts';

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

test('where visitors and other nodes come in is known as the machine joins, and stays so', () => {
  const machine = new Machine();
  const { status, said } = machine.run('', '--no-packages --no-systemd --listen 127.0.0.3,192.0.2.1');
  assert.equal(status, 0, said);
  assert.match(said, /joins with .*--listen 127\.0\.0\.3,192\.0\.2\.1/);
  const runs = () => readFileSync(join(machine.prefix, 'run'), 'utf8');
  assert.match(runs(), / --relay 8447 .* --listen 127\.0\.0\.3,192\.0\.2\.1$/m);
  // the port at which a relay is reached is said beside those of visitors, for whoever opens a firewall
  assert.match(said, /visitors: http 80, https 443, at 127\.0\.0\.3,192\.0\.2\.1\n.*while it is a relay: 8447/);
  const relay = machine.run('', '--no-packages --no-systemd --relay 9447');
  assert.equal(relay.status, 0, relay.said);
  assert.match(relay.said, /while it is a relay: 9447/);
  assert.match(runs(), / --relay 9447 /);
  for (const wrong of ['8447,8448', 'eight'])
    assert.match(machine.run('', `--no-packages --no-systemd --relay ${wrong}`).said, /--relay is one port|are no ports/, wrong);
});

test('what a node would not start with is found out before a token is spent and a node is ended for it', () => {
  const machine = new Machine();
  const joined = machine.run('', '--no-packages --no-systemd --name one --health 9181');
  assert.equal(joined.status, 0, joined.said);
  const words = / (--data .*)$/m.exec(readFileSync(join(machine.prefix, 'run'), 'utf8'))![1]!;
  assert.ok(joined.said.includes(`judges ${words} --check\njoins with`), joined.said);
  const ended = 'join_it() { say spent; }\nstop_former() { say ended; }';
  const refused = machine.run(`REFUSE=yes; export REFUSE\n${ended}`, '--no-packages --no-systemd --health 80');
  assert.equal(refused.status, 1, refused.said);
  assert.match(refused.said, /would not start with these options.*The node of before goes on as it was\. This line is not spent/);
  assert.doesNotMatch(refused.said, /spent$|ended/m);
  assert.equal(/ (--data .*)$/m.exec(readFileSync(join(machine.prefix, 'run'), 'utf8'))![1], words);
  // an agent of an earlier release judges nothing
  const file = join(machine.prefix, 'versions/1-x/agent.mjs');
  writeFileSync(file, agent.replace(' --check', ''));
  const earlier = machine.run('REFUSE=yes; export REFUSE');
  assert.equal(earlier.status, 0, earlier.said);
  assert.doesNotMatch(earlier.said, /judges/);
  for (const wrong of ['--http 99999', '--https 4430000', '--http 0', '--http ,', '--http 80,', '--health 9180,9181']) {
    const { status, said } = machine.run('', `--dry-run --no-packages --no-systemd ${wrong}`);
    assert.equal(status, 1, wrong);
    assert.match(said, /are no ports|is one port/, wrong);
  }
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

test('a folder of programs has its name when it is on the disk, and a node is ended when all is', () => {
  const machine = new Machine();
  const early = machine.run('sync() { case $2 in *.new) return 1 ;; esac; }');
  assert.equal(early.status, 1, early.said);
  assert.match(early.said, /does not get to its disk/);
  assert.ok(!existsSync(join(machine.prefix, 'versions/1-x')) && !existsSync(join(machine.prefix, 'runtime', 'b'.repeat(12))));
  const late = machine.run('sync() { [ "$2" != "$prefix" ]; }\nstop_former() { say ended; }');
  assert.equal(late.status, 1, late.said);
  assert.match(late.said, /does not get to its disk/);
  assert.doesNotMatch(late.said, /ended/);
});

test('programs that a loss of power has emptied are found out before a line is spent, and nothing is ended for them', () => {
  const machine = new Machine();
  assert.equal(machine.run().status, 0);
  const file = join(machine.prefix, 'versions/1-x/agent.mjs');
  writeFileSync(file, '');
  const { status, said } = machine.run('join_it() { say spent; }\nstop_former() { say ended; }');
  assert.equal(status, 1, said);
  assert.match(said, /do not work: they were damaged.*The node of before goes on as it was\. Delete them \(rm -r \S+ \S+\)/);
  assert.doesNotMatch(said, /spent|ended/);
  // one that says what it can, and does not do it
  writeFileSync(file, "console.log('--take')");
  const silent = machine.run('stop_former() { say ended; }');
  assert.equal(silent.status, 1, silent.said);
  assert.match(silent.said, /has not joined: nothing came of it/);
  assert.doesNotMatch(silent.said, /ended/);
});

test('a machine has one node of systemd, with its own two folders: what would make a second of it is refused before anything is changed', () => {
  const machine = new Machine();
  const units = join(machine.home, 'units');
  mkdirSync(units);
  const stand = `unit_folder=${units}\nisSeen() { :; }\nsystemctl() { :; }`;
  const run = (options: string) => machine.run(stand, `--no-packages ${options}`);
  const first = run('');
  assert.equal(first.status, 0, first.said);
  const unit = () => readFileSync(join(units, 'breakwater-node.service'), 'utf8');
  const before = unit();
  const other = join(machine.home, 'other');
  for (const more of ['', '--dry-run ']) {
    const second = run(`${more}--prefix ${other}`);
    assert.equal(second.status, 1, second.said);
    assert.match(
      second.said,
      new RegExp(`has a node already, in ${machine.prefix}, .*--prefix ${machine.prefix} .*Nothing was changed\\.`),
    );
    const elsewhere = run(`${more}--data ${other}`);
    assert.equal(elsewhere.status, 1, elsewhere.said);
    assert.match(
      elsewhere.said,
      new RegExp(`keeps its identity, .* in ${machine.data}, not in ${other}\\. .*Nothing was changed\\.`),
    );
  }
  assert.ok(!existsSync(other));
  assert.equal(unit(), before);
  // by another name of the same folder it is the same node; and one that no service starts may stand beside it
  symlinkSync(machine.prefix, join(machine.home, 'name'));
  const same = run(`--prefix ${join(machine.home, 'name')}`);
  assert.equal(same.status, 0, same.said);
  const beside = machine.run(stand, `--no-packages --no-systemd --prefix ${other} --data ${other}-data`);
  assert.equal(beside.status, 0, beside.said);
  const now = unit();
  const off = spawnSync(join(other, 'uninstall'), { encoding: 'utf8', env });
  assert.equal(off.status, 0, off.stderr);
  assert.ok(!existsSync(other) && existsSync(machine.prefix));
  assert.equal(unit(), now, 'the units of the first are none of its');
});

/** With a systemd that says yes to what `fails` does not name, in mounts of its own. @returns what it was asked for, too */
function underSystemd(machine: Machine, fails: string, stand = '') {
  const log = join(machine.home, 'systemctl');
  writeFileSync(log, '');
  const systemctl = `isSeen() { :; }\nsystemctl() { echo "$*" >>${log}; case "$*" in ${fails}) return 1 ;; esac; }\n`;
  const mounts = `mount -t tmpfs none /run && mkdir -p /run/systemd/system && mount -t tmpfs none /etc/systemd/system || exit 9
    "$@"; status=$?; ls /etc/systemd/system >${log}.units; exit $status`;
  const command = machine.command(systemctl + stand, '--no-packages');
  const args = ['--mount', 'sh', '-c', mounts, 'sh', 'sh', ...command];
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', env, timeout: 60_000 });
  const asked = readFileSync(log, 'utf8').trim().split('\n');
  const units = readFileSync(`${log}.units`, 'utf8');
  return { status, said: stdout + stderr, units, asked: asked.filter(line => !line.startsWith('is-active')) };
}
const lacksMounts = !isRoot || spawnSync('unshare', ['--mount', 'test', '-d', '/etc/systemd/system']).status !== 0;

test(
  'whatever fails once the node of before has ended, a node is started',
  { skip: lacksMounts && 'takes mounts of its own' },
  () => {
    const machine = new Machine();
    const asking = underSystemd(machine, 'daemon-reload | enable*');
    assert.equal(asking.status, 0, asking.said);
    assert.deepEqual(asking.asked.slice(0, 3), ['stop breakwater-node', 'daemon-reload', 'start breakwater-node']);
    assert.match(asking.said, /will not start with the machine.*\n.*cannot be upgraded from the console/);
    const broken = `mv() { case "$*" in *.new*/current) kill -HUP $$ ;; *) command mv "$@" ;; esac; }`;
    const left = underSystemd(machine, 'none', broken);
    assert.equal(left.status, 1, left.said);
    assert.deepEqual(left.asked, ['stop breakwater-node', 'start breakwater-node']);
  },
);

test(
  'where no node comes of it, Debian’s own nginx is as free as before',
  { skip: lacksMounts && 'takes mounts of its own' },
  () => {
    const machine = new Machine();
    const refused = underSystemd(machine, 'none', 'join_it() { ls -l /etc/systemd/system/nginx.service; fail no; }');
    assert.equal(refused.status, 1, refused.said);
    assert.match(refused.said, /nginx\.service -> \/dev\/null/);
    assert.equal(refused.units, '');
    const joined = underSystemd(machine, 'none');
    assert.match(joined.units, /^nginx\.service$/m, joined.said);
  },
);

test('who closes the terminal while packages are installed leaves apt to its end, and nothing of ours', () => {
  const machine = new Machine();
  const [policy, log] = [join(machine.home, 'policy'), join(machine.home, 'apt')];
  const stand = `policy=${policy}\ncheck_machine() { missing=' nginx'; }`;
  const bin = join(machine.home, 'bin');
  mkdirSync(bin);
  const apt = `#!/bin/sh\ncase $* in *install*) cat ${policy} >${log} ;; *) kill -HUP 0 ;; esac\n`;
  writeFileSync(join(bin, 'apt-get'), apt, { mode: 0o755 });
  const withApt = { ...env, PATH: `${bin}:${env['PATH']}` };
  const run = () => {
    const { status, stderr } = spawnSync('setsid', ['--wait', 'sh', ...machine.command(stand)], {
      encoding: 'utf8',
      env: withApt,
    });
    return { status, stderr };
  };
  const { status, stderr } = run();
  assert.equal(status, 1, stderr);
  assert.match(readFileSync(log, 'utf8'), /^exit 101$/m);
  assert.ok(!existsSync(policy));
  // of a line that was killed
  writeFileSync(policy, readFileSync(log));
  assert.equal(machine.run(`policy=${policy}`).status, 0);
  assert.ok(!existsSync(policy));
  // somebody else's stays
  writeFileSync(policy, 'exit 101');
  run();
  assert.ok(existsSync(policy));
});
