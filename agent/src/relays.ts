/**
 * This node among the others of its zone: the certificate by which they know it, as files for nginx, and how the relays are that it asks.
 * nginx notices by itself who takes no connection; one that stands still while connections to it are kept would be noticed by the requests
 * that wait for it. So each relay is asked all the time, and nginx is told.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import https from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import { relayLimits } from '#contract/limits.ts';
import { writeWhole } from '#host/files.ts';
import type { Control } from './control.ts';
import type { Grant, Identity } from './identity.ts';
import type { FleetFacts } from './render/relays.ts';

type Listed = NonNullable<DocumentOf<'zone'>['relays']>[number];

export interface RelayOptions {
  /** the node's folder; certificates and their key stand in one of their own below it */
  data: string;
  relayPort?: number | undefined;
  identity: Pick<Identity, 'grant' | 'memberKey'>;
  control: Pick<Control, 'relays'>;
  /** as the zone's document names them now */
  listed(): readonly Listed[];
  /** it is only looked at: it neither listens for edges nor asks relays */
  isShadow?: boolean | undefined;
}

export interface RelayAway {
  id: number;
  since: string;
  why: string;
}

const askMs = 400;
const answerMs = 500;
/** One that was passed by for less is none that people need know of. */
const worthTellingSeconds = 3;
const awayMost = 100;

export class ZoneRelays {
  readonly #options: RelayOptions;
  #timer: NodeJS.Timeout | undefined;
  #away: RelayAway[] = [];
  #round: Promise<void> = Promise.resolve();
  #stopped = false;
  #isFleet = false;
  #clients = new Map<number, { made: string; agent: https.Agent }>();

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Where edges reach it; undefined: it is none. */
  get port(): number | undefined {
    const { identity, relayPort = relayLimits.portDefault, isShadow } = this.#options;
    return identity.grant?.type === 'relay' && identity.grant.member && !isShadow ? relayPort : undefined;
  }

  /**
   * For nginx.conf; undefined: it asks no relay and is none. A node of a zone that never had one has neither the way nor a reload for it;
   * once there was one it stays, so that one that comes and goes reloads nothing.
   * @throws when its files cannot be written
   */
  fleet(): FleetFacts | undefined {
    const { identity, isShadow, listed } = this.#options;
    const { zoneID, member } = identity.grant ?? {};
    const port = this.port;
    this.#isFleet ||= port !== undefined || listed().length > 0;
    if (!member || !zoneID || isShadow || !this.#isFleet) return undefined;
    return { zoneID, ...this.#files(member), ...(port !== undefined && { port }) };
  }

  #files({ certificate, authority }: NonNullable<Grant['member']>): Pick<FleetFacts, 'certificate' | 'key' | 'authority'> {
    const { data, identity } = this.#options;
    const folder = join(data, 'member');
    const texts = { crt: certificate, key: identity.memberKey, ca: authority };
    const name = createHash('sha256').update(Object.values(texts).join()).digest('hex').slice(0, 16);
    const of = (what: keyof typeof texts) => join(folder, `${name}.${what}`);
    if (!existsSync(of('ca'))) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#tidy(folder);
      for (const what of ['crt', 'key', 'ca'] as const) writeWhole(of(what), texts[what], { mode: 0o600 });
    }
    return { certificate: of('crt'), key: of('key'), authority: of('ca') };
  }

  /** nginx goes on with those of before until it has read its new configuration, which it may refuse: the two newest that are whole stay. */
  #tidy(folder: string): void {
    const files = readdirSync(folder);
    const kept = files
      .filter(file => file.endsWith('.ca'))
      .map(file => ({ name: file.slice(0, -'.ca'.length), time: statSync(join(folder, file)).mtimeMs }))
      .sort((a, b) => b.time - a.time)
      .slice(0, 2);
    for (const file of files)
      if (!kept.some(({ name }) => file.startsWith(`${name}.`))) rmSync(join(folder, file), { force: true });
  }

  /** What nginx says it passes by. */
  found(away: Record<string, { since: number; why: string }>): void {
    const now = Date.now() / 1000;
    this.#away = Object.entries(away)
      .filter(([, { since }]) => now - since >= worthTellingSeconds)
      .map(([id, { since, why }]) => ({ id: Number(id), since: new Date(since * 1000).toISOString(), why: why || 'TIMEOUT' }))
      .slice(0, awayMost);
  }
  /** For a heartbeat: where a relay listens, and relays that this node passes by, for a while already. @param isUp nginx has what it was given */
  report(isUp: boolean): { relay?: { port: number }; relaysAway: readonly RelayAway[] } {
    const { port } = this;
    return { ...(port !== undefined && isUp && { relay: { port } }), relaysAway: this.#away };
  }

  start(): void {
    this.#next();
  }
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    for (const { agent } of this.#clients.values()) agent.destroy();
  }

  #next(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#ask().finally(() => this.#next());
    }, askMs);
  }

  async #ask(): Promise<void> {
    const { listed, control, identity } = this.#options;
    const { zoneID, member } = identity.grant ?? {};
    const asked = member && zoneID && this.port === undefined ? listed() : [];
    for (const [id, { agent }] of this.#clients)
      if (!asked.some(one => one.id === id)) {
        agent.destroy();
        this.#clients.delete(id);
      }
    if (!asked.length || !member || !zoneID) return;
    const said = await Promise.all(
      asked.map(async relay => [String(relay.id), await this.#look(relay, zoneID, member)] as const),
    );
    // an nginx that is away is told by others, and asks nobody
    await control.relays(Object.fromEntries(said.map(([id, why]) => [id, why ?? false]))).catch(() => {});
  }

  /** @returns why it does not answer, a code of the system or of TLS; null: it does */
  #look({ id, address, port }: Listed, zoneID: number, member: NonNullable<Grant['member']>): Promise<string | null> {
    const made = `${address} ${port} ${member.certificate}`;
    let client = this.#clients.get(id);
    if (client?.made !== made) {
      client?.agent.destroy();
      client = { made, agent: new https.Agent({ keepAlive: true, maxSockets: 2 }) };
      this.#clients.set(id, client);
    }
    const { agent } = client;
    return new Promise(done => {
      const request = https.request(
        {
          ...{ host: address, port, agent, path: '/', headers: { host: isIP(address) === 6 ? `[${address}]` : address } },
          ...{ cert: member.certificate, key: this.#options.identity.memberKey, ca: member.authority },
          servername: `node-${id}.zone-${zoneID}`,
          minVersion: 'TLSv1.3',
        },
        answer => {
          answer.resume();
          end(answer.statusCode === 204 ? null : `HTTP_${answer.statusCode}`);
        },
      );
      const end = (why: string | null) => {
        clearTimeout(timer);
        done(why);
      };
      const timer = setTimeout(() => {
        end('TIMEOUT');
        request.destroy();
      }, answerMs);
      request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'NO_ANSWER'));
      request.end();
    });
  }
}
