/** A server over a fresh database, called in process; accounts of two operators, so that isolation can be seen. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { groups } from '#contract/index.ts';
import { type Area, permissionKeys, siteKeys } from '#contract/kit/call.ts';
import { implementations, sharedParams } from '#server/calls.ts';
import { createServer, type MountOptions } from '#server/kit/mount.ts';
import { hashPassword, Keys } from '#server/kit/crypto.ts';
import { Sealing } from '#server/kit/sealed.ts';
import { Sessions, type Tokens } from '#server/kit/session.ts';
import { Licences } from '#server/kit/licence.ts';
import { Networks } from '#server/kit/networks.ts';
import { Notices } from '#server/kit/notices.ts';
import type { Services } from '#server/kit/services.ts';
import { type Database, openDatabase, row } from '#server/store/db.ts';
import { migrate } from '#server/store/migrate.ts';
import { serveBrandImages } from '#server/system/logos.ts';
import { writeSetting } from '#server/system/settings.ts';
import { Offer } from '#server/bus/offer.ts';
import { migratedDatabase, testFolder } from '#system/engines.ts';
import { noteText } from '#system/sent.ts';

export const password = 'correct horse battery';
let hashed: Promise<string> | undefined;

export interface Reply {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect
  body: any;
  text: string;
  headers: Record<string, unknown>;
}

/** What nodes are given: a list alone, of which nobody fetches anything. */
export const offeredVersion = '0.1.0-offered';
let offered: Offer | undefined;
function offer(): Offer {
  if (offered) return offered;
  const folder = testFolder('offer');
  const [sha256, tree] = ['0'.repeat(64), ''];
  const part = (name: string) => ({ file: `${name}-000000000000.tar.gz`, sha256, bytes: 1, tree });
  const bundle = {
    version: offeredVersion,
    node: '24.0.0',
    packages: [],
    application: part('application'),
    runtime: part('runtime'),
  };
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle));
  return (offered = new Offer(folder, randomBytes(32).toString('base64url')));
}

export class Api {
  readonly app: FastifyInstance;
  readonly database: Database;
  readonly sessions: Sessions;
  readonly services: Services;
  /** the installation's key */
  readonly key: Buffer;
  /** what the server logged: failures of its own */
  readonly failures: string[];

  #hasOperator = false;

  private constructor(app: FastifyInstance, services: Services, failures: string[], key: Buffer) {
    this.app = app;
    this.services = services;
    this.database = services.database;
    this.sessions = services.sessions;
    this.failures = failures;
    this.key = key;
  }

  /** `mount`: other calls than the product's. `url`: a database that is there already. */
  static async start(
    extra: Partial<Services> = {},
    mount: Partial<Pick<MountOptions, 'groups' | 'implementations' | 'params'>> = {},
    url?: string,
  ): Promise<Api> {
    if (url) await migrate(url);
    else url = await migratedDatabase();
    const database = openDatabase(url, 5);
    // origins of these tests are private, of the documentation, or listen on loopback
    await writeSetting(database.db, null, 'originEnvironment', ['10.0.0.0/8', '127.0.0.0/8', '192.0.2.0/24', '2001:db8::/32']);
    const key = randomBytes(32);
    const table = mount.groups ?? groups;
    const licences = new Licences(new Keys(key));
    const sessions = new Sessions(
      database,
      new Keys(key),
      (area: Area) => permissionKeys(table, area),
      (area: Area) => siteKeys(table, area),
      licences,
    );
    const notices = new Notices(url);
    const sealing = new Sealing([new Keys(key)]);
    const services: Services = {
      database,
      sessions,
      notices,
      sealing,
      licences,
      publicURL: 'http://console.test',
      // nobody is there: a test that wants Telegram has one of its own
      telegramAPI: 'http://127.0.0.1:9',
      offer: offer(),
      ...extra,
    };
    const failures: string[] = [];
    try {
      const app = createServer({
        groups,
        implementations,
        params: sharedParams,
        ...mount,
        services,
        // a test speaks for many addresses
        trustedProxies: new Networks(['127.0.0.1']),
        checkAnswers: true,
        log: (_level, message, data) => failures.push(`${message} ${JSON.stringify(data)}`),
      });
      // an error that a test's own calls throw is not one of the product's
      if (!mount.groups) app.addHook('onSend', async (_request, _reply, payload) => noteText(payload));
      serveBrandImages(app, database);
      await app.ready();
      return new Api(app, services, failures, key);
    } catch (error) {
      // what stays open would keep the process
      await notices.stop();
      await sessions.stop();
      await database.close();
      throw error;
    }
  }

  async stop() {
    await this.app.close();
    await this.services.notices.stop();
    await this.sessions.stop();
    await this.database.close();
  }

  /** Accounts were changed behind the server's back: what it remembers of them is thrown away. */
  async changed(): Promise<void> {
    const { db } = this.database;
    await this.sessions.changed(db);
    this.sessions.committed(db);
  }

  async call(
    method: string,
    path: string,
    options: {
      token?: string;
      body?: unknown;
      raw?: string | Buffer;
      headers?: Record<string, string>;
      stream?: boolean;
      /** where the socket comes from; by default the proxy that is trusted */
      socket?: string;
    } = {},
  ): Promise<Reply> {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await this.app.inject({
      method: method as 'GET',
      url: `/api/v1${path}`,
      headers: {
        'accept-language': 'en',
        host: new URL(this.services.publicURL).host,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
        ...options.headers,
      },
      ...(payload === undefined ? {} : { payload }),
      ...(options.stream ? { payloadAsStream: true } : {}),
      ...(options.socket ? { remoteAddress: options.socket } : {}),
    });
    if (options.stream) return firstEvent(response);
    let body: unknown;
    try {
      body = response.json();
    } catch {
      body = undefined;
    }
    return { status: response.statusCode, body, text: response.payload, headers: response.headers };
  }

  /** An account; `parent` is the operator of a customer, or the root of a sub-account. */
  async account(
    auth: Area,
    email: string,
    options: { parentClient?: number | undefined; rootID?: number; parentID?: number; keys?: string[]; grade?: number } = {},
  ): Promise<Person> {
    const hash = await (hashed ??= hashPassword(password));
    const made = await row<{ id: number }>(
      this.database.db,
      sql`insert into account (email, name, auth, "isRoot", grade, "rootID", "parentClient", "parentID", password, "emailConfirmed")
          values (${email}, ${email.split('@')[0]}, ${auth}, ${options.rootID === undefined}, ${options.grade ?? (options.rootID === undefined ? 0 : 1)}, ${options.rootID ?? null}, ${options.parentClient ?? null}, ${options.parentID ?? null}, ${hash}, true) returning id`,
    );
    const id = made!.id;
    if (auth === 'client' && options.rootID === undefined && !this.#hasOperator) {
      this.#hasOperator = true;
      // as the seed has it
      await sql`update account set "isOwner" = true where id = ${id} and not exists (select from account where "isOwner")`.execute(
        this.database.db,
      );
    }
    if (options.rootID === undefined) await sql`update account set "rootID" = id where id = ${id}`.execute(this.database.db);
    if (options.keys) {
      const role = await row<{ id: number }>(
        this.database.db,
        sql`insert into role ("rootID", name, "permissionKeys") values (${options.rootID}, ${`role-${id}`}, ${options.keys}) returning id`,
      );
      await sql`update account set "roleID" = ${role!.id} where id = ${id}`.execute(this.database.db);
    }
    const tokens = await this.sessions.open(this.database.db, id);
    return { id, email, area: auth, tokens, token: tokens.accessToken };
  }

  /** A tenant: operator, customer, zone, group, product, site, all made through the API. */
  async tenant(name: string): Promise<Tenant> {
    const client = await this.account('client', `${name}-client@test.test`);
    const user = await this.account('user', `${name}-user@test.test`, { parentClient: client.id });
    const make = async (path: string, body: unknown) => {
      const reply = await this.call('POST', path, { token: client.token, body });
      if (reply.status !== 200) throw new Error(`${path}: ${reply.text} ${this.failures.join(' ')}`);
      return reply.body.ids[0] as number;
    };
    const zoneID = await make('/client/zone', { name: `${name}-zone` });
    const groupID = await make('/client/group', { zoneID, name: `${name}-group` });
    const productID = await make('/client/product', { groupID, name: `${name}-product` });
    const siteID = await make('/client/site', { siteName: `${name}-site`, productID, userID: user.id });
    return { client, user, zoneID, groupID, productID, siteID };
  }
}

/** Events go on for ever: the first one is read, then the reader leaves. */
async function firstEvent(response: LightMyRequestResponse): Promise<Reply> {
  let text = '';
  for await (const chunk of response.stream()) {
    text += String(chunk);
    if (text.startsWith('data: ') && text.endsWith('\n\n')) break;
  }
  const json = text.startsWith('data: ') ? text.slice(6) : text;
  return { status: response.statusCode, body: JSON.parse(json), text, headers: response.headers };
}

export interface Person {
  id: number;
  email: string;
  area: Area;
  tokens: Tokens;
  token: string;
}
export interface Tenant {
  client: Person;
  user: Person;
  zoneID: number;
  groupID: number;
  productID: number;
  siteID: number;
}
