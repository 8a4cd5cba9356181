/**
 * `breakwater bus-config --servers=HOST,HOST,HOST --out=FOLDER`: keys and configuration for a NATS that somebody else runs, one server or a
 * cluster. Run again on the same folder it keeps keys and authority, so servers can be added.
 */
import { createPrivateKey, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeAuthority, newKey } from '#host/certificates.ts';
import { writeWhole } from '#host/files.ts';
import { partsOf } from '#server/bus/address.ts';
import { type BusKeys, createBusKeys } from '#server/bus/credentials.ts';
import { busName, outsideBus, outsideURL } from '#server/bus/outside.ts';
import { isLoopback } from '#server/bus/tls.ts';

const usage = `breakwater bus-config --servers=HOST[:PORT],… --out=FOLDER

  --servers       addresses of the servers, three for a cluster that survives the loss of one
  --out           folder for the files; run again on it, keys and authority stay
  --keys          keys.json of the embedded bus (data/nats/keys.json), so that nodes keep their credentials
  --cluster-port  where the servers reach each other (6222)
  --files         folder in which a server finds its files (/etc/nats/breakwater)
  --store         folder of its streams (/var/lib/nats/breakwater)`;

try {
  const { values } = parseArgs({
    options: {
      servers: { type: 'string' },
      out: { type: 'string' },
      keys: { type: 'string' },
      'cluster-port': { type: 'string', default: '6222' },
      files: { type: 'string', default: '/etc/nats/breakwater' },
      store: { type: 'string', default: '/var/lib/nats/breakwater' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help || !values.servers || !values.out) {
    console.log(usage);
    process.exit(values.help ? 0 : 1);
  }
  const out = resolve(values.out);
  const clusterPort = Number(values['cluster-port']);
  if (!Number.isInteger(clusterPort) || clusterPort < 1 || clusterPort > 65_535)
    throw new Error(`--cluster-port must be a port from 1 to 65535, it is "${values['cluster-port']}".`);
  const servers = values.servers.split(',').map(text => {
    const { host, port = 4222 } = partsOf(text.trim());
    return { host: host.replaceAll(/^\[|\]$/g, ''), port, clusterPort };
  });
  if (new Set(servers.map(one => one.host)).size < servers.length)
    throw new Error('--servers names a host twice: give each server a machine.');
  mkdirSync(out, { recursive: true, mode: 0o700 });
  const kept = (name: string, make: () => string): string => {
    const path = join(out, name);
    if (!existsSync(path)) writeWhole(path, make());
    return readFileSync(path, 'utf8');
  };
  const keys = JSON.parse(
    kept('keys.json', () => (values.keys ? readFileSync(values.keys, 'utf8') : JSON.stringify(createBusKeys()))),
  ) as BusKeys;
  if (!keys.master) throw new Error('The keys are of an older version: start Breakwater once with them, then run this again.');
  const isPlain = servers.every(one => isLoopback(one.host));
  const key = createPrivateKey(isPlain ? newKey() : kept('ca.key', newKey));
  const authority = isPlain ? undefined : { key, certificate: kept('ca.pem', () => makeAuthority('Breakwater bus', key)) };
  const files = outsideBus({
    servers,
    keys,
    password: kept('cluster.password', () => randomBytes(24).toString('base64url')),
    authority,
    filesFolder: () => values.files,
    storeFolder: () => values.store,
  });
  const environment = {
    NATS_URL: outsideURL({ servers, authority }),
    NATS_CREDS: join(out, 'server.creds'),
    NATS_KEYS: join(out, 'keys.json'),
    NATS_SYSTEM_CREDS: join(out, 'system.creds'),
    ...(authority && { BREAKWATER_BUS_CA: join(out, 'ca.pem'), BREAKWATER_BUS_NAME: busName }),
  };
  files.set(
    'environment',
    Object.entries(environment)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  for (const [path, text] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true, mode: 0o700 });
    writeWhole(join(out, path), text);
  }
  console.log(`Written to ${out}.

On each server: copy its folder (breakwater-1, …) to ${values.files}, owned by the user nats and readable by it alone, and run
  nats-server -c ${values.files}/nats.conf
For the control plane: the variables in ${join(out, 'environment')}.`);
  if (servers.length === 2) console.log('\nTwo servers stop when either does: a cluster begins with three.');
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
