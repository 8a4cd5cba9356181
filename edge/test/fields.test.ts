/**
 * Every field that a document declares is read at the edge, or has its reason here: what nobody reads is a setting that does nothing.
 * Documents with every field are made of the schemas and compiled, and each read of a field is written down.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod/mini';
import { kindNames, kinds, partKinds } from '#contract/edge/kinds/index.ts';
import { moduleTypes } from '#contract/edge/modules/index.ts';
import { startLua } from './lua.ts';

/** Fields that Lua does not read, and who reads them instead; `*`: of every kind of document. */
const elsewhere: Record<string, string> = {
  '*.v': 'the agent: which form the document has',
  '*.rev': 'the agent and the control plane: which of two is the newer',
  '*.id': 'the agent: it stands in the key of a part’s record; sites, domains and modules read it',
  certificate: 'the agent: it opens the key and writes the records of agent/src/render/certificate.ts (tls.test.ts)',
  'domain.host': 'the agent: it is the key of the record',
  'domain.originCheck': 'the agent: it asks, and tells which are down (agent/src/origin-checks.ts)',
  'domain.originTLS.ca': 'the agent: it writes the file, and a name in its place (agent/src/render/trusts.ts)',
  'module.ignorable': 'read where nobody here knows the type (parts.test.ts)',
  'rates.rates[].id': 'names a rule that had to be left out (rates.test.ts)',
  'zone.http2': 'the agent: nginx is told by its configuration (agent/src/zone-facts.ts, agent/test/zone-facts.test.ts)',
  'zone.http3': 'the agent: as of HTTP/2 (agent/src/http3.ts, agent/test/http3.test.ts)',
  'zone.proxyProtocol': 'the agent: as of ports (agent/src/entrances.ts, edge/test/proxy-protocol.test.ts)',
  'zone.log': 'the agent: as of HTTP/2 (agent/src/log-facts.ts, agent/test/node-log.test.ts)',
  'zone.resource': 'the agent: as of HTTP/2 (agent/src/shares.ts, agent/test/node-settings.test.ts)',
  node: 'the agent: nginx gets no record of it (agent/src/node-settings.ts, agent/test/node-settings.test.ts)',
  'port.owner': 'the agent: whose share of its lookups of names the origins take (agent/src/edge-state.ts)',
  'zone.ports': 'the agent: nginx is told by its configuration (agent/src/ports.ts, agent/test/ports.test.ts)',
  'zone.canary':
    'the agent: nginx of one node is told it before the others are (agent/src/edge-state.ts, agent/test/canary.test.ts)',
  'zone.origins': 'the agent: it judges the addresses of origins, and a record holds those that passed',
};

interface Def {
  type: string;
  shape?: Record<string, z.ZodMiniType>;
  element?: z.ZodMiniType;
  innerType?: z.ZodMiniType;
  in?: z.ZodMiniType;
  entries?: Record<string, unknown>;
  values?: unknown[];
}
// what a schema of any kind says of itself
const defOf = (schema: z.ZodMiniType) => schema._zod.def as unknown as Def;
const inner = (schema: z.ZodMiniType): z.ZodMiniType => {
  const { innerType, in: given } = defOf(schema);
  return innerType || given ? inner((innerType ?? given)!) : schema;
};

/** `a.b[].c` of everything that a schema declares. */
function* fieldsOf(schema: z.ZodMiniType, path: string): Generator<string> {
  const { shape, element } = defOf(inner(schema));
  if (element) yield* fieldsOf(element, `${path}[]`);
  for (const [name, field] of Object.entries(shape ?? {})) {
    const place = path ? `${path}.${name}` : name;
    yield place;
    yield* fieldsOf(field, place);
  }
}
/** A value with every field; `n`: which of the words that a field may be. */
function sample(schema: z.ZodMiniType, n: number): unknown {
  const { type, shape, element, entries, values } = defOf(inner(schema));
  const words = entries ? Object.values(entries) : values;
  if (words) return words[n % words.length];
  if (shape) return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, sample(field, n)]));
  // rows of every kind
  if (element) return Array.from({ length: 12 }, (_, i) => sample(element, n + i));
  if (type === 'string') return `/x${n}`;
  if (type === 'int' || type === 'number') return n + 1;
  if (type === 'boolean') return n % 2 === 0;
  return {};
}

const contents = Object.values(moduleTypes).map((type, i) => ({ name: type.name, id: 20 + i, schema: type.content }));
const declared: Record<string, z.ZodMiniType> = Object.fromEntries([
  ...kindNames.map(name => [name, kinds[name].schema]),
  ...contents.map(({ name, schema }) => [`module.content(${name})`, schema]),
]);

/** As JSON in a chunk of Lua */
const quoted = (value: unknown) => `[==[${JSON.stringify(value)}]==]`;

/** Three times everything that is declared, with other words each time: whose document it is, its key and its text. */
function rounds(schemas: Record<string, z.ZodMiniType>) {
  return [0, 1, 2].flatMap(n => {
    const record = (place: string, key: string, own: object = {}) => ({
      place,
      key,
      text: JSON.stringify({ ...(sample(schemas[place]!, n) as object), id: 1, ...own }),
    });
    const modules = contents.map(({ name: type, id }) => {
      const content = sample(schemas[`module.content(${type})`]!, n);
      return record('module', `m:${id}`, { id, site: 1, type, content });
    });
    const site = record('site', 's:1', { state: 'normal', expires: 0, parts: [] });
    const named = Object.fromEntries(contents.map(({ name, id }) => [name, id]));
    const domain = record('domain', 'd:a.test', { site: 1, host: 'a.test', enabled: true, modules: named });
    const port = record('port', 'o:1:8443', { site: 1, port: 8443, own: true });
    // the lists that the first release wrote into its sites count where no part is there, so these come later
    return [
      [record('zone', 'z:'), ...modules, site, domain, record('challenge', 'a:a.test', { host: 'a.test' }), port],
      [...partKinds.map(kind => record(kind, `p:${kind}:1`)), site],
    ];
  });
}

/** Has the edge compile documents of everything declared, and gives the fields that it never asked for. */
async function unread(schemas: Record<string, z.ZodMiniType>): Promise<string[]> {
  const fields = new Set(Object.entries(schemas).flatMap(([place, schema]) => [...fieldsOf(schema, place)]));
  const owners = new Set([...fields].map(field => field.slice(0, field.lastIndexOf('.'))));
  await using lua = await startLua();
  const found = await lua.run(`
    local cjson, store = require "cjson.safe", require "core.store"
    local plans, ports, error_pages = require "core.plans", require "core.ports", require "features.error_pages"
    local problems, why = require "core.problems", "not served"
    problems.note = function(_, what) why = what end
    local decode, seen, places, owners = cjson.decode, {}, {}, {}
    for _, owner in ipairs(decode ${quoted([...owners])}) do owners[owner] = true end
    -- Objects that a schema declares answer by way of a function that notes what is asked for; lists and maps stay what they are.
    local function watched(value, place)
      if type(value) ~= "table" then return value end
      if #value > 0 then
        for i, one in ipairs(value) do value[i] = watched(one, place .. "[]") end
        return value
      end
      local content = place == "module" and "module.content(" .. value.type .. ")"
      for name, one in pairs(value) do value[name] = watched(one, name == "content" and content or place .. "." .. name) end
      if not owners[place] then return value end
      return setmetatable({}, { __index = function(_, name) seen[place .. "." .. name] = true return value[name] end })
    end
    cjson.decode = function(text)
      local value = decode(text)
      return places[text] and watched(value, places[text]) or value
    end
    for _, round in ipairs(decode ${quoted(rounds(schemas))}) do
      for _, one in ipairs(round) do
        places[one.text] = one.place
        assert(store.apply { { one.key, one.text } })
      end
      store.tick()
      assert(not assert(plans.of "a.test").closed, why)
      error_pages.show(1)
      local open = store.get "o:1:8443"
      if open then ports.inspect("o:1:8443", cjson.decode(open)) end
      assert(ports.at("a.test", "8443"))
      require("tls.strict").redirect()
      local relays = require "core.relays"
      relays.setup { zone = 1, asks = true }
      relays.any()
      require("tls.names").of "a.test"
      -- words that a sample has for tokens
      for n = 0, 2 do require "tls.challenge"("a.test", "/.well-known/acme-challenge//x" .. n) end
    end
    local list = {}
    for place in pairs(seen) do list[#list + 1] = place end
    return cjson.encode(list)
  `);
  const seen = new Set(JSON.parse(found) as string[]);
  return [...fields].filter(field => !seen.has(field));
}

test('every field that the contract declares is read at the edge, or somebody else is named who reads it', async () => {
  const found = await unread(declared);
  const reasons = Object.keys(elsewhere);
  const covers = (reason: string, field: string) =>
    reason.startsWith('*')
      ? reason === field.replace(/^[^.]+/, '*')
      : field === reason || field.startsWith(`${reason}.`) || field.startsWith(`${reason}[`);
  assert.deepEqual(
    found.filter(field => !reasons.some(reason => covers(reason, field))),
    [],
  );
  assert.deepEqual(
    reasons.filter(reason => !found.some(field => covers(reason, field))),
    [],
    'these are read, and need no reason',
  );
});

test('a field that nobody reads is found: of a site, a setting, a row of a list and of a module', async () => {
  const more = (schema: z.ZodMiniType, at: string[]): z.ZodMiniType => {
    const { shape, element } = defOf(inner(schema));
    const [step, ...rest] = at;
    if (element) return z.array(more(element, at));
    return z.object(step ? { ...shape, [step]: more(shape![step]!, rest) } : { ...shape, hologram: z.boolean() });
  };
  const cors = 'module.content(cors)';
  const bad: Record<string, z.ZodMiniType> = { ...declared };
  for (const [place, ...at] of [['site'], ['domain', 'customHeaders', 'request'], ['blacklists', 'blacklists'], [cors]] as const)
    bad[place] = more(bad[place]!, [...at]);
  bad['site'] = more(bad['site']!, ['gzip']);
  const found = (await unread(bad)).filter(field => field.includes('hologram'));
  assert.deepEqual(found.sort(), [
    'blacklists.blacklists[].hologram',
    'domain.customHeaders.request[].hologram',
    `${cors}.hologram`,
    'site.gzip.hologram',
    'site.hologram',
  ]);
});
