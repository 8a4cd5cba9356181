/**
 * A store that speaks as much S3 as a backup needs, and believes nobody: each signature is reckoned again here, from the bytes that came
 * (AWS Signature Version 4, "Create a signed AWS API request"), and so is the hash of each body.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const hash = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
const hmac = (key: Buffer | string, data: string) => createHmac('sha256', key).update(data).digest();

export class S3Server {
  readonly objects = new Map<string, Buffer>();
  readonly accessKey = 'AKIATESTTESTTEST';
  readonly secretKey = 'a/secret+key that is nobody’s';
  /** so many requests from now on are answered 503 */
  busy = 0;
  /** how often somebody came with a signature that is none */
  refused = 0;
  /** the next upload of several parts is not put together */
  breaks = false;
  readonly uploads = new Map<string, Map<number, Buffer>>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<S3Server> {
    const server = createServer();
    const store = new S3Server(server);
    server.on('request', (request: IncomingMessage, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { status, headers = {}, body = '' } = store.#answer(request, Buffer.concat(parts));
        response.writeHead(status, headers).end(body);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return store;
  }
  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
  get url() {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #isSigned(request: IncomingMessage, body: Buffer): boolean {
    const { authorization = '' } = request.headers;
    const [, credential, signed, signature] =
      /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(authorization) ?? [];
    if (!credential) return false;
    const [key, day, region, service, end] = credential.split('/');
    const [path, query = ''] = request.url!.split('?');
    const names = signed!.split(';');
    if (!names.includes('host') || !names.includes('x-amz-content-sha256') || !names.includes('x-amz-date')) return false;
    if (request.headers['x-amz-content-sha256'] !== hash(body)) return false;
    const canonical = [
      request.method,
      path,
      query.split('&').filter(Boolean).sort().join('&'),
      ...names.map(name => `${name}:${String(request.headers[name]).trim()}`),
      '',
      names.join(';'),
      hash(body),
    ].join('\n');
    const scope = [day, region, service, end].join('/');
    const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, hash(canonical)].join('\n');
    const chain = [region!, service!, end!].reduce((made, one) => hmac(made, one), hmac(`AWS4${this.secretKey}`, day!));
    return (
      key === this.accessKey && service === 's3' && end === 'aws4_request' && hmac(chain, text).toString('hex') === signature
    );
  }

  #answer(request: IncomingMessage, body: Buffer): { status: number; headers?: Record<string, string>; body?: Buffer | string } {
    const error = (status: number, code: string) => ({
      status,
      body: `<Error><Code>${code}</Code><Message>as it is</Message></Error>`,
    });
    if (this.busy > 0 && this.busy--) return error(503, 'SlowDown');
    if (!this.#isSigned(request, body)) {
      this.refused++;
      return error(403, 'SignatureDoesNotMatch');
    }
    const url = new URL(request.url!, 'http://s3');
    const [, bucket, ...rest] = url.pathname.split('/');
    if (bucket !== 'vault') return error(404, 'NoSuchBucket');
    const key = decodeURIComponent(rest.join('/'));
    const query = url.searchParams;
    const uploadId = query.get('uploadId') ?? '';
    if (request.method === 'GET' && key === '') {
      const keys = [...this.objects.keys()].filter(name => name.startsWith(query.get('prefix') ?? '')).sort();
      // pages of two: whoever lists must turn them
      const from = Number(query.get('continuation-token') ?? 0);
      const more = from + 2 < keys.length;
      return {
        status: 200,
        body: `<ListBucketResult><IsTruncated>${more}</IsTruncated>${keys
          .slice(from, from + 2)
          .map(name => `<Contents><Key>${name.replaceAll('&', '&amp;')}</Key></Contents>`)
          .join('')}${more ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : ''}</ListBucketResult>`,
      };
    }
    if (request.method === 'POST' && query.has('uploads')) {
      const id = String(this.uploads.size + 1);
      this.uploads.set(id, new Map());
      return { status: 200, body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>` };
    }
    if (uploadId) {
      const parts = this.uploads.get(uploadId);
      if (!parts) return error(404, 'NoSuchUpload');
      if (request.method === 'PUT') {
        parts.set(Number(query.get('partNumber')), body);
        return { status: 200, headers: { etag: `"${hash(body)}"` } };
      }
      if (request.method === 'POST' && this.breaks) return { status: 200, body: '<Error><Code>InvalidPart</Code></Error>' };
      this.uploads.delete(uploadId);
      if (request.method === 'DELETE') return { status: 204 };
      const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>&quot;(\w+)&quot;/g)];
      if (named.some(([, n, etag]) => hash(parts.get(Number(n)) ?? '') !== etag))
        return { status: 200, body: '<Error><Code>InvalidPart</Code></Error>' };
      this.objects.set(key, Buffer.concat(named.map(([, n]) => parts.get(Number(n))!)));
      return { status: 200, body: '<CompleteMultipartUploadResult/>' };
    }
    if (request.method === 'PUT') {
      this.objects.set(key, body);
      return { status: 200, headers: { etag: `"${hash(body)}"` } };
    }
    if (request.method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    const found = this.objects.get(key);
    if (!found) return error(404, 'NoSuchKey');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const part = found.subarray(Number(from), Number(to) + 1);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${found.length}`;
    return { status: 206, headers: { 'content-range': range }, body: part };
  }
}
