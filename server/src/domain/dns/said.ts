/** What went wrong between us and a name server, in three languages: what a provider says in its own words stays in these (`raw`). */
import { fill, type Language, type Text } from '#contract/kit/text.ts';

const texts = {
  /** of several names, after the first one's */
  andMore: {
    zh_TW: '{text}（另有 {count} 個名稱）',
    zh_CN: '{text}（另有 {count} 个名称）',
    en_US: '{text} (and {count} more)',
  },
  /** its own words */
  raw: { zh_TW: '{why}', zh_CN: '{why}', en_US: '{why}' },
  noZone: {
    zh_TW: '那裡沒有網域 {zone}，請先在那裡建立',
    zh_CN: '那里没有域名 {zone}，请先在那里创建',
    en_US: 'it has no zone {zone}: make it there first',
  },
  noServer: {
    zh_TW: '這套系統沒有這種名稱伺服器',
    zh_CN: '这套系统没有这种域名服务器',
    en_US: 'this installation has no such name server',
  },
  noCredentials: {
    zh_TW: 'DNS 設定沒有金鑰',
    zh_CN: 'DNS 设置没有密钥',
    en_US: 'the DNS setting has no credentials',
  },
  answered: { zh_TW: '{host} 回應 {rcode}', zh_CN: '{host} 返回 {rcode}', en_US: '{host} answered {rcode}' },
  answeredOf: {
    zh_TW: '{host} 對 {name} 回應 {rcode}',
    zh_CN: '{host} 对 {name} 返回 {rcode}',
    en_US: '{host} answered {rcode} for {name}',
  },
  notAuth: {
    zh_TW: '{host} 回應 NOTAUTH：那裡沒有這個網域，或沒有使用這種演算法的金鑰 {key}',
    zh_CN: '{host} 返回 NOTAUTH：那里没有这个域名，或没有使用这种算法的密钥 {key}',
    en_US: '{host} answered NOTAUTH: it has no such zone, or not the key {key} with this algorithm',
  },
  keyRefused: {
    zh_TW: '{host} 不接受金鑰 {key}（{rcode}）',
    zh_CN: '{host} 不接受密钥 {key}（{rcode}）',
    en_US: '{host} does not take the key {key} ({rcode})',
  },
  keyRefusedOf: {
    zh_TW: '{host} 不讓金鑰 {key} 更改 {name}（{rcode}）',
    zh_CN: '{host} 不让密钥 {key} 更改 {name}（{rcode}）',
    en_US: '{host} does not let the key {key} change {name} ({rcode})',
  },
  unsigned: {
    zh_TW: '{host} 的回應沒有以金鑰 {key} 簽署',
    zh_CN: '{host} 的响应没有用密钥 {key} 签名',
    en_US: 'the answer of {host} is not signed with the key {key}',
  },
  clockUnknown: {
    zh_TW: '{host} 的時間與本機不同',
    zh_CN: '{host} 的时间与本机不同',
    en_US: '{host} has another time than this machine',
  },
  clock: {
    zh_TW: '{host} 的時鐘與本機相差 {seconds} 秒',
    zh_CN: '{host} 的时钟与本机相差 {seconds} 秒',
    en_US: 'the clock of {host} differs from this machine’s by {seconds} s',
  },
  otherAnswer: {
    zh_TW: '{host} 回應的是別的問題',
    zh_CN: '{host} 返回的是别的问题',
    en_US: '{host} answered something else',
  },
  unreadable: {
    zh_TW: '{host} 的回應無法解讀：{why}',
    zh_CN: '{host} 的响应无法解读：{why}',
    en_US: '{host}: {why}',
  },
  transferRefused: {
    zh_TW: '{host} 不讓金鑰 {key} 傳送網域 {zone}（{rcode}）',
    zh_CN: '{host} 不让密钥 {key} 传送域名 {zone}（{rcode}）',
    en_US: '{host} does not let the key {key} transfer the zone {zone} ({rcode})',
  },
  transferUnsigned: {
    zh_TW: '{host} 傳送的 {zone} 沒有以金鑰 {key} 簽署',
    zh_CN: '{host} 传送的 {zone} 没有用密钥 {key} 签名',
    en_US: 'the transfer of {zone} by {host} is not signed with the key {key}',
  },
  transferOther: {
    zh_TW: '{host} 傳送的不是 {zone}',
    zh_CN: '{host} 传送的不是 {zone}',
    en_US: '{host} transfers something else than {zone}',
  },
  transferCut: {
    zh_TW: '{host} 中斷了 {zone} 的傳送',
    zh_CN: '{host} 中断了 {zone} 的传送',
    en_US: '{host} ended the transfer of {zone} in its midst',
  },
  inTheWay: {
    zh_TW: '{name} 已有別人的紀錄，我們的紀錄不能並存，請先移除它',
    zh_CN: '{name} 已有别人的记录，我们的记录不能并存，请先移除它',
    en_US: '{name} has a record of somebody else, beside which ours cannot stand: take it away',
  },
  inTheWayType: {
    zh_TW: '{name} 已有別人的 {type} 紀錄，我們的紀錄不能並存，請先移除它',
    zh_CN: '{name} 已有别人的 {type} 记录，我们的记录不能并存，请先移除它',
    en_US: '{name} has a record {type} of somebody else, beside which ours cannot stand: take it away',
  },
  notWritten: {
    zh_TW: '{name} 沒有寫入的內容',
    zh_CN: '{name} 没有写入的内容',
    en_US: '{name} does not hold what was written there',
  },
  otherVersion: {
    zh_TW: '{name} 回應的不是剛寫入的內容',
    zh_CN: '{name} 返回的不是刚写入的内容',
    en_US: '{name} does not answer what was just written there',
  },
  noAccountZone: {
    zh_TW: '{provider} 沒有包含 {name} 的網域',
    zh_CN: '{provider} 没有包含 {name} 的域名',
    en_US: '{provider} has no zone that {name} lies in',
  },
  zoneTwice: {
    zh_TW: '{provider} 有兩個網域 {zone}，請移除沒有委派的那一個',
    zh_CN: '{provider} 有两个域名 {zone}，请移除没有委派的那一个',
    en_US: '{provider} has the zone {zone} twice: take away the one that is not delegated',
  },
  zoneToDelegate: {
    zh_TW: '{provider} 的網域 {zone} 尚未啟用（{state}），沒有人查得到；請將它委派給 {servers}',
    zh_CN: '{provider} 的域名 {zone} 尚未启用（{state}），没有人查得到；请将它委派给 {servers}',
    en_US:
      '{provider} has the zone {zone}, but answers nobody for it: it is {state}, not active; it is to be delegated to {servers}',
  },
  zoneNotActive: {
    zh_TW: '{provider} 的網域 {zone} 尚未啟用（{state}），沒有人查得到',
    zh_CN: '{provider} 的域名 {zone} 尚未启用（{state}），没有人查得到',
    en_US: '{provider} has the zone {zone}, but answers nobody for it: it is {state}, not active',
  },
  zoneOfType: {
    zh_TW: '{provider} 的網域 {zone} 屬於 {type} 類型，不對外回應我們的紀錄',
    zh_CN: '{provider} 的域名 {zone} 属于 {type} 类型，不对外响应我们的记录',
    en_US: '{provider} has the zone {zone}, but answers nobody for it: it is of the type {type}',
  },
  zonePaused: {
    zh_TW: '{provider} 的網域 {zone} 已暫停，沒有人查得到，請在那裡啟用',
    zh_CN: '{provider} 的域名 {zone} 已暂停，没有人查得到，请在那里启用',
    en_US: '{provider} has the zone {zone}, but answers nobody for it: it is paused',
  },
  zoneBanned: {
    zh_TW: '{provider} 的網域 {zone} 已被封鎖，沒有人查得到，請聯絡 {provider}',
    zh_CN: '{provider} 的域名 {zone} 已被封禁，没有人查得到，请联系 {provider}',
    en_US: '{provider} has the zone {zone}, but answers nobody for it: it is banned',
  },
  zoneHides: {
    zh_TW: '{provider} 把 {inner} 當成獨立的網域，遮住了 {name} 的名稱，請移除它',
    zh_CN: '{provider} 把 {inner} 当成独立的域名，遮住了 {name} 的名称，请移除它',
    en_US: '{provider} has {inner} as a zone of its own, which hides names of {name}: take it away',
  },
  resting: {
    zh_TW: '{provider} 要求 {seconds} 秒後再試',
    zh_CN: '{provider} 要求 {seconds} 秒后再试',
    en_US: '{provider} wants to be left alone for another {seconds} s',
  },
  silent: {
    zh_TW: '沒有在時限內回應（{why}）',
    zh_CN: '没有在时限内响应（{why}）',
    en_US: 'no answer in time ({why})',
  },
  unreached: { zh_TW: '無法連線：{why}', zh_CN: '无法连接：{why}', en_US: 'it cannot be reached: {why}' },
  unresolved: {
    zh_TW: '名稱伺服器的主機名稱沒有位址（{why}）',
    zh_CN: '域名服务器的主机名没有地址（{why}）',
    en_US: 'the name server’s host name has no address ({why})',
  },
  forbidden: {
    zh_TW: '這套系統不可連線到那裡（{why}）',
    zh_CN: '这套系统不能连接到那里（{why}）',
    en_US: 'this platform may not connect there ({why})',
  },
  tooLarge: { zh_TW: '回應太大（{why}）', zh_CN: '响应太大（{why}）', en_US: 'the answer is too large ({why})' },
} as const satisfies Readonly<Record<string, Text>>;

export interface DnsSaid {
  code: keyof typeof texts;
  bounds?: Readonly<Record<string, string | number>>;
}

const isCode = (code: unknown): code is DnsSaid['code'] => typeof code === 'string' && Object.hasOwn(texts, code);

/** `why`: for what has no code, or one that a later release wrote. */
export function saidText(said: DnsSaid | null | undefined, language: Language, why = ''): string {
  return said && isCode(said.code) ? fill(texts[said.code][language], said.bounds) : why;
}
