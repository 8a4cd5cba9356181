/** Certificates as a node holds them, and clients that speak TLS to an edge. */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import https from 'node:https';
import { connect, type ConnectionOptions, type PeerCertificate, type TLSSocket } from 'node:tls';
import { certificateRecords } from '#agent/render/certificate.ts';
import type { EdgeRecord } from '#agent/render/records.ts';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { authority, type Authority, type Issued } from '#system/authority.ts';

const derOf = (pem: string) => new X509Certificate(pem).raw;

/** The document of what an authority issued, its key not sealed. */
export function certificateDocument(id: number, { certificate, key }: Issued, { between }: Authority): DocumentOf<'certificate'> {
  const issuer = derOf(between);
  const secret = createPrivateKey(key);
  const type = secret.asymmetricKeyType === 'rsa' ? 'rsa' : 'ec';
  return {
    v: 1,
    rev: 1,
    id,
    site: 1,
    leaf: derOf(certificate).toString('base64'),
    issuers: [{ hash: createHash('sha256').update(issuer).digest('hex'), der: issuer.toString('base64') }],
    type,
    key: secret.export({ format: 'der', type: type === 'rsa' ? 'pkcs1' : 'sec1' } as never).toString('base64'),
  };
}
export const recordsOfCertificate = (document: DocumentOf<'certificate'>): EdgeRecord[] =>
  certificateRecords(document, ({ key }) => key);

export interface Shaken {
  /** what verification says; null: the chain ends in the authority, and the name fits */
  error: string | null;
  /** alert or error that ended the handshake */
  failed: string | null;
  serial: string;
  subject: PeerCertificate;
  protocol: string | null;
  alpn: string | false | null;
  reused: boolean;
  session: Buffer | undefined;
}

/** Certificate 1, of these names: for who only needs https. The domains name it, and have an owner. */
export function shownFor(names: string[]) {
  const ca = authority();
  return { ca, records: recordsOfCertificate(certificateDocument(1, ca.issue(names), ca)), domain: { certificate: 1, owner: 7 } };
}

/** One handshake; with `wantSession` it waits for a ticket. */
export function shake(
  port: number,
  servername: string | undefined,
  options: ConnectionOptions & { wantSession?: boolean } = {},
): Promise<Shaken> {
  const { wantSession, ...rest } = options;
  return new Promise(done => {
    let session: Buffer | undefined;
    const end = (failed: string | null) => {
      const peer = failed === null ? socket.getPeerCertificate() : ({} as PeerCertificate);
      done({
        error: failed === null && socket.authorizationError ? String(socket.authorizationError) : null,
        failed,
        serial: peer.serialNumber ?? '',
        subject: peer,
        protocol: failed === null ? socket.getProtocol() : null,
        alpn: failed === null ? socket.alpnProtocol : null,
        reused: failed === null && socket.isSessionReused(),
        session,
      });
      socket.destroy();
    };
    const socket: TLSSocket = connect(
      { host: '127.0.0.1', port, ...(servername === undefined ? {} : { servername }), rejectUnauthorized: false, ...rest },
      () => {
        if (!wantSession) end(null);
        else if (session) end(null);
        // a server that gives tickets does so with its first answer
        else socket.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\n\r\n`);
      },
    );
    socket.on('session', ticket => {
      session = ticket;
      if (wantSession && socket.getProtocol()) end(null);
    });
    socket.once('error', error => end((error as NodeJS.ErrnoException).code ?? error.message));
    socket.setTimeout(10_000, () => end('no answer'));
  });
}

/** One request over HTTP/1.1. */
export function askTLS(port: number, servername: string, host: string, path = '/', options: https.RequestOptions = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((done, fail) => {
    const request = https.request(
      { host: '127.0.0.1', port, servername, path, headers: { host }, agent: false, rejectUnauthorized: false, ...options },
      answer => {
        let body = '';
        answer.setEncoding('utf8').on('data', piece => (body += piece));
        answer.on('end', () => done({ status: answer.statusCode!, headers: answer.headers, body }));
      },
    );
    request.on('error', fail);
    request.end();
  });
}

/** Requests over one connection of HTTP/2, one after the other → their statuses. */
export async function askHttp2(port: number, servername: string, hosts: readonly string[], ca: string): Promise<number[]> {
  const session = connectHttp2(`https://${servername}`, { host: '127.0.0.1', port, servername, ca } as never);
  try {
    const statuses: number[] = [];
    for (const host of hosts)
      statuses.push(
        await new Promise<number>((done, fail) => {
          session.once('error', fail);
          const stream = session.request({ ':path': '/', ':authority': host });
          stream.on('response', headers => done(Number(headers[':status'])));
          stream.on('error', fail);
          stream.resume();
        }),
      );
    return statuses;
  } finally {
    session.destroy();
  }
}
