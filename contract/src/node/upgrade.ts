/** Other versions of nodes: what the server offers, who gets it, and what came of it (§4 "Upgrade", §7 Client calls). */
import { calls } from '../kit/call.ts';
import { arr, big, bool, id, ids, nullable, opt, obj, one, text, time } from '../kit/schema.ts';
import { taskOf } from '../kit/task.ts';
import { upgradeStates } from '../states.ts';

/** What a node does one after the other (agent/src/upgrade/upgrade.ts); `back`: it became the new version, and is the old one again. */
export const upgradeSteps = ['fetching', 'placing', 'checking', 'shadow', 'trial', 'changing', 'done', 'failed', 'back'] as const;
export const upgradeLogMost = 20;

export const nodeUpgrades = calls(
  { base: '/client', resource: 'nodes' },
  {
    /** null: nothing was packed here yet (`npm run bundle`) */
    'GET /node/latestVersion': {
      answer: obj({
        version: nullable(text(64)),
        bytes: nullable(big()),
        /** machines of the control plane that have another bundle, or none (null): no upgrade begins before all have the same */
        differing: arr(obj({ machine: text(253), version: nullable(text(64)) }), 20),
        /** an upgrade that goes on: no other begins before it is over; `taskID` null: its log is not shown to whoever asks */
        open: nullable(obj({ taskID: nullable(id()) })),
      }),
    },
    'POST /node/upgrade': {
      /** `unproven`: begin although none of them is well, so that those that go first prove nothing; refused without it then */
      body: obj({ ids: ids(), unproven: opt(bool()) }),
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
  /** nodes that are upgraded at a time; one that was not well for `windowSeconds` since still counts */
  atOnce: 10,
  windowSeconds: 10,
  /** the second stage is one in so many of them; the first is one node */
  share: 4,
  /** how long those before a stage must have been well when it begins */
  stageSeconds: 60,
  /** how long a node is watched after it became the new version, and after how long without being well it is taken back */
  watchSeconds: 300,
  illSeconds: 30,
  /** of a hundred of a stage that have ended */
  failedPercent: 10,
} as const;

/** How many of a stage may fail: of the first none, later one, or a tenth of those that have ended. One more stops the whole upgrade. */
export const failuresBorne = (stage: number, ended: number): number =>
  stage <= 1 ? 0 : Math.max(1, Math.floor((ended * upgradeLimits.failedPercent) / 100));

export const nodeUpgrade = taskOf({
  name: 'nodeUpgrade',
  resource: 'nodes',
  of: 'account',
  // stages prove something only where nobody else upgrades beside them
  single: true,
  /** `hash`: of the very bundle; an earlier release did not say it */
  input: obj({ ids: ids(), version: text(64), hash: opt(text(64)) }),
  about: ['count', 'version'],
  says: {
    /** 1, 2, 3: how many nodes it begins with */
    stage: ['stage', 'count'],
    done: ['node'],
    /** it ran that version when its turn came */
    already: ['node'],
    /** it stays as it is */
    refused: ['node', 'why'],
    /** it became the new version, and is not well: it is taken back */
    ill: ['node', 'why'],
    /** it is again what it was */
    back: ['node', 'version'],
    /** it was told to go back, could not be reached, and is well again: it keeps the new version */
    stays: ['node'],
    /** it should be, and is not */
    stuck: ['node', 'why'],
    skipped: ['node'],
    /** none of so many that are left is well: that one goes on as it was proves nothing of the version */
    unproven: ['left'],
    /** a machine of the control plane has another bundle, or none (`-`) */
    differing: ['machine', 'version'],
    /** too many failed, or another bundle was made meanwhile: so many are as they were; those that are well stay what they became */
    held: ['left'],
  },
});
