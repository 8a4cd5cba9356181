/** What the file of the audit says itself, in the reader's language; names of tables, fields and reasons stand in it as they are kept. */
import type { Area } from '#contract/kit/areas.ts';
import type { Text } from '#contract/kit/text.ts';
import type { auditChangeKinds } from '#contract/states-audit.ts';

/** Its columns, in their order. */
export const columnWords = {
  createdAt: { zh_TW: '時間（UTC）', zh_CN: '时间（UTC）', en_US: 'Time (UTC)' },
  accountName: { zh_TW: '帳號', zh_CN: '账号', en_US: 'Account' },
  proxyName: { zh_TW: '代為操作者', zh_CN: '代为操作者', en_US: 'Acted by' },
  tokenName: { zh_TW: 'API 權杖', zh_CN: 'API 令牌', en_US: 'API token' },
  area: { zh_TW: '身分', zh_CN: '身份', en_US: 'Signed in as' },
  method: { zh_TW: '方法', zh_CN: '方法', en_US: 'Method' },
  url: { zh_TW: '網址', zh_CN: '网址', en_US: 'URL' },
  permission: { zh_TW: '權限', zh_CN: '权限', en_US: 'Permission' },
  status: { zh_TW: '結果', zh_CN: '结果', en_US: 'Result' },
  reason: { zh_TW: '原因', zh_CN: '原因', en_US: 'Why' },
  times: { zh_TW: '次數', zh_CN: '次数', en_US: 'Times' },
  lastAt: { zh_TW: '最後一次（UTC）', zh_CN: '最后一次（UTC）', en_US: 'Last time (UTC)' },
  durationMs: { zh_TW: '耗時（毫秒）', zh_CN: '耗时（毫秒）', en_US: 'Duration (ms)' },
  ip: { zh_TW: '來源', zh_CN: '来源', en_US: 'From' },
  reqID: { zh_TW: '請求編號', zh_CN: '请求编号', en_US: 'Request' },
  changes: { zh_TW: '變更內容', zh_CN: '更改内容', en_US: 'Changes' },
} as const satisfies Record<string, Text>;

export const kindWords: Readonly<Record<(typeof auditChangeKinds)[number], Text>> = {
  added: { zh_TW: '新增', zh_CN: '新增', en_US: 'Added' },
  changed: { zh_TW: '變更', zh_CN: '更改', en_US: 'Changed' },
  removed: { zh_TW: '刪除', zh_CN: '删除', en_US: 'Removed' },
};

export const areaWords: Readonly<Record<Area, Text>> = {
  user: { zh_TW: '客戶', zh_CN: '客户', en_US: 'Customer' },
  client: { zh_TW: '營運商', zh_CN: '运营商', en_US: 'Operator' },
  admin: { zh_TW: '管理員', zh_CN: '管理员', en_US: 'Administrator' },
};

/** Of a change that stands for several rows. */
export const rowsWords: Text = { zh_TW: '{count} 筆', zh_CN: '{count} 条', en_US: '{count} {count, one: row, other: rows}' };
/** Of a line whose changes are more than a cell has room for. */
export const tooLargeWords: Text = {
  zh_TW: '變更過大，未列出（{count} 個字元）',
  zh_CN: '更改过大，未列出（{count} 个字符）',
  en_US: 'Too large to be listed ({count} characters)',
};
