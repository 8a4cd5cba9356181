/** How large LOGS may be on the disk there is: asked at each start of the stream and again as the disk changes. */
import { statfs } from 'node:fs/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { streams } from '#contract/edge/subjects.ts';
import { type Disk, diskFrom, sizes } from '#contract/system/room.ts';

export const diskOf = async (folder: string): Promise<Disk> => diskFrom(await statfs(folder));

/** A change below this share of the size is not worth a word to the bus. */
const worthwhile = 0.25;
const lookEveryMs = 15_000;

export interface LogRoom {
  /** what the stream may hold now; undefined: nobody knows the disk, its maker decides */
  bytes(): number | undefined;
  /** looks again; changes the stream if that is worth it @returns its size */
  look(): Promise<number | undefined>;
  stop(): void;
}

/** @param folder on the disk of the bus; undefined: the bus is somewhere else */
export async function startLogRoom(
  nc: NatsConnection,
  folder: string | undefined,
  ask: (folder: string) => Promise<Disk> = diskOf,
): Promise<LogRoom> {
  let bytes = folder === undefined ? undefined : sizes.logStreamBytes(await ask(folder));
  const look = async () => {
    if (folder === undefined) return undefined;
    const jsm = await jetstreamManager(nc);
    const { config, state } = await jsm.streams.info(streams.logs);
    // never below what it holds: those lines would have to be sent again
    const wanted = Math.max(sizes.logStreamBytes(await ask(folder), state.bytes), state.bytes);
    if (Math.abs(wanted - config.max_bytes) < worthwhile * config.max_bytes) {
      bytes = config.max_bytes;
      return bytes;
    }
    // said first: whoever makes sure of the stream meanwhile shall not put the old size back
    bytes = wanted;
    await jsm.streams.update(streams.logs, { max_bytes: wanted });
    return bytes;
  };
  // a stream that is not there yet, or a bus that is away: its checks say so
  const timer = setInterval(() => void look().catch(() => {}), lookEveryMs);
  timer.unref();
  return { bytes: () => bytes, look, stop: () => clearInterval(timer) };
}
