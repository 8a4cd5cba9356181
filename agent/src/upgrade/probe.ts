/** What visitors of some hosts are answered: before and after a change of what serves them. A status is compared, no content. */
import http from 'node:http';
import https from 'node:https';

/** 0: no answer */
export type Answers = Record<string, number>;
export interface Door {
  address: string;
  port: number;
  isTLS: boolean;
}

const limitMs = 5000;
const atOnce = 8;
/** An origin may be in a bad mood. */
const looks = 3;
const agent = 'Breakwater-Upgrade-Probe';
/** On an error 500 that the edge itself made (edge/lua/core/pages.lua): an origin's own is none of the version's business. */
const faultHeader = 'x-edge-fault';
/** No host of anybody: the edge itself answers. */
export const nobody = 'upgrade-probe.invalid';

interface Answer {
  status: number;
  /** the edge made it: its own error, or no connection at all */
  isFault: boolean;
}
function ask({ address, port, isTLS }: Door, host: string): Promise<Answer> {
  return new Promise(done => {
    const signal = AbortSignal.timeout(limitMs);
    const options = {
      host: address,
      port,
      path: '/',
      method: 'HEAD',
      agent: false as const,
      headers: { host, 'user-agent': agent, connection: 'close' },
      signal,
    };
    const request = isTLS ? https.request({ ...options, servername: host, rejectUnauthorized: false }) : http.request(options);
    let isOpen = false;
    request
      .on('socket', socket => socket.once(isTLS ? 'secureConnect' : 'connect', () => (isOpen = true)))
      // behind an open connection it may be the origin that says nothing
      .on('error', () => done({ status: 0, isFault: !isOpen && !signal.aborted }))
      .on('response', answer => {
        answer.resume();
        done({ status: answer.statusCode!, isFault: answer.statusCode === 500 && faultHeader in answer.headers });
      });
    request.end();
  });
}

/** @param faults gets the keys of answers that are the edge's own errors */
export async function askAll(
  doors: readonly Door[],
  hosts: readonly string[],
  faults: Set<string> = new Set(),
): Promise<Answers> {
  const left = doors.flatMap(door => hosts.map(host => ({ door, host })));
  const answers: Answers = {};
  const work = async () => {
    for (let one; (one = left.shift());) {
      const key = `${one.door.isTLS ? 'https' : 'http'}://${one.host}`;
      const { status, isFault } = await ask(one.door, one.host);
      answers[key] = status;
      if (isFault) faults.add(key);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return answers;
}

const differing = (now: Answers, wished: Answers) => Object.keys(wished).filter(key => now[key] !== wished[key]);

/** @returns what is answered otherwise, in words; null: nothing */
export function difference(now: Answers, wished: Answers): string | null {
  const keys = differing(now, wished);
  if (!keys.length) return null;
  const named = keys.slice(0, 3).map(key => `${key} ${now[key] || 'nothing'} instead of ${wished[key] || 'nothing'}`);
  return `${named.join(', ')}${keys.length > 3 ? ` and ${keys.length - 3} more` : ''}`;
}

/** Both are asked until they say the same, or have not several times. @returns what differs, and what the first said last */
export async function compare(
  live: readonly Door[],
  other: readonly Door[],
  hosts: readonly string[],
): Promise<{ differs: string | null; answers: Answers }> {
  const answers: Answers = {};
  let left = [...hosts];
  for (let look = 1; ; look++) {
    const [first, second] = [await askAll(live, left), await askAll(other, left)];
    Object.assign(answers, first);
    const differs = difference(second, first);
    if (!differs || look === looks) return { differs, answers };
    const wrong = new Set(differing(second, first).map(key => key.slice(key.indexOf('//') + 2)));
    left = left.filter(host => wrong.has(host));
  }
}
