/** Why an action is refused in a state (states.ts): a sentence, and the error of the catalogue. */
import type { ErrorName } from './errors/codes.ts';
import type { Text } from './kit/text.ts';

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
  accountAbove: reason(
    'accountNotEnabled',
    '上層帳號未啟用，請洽管理您帳號的人',
    '上级账号未启用，请联系管理您账号的人',
    'An account above it is not enabled; ask whoever manages yours',
  ),

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

  nodeUninitialized: reason('parameter', '節點尚未初始化', '节点尚未初始化', 'The node is not initialized'),
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
