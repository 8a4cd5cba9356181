/**
 * Why something is in the wrong form, and how it is written instead. On the wire the rule stays `wrongFormat` (§5); its `bounds` say `why`,
 * and whoever shows it says the sentence.
 */
import type { Text } from '../kit/text.ts';

export const reasonTexts = {
  hostBlank: {
    zh_TW: '不可含有空白，每次只能填寫一個',
    zh_CN: '不能含有空格，每次只能填写一个',
    en_US: 'No blanks: one name only',
  },
  hostIsIP: {
    zh_TW: '這是 IP 位址，請填寫網域名稱，例如 www.example.com',
    zh_CN: '这是 IP 地址，请填写域名，例如 www.example.com',
    en_US: 'This is an IP address; write a domain name, such as www.example.com',
  },
  hostUnicode: {
    zh_TW: '非英文的網域請寫成 xn-- 開頭的形式',
    zh_CN: '非英文的域名请写成 xn-- 开头的形式',
    en_US: 'Write names in other scripts in their xn-- form',
  },
  hostWhole: {
    zh_TW: '請填寫完整的網域名稱，例如 www.example.com',
    zh_CN: '请填写完整的域名，例如 www.example.com',
    en_US: 'Write the whole domain name, such as www.example.com',
  },
  hostLabels: {
    zh_TW: '只能使用英文字母、數字、連字號與點，例如 www.example.com；連字號與點不可在開頭、結尾或相連',
    zh_CN: '只能使用英文字母、数字、连字符与点，例如 www.example.com；连字符与点不能在开头、结尾或相连',
    en_US: 'Letters, digits, hyphens and dots alone, such as www.example.com; no part is empty or begins or ends with a hyphen',
  },
  hostPublicSuffix: {
    zh_TW: '這是公共網域尾碼，不屬於任何人，請填寫自己的網域，例如 www.example.com',
    zh_CN: '这是公共域名后缀，不属于任何人，请填写自己的域名，例如 www.example.com',
    en_US: 'This is a public suffix, which is nobody’s own. Write a name of yours, such as www.example.com',
  },
  hostPath: {
    zh_TW: '只填寫網域名稱，不含協定、連接埠與路徑',
    zh_CN: '只填写域名，不含协议、端口与路径',
    en_US: 'The domain name alone, without scheme, port or path',
  },
  originForm: {
    zh_TW: '請填寫 IP 位址或主機名稱，例如 203.0.113.7 或 origin.example.com',
    zh_CN: '请填写 IP 地址或主机名，例如 203.0.113.7 或 origin.example.com',
    en_US: 'Write an IP address or a host name, such as 203.0.113.7 or origin.example.com',
  },
  portApart: {
    zh_TW: '連接埠請填寫在它自己的欄位',
    zh_CN: '端口请填写在它自己的字段',
    en_US: 'Write the port in its own field',
  },
  hostHeader: {
    zh_TW: '請填寫主機名稱，需要時加上連接埠，例如 www.example.com 或 www.example.com:8080',
    zh_CN: '请填写主机名，需要时加上端口，例如 www.example.com 或 www.example.com:8080',
    en_US: 'Write a host name, with a port if needed, such as www.example.com or www.example.com:8080',
  },
  ipForm: {
    zh_TW: '請填寫 IP、CIDR 或範圍，例如 203.0.113.7、203.0.113.0/24、203.0.113.1-203.0.113.9',
    zh_CN: '请填写 IP、CIDR 或范围，例如 203.0.113.7、203.0.113.0/24、203.0.113.1-203.0.113.9',
    en_US: 'Write an IP, a CIDR block or a range, such as 203.0.113.7, 203.0.113.0/24 or 203.0.113.1-203.0.113.9',
  },
  ipWithPort: {
    zh_TW: '只填寫位址，不含連接埠',
    zh_CN: '只填写地址，不含端口',
    en_US: 'The address alone, without a port',
  },
  ipZone: {
    zh_TW: '不可帶介面名稱（% 之後的部分）',
    zh_CN: '不能带接口名（% 之后的部分）',
    en_US: 'Without the name of an interface (what stands after %)',
  },
  network: {
    zh_TW: '請填寫 IP 或 CIDR，例如 203.0.113.7 或 203.0.113.0/24',
    zh_CN: '请填写 IP 或 CIDR，例如 203.0.113.7 或 203.0.113.0/24',
    en_US: 'Write an IP or a CIDR block, such as 203.0.113.7 or 203.0.113.0/24',
  },
  urlForm: {
    zh_TW: '請填寫完整的網址，以 http:// 或 https:// 開頭，例如 https://www.example.com/images/',
    zh_CN: '请填写完整的网址，以 http:// 或 https:// 开头，例如 https://www.example.com/images/',
    en_US: 'Write the whole address, from http:// or https:// on, such as https://www.example.com/images/',
  },
  extensions: {
    zh_TW: '只填寫副檔名，以逗號分隔，例如 jpg,png',
    zh_CN: '只填写扩展名，以逗号分隔，例如 jpg,png',
    en_US: 'The extensions alone, separated by commas, such as jpg,png',
  },
  wholeSite: {
    zh_TW: '整個站點不需要比對內容，請留空',
    zh_CN: '整个站点不需要匹配内容，请留空',
    en_US: 'The whole site needs nothing to match: leave it empty',
  },
  redirectSource: {
    zh_TW: '必須是 / 開頭的路徑，例如 /old；不可含空白或 #，「前綴」也不可含 ?',
    zh_CN: '必须是 / 开头的路径，例如 /old；不能含空格或 #，“前缀”也不能含 ?',
    en_US: 'Must be a path that starts with /, such as /old, without blanks or #, and for a prefix without ?',
  },
  nameServerForm: {
    zh_TW: '請填寫名稱伺服器，需要時以空白隔開加上 IP 位址，例如 ns1.cdn.example.com 203.0.113.53',
    zh_CN: '请填写域名服务器，需要时以空格隔开加上 IP 地址，例如 ns1.cdn.example.com 203.0.113.53',
    en_US: 'A name server, followed by its addresses where it needs them, such as ns1.cdn.example.com 203.0.113.53',
  },
  dnsServerForm: {
    zh_TW: '請填寫主機名稱或 IP 位址，可加連接埠，例如 ns1.example.com 或 203.0.113.7:5353',
    zh_CN: '请填写主机名或 IP 地址，可加端口，例如 ns1.example.com 或 203.0.113.7:5353',
    en_US: 'A host name or IP address, with a port if it is not 53, such as ns1.example.com or 203.0.113.7:5353',
  },
  dnsKeyChars: {
    zh_TW: '只能使用英文字母、數字、點、底線與連字號',
    zh_CN: '只能使用英文字母、数字、点、下划线与连字符',
    en_US: 'Letters of English, digits, dots, underscores and hyphens alone',
  },
  dnsKeyName: {
    zh_TW: 'TSIG 金鑰名稱的格式如同網域名稱，例如 breakwater.example.com',
    zh_CN: 'TSIG 密钥名称的格式如同域名，例如 breakwater.example.com',
    en_US: 'The name of a TSIG key has the form of a domain name, such as breakwater.example.com',
  },
  dnsKeyBase64: {
    zh_TW: 'TSIG 金鑰以 base64 書寫，請照名稱伺服器設定檔中的 secret 填寫',
    zh_CN: 'TSIG 密钥以 base64 书写，请照域名服务器配置文件中的 secret 填写',
    en_US: 'A TSIG key is written in base64, as "secret" in the configuration of the name server has it',
  },
  headerName: {
    zh_TW: '請填寫標頭名稱，例如 X-Request-ID；不可含空白或冒號',
    zh_CN: '请填写 HTTP 头名称，例如 X-Request-ID；不能含空格或冒号',
    en_US: 'Write the name of a header, such as X-Request-ID, without blanks or a colon',
  },
  mediaType: {
    zh_TW: '請填寫媒體類型，例如 text/html 或 text/*',
    zh_CN: '请填写媒体类型，例如 text/html 或 text/*',
    en_US: 'Write a media type, such as text/html or text/*',
  },
  invisible: {
    zh_TW: '含有看不見的控制字元，請刪除後重新輸入',
    zh_CN: '含有看不见的控制字符，请删除后重新输入',
    en_US: 'Holds characters that cannot be seen; remove them',
  },
} as const satisfies Record<string, Text>;

export type Reason = keyof typeof reasonTexts;
