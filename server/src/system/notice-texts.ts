/** What notices say, in each language: `{names}` are the first few, `{count}` all of them. */
import type { Language, Text } from '#contract/kit/text.ts';
import { fill } from '#contract/kit/text.ts';
import { backupProblem } from '#contract/system/backup-problems.ts';
import type { NoticeKind } from '#contract/limits.ts';

const texts: Record<NoticeKind, Text> = {
  certificateFailed: {
    zh_TW: '無法取得憑證：{names}',
    zh_CN: '无法取得证书：{names}',
    en_US: 'No certificate could be had for {names}',
  },
  certificateEnds: {
    zh_TW: '憑證即將到期，而且不會自動更新：{names}',
    zh_CN: '证书即将到期，而且不会自动更新：{names}',
    en_US:
      '{count, one: A certificate ends soon and does not renew by itself, other: Certificates end soon and do not renew by themselves}: {names}',
  },
  nodeOffline: {
    zh_TW: '{count} 個節點離線：{names}',
    zh_CN: '{count} 个节点离线：{names}',
    en_US: '{count} {count, one: node is, other: nodes are} offline: {names}',
  },
  nodeBack: {
    zh_TW: '{count} 個節點恢復連線：{names}',
    zh_CN: '{count} 个节点恢复连接：{names}',
    en_US: '{count} {count, one: node is, other: nodes are} back: {names}',
  },
  originDown: {
    zh_TW: '{count} 個源站失效：{names}',
    zh_CN: '{count} 个源站失效：{names}',
    en_US: '{count} {count, one: origin is, other: origins are} down: {names}',
  },
  originBack: {
    zh_TW: '{count} 個源站恢復：{names}',
    zh_CN: '{count} 个源站恢复：{names}',
    en_US: '{count} {count, one: origin is, other: origins are} back: {names}',
  },
  trafficWarning: {
    zh_TW: '本月流量已用到八成：{names}',
    zh_CN: '本月流量已用到八成：{names}',
    en_US: 'Four fifths of this month’s traffic are used: {names}',
  },
  trafficUsedUp: {
    zh_TW: '本月流量已用完，站點仍繼續服務：{names}',
    zh_CN: '本月流量已用完，站点仍继续服务：{names}',
    en_US: 'This month’s traffic is used up, sites go on: {names}',
  },
  trafficLimited: {
    zh_TW: '本月流量已用完，站點已停止服務：{names}',
    zh_CN: '本月流量已用完，站点已停止服务：{names}',
    en_US: 'This month’s traffic is used up and sites are stopped: {names}',
  },
  accountLocked: {
    zh_TW: '帳號已鎖定：{names}',
    zh_CN: '账号已锁定：{names}',
    en_US: '{count, one: Account, other: Accounts} locked: {names}',
  },
  accountEnds: {
    zh_TW: '帳號即將到期：{names}',
    zh_CN: '账号即将到期：{names}',
    en_US: '{count, one: An account ends, other: Accounts end} soon: {names}',
  },
  licenceEnds: {
    zh_TW: '授權即將到期：{names}',
    zh_CN: '授权即将到期：{names}',
    en_US: 'The license ends soon: {names}',
  },
  backupFailed: { zh_TW: '系統備份失敗', zh_CN: '系统备份失败', en_US: 'A backup of the installation failed' },
  newDevice: {
    zh_TW: '從新裝置登入：{names}',
    zh_CN: '从新设备登录：{names}',
    en_US: 'Signed in from a new device: {names}',
  },
  tokenCopied: {
    zh_TW: '登入憑證或 API 權杖疑似遭複製，已將它結束：{names}',
    zh_CN: '登录凭证或 API 令牌疑似遭复制，已将它结束：{names}',
    en_US: 'A copy of a sign-in or an API token turned up, so it was ended: {names}',
  },
};
const more: Text = { zh_TW: '等', zh_CN: '等', en_US: ' …' };
/** Of the mail that tells of several. */
export const mailTitles: { readonly one: Text; readonly many: Text; readonly more: Text } = {
  one: { zh_TW: '通知：{sentence}', zh_CN: '通知：{sentence}', en_US: 'Notice: {sentence}' },
  many: { zh_TW: '{count} 則通知', zh_CN: '{count} 条通知', en_US: '{count} notices' },
  more: {
    zh_TW: '另外 {count} 則，請到控制台查看。',
    zh_CN: '另外 {count} 条，请到控制台查看。',
    en_US: 'And {count} more in the console.',
  },
};

export interface Told {
  kind: NoticeKind;
  count: number;
  names: readonly string[];
  detail: string;
}
/** What is said about it, in words of that language where they are ours. */
export const noticeDetail = ({ kind, detail }: Pick<Told, 'kind' | 'detail'>, language: Language): string =>
  kind === 'backupFailed' ? backupProblem(detail, language) : detail;
export function noticeSentence({ kind, count, names }: Told, language: Language): string {
  const listed = names.join(language === 'en_US' ? ', ' : '、') + (count > names.length ? more[language] : '');
  return fill(texts[kind][language], { count, names: listed }).slice(0, 1000);
}
