/** The sentences of the rules. The console has each in its reader's language alone (console/vite.config.ts). */
import type { Text } from '../kit/text.ts';
import { nodeTexts } from './texts-nodes.ts';
import { peopleTexts } from './texts-people.ts';
import { resolutionTexts } from './texts-resolution.ts';

/** What a form shows, by the rule that was broken. `{min}` and the like are filled from the bounds. */
export const ruleTexts = {
  ...nodeTexts,
  ...peopleTexts,
  ...resolutionTexts,
  required: { zh_TW: '必填', zh_CN: '必填', en_US: 'Required' },
  wrongFormat: { zh_TW: '格式錯誤', zh_CN: '格式错误', en_US: 'Wrong format' },
  duplicateIP: { zh_TW: 'IP 重複：{ip}', zh_CN: 'IP 重复：{ip}', en_US: 'Duplicate IP: {ip}' },
  duplicateIPPort: {
    zh_TW: 'IP 與連接埠重複：{address}',
    zh_CN: 'IP 与端口重复：{address}',
    en_US: 'Duplicate IP and port: {address}',
  },
  duplicateValue: { zh_TW: '內容重複：{value}', zh_CN: '内容重复：{value}', en_US: 'Duplicate value: {value}' },
  numeric: { zh_TW: '必須是數字', zh_CN: '必须是数字', en_US: 'Must be a number' },
  integer: { zh_TW: '必須是整數', zh_CN: '必须是整数', en_US: 'Must be a whole number' },
  between: {
    zh_TW: '必須介於 {min} 到 {max} 之間',
    zh_CN: '必须介于 {min} 到 {max} 之间',
    en_US: 'Must be between {min} and {max}',
  },
  greaterThan: { zh_TW: '必須大於 {min}', zh_CN: '必须大于 {min}', en_US: 'Must be greater than {min}' },
  tooSmall: { zh_TW: '不可小於 {min}', zh_CN: '不能小于 {min}', en_US: 'Must be at least {min}' },
  tooBig: { zh_TW: '不可大於 {max}', zh_CN: '不能大于 {max}', en_US: 'Must be at most {max}' },
  tooShort: { zh_TW: '至少 {min} 個字元', zh_CN: '至少 {min} 个字符', en_US: 'At least {min} characters' },
  tooLong: { zh_TW: '最多 {max} 個字元', zh_CN: '最多 {max} 个字符', en_US: 'At most {max} characters' },
  tooFew: { zh_TW: '至少選擇 {min} 項', zh_CN: '至少选择 {min} 项', en_US: 'Choose at least {min}' },
  tooMany: { zh_TW: '最多選擇 {n} 項', zh_CN: '最多选择 {n} 项', en_US: 'Choose at most {n}' },
  invalidChoice: { zh_TW: '不是可選的值', zh_CN: '不是可选的值', en_US: 'Not one of the choices' },
  unknown: { zh_TW: '不存在', zh_CN: '不存在', en_US: 'Does not exist' },
  stale: {
    zh_TW: '已被他人更改，請先比對兩邊的內容',
    zh_CN: '已被他人更改，请先比对两边的内容',
    en_US: 'Changed by somebody else meanwhile: compare both first',
  },
  unknownKey: { zh_TW: '未知的欄位', zh_CN: '未知的字段', en_US: 'Unknown field' },
  nameFormat: {
    zh_TW: '只能使用英文字母、數字和連字號',
    zh_CN: '只能使用英文字母、数字和连字符',
    en_US: 'Only English letters, digits and hyphens',
  },
  nameForbidden: { zh_TW: '不可使用名稱 {name}', zh_CN: '不能使用名称 {name}', en_US: 'The name {name} is not allowed' },
  email: { zh_TW: '電子郵件格式錯誤', zh_CN: '邮箱格式错误', en_US: 'Not a valid e-mail address' },
  passwordMismatch: { zh_TW: '兩次輸入的密碼不一致', zh_CN: '两次输入的密码不一致', en_US: 'The passwords do not match' },
  lowerCase: { zh_TW: '網域必須是小寫', zh_CN: '域名必须是小写', en_US: 'The domain must be lower case' },
  threeDigits: { zh_TW: '狀態碼必須是三位數字', zh_CN: '状态码必须是三位数字', en_US: 'A status code has three digits' },
  methodRequired: { zh_TW: '至少選擇一種方法', zh_CN: '至少选择一种方法', en_US: 'Choose at least one method' },
  invalidRegex: { zh_TW: '正規表示式錯誤', zh_CN: '正则表达式错误', en_US: 'Not a valid regular expression' },
  regexTooLarge: {
    zh_TW: '重複次數展開後過大，節點無法執行。請減少大括號裡的次數，或拆成數條規則',
    zh_CN: '重复次数展开后过大，节点无法执行。请减少大括号里的次数，或拆成多条规则',
    en_US: 'Its counts write out to more than nodes may run. Lower the numbers in braces, or make several rules of it',
  },
  regexUnreadable: {
    zh_TW: '節點不支援「{part}」這種寫法。請改用其他寫法',
    zh_CN: '节点不支持“{part}”这种写法。请改用其他写法',
    en_US: 'Nodes cannot read “{part}”. Write it in another way',
  },
  corsOrigin: {
    zh_TW: '只能是 * 或單一個以 {host} 開頭的來源',
    zh_CN: '只能是 * 或单个以 {host} 开头的来源',
    en_US: 'Only * or a single origin starting with {host}',
  },
  corsOriginOnly: {
    zh_TW: '只能填寫協定與主機，例如 https://www.example.com，不可帶路徑',
    zh_CN: '只能填写协议与主机，例如 https://www.example.com，不能带路径',
    en_US: 'Scheme and host alone, such as https://www.example.com, without a path',
  },
  cookiesWithStar: {
    zh_TW: '瀏覽器不接受 * 與 Cookie 並用。請填寫一個來源，或關閉 Cookie',
    zh_CN: '浏览器不接受 * 与 Cookie 并用。请填写一个来源，或关闭 Cookie',
    en_US: 'Browsers take no * together with cookies. Name one origin, or turn cookies off',
  },
  headersWithStar: {
    zh_TW: '允許 Cookie 時不可使用 *。請逐行列出標頭',
    zh_CN: '允许 Cookie 时不能使用 *。请逐行列出 HTTP 头',
    en_US: 'No * while cookies are allowed. List the headers, one a line',
  },
  headerReserved: {
    zh_TW: '{name} 由平台自行處理，無法自訂。請改用其他標頭',
    zh_CN: '{name} 由平台自行处理，无法自定义。请改用其他 HTTP 头',
    en_US: '{name} is written by the platform itself and cannot be set here. Choose another header',
  },
  rewriteTarget: {
    zh_TW: '必須以 / 開頭，例如 /new/$1；不可含空白或 #，非 ASCII 字元請寫成 %XX',
    zh_CN: '必须以 / 开头，例如 /new/$1；不能含空格或 #，非 ASCII 字符请写成 %XX',
    en_US: 'Must start with /, such as /new/$1, without blanks or #; write what is not ASCII as %XX',
  },
  pathOnly: {
    zh_TW: '必須是 / 開頭的路徑，例如 /images/，不可含空白、? 或 #',
    zh_CN: '必须是 / 开头的路径，例如 /images/，不能含空格、? 或 #',
    en_US: 'Must be a path that starts with /, such as /images/, without blanks, ? or #',
  },
  regexWithScheme: {
    zh_TW: '比對的是路徑與查詢字串，不含協定與主機。請從路徑寫起，例如 ^/login',
    zh_CN: '匹配的是路径与查询字符串，不含协议与主机。请从路径写起，例如 ^/login',
    en_US: 'This is matched against path and query, without scheme and host. Begin with the path, such as ^/login',
  },
  wholeURL: {
    zh_TW: '必須是完整的網址，例如 https://www.example.com/images/',
    zh_CN: '必须是完整的网址，例如 https://www.example.com/images/',
    en_US: 'Must be a whole address, such as https://www.example.com/images/',
  },
  hostOnly: {
    zh_TW: '只填寫主機名稱，例如 www.example.com',
    zh_CN: '只填写主机名，例如 www.example.com',
    en_US: 'The host name alone, such as www.example.com',
  },
  tagsNotKept: {
    zh_TW: '目前無法依標籤清除：快取的內容沒有保留標籤。請改用網址、前綴或主機（類型 1、2、3）',
    zh_CN: '目前无法按标签清除：缓存的内容没有保留标签。请改用网址、前缀或主机（类型 1、2、3）',
    en_US: 'Nothing can be purged by tag: what is cached keeps no tags. Purge by URL, prefix or host (types 1, 2, 3)',
  },
  foreignHost: {
    zh_TW: '{host} 不是這個站點的網域',
    zh_CN: '{host} 不是这个站点的域名',
    en_US: '{host} is no domain of this site',
  },
  startsWithHost: { zh_TW: '必須以 {host} 開頭', zh_CN: '必须以 {host} 开头', en_US: 'Must start with {host}' },
  upstreamRequired: { zh_TW: '網域至少需要一個源站', zh_CN: '域名至少需要一个源站', en_US: 'A domain needs at least one origin' },
  upstreamWithoutEnabled: {
    zh_TW: '至少須啟用一個源站',
    zh_CN: '至少须启用一个源站',
    en_US: 'At least one origin must be enabled',
  },
  portRequired: {
    zh_TW: '{scheme} 至少需要一個連接埠',
    zh_CN: '{scheme} 至少需要一个端口',
    en_US: '{scheme} needs at least one port',
  },
  portMapRequired: {
    zh_TW: '源站協定為「跟隨」時必須開啟連接埠對應',
    zh_CN: '源站协议为“跟随”时必须开启端口映射',
    en_US: 'Following the protocol requires port mapping to be on',
  },
  portMapSame: {
    zh_TW: '跟隨的源站在 http 與 https 都會連到連接埠 {port}，一個連接埠只能使用一種協定。請在連接埠對應填寫不同的連接埠',
    zh_CN: '跟随的源站在 http 与 https 都会连到端口 {port}，一个端口只能使用一种协议。请在端口映射填写不同的端口',
    en_US:
      'An origin that follows would be asked at port {port} over both http and https, and a port speaks one of them. Map them to different ports',
  },
  siteOfAnother: {
    zh_TW: '這個站點屬於另一位客戶',
    zh_CN: '这个站点属于另一位客户',
    en_US: 'This site is another customer’s',
  },
  portNotOpen: {
    zh_TW: '區域沒有開放 {scheme} 的連接埠 {port}',
    zh_CN: '区域没有开放 {scheme} 的端口 {port}',
    en_US: 'The zone has no port {port} for {scheme}',
  },
  zoneVirtualNodes: {
    zh_TW: '區域還有虛擬節點：{names}',
    zh_CN: '区域还有虚拟节点：{names}',
    en_US: 'The zone still has virtual nodes: {names}',
  },
  networkWide: { zh_TW: '{network} 大於 /{min}', zh_CN: '{network} 大于 /{min}', en_US: '{network} is wider than /{min}' },
  portInZone: { zh_TW: '區域已使用連接埠 {port}', zh_CN: '区域已使用端口 {port}', en_US: 'The zone uses port {port} already' },
  portOpened: {
    zh_TW: '站點已開放連接埠 {port}：{sites}',
    zh_CN: '站点已开放端口 {port}：{sites}',
    en_US: 'Sites have port {port} open: {sites}',
  },
  layer4Closed: {
    zh_TW: '{scheme} 屬於四層轉發，產品沒有開放',
    zh_CN: '{scheme} 属于四层转发，产品没有开放',
    en_US: '{scheme} is of layer 4, which the product does not open',
  },
  portExcluded: { zh_TW: '不可使用連接埠 {port}', zh_CN: '不能使用端口 {port}', en_US: 'Port {port} is not allowed' },
  backupMode: {
    zh_TW: '備用模式下的源站無法調整',
    zh_CN: '备用模式下的源站无法调整',
    en_US: 'Origin in backup mode cannot be adjusted',
  },
  ipsOrUrlsRequired: {
    zh_TW: '請至少填寫一個 IP 或網址',
    zh_CN: '请至少填写一个 IP 或网址',
    en_US: 'Fill in at least one IP or URL',
  },
  regionRequired: {
    zh_TW: '黑名單或白名單地區至少填寫一項',
    zh_CN: '黑名单或白名单地区至少填写一项',
    en_US: 'Fill in at least one blacklist or whitelist region',
  },
  startAfterEnd: {
    zh_TW: '開始時間必須早於結束時間',
    zh_CN: '开始时间必须早于结束时间',
    en_US: 'The start must be before the end',
  },
  spanTooLong: { zh_TW: '時間範圍最多 {days} 天', zh_CN: '时间范围最多 {days} 天', en_US: 'The range is at most {days} day(s)' },
  endInFuture: { zh_TW: '結束時間不可晚於現在', zh_CN: '结束时间不能晚于现在', en_US: 'The end must not be in the future' },
  endTooRecent: {
    zh_TW: '只能匯出 {hours} 小時以前的資料',
    zh_CN: '只能导出 {hours} 小时以前的数据',
    en_US: 'Only data up to {hours} {hours, one: hour, other: hours} ago can be exported',
  },
  nameUnproven: {
    zh_TW:
      '其他人也使用或可能使用這個名稱或它上層的名稱。請在 DNS 新增 TXT 紀錄 {record}，內容為 {value}，證明名稱屬於您，然後再試一次',
    zh_CN:
      '其他人也使用或可能使用这个名称或它上级的名称。请在 DNS 添加 TXT 记录 {record}，内容为 {value}，证明名称属于您，然后再试一次',
    en_US:
      'Others use this name or one above it, or could. Show that it is yours: add the TXT record {record} with {value} to its DNS, then try again',
  },
  addressNotAllowed: {
    zh_TW: '{address} 不可使用：這是本機、鏈路本地、群播或保留位址。請填寫公開位址',
    zh_CN: '{address} 不能使用：这是本机、链路本地、组播或保留地址。请填写公网地址',
    en_US: '{address} cannot be used: it is a loopback, link-local, multicast or reserved address. Enter a public address',
  },
  addressPrivate: {
    zh_TW: '{address} 是私有位址，不在允許的範圍內。請填寫公開位址，或請營運商允許此網段',
    zh_CN: '{address} 是私有地址，不在允许的范围内。请填写公网地址，或请服务商允许此网段',
    en_US:
      '{address} is a private address outside the allowed ranges. Enter a public address, or ask your provider to allow its range',
  },
  addressOwn: {
    zh_TW: '{address} 屬於本平台自身，不可使用。請填寫您自己伺服器的位址',
    zh_CN: '{address} 属于本平台自身，不能使用。请填写您自己服务器的地址',
    en_US: '{address} belongs to this platform itself. Enter the address of your own server',
  },
  metadataRange: {
    zh_TW: '{range} 是雲端主機的中繼資料服務，無法開放。請刪除這一行',
    zh_CN: '{range} 是云主机的元数据服务，无法开放。请删除这一行',
    en_US: '{range} is the metadata service of a cloud and cannot be opened. Remove this line',
  },
  privateRange: {
    zh_TW: '{range} 不是私有網段。可填寫 10.0.0.0/8、172.16.0.0/12、192.168.0.0/16、100.64.0.0/10、fc00::/7 之內的 CIDR',
    zh_CN: '{range} 不是私有网段。可填写 10.0.0.0/8、172.16.0.0/12、192.168.0.0/16、100.64.0.0/10、fc00::/7 之内的 CIDR',
    en_US:
      '{range} is no private range. Enter CIDR blocks within 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7',
  },
  wrongPassword: { zh_TW: '密碼錯誤', zh_CN: '密码错误', en_US: 'Wrong password' },
  tooManyTries: {
    zh_TW: '嘗試次數過多，請於 {seconds} 秒後再試',
    zh_CN: '尝试次数过多，请在 {seconds} 秒后重试',
    en_US: 'Too many tries; try again in {seconds} s',
  },
  isOver: {
    zh_TW: '這個時間已經過了，請選擇之後的時間',
    zh_CN: '这个时间已经过了，请选择之后的时间',
    en_US: 'This time is over; choose a later one',
  },
  tooManyTasks: {
    zh_TW: '進行中的任務最多 {n} 項，請等待其中幾項完成',
    zh_CN: '进行中的任务最多 {n} 项，请等待其中几项完成',
    en_US: 'At most {n} tasks may be under way; wait until some have ended',
  },
  tooManyStreams: {
    zh_TW: '同時開啟的即時連線最多 {n} 個，請先關閉其他頁面',
    zh_CN: '同时打开的实时连接最多 {n} 个，请先关闭其他页面',
    en_US: 'At most {n} live connections at once; close another page first',
  },
  tooManyCalls: {
    zh_TW: '您的帳號同時送出的請求過多，請於 {seconds} 秒後再試',
    zh_CN: '您的账号同时发送的请求过多，请在 {seconds} 秒后重试',
    en_US: 'Your account sent too many requests at once; try again in {seconds} s',
  },
  timezone: {
    zh_TW: '請使用 IANA 時區名稱，例如 Asia/Taipei',
    zh_CN: '请使用 IANA 时区名称，例如 Asia/Shanghai',
    en_US: 'Use an IANA time zone name, such as Europe/Berlin',
  },
  json: { zh_TW: '不是有效的 JSON', zh_CN: '不是有效的 JSON', en_US: 'Not valid JSON' },
  tooLarge: { zh_TW: '內容過大', zh_CN: '内容过大', en_US: 'Too large' },
  redirectsExceeded: {
    zh_TW: '重新導向規則的上限為 {max} 筆',
    zh_CN: '重定向规则的上限为 {max} 条',
    en_US: 'The upper limit of redirect rules is {max}',
  },
  redirectTarget: {
    zh_TW: '必須是 / 開頭的路徑，或 http://、https:// 開頭的網址；主機名稱不可含 $ 或 @',
    zh_CN: '必须是 / 开头的路径，或 http://、https:// 开头的网址；主机名不能含 $ 或 @',
    en_US: 'Must be a path that starts with /, or an address that starts with http:// or https://; no $ or @ in its host',
  },
  starInSource: {
    zh_TW: '不可包含 *。若要套用到某路徑之下的所有網址，請選擇「前綴」並填寫該路徑，例如 /old/',
    zh_CN: '不能包含 *。若要应用到某路径之下的所有网址，请选择“前缀”并填写该路径，例如 /old/',
    en_US: 'No * here. For everything below a path choose the prefix and enter the path, such as /old/',
  },
  starInTarget: {
    zh_TW: '不可包含 *。前綴之後的部分會自動接在目標後面',
    zh_CN: '不能包含 *。前缀之后的部分会自动接在目标后面',
    en_US: 'No * here. What stands behind a prefix is added to the target by itself',
  },
  leftOver: {
    zh_TW: '無法辨識「{text}」。一行只能有來源、目標、狀態碼與 noquery',
    zh_CN: '无法识别“{text}”。一行只能有来源、目标、状态码与 noquery',
    en_US: 'Cannot make sense of “{text}”. A line has source, target, status and noquery, nothing else',
  },
  redirectOrder: {
    zh_TW: '請依來源、目標、狀態碼的順序填寫，例如 /old /new 301',
    zh_CN: '请按来源、目标、状态码的顺序填写，例如 /old /new 301',
    en_US: 'Write source, target and status, in this order: /old /new 301',
  },
  redirectLoop: {
    zh_TW: '形成迴圈：{target} 會再次被重新導向。請改用其他目標',
    zh_CN: '形成循环：{target} 会再次被重定向。请改用其他目标',
    en_US: 'A loop: {target} would be redirected again without end. Choose another target',
  },
  redirectWork: {
    zh_TW: '這些重新導向彼此相連，經過的網址太多或太長，無法檢查。請縮短來源與目標，或直接指向最終網址',
    zh_CN: '这些重定向彼此相连，经过的网址太多或太长，无法检查。请缩短来源与目标，或直接指向最终网址',
    en_US:
      'These redirects lead to one another over too many or too long addresses to be checked. Shorten sources and targets, or point them straight at the last address',
  },
  redirectPatterns: {
    zh_TW: '每個模組最多 {max} 筆正規表示式',
    zh_CN: '每个模块最多 {max} 条正则表达式',
    en_US: 'A module has at most {max} regular expressions',
  },
  hstsPreload: {
    zh_TW: '預先載入需要包含子網域，且期限至少 {min} 秒',
    zh_CN: '预加载需要包含子域名，且期限至少 {min} 秒',
    en_US: 'Preloading wants subdomains included and at least {min} seconds',
  },
  certificateUnreadable: {
    zh_TW: '無法讀取憑證，請貼上 PEM 格式的憑證（BEGIN CERTIFICATE）',
    zh_CN: '无法读取证书，请粘贴 PEM 格式的证书（BEGIN CERTIFICATE）',
    en_US: 'This is no certificate. Paste it as PEM (BEGIN CERTIFICATE)',
  },
  authorityNotRoot: {
    zh_TW: '沒有自簽的根憑證；請把憑證鏈最上層的根憑證一起貼上',
    zh_CN: '没有自签的根证书；请把证书链最上层的根证书一起粘贴',
    en_US: 'None of these has signed itself: paste the root, too',
  },
  keyUnreadable: {
    zh_TW: '無法讀取私密金鑰，請貼上 PEM 格式的金鑰（BEGIN PRIVATE KEY）',
    zh_CN: '无法读取私钥，请粘贴 PEM 格式的私钥（BEGIN PRIVATE KEY）',
    en_US: 'This is no private key. Paste it as PEM (BEGIN PRIVATE KEY)',
  },
  keyLocked: {
    zh_TW: '私密金鑰受密碼保護，請先移除密碼',
    zh_CN: '私钥受密码保护，请先移除密码',
    en_US: 'The private key has a passphrase. Take it off first',
  },
  keyMismatch: {
    zh_TW: '私密金鑰與憑證不相符',
    zh_CN: '私钥与证书不匹配',
    en_US: 'The private key belongs to none of these certificates',
  },
  keyWeak: {
    zh_TW: '不支援 {key} 金鑰。請使用 {min} 到 {max} 位元的 RSA，或 P-256、P-384、P-521 的 EC',
    zh_CN: '不支持 {key} 密钥。请使用 {min} 到 {max} 位的 RSA，或 P-256、P-384、P-521 的 EC',
    en_US: 'A key of {key} is not taken. Use RSA of {min} to {max} bits, or EC on P-256, P-384 or P-521',
  },
  signatureWeak: {
    zh_TW: '憑證以 {name} 簽署，瀏覽器不再接受',
    zh_CN: '证书以 {name} 签名，浏览器不再接受',
    en_US: 'The certificate is signed with {name}, which browsers no longer accept',
  },
  certificateExpired: {
    zh_TW: '憑證已於 {date} 過期',
    zh_CN: '证书已于 {date} 过期',
    en_US: 'The certificate expired on {date}',
  },
  certificateEarly: {
    zh_TW: '憑證要到 {date} 才生效',
    zh_CN: '证书要到 {date} 才生效',
    en_US: 'The certificate is not valid before {date}',
  },
  certificateNameless: {
    zh_TW: '憑證沒有任何網域名稱（subjectAltName），瀏覽器不會接受',
    zh_CN: '证书没有任何域名（subjectAltName），浏览器不会接受',
    en_US: 'The certificate names no host (subjectAltName), so no browser accepts it',
  },
  certificateAutomatic: {
    zh_TW: '這張憑證由憑證機構自動簽發與更新，無法以上傳的內容取代；請另外新增一張憑證',
    zh_CN: '这张证书由证书机构自动签发与更新，无法用上传的内容取代；请另外新增一张证书',
    en_US:
      'An authority makes and renews this certificate by itself, so nothing uploaded takes its place. Add another one instead',
  },
  autoSSLWildcard: {
    zh_TW: '萬用字元網域只能以 DNS 驗證：請先在站點設定的「DNS 帳號」加入管理此網域的帳號',
    zh_CN: '通配符域名只能以 DNS 验证：请先在站点设置的“DNS 账号”添加管理此域名的账号',
    en_US: 'A wildcard is proven by DNS alone: first add the DNS account that holds its zone (site settings, DNS accounts)',
  },
  dnsSaid: { zh_TW: 'DNS 服務商：{why}', zh_CN: 'DNS 服务商：{why}', en_US: 'DNS provider: {why}' },
  zeroSSLUnset: {
    zh_TW: '尚未設定 ZeroSSL 的 EAB 金鑰',
    zh_CN: '尚未设置 ZeroSSL 的 EAB 密钥',
    en_US: 'ZeroSSL needs its EAB credentials first (system settings)',
  },
  certificateNames: {
    zh_TW: '憑證不包含 {hosts}，只包含 {names}',
    zh_CN: '证书不包含 {hosts}，只包含 {names}',
    en_US: 'The certificate does not cover {hosts}, only {names}',
  },
  redirectBytes: {
    zh_TW: '此站點的重新導向過大（上限 {max} 位元組）。請縮短或刪減來源與目標',
    zh_CN: '此站点的重定向过大（上限 {max} 字节）。请缩短或删减来源与目标',
    en_US: 'The redirects of this site are too large (at most {max} bytes). Shorten or remove some',
  },
} as const satisfies Record<string, Text>;
