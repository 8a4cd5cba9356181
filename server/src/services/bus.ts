/** The bus inside the control plane: relay and acknowledgements (`bus`), and what the API asks of it. */
import { Fail } from '#contract/errors.ts';
import { type Bus, connectServer, startBus } from '../bus/bus.ts';
import { askToRenew, JoinError, joinNode, renewNode } from '../bus/join.ts';
import type { Services } from '../kit/services.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';

/** Connects when there is a bus; fills in `services.nodes`. */
export async function connectBus(settings: Settings, services: Services): Promise<{ stop(): Promise<void> } | undefined> {
  const { natsUrl, natsCreds, natsKeys: keys, databaseUrl } = settings;
  if (!natsUrl || !natsCreds || !keys || !(settings.services.has('bus') || settings.services.has('api'))) return undefined;
  const nats = await connectServer(natsUrl, natsCreds);
  const db = services.database.pool;
  let bus: Bus | undefined;
  if (settings.services.has('bus'))
    bus = startBus({ databaseUrl, db, nats, keys, natsUrl, log: message => logger.warn(message) });
  const authority = { keys, natsUrl };
  services.nodes = {
    join: body => told(joinNode(db, authority, body)),
    renew: body => told(renewNode(db, authority, body)),
    notify: async nodeID => askToRenew(nats, nodeID),
  };
  return {
    async stop() {
      await bus?.stop();
      await nats.drain();
    },
  };
}

/** A refusal of the bus as an error of the catalogue. */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof JoinError)) throw error;
    throw new Fail(
      error.error,
      error.error === 'parameter'
        ? { errorData: [{ path: '', rule: 'wrongFormat', bounds: { why: error.message } }] }
        : { extra: error.message },
    );
  }
}
