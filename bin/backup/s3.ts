/**
 * What a backup asks of a store that speaks S3: to take a large file in parts, to give it back, to list and to remove. Requests are signed
 * (SigV4, aws4fetch) with the hash of their body; connections go by the address policy alone (server/src/kit/outbound.ts). Buckets stand in
 * the path, which every store understands.
 */
import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { AwsV4Signer } from 'aws4fetch';
import { backupSaid } from '#contract/system/backup-problems.ts';
import type { AddressPolicy } from '#contract/rules/address-policy.ts';
import { outbound, OutboundError, type OutboundAnswer } from '#server/kit/outbound.ts';
import { plainText } from '#server/kit/text.ts';

export interface S3Options {
  /** scheme, host and port */
  endpoint: string;
  region: string;
  bucket: string;
  /** before each name */
  prefix: string;
  accessKey: string;
  secretKey: string;
  policy: AddressPolicy;
  signal?: AbortSignal | undefined;
  /** what any file or list may take beside the time for its bytes */
  patienceMs?: number;
  /** of a part of an upload, and of what is fetched at a time; stores take 5 MiB at least */
  partBytes?: number;
}

const partBytesUsual = 16 * 2 ** 20;
/** as many as an upload may have */
const partsMax = 10_000;
const requestMs = 120_000;
const tries = 4;
const patienceUsualMs = 600_000;
/** A connection that gives less than this is no place for a backup. */
const leastBytesPerSecond = 100_000;
/** A million files that begin as ours do. */
const listPagesMax = 1000;

export class S3Error extends Error {
  override name = 'S3Error';
}

const unescaped: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** What elements of this name hold, in the few answers we read. */
const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text]) =>
    text!.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => unescaped[entity]!),
  );
/** RFC 3986: what SigV4 signs is what is sent. */
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, one => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

export class S3 {
  readonly #options: S3Options;
  constructor(options: S3Options) {
    this.#options = options;
  }

  /** @throws S3Error with what the store said: never the key, never a signature */
  async #ask(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    key: string,
    query: Record<string, string> = {},
    body: Buffer = Buffer.alloc(0),
    more: { headers?: Record<string, string>; bytesMax?: number } = {},
  ): Promise<OutboundAnswer> {
    const { endpoint, region, bucket, accessKey, secretKey, policy, signal } = this.#options;
    const path = key === '' ? '' : `/${key.split('/').map(encode).join('/')}`;
    const search = Object.entries(query)
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .join('&');
    const url = `${new URL(endpoint).origin}/${bucket}${path}${search && `?${search}`}`;
    let last = '';
    for (let n = 0; n < tries; n++) {
      signal?.throwIfAborted();
      if (n > 0) await pause(250 * 4 ** (n - 1), signal);
      const signed = await new AwsV4Signer({
        method,
        url,
        headers: { ...more.headers, 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
        service: 's3',
        region,
        accessKeyId: accessKey,
        secretAccessKey: secretKey,
      }).sign();
      const headers = Object.fromEntries(signed.headers as unknown as Iterable<[string, string]>);
      try {
        const answer = await outbound(signed.url.href, {
          policy,
          method,
          headers: { ...headers, 'content-length': String(body.length) },
          ...(body.length ? { body } : {}),
          bytesMax: more.bytesMax ?? 4 * 2 ** 20,
          timeoutMs: requestMs,
          ...(signal ? { signal } : {}),
        });
        if (answer.status < 300) return answer;
        const xml = answer.body.toString('utf8', 0, 4096);
        last = [elements(xml, 'Code')[0] ?? `HTTP ${answer.status}`, elements(xml, 'Message')[0]].filter(Boolean).join(': ');
        // too much at once, or a trouble of its own: these pass
        if (answer.status !== 429 && answer.status < 500) break;
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        signal?.throwIfAborted();
        last = error.message;
        if (error.problem === 'refused' || error.problem === 'notURL') break;
      }
    }
    throw new S3Error(backupSaid('s3', { method, why: plainText(last, 300).replaceAll(secretKey, '…') }));
  }

  /** A store answers for as long as it likes: `bytes` may take their time at the least pace, and that is all. */
  async #within<T>(method: 'GET' | 'PUT', bytes: number, act: (s3: S3) => Promise<T>): Promise<T> {
    const { signal, patienceMs = patienceUsualMs } = this.#options;
    // what a timer can count
    const ms = Math.min(patienceMs + (bytes / leastBytesPerSecond) * 1000, 2 ** 31 - 1);
    const late = AbortSignal.timeout(Math.ceil(ms));
    try {
      return await act(new S3({ ...this.#options, signal: signal ? AbortSignal.any([signal, late]) : late }));
    } catch (error) {
      if (!late.aborted || signal?.aborted) throw error;
      throw new S3Error(backupSaid('s3', { method, why: backupSaid('tookLong') }), { cause: error });
    }
  }

  get #partBytes() {
    return this.#options.partBytes ?? partBytesUsual;
  }
  #key(name: string): string {
    return this.#options.prefix + name;
  }

  /** All of it or nothing: what is not completed is taken back. */
  async put(name: string, path: string): Promise<void> {
    const { size } = await stat(path);
    await this.#within('PUT', size, s3 => s3.#put(name, path));
  }
  async #put(name: string, path: string): Promise<void> {
    const key = this.#key(name);
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const bytes = Math.max(this.#partBytes, Math.ceil(size / partsMax));
      const read = async (at: number) => {
        const part = Buffer.alloc(Math.min(bytes, size - at));
        for (let got = 0; got < part.length;) {
          const { bytesRead } = await file.read(part, got, part.length - got, at + got);
          if (bytesRead === 0) throw new Error(`${path} became shorter while it was sent`);
          got += bytesRead;
        }
        return part;
      };
      if (size <= bytes) return void (await this.#ask('PUT', key, {}, await read(0)));
      const begun = await this.#ask('POST', key, { uploads: '' });
      const [uploadId] = elements(begun.body.toString('utf8'), 'UploadId');
      if (!uploadId) throw new S3Error('S3 POST: it gave no number to the upload');
      try {
        const parts: string[] = [];
        for (let at = 0, n = 1; at < size; at += bytes, n++) {
          const { headers } = await this.#ask('PUT', key, { partNumber: String(n), uploadId }, await read(at));
          if (!headers.etag) throw new S3Error('S3 PUT: it gave no mark of a part');
          parts.push(`<Part><PartNumber>${n}</PartNumber><ETag>${headers.etag.replaceAll('"', '&quot;')}</ETag></Part>`);
        }
        const list = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
        const done = (await this.#ask('POST', key, { uploadId }, Buffer.from(list))).body.toString('utf8');
        // 200 is sent before the parts are put together: what went wrong then stands in the body
        if (done.includes('<Error>')) throw new S3Error(`S3 POST: ${elements(done, 'Code')[0] ?? 'it was not put together'}`);
      } catch (error) {
        await new S3({ ...this.#options, signal: undefined }).#ask('DELETE', key, { uploadId }).catch(() => {});
        throw error;
      }
    } finally {
      await file.close();
    }
  }

  /** @param bytesMax who keeps the store shall not be able to fill our disk */
  async get(name: string, path: string, bytesMax = Infinity): Promise<void> {
    await this.#within('GET', bytesMax, s3 => s3.#get(name, path, bytesMax));
  }
  async #get(name: string, path: string, bytesMax: number): Promise<void> {
    const out = await open(path, 'wx', 0o600);
    try {
      let total: number | undefined;
      for (let at = 0; total === undefined || at < total;) {
        const range = { range: `bytes=${at}-${at + this.#partBytes - 1}` };
        const { status, headers, body } = await this.#ask('GET', this.#key(name), {}, undefined, {
          headers: range,
          bytesMax: this.#partBytes + 1,
        });
        const [from, size] =
          status === 206
            ? (/^bytes (\d+)-\d+\/(\d+)$/
                .exec(headers['content-range'] ?? '')
                ?.slice(1)
                .map(Number) ?? [])
            : [0, body.length];
        if (size === undefined || from !== at || (total !== undefined && size !== total))
          throw new S3Error(backupSaid('s3', { method: 'GET', why: backupSaid('shortAnswer') }));
        total = size;
        if (Math.max(total, body.length) > bytesMax) throw new S3Error(longer(name, Math.max(total, body.length), bytesMax));
        // all that was asked for, each time: or a byte at a time would go on for months
        if (body.length === 0 || body.length !== Math.min(this.#partBytes, total - at))
          throw new S3Error(backupSaid('s3', { method: 'GET', why: backupSaid('shortAnswer') }));
        for (let put = 0; put < body.length;) put += (await out.write(body, put)).bytesWritten;
        at += body.length;
      }
      await out.sync();
    } finally {
      await out.close();
    }
  }

  /** Which of these names are there. Nothing else of what the store says is kept, and it does not say it for ever. */
  async list(wanted: ReadonlySet<string>): Promise<string[]> {
    return this.#within('GET', 0, s3 => s3.#list(wanted));
  }
  async #list(wanted: ReadonlySet<string>): Promise<string[]> {
    const prefix = this.#key(commonStart([...wanted]));
    const found = new Set<string>();
    let token: string | undefined;
    for (let page = 0; page < listPagesMax; page++) {
      const xml = (
        await this.#ask('GET', '', {
          ...(token ? { 'continuation-token': token } : {}),
          'list-type': '2',
          prefix,
        })
      ).body.toString('utf8');
      for (const key of elements(xml, 'Key')) {
        const name = key.slice(this.#options.prefix.length);
        if (wanted.has(name) && key === this.#key(name)) found.add(name);
      }
      [token] = elements(xml, 'IsTruncated')[0] === 'true' ? elements(xml, 'NextContinuationToken') : [];
      if (!token || found.size === wanted.size) return [...found];
    }
    throw new S3Error(backupSaid('s3', { method: 'GET', why: backupSaid('longList') }));
  }

  async remove(name: string): Promise<void> {
    await this.#ask('DELETE', this.#key(name));
  }
}

export const longer = (name: string, bytes: number, before: number) => backupSaid('longer', { name, bytes, before });

/** What all of them begin with. */
function commonStart(names: readonly string[]): string {
  const [first = ''] = names;
  let length = first.length;
  for (const name of names) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((done, failed) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', () => (clearTimeout(timer), failed(signal.reason as Error)), { once: true });
  });
