/**
 * States, and which action each of them allows (§4, decisions "Rules and modules"). One table is read by the server,
 * which refuses, and by the console, which disables the button and says why.
 */
import type { ErrorName } from './errors/codes.ts';
import type { Language } from './kit/text.ts';
import { type Reason, reasons } from './states-reasons.ts';

export { type Reason, reasons };

export const accountStates = ['pause', 'normal', 'lock', 'expired'] as const;
/** `limit` is set by the system alone; that a site is expired follows from its time and is no state of its row. */
export const siteStates = ['normal', 'pause', 'limit'] as const;
/** What is shown of a site: that its time is over comes before what it is set to. */
export const siteShownStates = [...siteStates, 'expired'] as const;
export const domainStates = ['enabled', 'disabled'] as const;
/** The DNS of a domain is active when its CNAME is. */
export const domainDNSStates = ['active', 'inactive'] as const;
export const cnameStates = ['unset', 'wrong', 'active'] as const;
export const nodeStates = ['uninitialized', 'unknown', 'normal', 'error', 'offline', 'paused', 'natsError', 'reconnect'] as const;
export const upgradeStates = ['notUpdated', 'updating', 'updateFailed', 'updateComplete'] as const;
export const certificateStates = [
  'unset',
  'pending',
  'processing',
  'success',
  'fail',
  'applyFailed',
  'enabled',
  'disabled',
] as const;
export const exportStates = ['processing', 'completed', 'deleting', 'deleted', 'failed'] as const;
export const monitorNodeStates = ['notInit', 'unknown', 'normal', 'error'] as const;
/** `failed`: it gave up, or some of it could not be done. */
export const taskStates = ['waiting', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export const trafficStates = ['normal', 'warning', 'limited'] as const;
/** Of an extra plan. */
export const trafficPlanStates = ['planned', 'holds', 'usedUp', 'over'] as const;
export const twoFactorStates = ['off', 'phase0', 'phase1', 'on'] as const;

export type AccountState = (typeof accountStates)[number];
export type SiteState = (typeof siteStates)[number];
export type DomainState = (typeof domainStates)[number];
export type NodeState = (typeof nodeStates)[number];
export type UpgradeState = (typeof upgradeStates)[number];
export type CertificateState = (typeof certificateStates)[number];
export type ExportState = (typeof exportStates)[number];
export type MonitorNodeState = (typeof monitorNodeStates)[number];
export type TaskState = (typeof taskStates)[number];
export type TrafficState = (typeof trafficStates)[number];
export type TwoFactorState = (typeof twoFactorStates)[number];

/** The states an action may start from; elsewhere a reason, one for all or one for each state left. */
export type Action<State extends string> = {
  readonly from: readonly State[];
  readonly else: Reason | { readonly [S in State]?: Reason };
};
export type ActionTable<State extends string> = Readonly<Record<string, Action<State>>>;

const table =
  <State extends string>() =>
  <const Name extends string>(actions: Readonly<Record<Name, Action<State>>>) =>
    actions;

/** Nothing stands in the way: for actions that every state allows. */
const anyOf = <const S extends readonly string[]>(states: S) => states;

export const accountActions = table<AccountState>()({
  signIn: { from: ['normal'], else: { pause: 'accountPaused', lock: 'accountLocked', expired: 'accountExpired' } },
  pause: { from: ['normal', 'expired'], else: { pause: 'accountAlreadyPaused', lock: 'accountLocked' } },
  resume: { from: ['pause'], else: { normal: 'accountNotPaused', lock: 'accountLocked', expired: 'accountExpired' } },
  lock: { from: ['normal', 'pause', 'expired'], else: 'accountAlreadyLocked' },
  unlock: { from: ['lock'], else: 'accountNotLocked' },
  switchTo: { from: ['normal'], else: { pause: 'accountPaused', lock: 'accountLocked', expired: 'accountExpired' } },
  edit: { from: anyOf(accountStates), else: {} },
  remove: { from: anyOf(accountStates), else: {} },
});

/** What people may do. */
export const siteActions = table<SiteState>()({
  pause: { from: ['normal'], else: { pause: 'siteAlreadyPaused', limit: 'siteLimited' } },
  resume: { from: ['pause'], else: { normal: 'siteNotPaused', limit: 'siteLimited' } },
  limit: { from: [], else: 'systemOnly' },
  edit: { from: anyOf(siteStates), else: {} },
  clearCache: { from: anyOf(siteStates), else: {} },
  remove: { from: anyOf(siteStates), else: {} },
});

/** What the system does by itself: traffic limits a site, and lifts the limit again. A paused site stays paused. */
export const siteSystemActions = table<SiteState>()({
  limit: { from: ['normal'], else: { pause: 'siteAlreadyPaused', limit: 'siteAlreadyLimited' } },
  lift: { from: ['limit'], else: 'siteNotLimited' },
});

export const domainActions = table<DomainState>()({
  enable: { from: ['disabled'], else: 'domainAlreadyEnabled' },
  disable: { from: ['enabled'], else: 'domainAlreadyDisabled' },
  edit: { from: anyOf(domainStates), else: {} },
  remove: { from: anyOf(domainStates), else: {} },
});

const reachable = ['normal', 'error', 'paused'] as const;
const initialized = ['unknown', 'normal', 'error', 'offline', 'paused', 'natsError', 'reconnect'] as const;
/** A command needs the node at the other end of the bus. */
const command = {
  from: reachable,
  else: {
    uninitialized: 'nodeUninitialized',
    unknown: 'nodeUnreachable',
    offline: 'nodeUnreachable',
    natsError: 'nodeUnreachable',
    reconnect: 'nodeUnreachable',
  },
} as const;

export const nodeActions = table<NodeState>()({
  initialize: { from: ['uninitialized'], else: 'nodeAlreadyInitialized' },
  deinitialize: { from: initialized, else: 'nodeUninitialized' },
  pause: {
    from: ['unknown', 'normal', 'error', 'offline', 'natsError', 'reconnect'],
    else: { paused: 'nodeAlreadyPaused', uninitialized: 'nodeUninitialized' },
  },
  resume: {
    from: ['paused'],
    else: {
      uninitialized: 'nodeUninitialized',
      unknown: 'nodeNotPaused',
      normal: 'nodeNotPaused',
      error: 'nodeNotPaused',
      offline: 'nodeNotPaused',
      natsError: 'nodeNotPaused',
      reconnect: 'nodeNotPaused',
    },
  },
  moveToZone: { from: initialized, else: 'nodeUninitialized' },
  reboot: command,
  reset: command,
  clearCache: command,
  rotateLog: command,
  upgrade: command,
  edit: { from: anyOf(nodeStates), else: {} },
  remove: { from: anyOf(nodeStates), else: {} },
});

/** Of a node: one that is paused stays so when it falls silent, and a command finds it as one that is offline. */
export function nodeCan(action: keyof typeof nodeActions, state: NodeState, isSilent: boolean): true | Reason {
  const isAway = isSilent && state === 'paused' && nodeActions[action].from === reachable;
  return can(nodeActions, action, isAway ? 'offline' : state);
}

export const upgradeActions = table<UpgradeState>()({
  start: { from: ['notUpdated', 'updateFailed'], else: { updating: 'alreadyUpdating', updateComplete: 'alreadyUpdated' } },
  rollback: { from: ['updateFailed', 'updateComplete'], else: { notUpdated: 'notUpdated', updating: 'alreadyUpdating' } },
  viewLog: { from: ['updating', 'updateFailed', 'updateComplete'], else: 'notUpdated' },
});

export const certificateActions = table<CertificateState>()({
  renew: {
    from: ['success', 'fail', 'applyFailed', 'enabled', 'disabled'],
    else: { unset: 'certificateUnset', pending: 'certificateProcessing', processing: 'certificateProcessing' },
  },
  assign: {
    from: ['success', 'enabled'],
    else: {
      unset: 'certificateUnset',
      pending: 'certificateProcessing',
      processing: 'certificateProcessing',
      fail: 'certificateNotReady',
      applyFailed: 'certificateNotReady',
      disabled: 'certificateAlreadyDisabled',
    },
  },
  enable: {
    from: ['unset', 'disabled', 'fail', 'applyFailed'],
    else: {
      pending: 'certificateProcessing',
      processing: 'certificateProcessing',
      success: 'certificateAlreadyEnabled',
      enabled: 'certificateAlreadyEnabled',
    },
  },
  disable: {
    from: ['pending', 'processing', 'success', 'fail', 'applyFailed', 'enabled'],
    else: { unset: 'certificateUnset', disabled: 'certificateAlreadyDisabled' },
  },
  remove: {
    from: ['success', 'fail', 'applyFailed', 'enabled', 'disabled'],
    else: { unset: 'certificateUnset', pending: 'certificateProcessing', processing: 'certificateProcessing' },
  },
});

export const exportActions = table<ExportState>()({
  view: { from: ['processing', 'completed', 'failed', 'deleting'], else: 'exportDeleted' },
  download: {
    from: ['completed'],
    else: { processing: 'exportProcessing', failed: 'exportFailed', deleting: 'exportDeleted', deleted: 'exportDeleted' },
  },
  retry: {
    from: ['failed'],
    else: { processing: 'exportProcessing', completed: 'exportNotFailed', deleting: 'exportDeleted', deleted: 'exportDeleted' },
  },
  remove: { from: ['processing', 'completed', 'failed'], else: 'exportDeleted' },
});

export const monitorNodeActions = table<MonitorNodeState>()({
  setUp: { from: ['notInit'], else: 'monitorAlreadySetUp' },
  enable: { from: ['unknown', 'normal', 'error'], else: 'monitorNotInit' },
  disable: { from: ['unknown', 'normal', 'error'], else: 'monitorNotInit' },
  edit: { from: ['unknown', 'normal', 'error'], else: 'monitorNotInit' },
  remove: { from: anyOf(monitorNodeStates), else: {} },
});

export const taskActions = table<TaskState>()({
  cancel: { from: ['waiting', 'running'], else: 'taskEnded' },
  retry: {
    from: ['failed', 'cancelled'],
    else: { waiting: 'taskUnderWay', running: 'taskUnderWay', succeeded: 'taskSucceeded' },
  },
});

/** Warning at 80 % of the plan; limited at 100 % when the product's action is limit. */
export const trafficActions = table<TrafficState>()({
  warn: { from: ['normal'], else: { warning: 'trafficAlreadyWarned', limited: 'trafficAlreadyLimited' } },
  limit: { from: ['normal', 'warning'], else: 'trafficAlreadyLimited' },
  lift: { from: ['limited'], else: 'trafficNotLimited' },
});

/** §4 "2FA setup phases": the password, then the secret and its picture, then a first code. */
export const twoFactorActions = table<TwoFactorState>()({
  phase0: { from: ['off', 'phase0', 'phase1'], else: 'twoFactorAlreadyOn' },
  phase1: { from: ['phase0', 'phase1'], else: { off: 'twoFactorOutOfOrder', on: 'twoFactorAlreadyOn' } },
  phase2: { from: ['phase1'], else: { off: 'twoFactorOutOfOrder', phase0: 'twoFactorOutOfOrder', on: 'twoFactorAlreadyOn' } },
  turnOff: { from: ['on'], else: 'twoFactorOff' },
});

/** true, or why not: `can(siteActions, 'pause', site.status)`. */
export function can<State extends string, Name extends string>(
  actions: Readonly<Record<Name, Action<State>>>,
  action: NoInfer<Name>,
  state: NoInfer<State>,
): true | Reason {
  const { from, else: otherwise } = actions[action];
  if (from.includes(state)) return true;
  // a state nobody foresaw is refused by the first reason there is, never let through
  return typeof otherwise === 'string'
    ? otherwise
    : (otherwise[state] ?? (Object.values(otherwise)[0] as Reason | undefined) ?? 'systemOnly');
}

/** What people may set an account to, from the state it is in: which action that is. */
export const accountActionFor = (from: AccountState, to: 'normal' | 'pause' | 'lock'): keyof typeof accountActions =>
  to === 'normal' ? (from === 'lock' ? 'unlock' : 'resume') : to;

/** What people may set a site to, from the state it is in: which action that is. */
export const siteActionFor = { normal: 'resume', pause: 'pause', limit: 'limit' } as const satisfies Record<
  SiteState,
  keyof typeof siteActions
>;

/** Why an account lets nobody in; `above`: it is one of those it stands under. */
export const stoppedReasons = {
  pause: 'accountPaused',
  lock: 'accountLocked',
  expired: 'accountExpired',
  above: 'accountAbove',
} as const satisfies Record<Exclude<AccountState, 'normal'> | 'above', Reason>;

export const reasonText = (why: Reason, language: Language): string => reasons[why].text[language];
/** The catalogue's error for a refused action. */
export const reasonError = (why: Reason): ErrorName => reasons[why].error;
