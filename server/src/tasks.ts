/** What each kind of task does (contract/src/tasks.ts); a further one is one line. */
import type { taskKinds } from '#contract/tasks.ts';
import type { AnyWork } from './kit/task.ts';
import { autoSSLWork } from './domain/acme/work.ts';
import { copyModuleWork } from './module/copy.ts';
import { nodeCommandWorks } from './node/commands.ts';
import { nodeUpgradeWork } from './node/upgrade-work.ts';
import { geoRefreshWork } from './resolution/geo-refresh.ts';

const works: { [K in keyof typeof taskKinds]: AnyWork } = {
  autoSSL: autoSSLWork,
  copyModule: copyModuleWork,
  ...nodeCommandWorks,
  nodeUpgrade: nodeUpgradeWork,
  geoRefresh: geoRefreshWork,
};
export const taskWorks: readonly AnyWork[] = Object.values(works);
