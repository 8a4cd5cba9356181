/** The bus inside the control plane: relay and acknowledgements (`bus`), and what the API asks of it. */
import { type Bus, connectServer, startBus } from '../bus/bus.ts';
import { askToRenew, joinNode, renewNode } from '../bus/join.ts';
import type { Services } from '../kit/services.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';
import { watchBus } from '../system/watch.ts';

/** Connects when there is a bus; fills in `services.nodes`. */
export async function connectBus(settings: Settings, services: Services): Promise<{ stop(): Promise<void> } | undefined> {
  const { natsUrl, natsCreds, natsKeys: keys, databaseUrl } = settings;
  if (!natsUrl || !natsCreds || !keys || !(settings.services.has('bus') || settings.services.has('api'))) return undefined;
  const nats = await connectServer(natsUrl, natsCreds);
  if (services.health) watchBus(services.health, nats, services);
  const db = services.database.pool;
  let bus: Bus | undefined;
  if (settings.services.has('bus'))
    bus = startBus({ databaseUrl, db, nats, keys, natsUrl, log: message => logger.warn(message) });
  const authority = { keys, natsUrl };
  services.nodes = {
    join: body => joinNode(db, authority, body),
    renew: body => renewNode(db, authority, body),
    notify: async nodeID => askToRenew(nats, nodeID),
  };
  return {
    async stop() {
      await bus?.stop();
      await nats.drain();
    },
  };
}
