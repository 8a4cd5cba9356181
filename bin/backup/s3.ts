/**
 * What a backup asks of a store that speaks S3: to take a large file in parts, to give it back, to list and to remove. Requests are signed
 * (SigV4, aws4fetch) with the hash of their body; connections go by the address policy alone (server/src/kit/outbound.ts). Buckets stand in
 * the path, which every store understands.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
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
  /** of a part of an upload, and of what is fetched at a time; stores take 5 MiB at least */
  partBytes?: number;
}

const partBytesUsual = 16 * 2 ** 20;
/** as many as an upload may have */
const partsMax = 10_000;
const requestMs = 120_000;
const tries = 4;

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

  get #partBytes() {
    return this.#options.partBytes ?? partBytesUsual;
  }
  #key(name: string): string {
    return this.#options.prefix + name;
  }

  /** All of it or nothing: what is not completed is taken back. */
  async put(name: string, path: string): Promise<void> {
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
    const out = await open(path, 'wx', 0o600);
    try {
      let total = Infinity;
      for (let at = 0; at < total;) {
        const range = { range: `bytes=${at}-${at + this.#partBytes - 1}` };
        const { status, headers, body } = await this.#ask('GET', this.#key(name), {}, undefined, {
          headers: range,
          bytesMax: this.#partBytes + 1,
        });
        total = status === 206 ? Number(/\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]) : body.length;
        if (!body.length || !Number.isFinite(total)) throw new S3Error('S3 GET: it does not say how long the archive is');
        if (Math.max(total, at + body.length) > bytesMax)
          throw new S3Error(longer(name, Math.max(total, at + body.length), bytesMax));
        for (let put = 0; put < body.length;) put += (await out.write(body, put)).bytesWritten;
        at += body.length;
      }
      await out.sync();
    } finally {
      await out.close();
    }
  }

  /** Names that begin with the prefix, without it. */
  async list(): Promise<string[]> {
    const { prefix } = this.#options;
    const names: string[] = [];
    let token: string | undefined;
    do {
      const xml = (
        await this.#ask('GET', '', {
          ...(token ? { 'continuation-token': token } : {}),
          'list-type': '2',
          prefix,
        })
      ).body.toString('utf8');
      names.push(...elements(xml, 'Key').map(key => key.slice(prefix.length)));
      [token] = elements(xml, 'IsTruncated')[0] === 'true' ? elements(xml, 'NextContinuationToken') : [];
    } while (token);
    return names;
  }

  async remove(name: string): Promise<void> {
    await this.#ask('DELETE', this.#key(name));
  }
}

export const longer = (name: string, bytes: number, before: number) => backupSaid('longer', { name, bytes, before });

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((done, failed) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', () => (clearTimeout(timer), failed(signal.reason as Error)), { once: true });
  });
