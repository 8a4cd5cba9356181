/** One node: its parts and how they hear of each other. */
import { realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname, totalmem } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { leastOf, sizes } from '#contract/system/room.ts';
import { lockFolder } from '#host/folder-lock.ts';
import { type Agent, type AgentOptions, portsOf } from './agent-options.ts';
import { beatText } from './beat.ts';
import { type Upgrade, upgradeOf } from './beside.ts';
import { isKnown } from './cache-age.ts';
import { canaryReport, ofMachine, ofNginx } from './canary.ts';
import { NodeChecks, diskOf, servingProblem } from './checks.ts';
import { EdgeProblems } from './edge-problems.ts';
import { followConfig } from './feed.ts';
import { type HealthReport, serveHealth } from './health.ts';
import { type Grant, Identity } from './identity.ts';
import { Link } from './link.ts';
import { Nginx } from './nginx.ts';
import { NginxLook } from './nginx-look.ts';
import { certificatesMb, nginxFolders, nginxBuild, writeSnapshot } from './nginx-files.ts';
import { NodeSide } from './node-side.ts';
import { NodeVerbs } from './node-verbs.ts';
import { OriginSide } from './origin-side.ts';
import { thisNode } from './origins.ts';
import { edgeFolder } from './render/edge-folder.ts';
import { finishReset } from './reset.ts';
import { rotateErrorLog } from './rotate.ts';
import { NameResolver } from './resolve.ts';
import { LogFolder } from './ship/files.ts';
import { startShipper, type Shipper } from './ship/ship.ts';
import { DocumentStore } from './store.ts';
import { startTidying } from './tidy.ts';
import { Sync } from './sync.ts';
import { Verifier } from './verify.ts';
import { openKey } from './zone-key.ts';
import { version } from './upgrade/programs.ts';
import { ZoneRelays } from './relays.ts';
import { ZoneFacts } from './zone-facts.ts';

const beatMs = 2000;

/** @throws a sentence, when the data folder or the health port cannot be used; all other troubles are reported and tried again */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const log = options.log ?? (() => {});
  await mkdir(options.data, { recursive: true, mode: 0o711 });
  const data = realpathSync(options.data);
  const lock = lockFolder(data);
  if (!lock) throw new Error(`Another agent works in ${data}: end it first, or give this one a folder of its own.`);
  if (lock.missing) log(`${data} cannot be locked (${lock.missing}): do not start a second agent on it.`);
  /** what was begun, the last one first */
  const begun: (() => unknown)[] = [() => lock.release()];
  const giveBack = async () => {
    for (const end of begun.splice(0)) await end();
  };
  try {
    return await begin({ ...options, data, log }, begun, giveBack);
  } catch (error) {
    await giveBack();
    throw error;
  }
}

async function begin(
  options: AgentOptions & Required<Pick<AgentOptions, 'log'>>,
  begun: (() => unknown)[],
  giveBack: () => Promise<void>,
): Promise<Agent> {
  const { data, log } = options;
  const startedAt = new Date().toISOString();
  if (await finishReset(data)) log('the node begins anew: its configuration is read as a whole');
  const identity = await Identity.open(data, options.serverCA, options.listen);
  const store = await DocumentStore.open(join(data, 'config'));
  begun.unshift(() => store.close());
  if (store.damaged)
    log(`the node's store is damaged: ${store.damaged} parts of it cannot be read; the whole configuration is asked for`);
  const folders = nginxFolders(data);
  let nc: NatsConnection | undefined;
  let feed: ReturnType<typeof followConfig> | undefined;
  let feedProblem: string | null = null;
  let shipper: Shipper | undefined;
  let nginxProblem: string | null = 'nginx is being started';
  /** requests without a log line, answers a full disk could not take, errors that refused a request */
  const edgeProblems = new EdgeProblems();

  const resolver = new NameResolver({
    file: join(data, 'addresses.json'),
    servers: options.dnsServers,
    changed: names => sync.renamed(names),
    parties: name => sync.state.partiesWithName(name),
  });
  begun.unshift(() => resolver.stop());
  await resolver.start();
  const { release, hasHTTP3 } = await nginxBuild();
  // by the size of the disk, so that they stay the same from start to start
  const disk = await diskOf(data);
  const usual = { certificatesMb: certificatesMb(totalmem()), cacheFiles: sizes.cacheFiles(disk) };
  const nginx: Nginx = new Nginx({
    folders,
    facts: {
      luaDir: `${edgeFolder}lua`,
      httpPorts: options.httpPorts,
      httpsPorts: options.httpsPorts,
      listen: options.listen,
      workers: options.workers,
      release,
      hasHTTP3,
      ...usual,
      cacheLeavesFreeMb: Math.ceil(leastOf(disk) / 1e6),
    },
    beforeStart: () => writeSnapshot(folders.snapshot, sync.snapshot()),
    up: adopted => {
      nginxProblem = null;
      log(adopted ? 'going on with the nginx that runs' : 'nginx is up');
      void sync.nginxUp(adopted).then(beat);
      void zoneFacts.up().then(() => origins.up());
    },
    down: problem => {
      nginxProblem = problem;
      sync.nginxDown();
      beat();
    },
    log,
  });
  const sync: Sync = new Sync({
    store,
    resolver,
    control: nginx.control,
    open: document => openKey(document, identity.grant?.zoneKey),
    own: thisNode(portsOf(options)),
    acknowledge: (seq, epoch, refused) => {
      if (nc && !nc.isClosed())
        nc.publish('ack', JSON.stringify({ seq, epoch, zoneID: store.at.zoneID, ...(refused.length && { refused }) }));
      void zoneFacts.look();
      void side.look();
    },
    hold: keys => origins.trusts.hold(keys),
    restartNginx: why => nginx.restartNow(why),
    log,
  });

  const relays = new ZoneRelays({ ...options, identity, control: nginx.control, listed: () => sync.state.zone?.relays ?? [] });
  const origins = new OriginSide(sync, nginx.control, resolver, folders.home, () => zoneFacts.look(), log);
  const reopen = () => nginx.tell('SIGUSR1');
  const rotateLogs = async () => {
    shipper?.rotate();
    await rotateErrorLog(folders.logs, reopen, 0);
  };
  const side = new NodeSide({
    ...{ options, data, folders, disk, release, usual, reopen, rotateLogs, log },
    document: () => sync.state.settingsOf(identity.grant?.nodeID),
    zone: () => ofMachine(sync.state.zone, identity),
    isShort: () => checks.isShort,
    connections: () => nginx.control.connections(),
    changed: () => void zoneFacts.look(),
  });
  const { cacheAge, verbs } = new NodeVerbs({
    data,
    cacheFolder: folders.cache,
    showCacheAge: async () => {
      await zoneFacts.look();
      if (zoneFacts.problem) throw new Error(zoneFacts.problem);
      await isKnown(cacheAge.name, nginx);
    },
    rotateLogs,
    restart: options.restart,
    upgrade: () => (options.isTrial ? undefined : upgrade),
    log,
  });
  const isConnected = () => link.problem === null;
  const upgrade: Upgrade = upgradeOf(options, { identity, store, isConnected, changed: () => beat() });
  const ofOrigins = () => ({ fleet: relays.fleet(), trusts: origins.trusts.list() });
  const wanted = () => ({
    ...ofNginx(sync.state.zone, identity),
    ...side.facts(),
    ...ofOrigins(),
    cacheAge: cacheAge.name,
  });
  const zoneFacts = new ZoneFacts({
    wanted,
    configure: facts => nginx.configure(facts),
    isLacking: () => nginx.zonePorts.problem !== null || nginx.http3.isTaken,
    isUp: () => nginxProblem === null,
    log,
  });

  /** Without its zone's key a node shows no certificates: it was joined by an earlier release. */
  let toldClosed = '';
  function lookAtKeys(): void {
    const why = sync.state.closed?.why ?? '';
    if (why && why !== toldClosed) log(`certificates are not served: ${why}`);
    toldClosed = why;
    if (why) void link.renew();
  }

  const nginxLook = new NginxLook(nginx, edgeProblems, relays, side, log);
  const checks = new NodeChecks(
    data,
    () => ({
      nginx: nginxProblem,
      sync: sync.problem ?? zoneFacts.problem,
      ports: nginx.zonePorts.problem,
      http3: nginx.http3.problem,
      ...side.problems,
      damaged: store.damaged,
      feed: identity.grant?.zoneID == null ? null : (link.problem ?? feedProblem),
      shipping: shipper?.stats(),
    }),
    () => nginxLook.look(),
  );
  const problems = () => [nginxProblem, sync.problem].filter(problem => problem !== null);
  function beat(): void {
    if (!nc || nc.isClosed()) return;
    const told = checks.told();
    const facts = {
      ...sync.served(),
      zoneID: store.at.zoneID,
      version,
      ...{ startedAt, boot: identity.boot },
      at: Date.now(),
      machine: side.machine,
      problem: problems()[0] ?? servingProblem(told.checks),
      ...told,
      documents: store.held.size,
      unknownFields: sync.unknownFields,
      nginx: { up: nginxProblem === null, restarts: nginx.restarts, problems: edgeProblems.sums() },
      // a customer's mistake and no fault of this node: it stays ready
      refusedOrigins: sync.state.refusedOrigins(20),
      refusedDomains: sync.state.refusedDomains,
      ...relays.report(nginxProblem === null && zoneFacts.problem === null),
      logs: shipper?.stats() ?? null,
      upgrade: upgrade.report(),
      canary: canaryReport(sync.state.zone, identity, zoneFacts, nginx.zonePorts),
    };
    nc.publish(
      'beat',
      beatText(facts, room => origins.checks.report(room)),
    );
  }

  function follow(grant: Grant): void {
    if (grant.zoneID === null || !nc) return;
    feed = followConfig(nc, {
      nodeID: grant.nodeID,
      zoneID: grant.zoneID,
      verifier: new Verifier(grant.documentKey),
      position: () => sync.position(),
      restart: epoch => sync.restart(epoch),
      take: messages => sync.take(messages),
      settled: () => sync.settled(),
      elsewhere: () => void link.renew(),
      status: problem => {
        if (problem !== null && problem !== feedProblem) log(`configuration stream: ${problem}`);
        feedProblem = problem;
      },
    });
  }

  const link = new Link({
    identity,
    server: options.server,
    joinToken: options.joinToken,
    name: options.name ?? hostname(),
    version,
    connected: async (connection, grant) => {
      nc = connection;
      await sync.moveTo(grant.zoneID);
      shipper = startShipper({
        nc,
        logDir: folders.logs,
        log: (event, facts) => log(`log shipping: ${event}${facts ? ` ${JSON.stringify(facts)}` : ''}`),
      });
      follow(grant);
      sync.repeatAcknowledgement();
      beat();
    },
    again: () => {
      if (feed) feed.renew();
      else if (identity.grant) follow(identity.grant);
      sync.repeatAcknowledgement();
      beat();
    },
    verbs,
    moved: async grant => {
      await feed?.stop();
      feed = undefined;
      await sync.moveTo(grant.zoneID);
    },
    renewed: () => (void zoneFacts.look(), sync.again(sync.state.closed?.keys ?? [])),
    closed: async () => {
      await feed?.stop();
      feed = undefined;
      await shipper?.stop();
      shipper = undefined;
      nc = undefined;
    },
    log,
  });

  const report = (): HealthReport => {
    const grant = identity.grant;
    // A node that never saw its zone's documents is not ready; one that holds them is, whatever else is gone.
    const waiting = !grant
      ? (link.problem ?? 'not joined yet')
      : grant.zoneID !== null && !sync.inStep && !store.held.size
        ? 'waiting for the configuration'
        : null;
    const shipping = shipper?.stats();
    const edge = edgeProblems.sums();
    return {
      problems: [...problems(), ...(waiting ? [waiting] : [])],
      checks: checks.now(),
      gauges: {
        agent_connected: link.problem === null ? 1 : 0,
        agent_in_step: sync.inStep && feedProblem === null ? 1 : 0,
        agent_documents: store.held.size,
        agent_documents_refused: store.refused.size,
        agent_document_fields_unknown: sync.unknownFields,
        agent_config_sequence: sync.served().seq,
        agent_nginx_up: nginxProblem === null ? 1 : 0,
        agent_nginx_restarts: nginx.restarts,
        agent_records: sync.state.size,
        edge_requests_unlogged: edge['unlogged'] ?? 0,
        edge_requests_crowded: edge['crowded'] ?? 0,
        edge_answers_unstored: edge['unstored'] ?? 0,
        edge_errors: (edge['protection'] ?? 0) + (edge['request'] ?? 0) + (edge['record'] ?? 0),
        agent_nginx_workers_killed: nginxLook.hungWorkers,
        agent_domains_with_refused_origins: sync.state.refusedDomains,
        agent_log_waiting_bytes: shipping?.waitingBytes ?? 0,
        agent_log_lost_bytes: shipping?.lostBytes ?? 0,
        agent_log_cut_bytes: shipping?.cutBytes ?? 0,
      },
    };
  };
  const health = await serveHealth(options.healthPort, report);
  begun.splice(begun.length - 1, 0, () => health.close());
  // With its power a machine loses what was not on the disk yet: positions at the end of the log file would be given twice.
  if (!nginx.ranSinceBoot)
    try {
      new LogFolder(folders.logs).begin();
    } catch (error) {
      log(`no log file can be begun: ${(error as Error).message}`);
    }
  const end = () => void nginx.stop().catch((error: Error) => log(error.message));
  options.ending?.addEventListener('abort', end);
  if (options.ending?.aborted) end();
  await origins.trusts.first();
  try {
    await nginx.configure(wanted()); // of the zone it was in when it ended
    await nginx.start();
  } catch (error) {
    await nginx.stop();
    await sync.stop();
    throw error;
  }
  await side.start();
  if (!options.isShadow) link.start();
  const beating = setInterval(beat, beatMs);
  checks.start();
  for (const one of options.isShadow ? [] : [origins.checks, relays]) one.start();
  if (!options.isTrial) upgrade.came();
  const endTidying = startTidying({
    folders,
    nginx,
    release,
    speaksTLS: options.httpsPorts.length > 0,
    also: () => {
      // log files may take more or less as the disk changes, and nginx's own words have a bound
      const bytes = checks.logBytes();
      if (bytes !== undefined) shipper?.configure({ diskBudgetBytes: bytes });
      lookAtKeys();
      void side.look(true).then(() => zoneFacts.look(true));
    },
    log,
  });

  const over = async (end: () => Promise<void>) => {
    clearInterval(beating);
    endTidying();
    checks.stop();
    upgrade.stop();
    side.stop();
    await origins.checks.stop();
    await relays.stop();
    // nginx first: its last log lines are shipped, or wait on disk for the next start.
    await end();
    await feed?.stop();
    await link.stop();
    await sync.stop();
    await giveBack();
  };
  return {
    healthPort: health.port,
    report,
    tried: { lua: async () => (await nginx.control.brief()).lua, problems, isConnected },
    stop: () => over(() => nginx.stop().then(() => side.end())),
    leave: () => over(() => nginx.leave()),
  };
}
