/** An edge with an origin whose answers a test chooses, and what becomes of them in the cache. To be called in a `describe`. */
import { after, before, beforeEach } from 'node:test';
import { type Ask, type Edge, type Origin, domain, site, startEdge, startOrigin } from './harness.ts';

type Fields = Record<string, string | string[]>;

/** Hosts a.test and b.test of site 1. */
export function cached() {
  let edge: Edge;
  let origin: Origin;
  let next = 0;
  before(async () => {
    [edge, origin] = await Promise.all([startEdge(), startOrigin()]);
    await edge.putDocuments([site(1)], [domain(1, 'a.test', [origin.port]), domain(2, 'b.test', [origin.port])]);
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await origin[Symbol.asyncDispose]();
  });

  /** The origin answers every request so, with a body that counts. */
  function answers(fields: Fields, status = 200) {
    origin.script = (_, response) => {
      for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
      response.statusCode = status;
      response.end(`body ${origin.seen.length}`);
    };
  }
  const url = (suffix = '') => `/u${next++}${suffix}`;
  const get = (path: string, headers: Ask['headers'] = {}, host = 'a.test') => edge.ask(host, path, { headers });
  const states = async (path: string, count: number, headers: Ask['headers'] = {}) => {
    const list = [];
    for (let i = 0; i < count; i++) list.push((await get(path, headers)).headers['x-cache']);
    return list.join(' ');
  };
  /** MISS HIT: stored. Anything else: not. */
  const stored = async (fields: Fields, headers: Ask['headers'] = {}, status = 200, path = url()) => {
    answers(fields, status);
    return (await states(path, 2, headers)) === 'MISS HIT';
  };
  return {
    get edge() {
      return edge;
    },
    get origin() {
      return origin;
    },
    answers,
    url,
    get,
    states,
    stored,
  };
}
