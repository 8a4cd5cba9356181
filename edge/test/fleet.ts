/** A zone in small: edges, relays and the certificates by which they know each other. */
import { createPublicKey } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newKey } from '#host/certificates.ts';
import { memberCertificate, zoneAuthority } from '#host/zone-authority.ts';
import { type DomainDocument } from '#contract/edge/document.ts';
import { type Edge, type EdgeOptions, freePort, startEdge, type WholeSite } from './harness.ts';

const secret = Buffer.alloc(32, 7);
export const zoneID = 3;
const firstEdge = 11;

/** Files of a node's certificate, as nginx and clients take them. */
export function member(nodeID: number, { zone = zoneID, authorityOf = zone }: { zone?: number; authorityOf?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'member-'));
  const key = newKey();
  const authority = zoneAuthority(secret, authorityOf);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const until = new Date(Date.now() + 86_400_000);
  const certificate = memberCertificate(authority, { nodeID, zoneID: zone, publicKey, until });
  const files = { certificate: join(folder, 'node.crt'), key: join(folder, 'node.key'), authority: join(folder, 'zone.crt') };
  writeFileSync(files.certificate, certificate);
  writeFileSync(files.key, key, { mode: 0o600 });
  writeFileSync(files.authority, authority.certificate);
  return {
    files,
    pem: { cert: certificate, key, ca: authority.certificate },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Relay {
  id: number;
  port: number;
}

/** The edge's Lua as on a machine whose wall clock is so many seconds ahead. @returns a folder that the caller removes */
function luaAhead(seconds: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'lua-'));
  cpSync(new URL('../lua', import.meta.url), folder, { recursive: true });
  // what nginx.conf reads first, before anything keeps these functions
  const first = join(folder, 'phases/front.lua');
  const clock = `local now, time = ngx.now, ngx.time
    ngx.now = function() return now() + ${seconds} end
    ngx.time = function() return time() + ${seconds} end
    require("core.clock").time = ngx.time\n`;
  writeFileSync(first, clock + readFileSync(first, 'utf8'));
  return folder;
}

/** @param ahead seconds that the clocks of edges are ahead, from the first one on */
export async function startZone({ edges = 2, relays = 2, options = {} as EdgeOptions, ahead = [] as number[] } = {}) {
  const ends = new AsyncDisposableStack();
  const node = async (nodeID: number, port?: number): Promise<Edge> => {
    const { files } = ends.use(member(nodeID));
    const off = port === undefined && ahead[nodeID - firstEdge];
    const luaDir = off ? luaAhead(off) : undefined;
    if (luaDir) ends.defer(() => rmSync(luaDir, { recursive: true, force: true }));
    const own = { ...options, ...(luaDir && { luaDir }) };
    const started = await startEdge({ epoch: `n${nodeID}`, fleet: { zoneID, ...files, ...(port && { port }) }, ...own });
    return ends.use(started);
  };
  const listed: Relay[] = [];
  const relayNodes: Edge[] = [];
  for (let id = 1; id <= relays; id++) {
    const port = await freePort();
    listed.push({ id, port });
    relayNodes.push(await node(id, port));
  }
  const edgeNodes: Edge[] = [];
  for (let id = firstEdge; id < firstEdge + edges; id++) edgeNodes.push(await node(id));
  const all = [...edgeNodes, ...relayNodes];
  const tell = (some: Edge[], who: Relay[], left: number[] = [], members?: number[]) => {
    const record = {
      v: 1,
      rev: 1,
      id: zoneID,
      relays: who.map(({ id, port }) => ({ id, port, address: '127.0.0.1', weight: 1 })),
      relayLeft: left,
      ...(members && { relayMembers: members }),
    };
    return Promise.all(some.map(one => one.put({ key: 'z:', value: JSON.stringify(record) })));
  };
  await tell(all, listed);
  return {
    edges: edgeNodes,
    relays: relayNodes,
    listed,
    all,
    tell,
    put: (sites: WholeSite[], domains: DomainDocument[], where = all) =>
      Promise.all(where.map(one => one.putDocuments(sites, domains))),
    [Symbol.asyncDispose]: () => ends.disposeAsync(),
  };
}
