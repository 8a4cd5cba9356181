/**
 * What the control plane may tell a node to do, and how each is done here. Each comes with an id and is done once (operations.ts); an
 * answer means that it is done, but for what ends the agent: that it is about to be.
 */
import type { Verbs } from './commands.ts';
import { CacheAge, deleteCache } from './cache-age.ts';
import { Operations } from './operations.ts';
import { markReset } from './reset.ts';
import type { Upgrade } from './upgrade/upgrade.ts';

export interface VerbOptions {
  /** the node's folder */
  data: string;
  cacheFolder: string;
  /** Has nginx's workers know the cache's age. @throws why they do not */
  showCacheAge(): Promise<void>;
  /** Begins new log files, of visitors and of nginx's own words. @throws why it cannot */
  rotateLogs(): Promise<void>;
  /** Ends nginx and us, and starts both anew; left out: nobody can. */
  restart: (() => void) | undefined;
  /** becomes another version, and goes back; undefined: one is being tried, and whoever comes after it answers */
  upgrade(): Pick<Upgrade, 'run' | 'back' | 'leave'> | undefined;
  log(message: string): void;
}

export class NodeVerbs {
  readonly cacheAge: CacheAge;
  readonly verbs: Verbs;

  /** @throws when the folder cannot be read */
  constructor(options: VerbOptions) {
    const { data, cacheFolder, showCacheAge, rotateLogs, restart, upgrade, log } = options;
    const operations = new Operations(data);
    const age = (this.cacheAge = new CacheAge(data));
    const empty = async () => {
      age.next();
      await showCacheAge();
      log('the cache is cleared');
    };
    const leave = (why: string, prepare: () => void = () => {}) =>
      operations.onceAndLeave(
        () => {
          if (!restart) throw new Error('this agent cannot be restarted by itself');
          prepare();
          log(why);
        },
        () => restart!(),
      );
    this.verbs = {
      currentCache: operations.once(empty),
      cache: operations.once(async () => {
        await empty();
        log(`${await deleteCache(cacheFolder)} files of the cache are deleted`);
      }),
      logRotate: operations.once(rotateLogs),
      upgrade: operations.once(body => upgrade()?.run(body) ?? new Promise(() => {})),
      rollback: operations.onceAndLeave(
        body => {
          const able = upgrade();
          if (!able) throw new Error('another version is being tried');
          able.back(body);
        },
        () => upgrade()?.leave(),
      ),
      // The machine stays up: an agent has no right to end it, and who may has a way of its own.
      reboot: leave('agent and nginx are restarted, as an operator wished'),
      reset: leave('the node begins anew, as an operator wished', () => markReset(data)),
    };
  }
}
