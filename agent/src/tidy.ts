/** What is looked after every few seconds: room on the disk, keys of session tickets, sizes of logs. */
import { keepInodes } from './cache-room.ts';
import type { Nginx } from './nginx.ts';
import { type NginxFolders, ticketKeys } from './nginx-files.ts';
import type { Release } from './render/nginx.ts';
import { needsTicketFiles } from './render/nginx.ts';
import { rotateErrorLog } from './rotate.ts';

const tidyMs = 10_000;

export interface TidyOptions {
  folders: NginxFolders;
  nginx: Pick<Nginx, 'tell'>;
  release: Release | undefined;
  speaksTLS: boolean;
  /** what else is looked at in the same turn */
  also(): void;
  log(message: string): void;
}

/** @returns what ends it */
export function startTidying({ folders, nginx, release, speaksTLS, also, log }: TidyOptions): () => void {
  const timer = setInterval(() => {
    keepInodes(folders.cache).then(
      files => files && log(`the disk had hardly an inode left: ${files} files of the cache were given up`),
      () => {}, // the check `disk` says so
    );
    also();
    if (speaksTLS && needsTicketFiles(release))
      ticketKeys(folders.run).then(
        isNew => isNew && nginx.tell('SIGHUP'),
        error => log(`keys of session tickets: ${error}`),
      );
    rotateErrorLog(folders.logs, () => nginx.tell('SIGUSR1')).catch(error => log(`error.log: ${String(error)}`));
  }, tidyMs);
  return () => clearInterval(timer);
}
