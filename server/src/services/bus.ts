/** The bus inside the control plane: relay and acknowledgements (`bus`), and what the API asks of it. */
import { type Bus, isThere, connectServer, startBus } from '../bus/bus.ts';
import { closeBus } from '../bus/close.ts';
import { command } from '../bus/commands.ts';
import { Signer } from '../bus/credentials.ts';
import { gateOf } from '../bus/gate.ts';
import type { Services } from '../kit/services.ts';
import { logger } from '../log.ts';
import type { Settings } from '../settings.ts';
import { watchBus } from '../system/watch.ts';

const relayLimitMs = 600_000;

/** Connects when there is a bus; fills in `services.nodes`. */
export async function connectBus(settings: Settings, services: Services): Promise<{ stop(): Promise<void> } | undefined> {
  const { natsUrl, toldUrl = natsUrl, natsCreds, natsKeys: keys, busTls: tls, databaseUrl } = settings;
  if (!natsUrl || !toldUrl || !natsCreds || !keys || !(settings.services.has('bus') || settings.services.has('api')))
    return undefined;
  const nats = await connectServer(natsUrl, natsCreds, tls);
  if (services.health) watchBus(services.health, nats, services);
  const db = services.database.pool;
  let bus: Bus | undefined;
  // a large installation is published anew within this
  const turn = settings.services.has('bus') ? services.health?.loop('relay', relayLimitMs) : undefined;
  if (settings.services.has('bus'))
    services.nodes = bus = startBus({
      databaseUrl,
      db,
      nats,
      keys,
      natsUrl,
      toldUrl,
      tls,
      sealing: services.sealing,
      log: message => logger.warn(message),
      turn,
    });
  else {
    // Accounts are seen to by the process that runs the service `bus`: the node's row tells it.
    const authority = { keys, natsUrl: toldUrl, tls };
    const signer = new Signer(keys.documentSeed);
    services.nodes = {
      ...gateOf(db, authority),
      notify: async nodeID => void (await command({ db, nats, signer }, nodeID, 'renew')),
      reaches: isThere(nats),
    };
  }
  return {
    stop: () => closeBus(nats, async () => bus?.stop()),
  };
}
