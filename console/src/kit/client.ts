/** The API with its types: `call('GET /{area}/site/{siteID}/domains', {siteID, query: {page: 2}})`. Types only: no schema comes along. */
import type { Api } from '#contract/index.ts';
import { area } from './area.ts';
import { credentialStore } from './credentials.ts';
import { heard, waits } from './network.ts';
import { polling } from './polling.ts';
import { stored } from './stored.ts';
import { languageTag } from './text.ts';
import { type CallOptions, createTransport, type Input } from './transport.ts';

export type { Api };
export type CallKey = keyof Api;
export type AnswerOf<K extends CallKey> = Api[K]['answer'];

type Given<Name extends string, T> = T extends undefined
  ? unknown
  : Record<never, never> extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T };
/** Path parameters beside `query` and `body`, each only where the call takes it. */
export type InputOf<K extends CallKey> = Api[K]['params'] & Given<'query', Api[K]['query']> & Given<'body', Api[K]['body']>;
export type Arguments<K extends CallKey> =
  Record<never, never> extends InputOf<K>
    ? [input?: InputOf<K>, options?: CallOptions]
    : [input: InputOf<K>, options?: CallOptions];

/** Calls that answer a page of rows, and the row of one. */
export type ListKey = { [K in CallKey]: AnswerOf<K> extends { data: unknown[]; total: number } ? K : never }[CallKey];
export type RowOf<K extends CallKey> = AnswerOf<K> extends { data: (infer R)[] } ? R : never;

let ended: (message: string) => void = () => {};
/** Who is told that the session is over. */
export function onSessionEnd(listener: (message: string) => void) {
  ended = listener;
}

const locks = globalThis.navigator?.locks;
export const credentials = credentialStore(
  area,
  document,
  location.protocol === 'https:',
  stored(`${area}.acting`, 'sessionStorage'),
);
const transport = createTransport({
  area,
  credentials,
  language: () => languageTag,
  onSessionEnd: message => ended(message),
  heard,
  slow: { afterMs: polling.slowAfterMs, waits },
  lock: locks ? <T>(name: string, task: () => Promise<T>) => locks.request(name, task) as Promise<T> : undefined,
});

/** A call whose key is known when it runs alone: what it takes and answers is its declaration's, and whoever names the key says so. */
export function callAny<A = unknown>(key: CallKey, input: Input, options?: CallOptions): Promise<A> {
  // the answer was made by the schema of that call
  return transport.call(key, input, options) as Promise<A>;
}
export function call<K extends CallKey>(key: K, ...[input, options]: Arguments<K>): Promise<AnswerOf<K>> {
  return transport.call(key, input as Input, options) as Promise<AnswerOf<K>>;
}
