/** deploy/: what it names is there: metrics of a real server, paragraphs of the handbook, variables of the list, programs of the tree. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { variables } from '#bin/launch/environment.ts';
import { freePort, poll } from '#server/store/engine-process.ts';
import { freshDatabase, testFolder } from '#system/engines.ts';

const root = new URL('../../', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** @throws what the parser says, also of a key that stands twice */
const yaml = (path: string): unknown => parse(read(path), { strict: true, uniqueKeys: true });

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
const rules = (yaml('deploy/prometheus/breakwater.rules.yaml') as { groups: { name: string; rules: Rule[] }[] }).groups.flatMap(
  group => group.rules,
);
const dashboard = JSON.parse(read('deploy/grafana/breakwater.json')) as {
  uid: string;
  panels: { id: number; title: string; targets: { expr: string }[] }[];
};
const expressions = [...rules.map(rule => rule.expr), ...dashboard.panels.flatMap(panel => panel.targets.map(one => one.expr))];

/** Names of metrics in an expression. @throws where Prometheus's own grammar finds no sense in it */
function metricsIn(expr: string): string[] {
  const found: string[] = [];
  // what Grafana puts in for itself
  const text = expr.replaceAll('$__rate_interval', '5m');
  parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      assert.ok(!type.isError, `${expr}: not PromQL at ${from}`);
      if (type.name === 'VectorSelector') found.push(/^\w+/.exec(text.slice(from, to))?.[0] ?? '');
    },
  });
  return found;
}

test('every metric that an alert or a panel names is one of a real server, with the labels it is asked by', async () => {
  const port = await freePort();
  const key = join(testFolder('key'), 'secret.key');
  writeFileSync(key, randomBytes(32), { mode: 0o600 });
  const child = spawn(process.execPath, [join(root, 'server/src/main.ts'), '--services=api,work'], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: await freshDatabase(),
      BREAKWATER_SECRET_FILE: key,
      BREAKWATER_PORT: String(port),
    },
    stdio: 'ignore',
  });
  try {
    const metrics = () =>
      fetch(`http://127.0.0.1:${port}/metrics`).then(
        reply => (reply.ok ? reply.text() : ''),
        () => '',
      );
    assert.ok(await poll(async () => (await metrics()).includes('breakwater_check{'), 90_000, 100));
    const text = await metrics();
    const families = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]));
    const known = (name: string) => families.has(name) || families.get(name.replace(/_(bucket|count|sum)$/, '')) === 'histogram';
    for (const expr of expressions) {
      const named = metricsIn(expr);
      assert.ok(named.length > 0, expr);
      for (const name of named) assert.ok(name === 'up' || known(name), `${name}: no such metric; ${expr}`);
    }
    // events are there from 0 on: one that is renamed is missed
    for (const [, event] of expressions.join('\n').matchAll(/\bevent="(\w+)"/g))
      assert.match(text, new RegExp(`breakwater_events_total\\{[^}]*event="${event}"`), event);
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
});

test('every alert says how bad it is, what it is, and leads to its paragraph', () => {
  const headings = [...read('docs/handbook/health.md').matchAll(/^## `(\w+)`$/gm)].map(([, name]) => name!.toLowerCase());
  assert.equal(new Set(rules.map(rule => rule.alert)).size, rules.length);
  assert.ok(rules.length > 5);
  for (const { alert, labels, annotations, ...rule } of rules) {
    const { severity } = labels;
    const { summary, runbook } = annotations;
    assert.match(alert, /^Breakwater[A-Z]\w+$/);
    assert.match(rule.for, /^\d+[mh]$/, alert);
    assert.match(severity, /^(critical|warning)$/, alert);
    assert.match(summary, /^Breakwater: ./, alert);
    const [, anchor] = /^docs\/handbook\/health\.md#(.+)$/.exec(runbook) ?? [];
    // the check's own name, which the page has a paragraph for (contract/test/health.test.ts)
    if (anchor !== '{{ $labels.check | toLower }}') assert.ok(headings.includes(anchor!), `${alert}: ${runbook}`);
  }
  const promtool = spawnSync('promtool', ['check', 'rules', join(root, 'deploy/prometheus/breakwater.rules.yaml')], {
    encoding: 'utf8',
  });
  if (!promtool.error) assert.equal(promtool.status, 0, promtool.stdout + promtool.stderr);
});

test('the dashboard has a panel for each thing once', () => {
  assert.equal(dashboard.uid, 'breakwater');
  assert.equal(new Set(dashboard.panels.map(panel => panel.id)).size, dashboard.panels.length);
  for (const { title, targets } of dashboard.panels) assert.ok(title && targets.length && targets.every(one => one.expr), title);
});

const names = new Set(variables.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])));

interface Service {
  image: string;
  secrets?: string[];
  volumes?: string[];
  depends_on?: Record<string, unknown>;
  environment?: Record<string, string>;
}
test('the compose file pins its images, declares what it uses, and sets variables that there are', () => {
  const { services, ...declared } = yaml('deploy/compose.yaml') as {
    services: Record<string, Service>;
    secrets: object;
    volumes: object;
  };
  const [secrets, volumes] = [Object.keys(declared.secrets), Object.keys(declared.volumes)];
  assert.deepEqual(Object.keys(services), ['postgres', 'nats', 'clickhouse', 'breakwater']);
  for (const [name, one] of Object.entries(services)) {
    assert.match(one.image, /^[\w./-]+:\d+\.\d+/, name);
    for (const secret of one.secrets ?? []) assert.ok(secrets.includes(secret), `${name}: ${secret}`);
    for (const volume of one.volumes ?? []) {
      const [from = ''] = volume.split(':');
      assert.ok(from.startsWith('.') || volumes.includes(from), `${name}: ${volume}`);
    }
    for (const other of Object.keys(one.depends_on ?? {})) assert.ok(services[other], `${name}: ${other}`);
  }
  const { environment = {} } = services['breakwater']!;
  // a name of the inside is told to no node
  const inside = environment['NATS_URL']!.split(',').map(url => new URL(url).hostname);
  assert.ok(inside.every(name => !services[name]) || environment['BREAKWATER_BUS_ADDRESS'], 'the bus as nodes reach it');
  const own = Object.keys(environment);
  assert.ok(own.length > 10);
  for (const name of own) assert.ok(names.has(name), name);
});

test('the units: variables there are, services there are, programs there are, and systemd has nothing to say against them', t => {
  const lines = read('deploy/systemd/breakwater.env').split('\n');
  for (const [, name] of lines.map(line => /^([A-Z_]+)=/.exec(line)).filter(found => found !== null))
    assert.ok(names.has(name!), name);
  const units = globSync('deploy/systemd/*.service', { cwd: root });
  const served = units.map(unit => /--services=(\w+)$/m.exec(read(unit))?.[1]).sort();
  assert.deepEqual(served, ['api', 'bus', 'ingest', 'work']);
  const folder = testFolder('units');
  mkdirSync(folder, { recursive: true });
  for (const unit of units) {
    const text = read(unit);
    const [, program, source] = /^ExecStart=(\S+) (?:--\S+ )*(\S+) /m.exec(text)!;
    for (const path of [program!, source!]) assert.ok(existsSync(path.replace('/opt/breakwater/', root)), path);
    // verify looks for the program: that of this machine stands in its place
    writeFileSync(
      join(folder, basename(unit)),
      text.replaceAll(program!, process.execPath).replace(/^(User|Group)=.*$/gm, '$1=root'),
    );
  }
  const has = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
  if (has.error) return t.skip('no systemd-analyze here');
  const files = units.map(unit => join(folder, basename(unit)));
  const said = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...files], { encoding: 'utf8' });
  assert.equal(said.status, 0, said.stderr);
  assert.doesNotMatch(said.stderr, /breakwater-\w+\.service/, said.stderr);
  const [version] = /\d+/.exec(has.stdout)!;
  // `security` of files alone came with 250
  if (Number(version) >= 250)
    for (const unit of units)
      execFileSync('systemd-analyze', ['security', '--offline=yes', '--threshold=20', join(root, unit)], { stdio: 'ignore' });
});
