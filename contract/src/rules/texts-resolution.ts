/** What is wrong about zones and name servers, in three languages. */
import type { Text } from '../kit/text.ts';

export const resolutionTexts = {
  geoUnreadable: {
    zh_TW: '無法使用這個檔案：{why}。請上傳 MMDB 格式、含國家或 ASN 的資料',
    zh_CN: '无法使用这个文件：{why}。请上传 MMDB 格式、含国家或 ASN 的数据',
    en_US: 'This file is of no use: {why}. Upload an MMDB that tells of countries or ASNs',
  },
  geoFetchUnread: {
    zh_TW: '取得的檔案無法使用：{why}',
    zh_CN: '获取的文件无法使用：{why}',
    en_US: 'The file that came is of no use: {why}',
  },
  geoFetchStatus: {
    zh_TW: '來源回應 HTTP {status}，沒有給出檔案',
    zh_CN: '来源返回 HTTP {status}，没有给出文件',
    en_US: 'The source answered HTTP {status} instead of a file',
  },
  geoFetchLost: {
    zh_TW: '無法從來源取得檔案：{why}',
    zh_CN: '无法从来源获取文件：{why}',
    en_US: 'The source could not be reached: {why}',
  },
  geoFetchLarge: {
    zh_TW: '來源的檔案超過 {mb} MB',
    zh_CN: '来源的文件超过 {mb} MB',
    en_US: 'The source’s file has more than {mb} MB',
  },
  geoFetchOlder: {
    zh_TW: '來源的資料（{theirs}）比目前使用的（{ours}）還舊',
    zh_CN: '来源的数据（{theirs}）比目前使用的（{ours}）还旧',
    en_US: 'The source’s data ({theirs}) are older than those that count ({ours})',
  },
  geoHeaderName: {
    zh_TW: '請填 Authorization、Cookie 或以 X- 開頭的名稱',
    zh_CN: '请填 Authorization、Cookie 或以 X- 开头的名称',
    en_US: 'Use Authorization, Cookie or a name that begins with X-',
  },
  geoHeader: {
    zh_TW: '只能是英文、數字與一般符號，前後不可有空白',
    zh_CN: '只能是英文、数字与一般符号，前后不能有空格',
    en_US: 'Letters, digits and signs of ASCII alone, without blanks at either end',
  },
  geoHeaderAgain: {
    zh_TW: '來源換了主機，請重新輸入標頭的值',
    zh_CN: '来源换了主机，请重新输入请求头的值',
    en_US: 'The source is at another host: enter the header’s value again',
  },
  zoneOfAnother: {
    zh_TW: '這個網域，或它的上層、下層網域，已是 CNAME 網域',
    zh_CN: '这个域名，或它的上级、下级域名，已是 CNAME 域名',
    en_US: 'This name, or one above or below it, is a CNAME zone already',
  },
  zoneOfEverybody: {
    zh_TW: '{value} 是公用的網域後綴，請使用自己的網域',
    zh_CN: '{value} 是公共域名后缀，请使用自己的域名',
    en_US: '{value} is a public suffix: use a domain of your own',
  },
  zoneInUse: {
    zh_TW: '仍有 {n} 個網域指向這裡，請先請客戶改指向別處',
    zh_CN: '仍有 {n} 个域名指向这里，请先让客户改指向别处',
    en_US: '{n} {n, one: domain still leads, other: domains still lead} here: have {n, one: it, other: them} moved first',
  },
  zoneDelegated: {
    zh_TW:
      '上層網域仍有這個網域的 DS 紀錄，此時移除這個網域，會驗證 DNSSEC 的解析器將無法解析其下的名稱：請先在註冊商處刪除 DS，等快取過期後再試',
    zh_CN:
      '上级域名仍有这个域名的 DS 记录，此时移除这个域名，会验证 DNSSEC 的解析器将无法解析其下的名称：请先在注册商处删除 DS，等缓存过期后再试',
    en_US:
      'The zone above still has a DS of this zone: were this zone removed now, resolvers that validate would find none of its names. Delete the DS at your registrar, wait until resolvers no longer have it, and try again',
  },
  zoneAboveUnseen: {
    zh_TW: '目前沒有解析器回應上層網域是否仍有這個網域的 DS 紀錄：請確認解析器正常後再試',
    zh_CN: '目前没有解析器应答上级域名是否仍有这个域名的 DS 记录：请确认解析器正常后再试',
    en_US: 'No resolver says now whether the zone above still has a DS of this zone: see that resolvers answer, and try again',
  },
  zoneRemembered: {
    zh_TW: '上層網域已沒有這個網域的 DS 紀錄，但解析器可能仍在快取中保有：請於 {minutes} 分鐘後再試',
    zh_CN: '上级域名已没有这个域名的 DS 记录，但解析器的缓存中可能还有：请在 {minutes} 分钟后再试',
    en_US: 'The zone above has no DS of this zone any more, but resolvers may still remember it: try again in {minutes} min',
  },
  cnameBesideOthers: {
    zh_TW: 'CNAME 不能與其他紀錄並存：{name}',
    zh_CN: 'CNAME 不能与其他记录并存：{name}',
    en_US: 'A CNAME cannot stand beside other records: {name}',
  },
  cnameLoop: {
    zh_TW: '{value} 位於 CNAME 網域之內，會繞回自己',
    zh_CN: '{value} 位于 CNAME 域名之内，会绕回自己',
    en_US: '{value} lies in a CNAME zone: it would lead back to itself',
  },
  cnameToSite: {
    zh_TW: '{value} 是這裡站點的網域，會繞回自己',
    zh_CN: '{value} 是这里站点的域名，会绕回自己',
    en_US: '{value} is a domain of a site here: it would lead back to itself',
  },
  domainLedTo: {
    zh_TW: '這裡的名稱會轉向 {value}，加入後會繞回自己，請聯絡服務商',
    zh_CN: '这里的名称会转向 {value}，添加后会绕回自己，请联系服务商',
    en_US: 'Names here lead on to {value}, which would lead back to itself: ask your provider',
  },
  zoneUnsure: {
    zh_TW: '有 {n} 個網域近期無法確認指向何處，可能仍指向這裡：請先檢查它們的 CNAME',
    zh_CN: '有 {n} 个域名近期无法确认指向何处，可能仍指向这里：请先检查它们的 CNAME',
    en_US:
      'Where {n} {n, one: domain leads, other: domains lead} is not known of late, perhaps here: check {n, one: its, other: their} CNAME first',
  },
  dnsInUse: {
    zh_TW: '仍有 {n} 個 CNAME 網域由它回應，請先移除這些網域',
    zh_CN: '仍有 {n} 个 CNAME 域名由它应答，请先移除这些域名',
    en_US: 'It answers for {n} CNAME {n, one: zone: remove it, other: zones: remove them} first',
  },
  dnsLeaving: {
    zh_TW:
      '正在從 {n} 個已移除的 CNAME 網域撤下紀錄：請稍後再試。若伺服器沒有回應，網域移除 {minutes} 分鐘後即可移除此設定，紀錄須自行刪除',
    zh_CN:
      '正在从 {n} 个已移除的 CNAME 域名撤下记录：请稍后再试。若服务器没有应答，域名移除 {minutes} 分钟后即可移除此设置，记录须自行删除',
    en_US:
      'Our records are being taken away from {n} removed CNAME {n, one: zone, other: zones}: try again shortly. If the server does not answer, this can go {minutes} minutes after the {n, one: zone, other: zones}, and the records are yours to delete',
  },
  dnsKeyAgain: {
    zh_TW: '更改 API 位址時，請重新輸入 API 金鑰',
    zh_CN: '更改 API 地址时，请重新输入 API 密钥',
    en_US: 'The address of the API changes: enter its key again',
  },
  signedStays: {
    zh_TW: '已簽署的網域無法取消簽署或改用其他名稱伺服器：上層網域的 DS 紀錄會使解析失敗',
    zh_CN: '已签名的域名无法取消签名或改用其他域名服务器：上层域名的 DS 记录会使解析失败',
    en_US: 'A signed zone stays signed, and where it is: with its DS in the zone above nothing else is believed',
  },
  newKeyNotNow: {
    zh_TW: '網域已簽署且只有一把金鑰時，才能更換金鑰',
    zh_CN: '域名已签名且只有一把密钥时，才能更换密钥',
    en_US: 'A key can be replaced once the zone is signed, and while no other one is taking its place',
  },
  lineRules: {
    zh_TW:
      '您的線路在所有 CNAME 網域中共需 {used} 條規則，上限為 {n} 條：請減少網段、ASN、地區、CNAME 網域或線路上的節點位址（回應每滿 8 個位址，規則多計一次）',
    zh_CN:
      '您的线路在所有 CNAME 域名中共需 {used} 条规则，上限为 {n} 条：请减少网段、ASN、地区、CNAME 域名或线路上的节点地址（应答每满 8 个地址，规则多计一次）',
    en_US:
      'Your lines make {used} rules in all CNAME zones, {n} at most: have fewer networks, ASNs, places, CNAME zones, or addresses on a line (eight of an answer count its rules once more)',
  },
  lineKeys: {
    zh_TW: '這些 ASN 與地區共需 {used} 條規則，一個群組上限為 {n} 條：請減少 ASN 或地區',
    zh_CN: '这些 ASN 与地区共需 {used} 条规则，一个分组上限为 {n} 条：请减少 ASN 或地区',
    en_US: 'These ASNs and places make {used} rules, {n} at most for a group: have fewer of them',
  },
  lineTwice: {
    zh_TW: '{value} 已在另一條線路上：同一群組中，一個來源只能屬於一條線路',
    zh_CN: '{value} 已在另一条线路上：同一分组中，一个来源只能属于一条线路',
    en_US: '{value} is on another line already: in a group it can be on one alone',
  },
  tooManyLines: {
    zh_TW: '這個群組已有 {max} 條自訂線路，無法再新增：請先移除一條',
    zh_CN: '这个分组已有 {max} 条自定义线路，无法再新增：请先移除一条',
    en_US: 'The group has {max} lines of its own already, and can have no more: remove one first',
  },
  glueMissing: {
    zh_TW: '名稱伺服器位於這個網域之內，請填寫它的 IP 位址',
    zh_CN: '域名服务器位于这个域名之内，请填写它的 IP 地址',
    en_US: 'This name server lies in the zone itself: give its addresses',
  },
} as const satisfies Record<string, Text>;
