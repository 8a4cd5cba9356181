/** The shipper of one node as a process of its own:  node shipper.ts NATS_URL NODE LOGDIR ROTATE_BYTES */
import { connect } from '@nats-io/transport-node';
import { startShipper } from '#agent/ship/ship.ts';
import { subjects } from '#contract/edge/subjects.ts';

const [servers, node, logDir, rotateBytes] = process.argv.slice(2) as [string, string, string, string];
const nc = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 100, waitOnFirstConnect: true });
startShipper({
  nc,
  names: { log: subjects.log(Number(node), 'access'), mark: subjects.mark(Number(node)) },
  logDir,
  rotateBytes: Number(rotateBytes),
  log: (event, facts) => console.error(JSON.stringify({ at: Date.now(), node, event, ...facts })),
});
