/**
 * Edge documents → the records nginx keeps in its shared dictionary, and the bytes that carry them.
 *
 * Keys are the kinds' (contract/src/edge/kinds): `d:<host>` or `d:*.<parent>` (domain), `s:<siteID>` (site), `p:<kind>:<siteID>` (a part of a
 * site), `m:<moduleID>` (module), `c:<id>` (certificate) and `i:<hash>` (one above it), `o:<siteID>:<port>` (port), `z:` (zone). A value is the document's JSON, the
 * addresses of a domain's upstreams resolved and judged; certificates stand in a dictionary of their own, with their keys opened (certificate.ts).
 * After a change delete the keys of the old document that the new one no longer has.
 *
 * Bytes: `key SP byteLength LF value LF`; length -1 (and no value line) deletes the key.
 *
 * Control socket, HTTP/1.1 on unix:<run>/ctl/ctl.sock:
 *   POST /apply[?cursor=TEXT]  body: frames, packed up to `applyBytesMax` (one long record may go beyond, up to `recordBytesMax`). Order within a push: parts and modules, sites, domains, deletions last (`inOrder`).
 *        200 {seq, epoch, applied, bad}   live for every request that starts 2 ms later; `bad` as in /stat, for these records
 *        400 {error}   malformed: nothing was applied        413 too long: nothing was applied
 *        503 {error}   another push is under way: send it again
 *        507 {error, applied}  dictionary full: nothing was applied, or (fragmentation) `applied` records were. Never of certificates: those without
 *        room are left out alone and told in `bad`, list `certificates`, id the key
 *   GET /stat → {form, seq, epoch, cursor, records, dictionaries: {<name>: {capacity, free}} (bytes), causes: {<cause>: refused requests},
 *        bad: [{site, list, id, error}], snapshot: {records, error}}   site 0: what holds for the zone
 *        `epoch` changes when nginx was started anew (not on a reload): then compare `cursor` (yours, kept from the snapshot or the
 *        last /apply) and push what is newer, or everything.
 *
 * Snapshot file, read once at the start of nginx: first line `BREAKWATER 1 <cursor>` LF, frames, last line `END <count>` LF. A
 * file that is torn or malformed is not read at all (`snapshot.error`); certificates without room are left out alone. Write it beside
 * the old one, fsync, rename.
 */
import { isIP } from 'node:net';
import type { Verdict } from '#contract/rules/address-policy.ts';
import type { DomainDocument } from '#contract/edge/document.ts';
import { type DocumentKind, type DocumentOf, keyOf } from '#contract/edge/kinds/index.ts';
import { certificateRecords, type OpenKey } from './certificate.ts';
import { trustOfRecord } from './trusts.ts';

/** value null: the key is deleted */
export interface EdgeRecord {
  key: string;
  value: string | null;
}

/** Addresses of a host name; none: it does not resolve (now). Never asked for what already is an address. */
export type Resolve = (name: string) => readonly string[];
/** Whether the node may connect there (AddressPolicy). A record holds only what passed: nginx connects to nothing else. */
export type Judge = (address: string, port: number) => Verdict;
/** An origin that was left out, and what its address is. */
export interface RefusedOrigin {
  address: string;
  port: number;
  kind: string;
}

/**
 * How records read. An nginx whose Lua reads another form (`form` in /stat) is ended and started anew: it would look for the lists of a site
 * where they are not, and let everybody in. The same number stands in edge/lua/phases/control.lua.
 */
export const recordsForm = 5;

/**
 * How much is packed into one body for /apply. 256 KB were measured to keep a worker busy for at most some 15 ms; half of that the buffer of
 * a Unix socket takes at once, so that nginx has all of it while the next is made.
 */
export const applyBytesMax = 128 * 1024;
/** Longest single record: nginx refuses longer bodies. */
export const recordBytesMax = 4 * 1024 * 1024;

/**
 * A domain's record. Each address of a name becomes an upstream of its own with the name's weight (as in nginx). A name
 * without addresses and an address that `judge` refuses are left out: a domain left without upstreams answers 502, and `refused`
 * tells its log line why; other domains are untouched.
 */
export function domainRecords(
  doc: DomainDocument,
  resolve: Resolve,
  judge: Judge,
  refused: (origin: RefusedOrigin) => void = () => {},
): EdgeRecord[] {
  const { upstreams, reasons } = reachable(doc, resolve, judge, refused);
  const tls = doc.originTLS && { originTLS: trustOfRecord(doc.originTLS) };
  return [{ key: `d:${doc.host}`, value: JSON.stringify({ ...doc, upstreams, ...tls, ...reasons }) }];
}

/** The record of a port: `own` says that it has origins, though none of them may be reached now. */
export function portRecords(
  doc: DocumentOf<'port'>,
  resolve: Resolve,
  judge: Judge,
  refused: (origin: RefusedOrigin) => void = () => {},
): EdgeRecord[] {
  const { upstreams, reasons } = reachable(doc, resolve, judge, refused);
  const own = doc.upstreams.length > 0;
  return [{ key: keyOf('port', doc), value: JSON.stringify({ ...doc, upstreams, own, ...reasons }) }];
}

function reachable(
  doc: Pick<DomainDocument, 'upstreams'>,
  resolve: Resolve,
  judge: Judge,
  refused: (origin: RefusedOrigin) => void,
) {
  const why = new Set<string>();
  const upstreams = doc.upstreams.flatMap(upstream => {
    const addresses = isIP(upstream.address) ? [upstream.address] : resolve(upstream.address).filter(address => isIP(address));
    return [...new Set(addresses)].flatMap(address => {
      // one that follows is connected to at both
      for (const port of [upstream.port, upstream.httpsPort ?? upstream.port]) {
        const verdict = judge(address, port);
        if (verdict.allowed) continue;
        why.add(verdict.kind);
        refused({ address, port, kind: verdict.kind });
        return [];
      }
      return [{ ...upstream, address }];
    });
  });
  return { upstreams, reasons: upstreams.length === 0 && why.size > 0 ? { refused: [...why].join() } : {} };
}

/** The records of a document of any kind. */
export function recordsOf(
  kind: DocumentKind,
  document: unknown,
  resolve: Resolve,
  judge: Judge,
  refused?: (origin: RefusedOrigin) => void,
  open: OpenKey = sealed => sealed.key,
): EdgeRecord[] {
  if (kind === 'certificate') return certificateRecords(document as DocumentOf<'certificate'>, open); // by its kind
  if (kind === 'port') return portRecords(document as DocumentOf<'port'>, resolve, judge, refused); // by its kind
  if (kind === 'domain') return domainRecords(document as DomainDocument, resolve, judge, refused);
  return [{ key: keyOf(kind, document), value: JSON.stringify(document) }];
}

/** By the letter of their keys: nothing is there before what it needs. */
const order = ['z', 'n', 'a', 'p', 'm', 'i', 'c', 'o', 's', 'd'];
const rank = ({ key, value }: EdgeRecord): number => {
  const place = order.indexOf(key[0]!);
  return value === null ? 2 * order.length - place : place;
};
/** Records in the order in which nginx takes them, so that at no moment a host is served with less protection than before and after. */
export const inOrder = (records: EdgeRecord[]): EdgeRecord[] => records.sort((a, b) => rank(a) - rank(b));
/** Letters of keys in that order. */
export const keyOrder: readonly string[] = order;

/** @throws RangeError for a key that the wire form cannot carry: what the reader on the other side accepts (edge/lua/core/frames.lua) */
export function checkKey(key: string): void {
  if (!/^[a-z]:[!-~]{0,300}$/.test(key)) throw new RangeError(`not a record key: ${JSON.stringify(key)}`);
}

/** @throws RangeError for a key that the wire form cannot carry */
export function frame(records: Iterable<EdgeRecord>): Buffer {
  const parts: Buffer[] = [];
  for (const { key, value } of records) {
    checkKey(key);
    if (value === null) parts.push(Buffer.from(`${key} -1\n`));
    else parts.push(Buffer.from(`${key} ${Buffer.byteLength(value)}\n${value}\n`));
  }
  return Buffer.concat(parts);
}

/**
 * Bodies for /apply, in the order given.
 * @throws RangeError for a record above `recordBytesMax`, before any body is given back
 */
export function frames(records: Iterable<EdgeRecord>): Buffer[] {
  const bodies: Buffer[] = [];
  let parts: Buffer[] = [];
  let size = 0;
  for (const record of records) {
    const bytes = frame([record]);
    if (bytes.length > recordBytesMax)
      throw new RangeError(`${record.key} has ${bytes.length} bytes, more than ${recordBytesMax}`);
    if (size > 0 && size + bytes.length > applyBytesMax) {
      bodies.push(Buffer.concat(parts));
      parts = [];
      size = 0;
    }
    parts.push(bytes);
    size += bytes.length;
  }
  if (size) bodies.push(Buffer.concat(parts));
  return bodies;
}

/** The snapshot file in pieces of about `applyBytesMax`. `cursor`: any text without white space that /stat shall give back. */
export function* snapshot(records: Iterable<EdgeRecord>, cursor = '0'): Generator<Buffer> {
  if (!/^[!-~]{1,200}$/.test(cursor)) throw new RangeError(`not a cursor: ${JSON.stringify(cursor)}`);
  let parts: Buffer[] = [Buffer.from(`BREAKWATER 1 ${cursor}\n`)];
  let size = 0;
  let count = 0;
  for (const record of records) {
    const bytes = frame([record]);
    parts.push(bytes);
    size += bytes.length;
    count++;
    if (size < applyBytesMax) continue;
    yield Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  parts.push(Buffer.from(`END ${count}\n`));
  yield Buffer.concat(parts);
}
