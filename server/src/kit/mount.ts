/**
 * Mounts the table on Fastify: authentication in onRequest (so that nothing of the body is read for a stranger),
 * permission, path ids through the scoped store, validation with coercion, a transaction with audit row and outbox
 * around every call that may change something, error bodies of the catalogue, JSON through a writer that drops
 * undeclared fields.
 */
import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import * as z from 'zod/mini';
import { fail, failFields } from '#contract/errors.ts';
import { mounted, type Group, type Mounted } from '#contract/kit/call.ts';
import { languageOf, type Language } from '#contract/kit/text.ts';
import { newRequestID } from './ids.ts';
import { contextOf, type Log, refuse, sendError } from './failures.ts';
import { type Actor, stranger } from './actor.ts';
import { audit, Context, marksIn, Partial, publish, reasonOf, seenBy } from './context.ts';
import { auditRefusal, keepFolds, lineOf } from './refusals.ts';
import type { Incoming } from './request.ts';
import type { AnyHandler, Hold, Implementation } from './implement.ts';
import { presently } from './presence.ts';
import { coercer, fieldNames, problems, writer } from './schema.ts';
import { badQuery } from './text.ts';
import { type FileAnswer, sendEvents, sendOther, sendPieces } from './answers.ts';
import { noBody, noQuery, parse, pathIDs } from './given.ts';
import type { Networks } from './networks.ts';
import { inForce } from './licence.ts';
import { ownerOnly } from './owner.ts';
import type { Services } from './services.ts';
import { bytesMax, openBytes, type Pace, receiveJSON } from './receive.ts';
import { acceptUploads, readForm, turnToUpload } from './upload.ts';
import { versionSeen } from './stale.ts';
import { unknownID } from './store.ts';
import { sendStream, type Stream } from './streams.ts';
import type { Table } from './table.ts';
import { type Turn, turnsToRead, turnsToWrite } from './turns.ts';
import { observer } from './metrics.ts';
import { untangled } from './untangled.ts';

export interface MountOptions {
  services: Services;
  groups: readonly Group[];
  implementations: readonly Implementation[];
  /** path parameters that mean the same row everywhere: siteID, domainID … */
  params: Record<string, Table>;
  /** of failures that are ours */
  log: Log;
  /** whose X-Forwarded-For is believed; nobody's by default */
  trustedProxies?: Networks;
  /** parse each answer against its schema (tests) */
  checkAnswers?: boolean;
  /** of bodies (tests) */
  pace?: Pace;
}
export const prefix = '/api/v1';

interface Ready {
  call: Mounted;
  handler: AnyHandler;
  prepare: AnyHandler | undefined;
  hold: Hold | undefined;
  tables: Record<string, Table>;
  coerce: (query: Record<string, unknown>) => Record<string, unknown>;
  coerceForm: (form: Record<string, unknown>) => Record<string, unknown>;
  /** of a form */
  fields: ReadonlySet<string>;
  write: (value: unknown) => string;
  turn: Turn;
  turnToRead: Turn;
}
declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null;
    reqID: string;
    language: Language;
    /** the body is one that the call declares: it may be kept, without its secrets */
    isRead: boolean;
    /** its line stands in the audit */
    isAudited: boolean;
    /** what its body holds may go (receive.ts) */
    letGo: (() => void) | null;
  }
  interface FastifyContextConfig {
    call?: Mounted;
  }
}

export function createServer(options: MountOptions): FastifyInstance {
  const app = Fastify({
    bodyLimit: openBytes,
    trustProxy: address => options.trustedProxies?.has(address) ?? false,
    genReqId: newRequestID,
    routerOptions: { maxParamLength: 200 },
    logger: false,
    requestTimeout: 300_000,
    // before any route: an address that cannot be read
    frameworkErrors: (_error, request, reply) => {
      request.language = languageOf(request.headers['accept-language']);
      describe(request as FastifyRequest, reply as FastifyReply);
      void sendError(fail('pathInvalid'), request as FastifyRequest, reply as FastifyReply, 'session', options.log);
    },
    clientErrorHandler: refuse,
  });
  // as many calls of one connection as it likes may wait for their turn, and hear when it is closed
  app.server.on('connection', socket => socket.setMaxListeners(0));
  app.decorateRequest('actor', null);
  app.decorateRequest('isRead', false);
  app.decorateRequest('isAudited', false);
  app.decorateRequest('letGo', null);
  app.decorateRequest('reqID', '');
  app.decorateRequest('language', 'zh_TW');
  // JSON alone: a body of another type is refused with the same words as a broken one
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { call } = request.routeOptions.config;
    return receiveJSON(request, payload, call ? bytesMax(call) : openBytes, options.pace);
  });
  app.addHook('onRequest', async (request, reply) => {
    request.reqID = request.id;
    request.language = languageOfHeader(request.headers['accept-language']);
    describe(request, reply);
  });
  app.addHook('onResponse', async request => request.letGo?.());
  app.setErrorHandler(async (error, request, reply) => {
    await auditRefusal(error, request, reply, options.services, options.log);
    return sendError(error, request, reply, contextOf(request), options.log);
  });
  app.setNotFoundHandler((request, reply) => {
    if (/^\/api(?:[/?]|$)/.test(request.url)) return sendError(fail('pathInvalid'), request, reply, 'session', options.log);
    return reply.code(404).type('text/plain; charset=utf-8').send('not found\n');
  });
  if (options.groups.some(group => Object.values(group.defs).some(def => def.upload))) acceptUploads(app);
  keepFolds(app, options);
  for (const ready of prepare(options)) mountOne(app, ready, options);
  return app;
}

// browsers send one of a few; reading it anew each time costs more than finding it
const languages = new Map<string, Language>();
function languageOfHeader(header: string | undefined): Language {
  if (header === undefined) return languageOf(header);
  let found = languages.get(header);
  if (!found) {
    if (languages.size >= 1000) languages.clear();
    languages.set(header, (found = languageOf(header)));
  }
  return found;
}

const describe = (request: FastifyRequest, reply: FastifyReply) =>
  void reply.header('X-Request-Id', request.id).header('Cache-Control', 'no-store').header('X-Content-Type-Options', 'nosniff');

/** Pairs declarations with handlers; refuses to start when one lacks the other. */
function prepare(options: MountOptions): Ready[] {
  const byGroup = new Map<Group, Implementation>(options.implementations.map(i => [i.group, i]));
  const ready: Ready[] = [];
  const presence = options.implementations.find(one => one.presence)?.presence;
  const { max } = options.services.database;
  const turn = turnsToWrite(max);
  const turnToRead = turnsToRead(max);
  for (const call of mounted(options.groups)) {
    const implementation = byGroup.get(call.group);
    const local = Object.keys(call.group.defs).find(
      key => `${key.split(' ')[0]} ${call.group.base}${key.slice(key.indexOf(' ') + 1)}` === call.key,
    )!;
    const handler = implementation?.handlers[local];
    if (!handler) throw new Error(`no handler for ${call.key}`);
    const tables: Record<string, Table> = {};
    for (const name of call.params) {
      const target = implementation.params[name] ?? options.params[name];
      if (!target) throw new Error(`no table for {${name}} of ${call.key}`);
      tables[name] = target;
    }
    ready.push({
      call,
      ...presently(call, presence, { handler, prepare: implementation.prepare?.[local] }),
      hold: implementation.hold?.[local],
      tables,
      coerce: call.def.query ? coercer(call.def.query) : query => query,
      coerceForm: call.def.upload && call.def.body ? coercer(call.def.body, true) : form => form,
      fields: new Set(call.def.upload && call.def.body ? fieldNames(call.def.body) : []),
      write: call.def.answer && (call.def.as ?? 'json') === 'json' ? writer(call.def.answer) : JSON.stringify,
      turn: call.audit ? turn : (_request, act) => act(),
      turnToRead,
    });
  }
  return ready;
}

function mountOne(app: FastifyInstance, ready: Ready, options: MountOptions) {
  const { call } = ready;
  const path = call.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const observe = observer(call.key);
  app.route({
    method: call.method,
    url: prefix + path,
    config: { call },
    onRequest: async request => {
      if (call.auth !== 'public' && call.auth !== 'node') await authenticate(request, call, options.services);
    },
    onResponse: (_request, reply, done) => {
      observe(reply.statusCode, reply.elapsedTime / 1000);
      done();
    },
    handler: async (request, reply) => {
      if (call.def.as === 'sse') return follow(ready, request, reply, options);
      if (call.def.inPieces) return sendFile(ready, request, reply, options);
      const answer = await run(ready, request, reply, options);
      const { as } = call.def;
      if (as && as !== 'json') return sendOther(reply, as, answer);
      const text = ready.write(shown(request, call, answer ?? {}));
      if (options.checkAnswers && call.def.answer) checkAnswer(call, text);
      return reply.type('application/json; charset=utf-8').send(text);
    },
  });
}

/** Every answer that is data goes through here, whatever its handler knows of secrets. */
const shown = <T>({ actor }: FastifyRequest, { permission }: Mounted, answer: T): T =>
  actor ? seenBy(actor, permission, answer) : answer;

const follow = (...[ready, request, reply, options]: Run) =>
  goOn(ready, request, reply, options, async signal => {
    const events = (await run(ready, request, reply, options)) as AsyncIterable<unknown>;
    return sendEvents(reply, events, signal, event => shown(request, ready.call, event));
  });

/** There is room for it before it is begun: what was refused has no line that says it was sent. */
const sendFile = (...[ready, request, reply, options]: Run) =>
  goOn(ready, request, reply, options, async signal => {
    const file = (await run(ready, request, reply, options)) as FileAnswer; // what such a call answers
    return sendPieces(reply, file, signal);
  });

/** What goes on does so while whoever opened it may open it. */
const goOn = (...[ready, request, reply, options, send]: [...Run, Stream['send']]) =>
  sendStream(reply, {
    accountID: request.actor?.accountID ?? 0,
    send,
    check: async () => {
      await authenticate(request, ready.call, options.services);
      const ctx = new Context({ ...baseOf(request, ready.call, options.services), db: options.services.database.db });
      const params = pathIDs(request, ready.call);
      for (const name of ready.call.params) await findParam(ctx, name, ready.tables, params);
    },
  });

/** Sets who acts; a refusal is then theirs too. */
async function authenticate(request: FastifyRequest, call: Mounted, services: Services): Promise<void> {
  const header = request.headers.authorization;
  const token = header === undefined ? undefined : /^Bearer ([\w.-]{1,2048})$/.exec(header)?.[1];
  if (!token) throw fail('credentialFailed');
  const actor = (request.actor = await services.sessions.actor(token, request.ip));
  if (actor.status !== 'normal') throw fail('accountNotEnabled');
  const isTheirs = (!call.area || actor.area === call.area) && (!call.permission || actor.permissions.has(call.permission));
  // a person is asked for
  if (!isTheirs || (actor.token && call.auth === 'session')) throw fail('permissionDenied');
  if (call.takesLicence && actor.licence) inForce(actor.licence);
}

const baseOf = (request: FastifyRequest, call: Mounted, services: Services) => ({
  actor: request.actor ?? stranger(call.area),
  language: request.headers['accept-language'] === undefined && request.actor ? request.actor.language : request.language,
  reqID: request.id,
  ip: request.ip,
  services,
});

type Run = [ready: Ready, request: FastifyRequest, reply: FastifyReply, options: MountOptions];
function run(...call: Run): Promise<unknown> {
  const held: { by?: ReturnType<Hold> } = {};
  const act = () => answered(held, ...call).finally(() => held.by?.leave());
  const [ready, { actor, raw }] = call;
  // one that holds a place of its own has its turn by that
  return ready.call.def.upload && actor && !ready.hold ? turnToUpload(actor, act, raw.socket) : act();
}
async function answered(held: { by?: ReturnType<Hold> }, ...[ready, request, reply, options]: Run): Promise<unknown> {
  const { call, handler, tables } = ready;
  const { services } = options;
  const base = baseOf(request, call, services);
  const params = pathIDs(request, call);
  const issues = [badQuery(request.query as Record<string, unknown>)];
  const query = parse(call.def.query ?? noQuery, ready.coerce(request.query as Record<string, unknown>), issues);
  // of a call without an account there is a door before this, or it asks at those of its own
  const { doors, db: direct, inTurn } = services.database;
  const db = request.actor ? inTurn(act => ready.turnToRead(request, act)) : call.auth === 'public' ? doors : direct;
  let sent: unknown = request.body;
  if (call.def.upload) {
    // what the owner alone may send can be large: nobody else's is read
    if (call.def.owner) await ownerOnly(new Context({ ...base, db }));
    if (ready.hold) held.by = ready.hold(services);
    const hasTurn = request.actor !== null && !held.by;
    const form = await readForm(request, bytesMax(call), ready.fields, { pace: options.pace, hasTurn });
    issues.push(badQuery(form));
    // the fields of a form arrive as text, as those of a query do
    sent = ready.coerceForm(form);
  }
  const body = parse(call.def.body ?? noBody, call.def.body ? (sent ?? {}) : sent, issues);
  // judged already as to how deep it is
  if (!issues.some(one => one.length)) issues.push(marksIn(body));
  if (issues.some(one => one.length)) throw failFields(issues.flat());
  const expected = call.heeds ? versionSeen(request.headers['if-match']) : undefined;
  request.isRead = true;
  const incoming: Incoming = {
    ip: request.ip,
    host: request.hostname ?? '',
    isSecure: request.protocol === 'https' || services.publicURL.startsWith('https:'),
    line: request.raw.socket,
    cookie: request.headers.cookie,
    answer: (name, value) => void reply.header(name, value),
    userAgent: request.headers['user-agent'] ?? '',
    authorization: request.headers.authorization,
  };

  const prepared: unknown = await ready.prepare?.({
    ctx: new Context({ ...base, db, expected }),
    params,
    query,
    body,
    found: {},
    request: incoming,
    prepared: held.by,
  });
  const act = async (ctx: Context) => {
    const found: Record<string, Record<string, unknown>> = {};
    // Before anything is looked at: what two calls find at once and then both change, no check can guard.
    if (ctx.effects.holds && request.actor && !tables[call.params[0] ?? '']?.closed) await ctx.holdRoot();
    for (const name of call.params) found[name] = await findParam(ctx, name, tables, params);
    if (call.def.owner) await ownerOnly(ctx);
    const { clientID: of } = ctx.actor;
    if (call.limited && of !== null) await services.licences.notOver(ctx.db, of, call.limited);
    return handler({ ctx, params, query, body, found, request: incoming, prepared });
  };
  // all of a body is here, and its password hashed: nobody has a turn meanwhile
  return ready.turn(request, async () => {
    // What leaves no audit line changes nothing of the house: it needs no transaction, and holds no connection while it
    // hashes a password or asks the analytics store.
    if (!call.audit) {
      const ctx = new Context({ ...base, db });
      const answer = await act(ctx);
      if (ctx.effects.changes.length) throw new Error(`${call.key} changed rows, so it must be audited`);
      return answer;
    }

    let kept: Partial | undefined;
    let done!: Context;
    const answer = await untangled(services.database.writes, async db => {
      const ctx = (done = new Context({ ...base, db, holds: true, expected }));
      kept = undefined;
      let result: unknown;
      try {
        result = await act(ctx);
      } catch (error) {
        // some failures keep what was done
        if (!(error instanceof Partial)) throw error;
        kept = error;
      }
      await publish(db, ctx.effects);
      if (request.actor)
        await audit(services, db, {
          ...lineOf(request, call),
          body: request.body,
          changes: ctx.effects.changes,
          status: kept?.failure.status ?? 200,
          durationMs: reply.elapsedTime,
          reason: kept && reasonOf(kept.failure),
        });
      return result;
    });
    request.isAudited = true;
    services.sessions.committed(done.db);
    for (const one of done.after) one();
    if (done.effects.version !== undefined) void reply.header('ETag', `"${done.effects.version}"`);
    if (kept) throw kept.failure;
    return answer;
  });
}

/** The row an id of the path names, in the actor's scope and under the rows that stand before it in the path. */
async function findParam(ctx: Context, name: string, tables: Record<string, Table>, params: Record<string, number>) {
  const target = tables[name]!;
  const parents: Record<string, number> = {};
  if ('parent' in target.scope)
    for (const [other, table] of Object.entries(tables))
      if (table === target.scope.parent && other !== name) parents[target.scope.column] = params[other]!;
  const found = (await ctx.store(target, parents).find(params[name]!)) ?? (await target.unkept?.(params[name]!, ctx));
  if (!found) throw unknownID(name);
  return found;
}

function checkAnswer(call: Mounted, text: string) {
  const sent: unknown = JSON.parse(text);
  const result = z.safeParse(call.def.answer!, sent);
  if (!result.success)
    throw new Error(`${call.key} answered what it does not declare: ${JSON.stringify(problems(result.error, sent))}`);
}
