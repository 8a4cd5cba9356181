/** What nodes are told to do, any number at once: each a task whose log says of every node what became of it (§4, §7 Client calls). */
import { calls } from '../kit/call.ts';
import { id, ids, obj } from '../kit/schema.ts';
import { taskOf } from '../kit/task.ts';

const begun = obj({ taskID: id() });
/** A node that cannot be reached is told at once (101009, 202001); the others get theirs. */
const toNodes = {
  body: obj({ ids: ids() }),
  answer: begun,
  errors: ['nodeCommunication', 'proxyConnectionFailed', 'multiple'],
} as const;

export const nodeCommands = calls(
  { base: '/client', resource: 'nodes' },
  {
    /** Agent and nginx end and begin anew; the machine stays up. */
    'POST /node/reboot': toNodes,
    /** The node forgets what it was told and what it fetched, and reads its whole configuration again; its logs stay. */
    'POST /node/reset': toNodes,
    /** Nothing that is stored is answered any more; its files are overwritten in time. */
    'DELETE /node/currentCache': toNodes,
    /** The same, and the files are deleted. */
    'DELETE /node/cache': toNodes,
    /** New log files are begun; the others go once they are stored. */
    'POST /nodes/log/rotate': toNodes,
  },
);

const commandTask = <const N extends string>(name: N) =>
  taskOf({
    name,
    resource: 'nodes',
    of: 'account',
    input: obj({ ids: ids() }),
    about: ['count'],
    says: {
      done: ['node'],
      /** the node says why not */
      refused: ['node', 'why'],
      /** no answer in time */
      silent: ['node'],
      /** it ended, and did not come back in time */
      away: ['node'],
      /** it was removed, moved out of sight, or cannot be reached */
      skipped: ['node'],
    },
  });
export const nodeReboot = commandTask('nodeReboot');
export const nodeReset = commandTask('nodeReset');
export const nodeCurrentCache = commandTask('nodeCurrentCache');
export const nodeCache = commandTask('nodeCache');
export const nodeLogRotate = commandTask('nodeLogRotate');
