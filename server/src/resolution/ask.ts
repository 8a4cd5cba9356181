/** One question to one name server, over UDP, and over TCP where the answer has no room. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { DnsProblem } from '../domain/dns/driver.ts';
import * as dns from '../domain/dns/message.ts';
import { exchange } from '../domain/dns/rfc2136.ts';

const tryMs = 700;
const tries = 3;
const tcpMs = 4000;

export interface NameServer {
  /** an address */
  host: string;
  port: number;
}

/** @throws DnsProblem when nobody answers */
export async function ask(
  server: NameServer,
  name: string,
  type: number,
  subnet?: dns.Subnet,
  isRecursive = false,
): Promise<dns.Message> {
  for (let n = 0; n < tries; n++) {
    const id = randomInt(65_536);
    const question = dns.query(id, name, type, subnet, isRecursive);
    const answer = await overUDP(server, question, { id, name, type });
    if (!answer) continue;
    return answer.isCut ? overTCP(server, { id, name, type }, question) : answer;
  }
  throw new DnsProblem('away', `${server.host} port ${server.port} does not answer`);
}

interface Asked {
  id: number;
  name: string;
  type: number;
}
/** Its number alone is soon guessed (RFC 5452, 9.1). Who could not read the question says what is wrong without it. */
const isTo = ({ id, question, rcode }: dns.Message, asked: Asked): boolean =>
  id === asked.id &&
  (question ? question.name === asked.name.toLowerCase().replace(/\.$/, '') && question.type === asked.type : rcode !== 0);

function readable(bytes: Buffer): dns.Message | undefined {
  try {
    return dns.read(bytes);
  } catch {
    return undefined;
  }
}

/** What is no answer to it is not heard: whoever sends such first takes nobody's place. */
function overUDP({ host, port }: NameServer, question: Buffer, asked: Asked): Promise<dns.Message | undefined> {
  return new Promise(done => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    const end = (answer?: dns.Message) => {
      clearTimeout(timer);
      socket.close();
      done(answer);
    };
    const timer = setTimeout(() => end(), tryMs);
    socket.once('error', () => end());
    socket.on('message', bytes => {
      const answer = readable(bytes);
      if (answer && isTo(answer, asked)) end(answer);
    });
    // where no way leads there it is told so here, and nowhere else
    const ask = () => socket.connect(port, host, (error?: Error) => (error ? end() : socket.send(question)));
    // connected: what comes from elsewhere is not heard; who asks this machine listens on nothing else meanwhile
    if (host === '127.0.0.1' || host === '::1') socket.bind(0, host, ask);
    else ask();
  });
}

async function overTCP({ host, port }: NameServer, asked: Asked, question: Buffer): Promise<dns.Message> {
  const socket = connect({ host, port, timeout: tcpMs });
  try {
    await new Promise<void>((ok, failed) => {
      socket.once('connect', ok);
      socket.once('error', failed);
      socket.once('timeout', () => failed(new Error('it takes too long')));
    });
    const answer = dns.read(await exchange(socket, question, host, tcpMs));
    if (!isTo(answer, asked)) throw new Error('it answered something else');
    return answer;
  } catch (error) {
    // whatever is thrown here is an error
    throw new DnsProblem('away', `${host} port ${port} over TCP: ${(error as Error).message}`);
  } finally {
    socket.destroy();
  }
}

/** What the zone above has to say of a zone: what that says of its own keys (CDS, RFC 7344). */
export async function digestsOf(server: NameServer, name: string): Promise<string[]> {
  return digestsIn(await ask(server, name, dns.types.CDS), dns.types.CDS);
}
export function digestsIn({ answers }: dns.Message, wanted: number): string[] {
  return answers
    .filter(({ type, data }) => type === wanted && data.length > 4)
    .map(({ data }) => `${data.readUInt16BE(0)} ${data[2]} ${data[3]} ${data.toString('hex', 4).toUpperCase()}`)
    .sort();
}
