/**
 * States, and which action each of them allows (§4, decisions "Rules and modules"). One table is read by the server,
 * which refuses, and by the console, which disables the button and says why.
 */
import type { ErrorName } from './errors.ts';
import type { Language, Text } from './kit/text.ts';

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

/** Why an action is refused: what the button's hint says, and the error the server answers. */
type ReasonEntry = { readonly text: Text; readonly error: ErrorName };
const reason = (error: ErrorName, zh_TW: string, zh_CN: string, en_US: string): ReasonEntry => ({
  error,
  text: { zh_TW, zh_CN, en_US },
});

export const reasons = {
  accountAlreadyPaused: reason('parameter', '帳號已暫停', '账号已暂停', 'The account is already paused'),
  accountNotPaused: reason('parameter', '帳號並未暫停', '账号并未暂停', 'The account is not paused'),
  accountAlreadyLocked: reason('parameter', '帳號已鎖定', '账号已锁定', 'The account is already locked'),
  accountNotLocked: reason('parameter', '帳號並未鎖定', '账号并未锁定', 'The account is not locked'),
  accountLocked: reason('accountNotEnabled', '帳號已鎖定', '账号已锁定', 'The account is locked'),
  accountPaused: reason('accountNotEnabled', '帳號已暫停', '账号已暂停', 'The account is paused'),
  accountExpired: reason('accountNotEnabled', '帳號已到期', '账号已到期', 'The account has expired'),

  siteAlreadyPaused: reason('siteStatusNotAllowed', '站點已暫停', '站点已暂停', 'The site is already paused'),
  siteNotPaused: reason('siteStatusNotAllowed', '站點並未暫停', '站点并未暂停', 'The site is not paused'),
  siteLimited: reason(
    'trafficLimited',
    '站點因流量受限，請先解除流量限制',
    '站点因流量受限，请先解除流量限制',
    'The site is limited by its traffic; lift the traffic restriction first',
  ),
  siteNotLimited: reason('siteStatusNotAllowed', '站點並未受限', '站点并未受限', 'The site is not limited'),
  siteAlreadyLimited: reason('siteStatusNotAllowed', '站點已受限', '站点已受限', 'The site is already limited'),
  systemOnly: reason('siteStatusNotAllowed', '此狀態只能由系統設定', '此状态只能由系统设置', 'Only the system sets this state'),

  domainAlreadyEnabled: reason('parameter', '網域已啟用', '域名已启用', 'The domain is already enabled'),
  domainAlreadyDisabled: reason('parameter', '網域已停用', '域名已禁用', 'The domain is already disabled'),

  nodeUninitialized: reason('nodeCommunication', '節點尚未初始化', '节点尚未初始化', 'The node is not initialized'),
  nodeAlreadyInitialized: reason('parameter', '節點已初始化', '节点已初始化', 'The node is already initialized'),
  nodeUnreachable: reason('nodeCommunication', '無法連線到節點', '无法连接到节点', 'The node cannot be reached'),
  nodeAlreadyPaused: reason('parameter', '節點已暫停', '节点已暂停', 'The node is already paused'),
  nodeNotPaused: reason('parameter', '節點並未暫停', '节点并未暂停', 'The node is not paused'),

  alreadyUpdating: reason('parameter', '正在升級', '正在升级', 'The upgrade is under way'),
  alreadyUpdated: reason('parameter', '已是最新版本', '已是最新版本', 'Already up to date'),
  notUpdated: reason('parameter', '尚未升級過', '尚未升级过', 'It was never upgraded'),

  certificateProcessing: reason('parameter', '憑證申請中', '证书申请中', 'The certificate is being issued'),
  certificateUnset: reason('parameter', '尚未設定憑證', '尚未设置证书', 'No certificate is set'),
  certificateNotReady: reason('parameter', '憑證尚不可用', '证书尚不可用', 'The certificate is not ready'),
  certificateAlreadyEnabled: reason('parameter', '憑證已啟用', '证书已启用', 'The certificate is already enabled'),
  certificateAlreadyDisabled: reason('parameter', '憑證已停用', '证书已禁用', 'The certificate is already disabled'),

  exportProcessing: reason('parameter', '匯出處理中', '导出处理中', 'The export is being prepared'),
  exportFailed: reason('parameter', '匯出失敗', '导出失败', 'The export failed'),
  exportNotFailed: reason('parameter', '只有失敗的匯出可以重試', '只有失败的导出可以重试', 'Only a failed export can be retried'),
  exportDeleted: reason('parameter', '匯出已刪除', '导出已删除', 'The export is deleted'),

  monitorNotInit: reason('parameter', '監控節點尚未設定', '监控节点尚未设置', 'The monitor node is not set up'),
  monitorAlreadySetUp: reason('parameter', '監控節點已設定', '监控节点已设置', 'The monitor node is already set up'),

  taskUnderWay: reason('parameter', '任務仍在進行中', '任务仍在进行中', 'The task is still under way'),
  taskSucceeded: reason('parameter', '任務已成功完成', '任务已成功完成', 'The task has succeeded'),
  taskEnded: reason('parameter', '任務已結束', '任务已结束', 'The task has ended'),

  trafficAlreadyWarned: reason('parameter', '已發出流量警告', '已发出流量警告', 'The traffic warning is already out'),
  trafficAlreadyLimited: reason('parameter', '流量已受限', '流量已受限', 'The traffic is already limited'),
  trafficNotLimited: reason('parameter', '流量並未受限', '流量并未受限', 'The traffic is not limited'),

  twoFactorAlreadyOn: reason('parameter', '兩步驟驗證已啟用', '两步验证已启用', 'Two-factor authentication is already on'),
  twoFactorOff: reason('parameter', '兩步驟驗證並未啟用', '两步验证并未启用', 'Two-factor authentication is off'),
  twoFactorOutOfOrder: reason('parameter', '請從第一步重新開始', '请从第一步重新开始', 'Start again from the first step'),
} as const satisfies Record<string, ReasonEntry>;
export type Reason = keyof typeof reasons;

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

export const reasonText = (why: Reason, language: Language): string => reasons[why].text[language];
/** The catalogue's error for a refused action. */
export const reasonError = (why: Reason): ErrorName => reasons[why].error;
