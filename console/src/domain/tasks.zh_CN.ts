import type { SameAs } from '../kit/text.ts';
import type texts from './tasks.zh_TW.ts';

export default {
  'task.autoSSL': '为 {count} 个域名申请证书',
  'taskLine.autoSSL.renewsSuggested': '{host}：证书机构建议在 {from} 至 {until} 之间续期，开始续期',
  'taskLine.autoSSL.renewsAged': '{host}：证书有效期已过三分之二（{until} 到期），开始续期',
  'taskLine.autoSSL.renewsAsked': '{host}：应要求重新申请证书',
  'taskLine.autoSSL.ordered': '{host}：已向证书机构下单',
  'taskLine.autoSSL.spread': '{host}：{nodes} 个节点已备妥验证回应',
  'taskLine.autoSSL.spreadPartly': '{host}：{total} 个节点中仅 {nodes} 个备妥验证回应',
  'taskLine.autoSSL.validated': '{host}：证书机构已确认域名归属',
  'taskLine.autoSSL.byDNS': '{host}：HTTP 验证未通过（{why}），改以 DNS 验证',
  'taskLine.autoSSL.otherAuthority': '{host}：原证书机构无法签发（{why}），稍后改向 {authority} 申请',
  'taskLine.autoSSL.recordPut': '{host}：已在 {zone} 添加验证记录 {name}',
  'taskLine.autoSSL.recordSeen': '{host}：域名服务器已返回验证记录',
  'taskLine.autoSSL.recordLater': '{host}：DNS 服务暂时无法使用，{seconds} 秒后重试：{why}',
  'taskLine.autoSSL.recordGone': '{host}：已移除验证记录',
  'taskLine.autoSSL.recordLeft': '{host}：验证记录尚未移除，会继续尝试：{why}',
  'taskLine.autoSSL.issued': '{host}：证书已签发，有效至 {until}',
  'taskLine.autoSSL.notIssued': '{host}：未能签发，{minutes} 分钟后重试：{why}',
  'taskLine.autoSSL.notTaken': '{host}：证书无法存入，{minutes} 分钟后重试：',
  'taskLine.autoSSL.limited': '证书机构要求暂缓，{count} 个域名将于 {minutes} 分钟后重试',
} satisfies SameAs<typeof texts>;
