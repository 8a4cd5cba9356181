/** Those of accounts and of what they act by (texts.ts). */
import type { Text } from '../kit/text.ts';

export const peopleTexts = {
  roleRequired: { zh_TW: '請選擇一個角色', zh_CN: '请选择一个角色', en_US: 'Choose one role' },
  passwordNotYours: {
    zh_TW: '您的權限低於這個帳號，不能替它設定密碼。請留空，由權限足夠的人設定',
    zh_CN: '您的权限低于这个账号，不能替它设置密码。请留空，由权限足够的人设置',
    en_US:
      'You hold less than this account will, so you may not set its password. Leave it empty: somebody who may act as the account sets it',
  },
  passwordNeedsPerson: {
    zh_TW: 'API 權杖不能設定密碼。請留空，由人設定',
    zh_CN: 'API 令牌不能设置密码。请留空，由人设置',
    en_US: 'An API token sets no password. Leave it empty: a person sets it',
  },
  tooManyApiTokens: {
    zh_TW: '每個帳號最多 {n} 個 API 權杖。請先刪除不用的',
    zh_CN: '每个账号最多 {n} 个 API 令牌。请先删除不用的',
    en_US: 'An account has at most {n} API tokens. End those nobody uses first',
  },
  beyondSites: {
    zh_TW: '{value} 與站點無關，只限部分站點的權杖不能有',
    zh_CN: '{value} 与站点无关，只限部分站点的令牌不能有',
    en_US: '{value} is not about sites: a token for some sites cannot hold it',
  },
} as const satisfies Record<string, Text>;
