/** The control plane: `node server/src/main.ts --services=api,work,ingest,bus` (all of them by default). */
import { join } from 'node:path';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { groups } from '#contract/index.ts';
import { permissionKeys, siteKeys } from '#contract/kit/call.ts';
import { createApi } from './calls.ts';
import { serveConsole } from './console.ts';
import { Keys } from './kit/crypto.ts';
import { addHealthMetrics, addHealthProbes, Health } from './kit/health.ts';
import { Licences } from './kit/licence.ts';
import { queueOf, registry, startMetrics } from './kit/metrics.ts';
import { loopback } from './kit/networks.ts';
import { Notices } from './kit/notices.ts';
import { openApi } from './kit/openapi.ts';
import { keepEarlierHandles } from './account/passkey-handles.ts';
import { resealed, Sealing } from './kit/sealed.ts';
import type { Services } from './kit/services.ts';
import { Sessions } from './kit/session.ts';
import { logger } from './log.ts';
import { CnameWatch } from './resolution/check-cname.ts';
import { GeoData } from './resolution/geo/data.ts';
import { beginDue } from './resolution/geo-source.ts';
import { addNamesCheck } from './resolution/names-check.ts';
import { Steering } from './resolution/steer.ts';
import { readSettings, type Settings } from './settings.ts';
import { checkInstallationKey } from './store/key-check.ts';
import { migrate } from './store/migrate.ts';
import { analytics } from './store/analytics/client.ts';
import { openDatabase } from './store/db.ts';
import { serveBrandImages } from './system/logos.ts';
import { rememberInstallation } from './system/installation.ts';
import { Offer } from './bus/offer.ts';
import { connectBus } from './services/bus.ts';
import { startIngestService } from './services/ingest.ts';
import { serveBundle } from './services/bundle.ts';
import { comesIn, serveJoinLine } from './services/join-line.ts';
import { listenOutside } from './services/outside.ts';
import { taskWorks } from './tasks.ts';
import { Notifier } from './system/notifier.ts';
import { readSetting } from './system/settings.ts';
import { StoredRules } from './system/stored-rules.ts';
import { mayGoOn } from './system/tasks.ts';
import { watchProcess, watchServices } from './system/watch.ts';
import { takeAwayDue } from './domain/acme/records.ts';
import { askRenewals } from './domain/acme/renewal.ts';
import { askStatuses } from './domain/certificate/stapling.ts';
import { bytesBetween, newestStep } from './analytics/usage.ts';
import { AutoSSL } from './work/auto-ssl.ts';
import { AccountExpiry } from './work/account-expiry.ts';
import { Expiry } from './work/expiry.ts';
import { Mailer } from './work/mailer.ts';
import { nodeTable, productTable } from './node/tables.ts';
import { Offers } from './node/offers.ts';
import { siteTable } from './site/tables.ts';
import { NoticeTeller } from './work/notices.ts';
import { Tasks } from './work/tasks.ts';
import { TrafficWatch } from './work/traffic.ts';
import { WebhookSender } from './work/webhooks.ts';
import { startWork } from './work/work.ts';

export interface Running {
  url: string;
  stop(): Promise<void>;
}

/** Starts the chosen services; every one of them ends by `stop`, in reverse order. */
export async function start(settings: Settings): Promise<Running> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse())
      await one().catch(error => logger.error({ err: error as Error }, 'stopping failed'));
  };
  const health = new Health();
  stops.push(async () => health.stop());
  try {
    watchProcess(health, settings);
    if (settings.services.has('ingest')) {
      const ingest = await startIngestService(settings, health);
      stops.push(() => ingest.stop());
    }
    // ingest alone begins without the database, and goes on without it
    if (settings.services.size === 1 && settings.services.has('ingest'))
      return { url: await probe(settings, stops, health), stop };
    const ran = await migrate(settings.databaseUrl);
    if (ran.length) logger.info({ migrations: ran }, 'schema brought up to date');
    const database = openDatabase(settings.databaseUrl);
    stops.push(() => database.close());
    for (const [name, pool] of Object.entries(database.pools))
      queueOf(`connections.${name}`, pool, one => ({ waiting: one.waitingCount, running: one.totalCount - one.idleCount }));
    await checkInstallationKey(database.pool, settings.installationKey);
    const keys = new Keys(settings.installationKey);
    const sealing = new Sealing([keys]);
    const sealed = await resealed(database.db, sealing);
    if (sealed) logger.info({ values: sealed }, 'secrets encrypted that were not');
    await keepEarlierHandles(database.db, sealing);
    const licences = new Licences(keys, settings.licenceKeys);
    const sessions = new Sessions(
      database,
      keys,
      area => permissionKeys(groups, area),
      area => siteKeys(groups, area),
      licences,
    );
    stops.push(() => sessions.stop());
    const notices = new Notices(settings.databaseUrl);
    stops.push(() => notices.stop());
    const storedRules = new StoredRules(database.pool);
    const { natsKeys, bundleFolder } = settings;
    const offer = natsKeys && new Offer(bundleFolder, natsKeys.documentSeed);
    const geo =
      settings.dataFolder &&
      new GeoData(join(settings.dataFolder, 'geo'), {
        hasPackages: settings.hasPackagedGeo,
        counted: () => readSetting(database.db, null, 'geoData'),
      });
    if (geo) stops.push(async () => geo.stop());
    // whoever answers calls or steers names asks it
    if (geo && (settings.services.has('work') || settings.services.has('api'))) geo.start();
    const services: Services = {
      ...(geo ? { geo } : {}),
      storedRules,
      database,
      sessions,
      notices,
      sealing,
      licences,
      publicURL: settings.publicURL,
      ...(comesIn(settings) ? { told: settings.told } : {}),
      health,
      ...(settings.acme ? { acme: settings.acme } : {}),
      ...(settings.acmeAt ? { acmeAt: settings.acmeAt } : {}),
      dns: settings.dns,
      knot: settings.knot,
      ...(offer ? { offer } : {}),
      ...(settings.clickhouse ? { analytics: analytics(settings.clickhouse) } : {}),
    };

    const warn = (message: string) => logger.warn(message);
    if (offer && (settings.services.has('work') || settings.services.has('api'))) {
      const offers = new Offers(database.db, offer, warn);
      await offers.start();
      stops.push(() => offers.stop());
    }
    watchServices(health, services, storedRules);
    addNamesCheck(health, services);
    if (settings.services.has('bus')) await rememberInstallation(database, settings);
    const bus = await connectBus(settings, services);
    if (bus) stops.push(() => bus.stop());
    if (settings.services.has('work')) {
      const work = await startWork(settings, services, new Tasks(settings.databaseUrl, services, taskWorks, mayGoOn), beginDue);
      stops.push(() => work.stop());
      const expiry = new Expiry(settings.databaseUrl, services);
      expiry.start();
      stops.push(() => expiry.stop());
      const accountExpiry = new AccountExpiry(services);
      accountExpiry.start();
      stops.push(() => accountExpiry.stop());
      const autoSSL = new AutoSSL(
        settings.databaseUrl,
        db => takeAwayDue(db, services),
        async (db, signal) => {
          await Promise.all([askRenewals(db, services, signal), askStatuses(db, services, signal)]);
        },
      );
      autoSSL.start();
      stops.push(() => autoSSL.stop());
      const mailer = new Mailer(settings.databaseUrl, services);
      mailer.start();
      stops.push(() => mailer.stop());
      const steering = new Steering(settings.databaseUrl, services);
      steering.start();
      stops.push(() => steering.stop());
      const notifier = new Notifier(services);
      notifier.start();
      stops.push(() => notifier.stop());
      const teller = new NoticeTeller(services, { node: nodeTable, site: siteTable, product: productTable });
      teller.start();
      stops.push(() => teller.stop());
      const figures = services.analytics;
      const traffic = new TrafficWatch(
        services,
        figures && ((ids, boundaries) => bytesBetween(figures, ids, boundaries)),
        figures && { newest: () => newestStep(figures) },
      );
      traffic.start();
      stops.push(() => traffic.stop());
      const webhooks = new WebhookSender(services);
      webhooks.start();
      stops.push(() => webhooks.stop());
      const cnameWatch = new CnameWatch(settings.databaseUrl, services);
      cnameWatch.start();
      stops.push(() => cnameWatch.stop());
    }
    let url = '';
    if (!settings.services.has('api')) url = await probe(settings, stops, health);
    else {
      const { trustedProxies } = settings;
      const app = createApi({ services, trustedProxies, log: (level, message, data) => logger[level](data, message) });
      addProbes(app, settings, health);
      app.get('/openapi.json', { onRequest: insidersOnly(settings) }, (_request, reply) =>
        reply.type('application/json').send(openApi(groups)),
      );
      serveJoinLine(app, settings, services);
      if (offer) serveBundle(app, offer, services.database.pool, warn);
      serveBrandImages(app, database);
      await serveConsole(app);
      stops.push(async () => {
        // what waits for a notice ends now, else the server would wait for it in turn
        await notices.stop();
        await closeServer(app);
      });
      url = await app.listen({ host: '127.0.0.1', port: settings.port });
      if (settings.outer) {
        const outer = await listenOutside(app, settings.outer, trustedProxies);
        stops.push(() => outer.stop());
      }
      logger.info({ url, outside: settings.told?.url, services: [...settings.services] }, 'serving');
    }
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Answers on their way get this long at the end, then they are cut off: whoever ends us waits for no slow caller. */
const graceMs = 400;
async function closeServer(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearTimeout(timer);
}

/** What tells of the inside of the house is told to this machine and to whom the settings name; others find nothing. */
const insidersOnly = (settings: Settings) => async (request: FastifyRequest, reply: FastifyReply) => {
  if (!isInsider(request, settings)) reply.callNotFound();
};
function isInsider(request: FastifyRequest, { trustedProxies, metricsAllow }: Settings): boolean {
  // somebody stands between whom nobody named: whose request this is cannot be known
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(name => request.headers[name] !== undefined);
  if (isForwarded && !trustedProxies.has(request.socket.remoteAddress)) return false;
  return loopback.has(request.ip) || metricsAllow.has(request.ip);
}

/** What an orchestrator and a monitoring system ask. */
function addProbes(app: FastifyInstance, settings: Settings, health: Health) {
  startMetrics();
  addHealthProbes(app, health, request => isInsider(request, settings));
  addHealthMetrics(health, registry);
  health.start();
  app.get('/metrics', { onRequest: insidersOnly(settings) }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

/** The same for a process that serves no API. */
async function probe(settings: Settings, stops: (() => Promise<unknown>)[], health: Health): Promise<string> {
  const app = Fastify({ logger: false, trustProxy: address => settings.trustedProxies.has(address) });
  addProbes(app, settings, health);
  stops.push(() => closeServer(app));
  return app.listen({ host: '127.0.0.1', port: settings.port });
}

if (import.meta.main) {
  try {
    const running = await start(readSettings(process.argv.slice(2), process.env));
    let ending = false;
    const end = (signal: string) => {
      if (ending) return;
      ending = true;
      logger.info({ signal }, 'stopping');
      setTimeout(() => process.exit(1), 15_000).unref();
      void running.stop().then(() => process.exit(0));
    };
    process.on('SIGTERM', end);
    process.on('SIGINT', end);
  } catch (error) {
    console.error(`server: ${sentence(error)}`);
    process.exit(1);
  }
}

function sentence(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') return `port ${port} is taken; set BREAKWATER_PORT or BREAKWATER_TLS_PORT to another one`;
  return message;
}
