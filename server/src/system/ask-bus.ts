/** Whether JetStream answers, asked from outside: a connection of its own, so that nothing of ours that hangs can hide it. */
import { readFile } from 'node:fs/promises';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { type BusTls, clientTls } from '../bus/tls.ts';
import { askStreams } from './checks.ts';

/** @returns undefined when it answers a question about its streams within the limit, else why not */
export async function busTrouble(
  url: string,
  credsFile: string | undefined,
  limitMs: number,
  tls: BusTls | undefined,
): Promise<string | undefined> {
  const until = performance.now() + limitMs;
  try {
    const creds = credsFile && (await readFile(credsFile));
    const nc = await connect({
      servers: url.split(','),
      name: 'health',
      reconnect: false,
      ...clientTls(tls, url),
      timeout: limitMs,
      ...(creds && { authenticator: credsAuthenticator(creds) }),
    });
    try {
      await askStreams(nc, Math.max(until - performance.now(), 100));
    } finally {
      // a bus that does not answer does not answer to a farewell either
      void nc.close().catch(() => {});
    }
    return undefined;
  } catch (error) {
    return (error as Error).message || 'no answer';
  }
}
