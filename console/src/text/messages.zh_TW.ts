/**
 * What is said after an action (§4, §8): successes and failures. This file is the type of the other languages; the
 * English ones are the specification's, letter for letter. `message.` stands before each key, as in `t('message.loginSuccess')`.
 */
import first from './first.zh_TW.ts';

export const messages = {
  ...first,
  // §8: accounts
  'message.editAccountSuccess': '編輯帳號成功！',
  'message.resendEmailSuccess': '重新寄送郵件成功！',
  'message.updateInformationSuccess': '更新資訊成功！',
  'message.createAuthSuccess': '新增{auth}成功！',
  'message.updateAuthSuccess': '更新{auth}成功！',
  'message.removeAuthSuccess': '移除{auth}成功！',
  'message.authUser': '使用者',
  'message.authClient': '營運商',
  'message.authAdmin': '管理員',
  'message.updateUserRoleSuccess': '更新使用者的角色成功！',
  'message.createRoleSuccess': '新增角色成功！',
  'message.updateRoleSuccess': '更新角色成功！',
  'message.removeRoleSuccess': '移除角色成功！',
  'message.createRoleFailed': '新增角色失敗！',
  'message.updateRoleFailed': '更新角色失敗！',
  'message.removeRoleFailed': '移除角色失敗！',
  // §8: sites, settings, lines
  'message.createSiteSuccess': '新增站點成功！',
  'message.removeSiteSuccess': '移除站點成功！',
  'message.assignSiteSuccess': '指派站點成功！',
  'message.changeSiteSuccess': '變更站點成功！',
  'message.refreshSiteSuccess': '重新整理站點成功！',
  'message.clearSiteSuccess': '清除站點快取成功！',
  'message.connectionSuccess': '連線成功！',
  'message.compressionSuccess': 'HTTP 壓縮設定成功！',
  'message.setNginxHttpSuccess': 'Nginx Http 設定成功！',
  'message.setNginxStreamSuccess': 'Nginx Stream 設定成功！',
  'message.setNginxWorkerSuccess': 'Nginx Worker 設定成功！',
  'message.addVNodesToLineSuccess': '虛擬節點加入解析線路成功！',
  'message.removeVNodesFromLineSuccess': '虛擬節點移出解析線路成功！',
  // §8: licences
  'message.createLicenseSuccess': '新增授權成功！',
  'message.updateLicenseSuccess': '更新授權成功！',
  'message.removeLicenseSuccess': '移除授權成功！',
  'message.issueLicenseSuccess': '核發授權成功！',
  'message.createOfflineLicenseSuccess': '新增離線授權成功！',
  // §8: generic, for whatever has no sentence of its own
  'message.createSuccess': '新增成功！',
  'message.updateSuccess': '更新成功！',
  'message.deleteSuccess': '刪除成功！',
  'message.resetSuccess': '重設成功！',
  'message.modifySuccess': '修改成功！',
  'message.exportSuccess': '匯出成功！',
  'message.createFailed': '新增失敗！',
  'message.updateFailed': '更新失敗！',
  'message.deleteFailed': '刪除失敗！',
  'message.resetFailed': '重設失敗！',
  'message.modifyFailed': '修改失敗！',
  'message.exportFailed': '匯出失敗！',
  // §8: nodes
  'message.nodeInitialSuccess': '節點初始化成功！',
  'message.nodeRestartSuccess': '節點重新啟動成功！',
  'message.nodeResetSuccess': '節點重設成功！',
  'message.cacheClearSuccess': '清除快取成功！',
  'message.addSubNodeSuccess': '新增子節點成功！',
  'message.removeSubNodeSuccess': '移除子節點成功！',
  'message.detectionSuccess': '偵測成功！',
  'message.nodeInitialFailed': '節點初始化失敗！',
  'message.nodeRestartFailed': '節點重新啟動失敗！',
  'message.nodeResetFailed': '節點重設失敗！',
  'message.cacheClearFailed': '清除快取失敗！',
  'message.addSubNodeFailed': '新增子節點失敗！',
  'message.removeSubNodeFailed': '移除子節點失敗！',
  'message.detectionFailed': '偵測失敗！',
  // §8: the dialog of 101009
  'message.multipleError': '發生多項錯誤',
} as const;
export type Messages = Record<keyof typeof messages, string>;
export default messages;
