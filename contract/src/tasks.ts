/** Every kind of task; a further one is one line. The console's words are checked against this table. */
import { autoSSL } from './domain/auto-certificates.ts';
import { copyModule } from './module/copy.ts';
import { nodeCache, nodeCurrentCache, nodeLogRotate, nodeReboot, nodeReset } from './node/commands.ts';
import { nodeUpgrade } from './node/upgrade.ts';
import { geoRefresh } from './resolution/geo-source.ts';

export const taskKinds = {
  autoSSL,
  copyModule,
  nodeReboot,
  nodeReset,
  nodeCurrentCache,
  nodeCache,
  nodeLogRotate,
  nodeUpgrade,
  geoRefresh,
} as const;
