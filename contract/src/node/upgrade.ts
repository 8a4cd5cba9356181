/** Other versions of nodes: what the server offers, who gets it, and what came of it (§4 "Upgrade", §7 Client calls). */
import { calls } from '../kit/call.ts';
import { arr, big, id, ids, nullable, obj, one, text, time } from '../kit/schema.ts';
import { taskOf } from '../kit/task.ts';
import { upgradeStates } from '../states.ts';

/** What a node does one after the other (agent/src/upgrade/upgrade.ts). */
export const upgradeSteps = ['fetching', 'placing', 'checking', 'shadow', 'trial', 'changing', 'done', 'failed'] as const;
export const upgradeLogMost = 20;

export const nodeUpgrades = calls(
  { base: '/client', resource: 'nodes' },
  {
    /** null: nothing was packed here yet (`npm run bundle`) */
    'GET /node/latestVersion': {
      answer: obj({ version: nullable(text(64)), bytes: nullable(big()) }),
    },
    'POST /node/upgrade': {
      body: obj({ ids: ids() }),
      answer: obj({ taskID: id() }),
      errors: ['nodeCommunication', 'nodeVersionMismatch', 'proxyConnectionFailed', 'multiple'],
    },
    /** The newest first. */
    'GET /node/{id}/upgrade/logs': {
      answer: obj({
        upgrades: arr(
          obj({
            id: id(),
            taskID: nullable(id()),
            fromVersion: text(64),
            toVersion: text(64),
            state: one(upgradeStates),
            steps: arr(obj({ step: one(upgradeSteps), at: time() }), 20),
            why: nullable(text(300)),
            createdAt: time(),
            endedAt: nullable(time()),
          }),
          upgradeLogMost,
        ),
      }),
    },
  },
);

export const upgradeLimits = {
  /** nodes that are upgraded at a time */
  atOnce: 10,
  /** the second stage is one in so many of them; the first is one node */
  share: 4,
  /** how long those of a stage must be well before the next begins, and how long that is waited for */
  wellSeconds: 5,
  wellMostSeconds: 60,
  /** of the stages after the first: so many failures in a hundred stop it, and two always do */
  failedPercent: 10,
} as const;

export const nodeUpgrade = taskOf({
  name: 'nodeUpgrade',
  resource: 'nodes',
  of: 'account',
  input: obj({ ids: ids(), version: text(64) }),
  about: ['count', 'version'],
  says: {
    /** 1, 2, 3: how many nodes it begins with */
    stage: ['stage', 'count'],
    done: ['node'],
    /** it stays as it is, or became the new version and is not well */
    refused: ['node', 'why'],
    skipped: ['node'],
    /** it was stopped, or another bundle was made meanwhile: so many are as they were */
    held: ['left'],
  },
});
