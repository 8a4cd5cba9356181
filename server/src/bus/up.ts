/** Reads what nodes say from the stream UP, judges each message alone, and gives it to whom it concerns. */
import { type ConsumerMessages, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SyncRequest } from '#contract/edge/signed.ts';
import { type Word, parseSaid, streams } from '#contract/edge/subjects.ts';
import type { Acks } from './acks.ts';
import type { Answers } from './answers.ts';
import { nodeMessage } from '../kit/metrics.ts';
import { Pace } from './pace.ts';
import { Ack, Answer, Beat, judge, refusing } from './said.ts';
import { busEvents } from './settle.ts';
import { ensureUpStream } from './streams.ts';

export interface UpOptions {
  nats: NatsConnection;
  acks: Pick<Acks, 'ack' | 'beat'>;
  answers: Pick<Answers, 'ask'>;
  log?: (message: string) => void;
}
export interface Up {
  stop(): Promise<void>;
}

const fetchMessages = 500;
const fetchMs = 2000;
const retryMs = 300;

/** @param hearing told when reading begins (true) and when it fails (false) */
export function startUp({ nats, acks, answers, log = () => {} }: UpOptions, hearing: (yes: boolean) => void = () => {}): Up {
  let stopped = false;
  let fetching: ConsumerMessages | undefined;
  let again = false;
  let told = '';
  const refuse = refusing(log);
  let wake = () => {};

  /** When the newest heartbeat of each node came to the bus: it may have waited there for us. */
  const cameMs = new Map<number, number>();
  const pace = new Pace(take);
  function take(word: Word, nodeID: number, data: Uint8Array): void {
    try {
      if (word === 'beat') acks.beat(nodeID, judge('beat', Beat, data), cameMs.get(nodeID));
      else if (word === 'ack') acks.ack(nodeID, judge('ack', Ack, data));
      else if (word === 'sync') answers.ask(nodeID, judge('sync', SyncRequest, data));
      else busEvents.emit('answer', nodeID, judge('ans', Answer, data));
      nodeMessage(nodeID, word, 'taken');
    } catch (error) {
      refuse(nodeID, word, (error as Error).message);
    }
  }

  async function read(): Promise<void> {
    again = false;
    const consumer = await jetstream(nats).consumers.get(streams.up, await ensureUpStream(nats));
    hearing(true);
    told = '';
    while (!stopped && !again) {
      let some = false;
      const messages = (fetching = await consumer.fetch({ max_messages: fetchMessages, expires: fetchMs }));
      for await (const message of messages) {
        some = true;
        const said = parseSaid(message.subject);
        if (said?.word === 'beat') cameMs.set(said.nodeID, message.time.getTime());
        if (said) pace.offer(said.word, said.nodeID, message.data);
      }
      // Silence may mean that stream or consumer is gone.
      if (!some && !stopped && !again) await consumer.info();
    }
  }

  void (async () => {
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') hearing(false);
      else if (status.type === 'reconnect') {
        again = true;
        void fetching?.close();
        wake();
      }
    }
  })();

  const running = (async () => {
    while (!stopped && !nats.isClosed()) {
      try {
        await read();
      } catch (error) {
        hearing(false);
        const message = (error as Error).message;
        if (message !== told && !stopped) log(`what nodes say cannot be read: ${message}`);
        told = message;
        if (stopped) return;
        await new Promise<void>(done => {
          const timer = setTimeout(done, retryMs);
          wake = () => (clearTimeout(timer), done());
        });
      }
    }
  })();

  return {
    stop: async () => {
      stopped = true;
      void fetching?.close();
      wake();
      await running;
      pace.stop();
    },
  };
}
