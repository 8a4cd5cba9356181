/** Whether this version finds the control plane from here, beside a node that runs: asked before that one goes back to it. */
import { connect, jwtAuthenticator } from '@nats-io/transport-node';
import { Identity } from './identity.ts';
import { tlsOf } from './link.ts';

/** @throws why there is no way */
export async function reach(data: string): Promise<void> {
  const { grant, seed } = await Identity.open(data);
  if (!grant) throw new Error('it has not joined');
  const nc = await connect({
    servers: grant.natsUrl.split(','),
    authenticator: jwtAuthenticator(grant.jwt, seed),
    name: `node-${grant.nodeID}-reach`,
    tls: tlsOf(grant),
    timeout: 5000,
    maxReconnectAttempts: 0,
  });
  await nc.close();
}
