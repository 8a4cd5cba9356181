/** One question to an origin: does a connection stand, does it answer, and is its certificate what the domain wants? */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { isIP, connect } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { publicTrust } from './render/trusts.ts';

export interface Question {
  address: string;
  port: number;
  /** tls: nothing is asked for, the certificate alone is looked at */
  type: 'tcp' | 'http' | 'tls';
  protocol: 'http' | 'https';
  /** Host header */
  host: string;
  path: string;
  /** 0: any from 200 to 399 */
  status: number;
  /** seconds */
  timeout: number;
  verify: 'off' | 'public' | 'own';
  ca: string;
  /** server name */
  sni: string;
}

let machine: string | undefined;
/** As nginx verifies: by the machine's authorities, not by those that Node comes with. */
function authorities({ verify, ca }: Question): string | undefined {
  if (verify === 'own') return ca;
  if (verify === 'off') return undefined;
  const trust = publicTrust();
  if (!trust) throw Object.assign(new Error('no authorities'), { code: 'NO_AUTHORITIES' });
  return (machine ??= readFileSync(trust.file, 'utf8'));
}

/** What was read of authorities, the last used last: to read those of a machine takes longer than to ask. */
const contexts = new Map<string | undefined, SecureContext>();
const contextsMost = 100;
function contextOf(ca: string | undefined): SecureContext {
  const context = contexts.get(ca) ?? createSecureContext({ minVersion: 'TLSv1', ...(ca !== undefined && { ca }) });
  contexts.delete(ca);
  contexts.set(ca, context);
  if (contexts.size > contextsMost) contexts.delete(contexts.keys().next().value);
  return context;
}

/** A short code, fit for a heartbeat. */
const codeOf = (error: unknown) => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,59}$/.test(code) ? code : 'NO_ANSWER';
};

/** @returns null: it is well; else why not, a code of the system or of TLS, or `HTTP_<status>`, or `TIMEOUT` */
export function askOrigin(question: Question): Promise<string | null> {
  return new Promise(done => {
    let end = () => {};
    const settle = (said: string | null) => {
      clearTimeout(timer);
      done(said);
      end();
    };
    const timer = setTimeout(() => settle('TIMEOUT'), question.timeout * 1000);
    try {
      end = begin(question, settle);
    } catch (error) {
      settle(codeOf(error));
    }
  });
}

/** @returns what ends it */
function begin(question: Question, settle: (said: string | null) => void): () => void {
  const { address, port, type, protocol, host, path, status, sni } = question;
  const failed = (error: unknown) => settle(codeOf(error));
  if (type === 'tcp') {
    const socket = connect({ host: address, port }, () => settle(null)).on('error', failed);
    return () => socket.destroy();
  }
  const isTLS = protocol === 'https';
  const options = {
    ...{ host: address, port, path, agent: false, headers: { host, 'user-agent': 'Breakwater-Health', connection: 'close' } },
    ...(isTLS && {
      rejectUnauthorized: question.verify !== 'off',
      secureContext: contextOf(authorities(question)),
    }),
    // an address is no server name
    ...(isTLS && { servername: isIP(sni) ? '' : sni }),
  };
  const request = (isTLS ? https : http).request(options, answer => {
    const code = answer.statusCode ?? 0;
    settle((status ? code === status : code >= 200 && code < 400) ? null : `HTTP_${code}`);
  });
  request.on('error', failed);
  // interim answers may be as many as they like: the time is bounded
  if (type === 'tls') request.on('socket', socket => socket.once('secureConnect', () => settle(null)));
  request.end();
  return () => request.destroy();
}
