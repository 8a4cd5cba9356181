/**
 * The error catalogue (§8): name → code, HTTP status and the message in three languages. The English text is the
 * catalogue's, letter for letter; statuses follow "Wire" in the decisions (400 parameter, 401 session, 403 permission,
 * 404 unknown, 409 in use, duplicate or over a quota, 429 rate, 500 ours, 502 somebody behind us).
 */
import { fill } from './kit/text.ts';
import type { Language, Parameters, Text } from './kit/text.ts';

type Entry = { readonly code: number; readonly status: number; readonly text: Text };

const entry = <const English extends string>(code: number, status: number, en_US: English, zh_TW: string, zh_CN: string) => ({
  code,
  status,
  text: { zh_TW, zh_CN, en_US },
});

export const errors = {
  ok: entry(101001, 200, 'OK', '成功', '成功'),
  unknown: entry(101002, 500, 'Unknown Error', '未知的錯誤', '未知错误'),
  parameter: entry(101003, 400, 'Parameter Error', '參數錯誤', '参数错误'),
  pathInvalid: entry(101004, 404, 'API Path Invalid', 'API 路徑無效', 'API 路径无效'),
  database: entry(101005, 500, 'Database Execution Error', '資料庫執行錯誤', '数据库执行错误'),
  invalidDNSSetting: entry(101006, 400, 'Invalid DNS Setting', 'DNS 設定無效', 'DNS 设置无效'),
  proxyConnectionFailed: entry(101007, 502, 'Proxy Connection Failed', '代理連線失敗', '代理连接失败'),
  accountNotEnabled: entry(101008, 403, 'Account Is Not Enabled', '帳號未啟用', '账号未启用'),
  multiple: entry(101009, 400, 'Multiple Errors', '發生多項錯誤', '发生多项错误'),
  dnsExecution: entry(101010, 502, 'DNS Execution Error', 'DNS 執行錯誤', 'DNS 执行错误'),
  inconsistentPorts: entry(101011, 400, 'Inconsistent Ports', '連接埠不一致', '端口不一致'),
  credentialFailed: entry(101012, 401, 'Failed To Auth The Credential', '登入憑據驗證失敗', '登录凭据验证失败'),
  invalidToken: entry(101013, 401, 'Invalid Token', 'Token 無效', 'Token 无效'),
  tokenExpired: entry(101014, 401, 'Token Expired', 'Token 已到期', 'Token 已到期'),
  revokeTokenFailed: entry(101015, 401, 'Revoke Token Failed', '撤銷 Token 失敗', '撤销 Token 失败'),
  refreshTokenFailed: entry(101016, 401, 'Refresh Token Failed', '更新 Token 失敗', '刷新 Token 失败'),
  duplicateEmail: entry(101017, 409, 'Duplicate Email', '電子郵件重複', '邮箱重复'),
  permissionDenied: entry(101018, 403, 'Permission Denied', '權限不足', '权限不足'),
  licenseExpired: entry(101019, 403, 'License Expired', '授權已到期', '授权已到期'),
  illegalEmailSettings: entry(101020, 400, 'Illegal Email Settings', '郵件設定不合法', '邮件设置不合法'),
  illegalTelegramToken: entry(101021, 400, 'Illegal Telegram Token', 'Telegram Token 不合法', 'Telegram Token 不合法'),
  licenseNotFound: entry(101022, 404, 'License Does Not Exist', '授權不存在', '授权不存在'),
  illegalPortType: entry(101023, 400, 'Illegal Port Type', '連接埠類型不合法', '端口类型不合法'),
  invalidLicenseServer: entry(101024, 502, 'Invalid License Server', '授權伺服器無效', '授权服务器无效'),
  duplicated: entry(101025, 409, 'Duplicated data', '資料重複', '数据重复'),

  zoneHasNodes: entry(201001, 409, 'Please Remove Nodes In This Zone', '請先移除此區域中的節點', '请先移除此区域中的节点'),
  zoneNameExists: entry(201002, 409, 'Zone Name Already Exists', '區域名稱已存在', '区域名称已存在'),
  zonesExceeded: entry(201003, 409, 'The Number Of Regions Exceeds The Limit', '區域數量超過上限', '区域数量超过上限'),

  nodeCommunication: entry(202001, 502, 'Node Communication Error', '節點通訊錯誤', '节点通信错误'),
  nodesExceeded: entry(202002, 409, 'The Number Of Nodes Exceeds The Upper Limit', '節點數量超過上限', '节点数量超过上限'),
  nodeInGroup: entry(202003, 409, 'Node Exists In Group', '節點仍在群組中', '节点仍在分组中'),
  nodeInVirtualNode: entry(202004, 409, 'Node Exists In Virtual Node', '節點仍在虛擬節點中', '节点仍在虚拟节点中'),
  portType4InUse: entry(202005, 409, 'Port Type 4 In Use', '四層連接埠類型使用中', '四层端口类型使用中'),
  invalidNodeTime: entry(202006, 400, 'Invalid Node Time', '節點時間無效', '节点时间无效'),
  nodeVersionMismatch: entry(202008, 409, 'Node Version Does Not match', '節點版本不符', '节点版本不匹配'),

  groupActive: entry(203001, 409, 'Unable To Delete Active Group', '無法刪除使用中的群組', '无法删除使用中的分组'),
  groupSiteInUse: entry(
    203002,
    409,
    "Site Is In Use (group's site in use)",
    '站點使用中（群組的站點使用中）',
    '站点使用中（分组的站点使用中）',
  ),
  groupNodesExceeded: entry(
    203003,
    409,
    'The number of grouped nodes has reached the limit',
    '群組的節點數量已達上限',
    '分组的节点数量已达上限',
  ),
  invalidGroupNode: entry(203005, 400, 'Invalid group node', '群組節點無效', '分组节点无效'),

  layer4GroupInUse: entry(204001, 409, 'Layer 4 Group Is In Use', '四層群組使用中', '四层分组使用中'),
  productInUse: entry(204002, 409, 'Product Is In Use', '產品使用中', '产品使用中'),
  productSitesExceeded: entry(
    204003,
    409,
    'The Number Of Product Sites Exceeds The Limit',
    '產品的站點數量超過上限',
    '产品的站点数量超过上限',
  ),

  sitesExceeded: entry(205001, 409, 'The Number Of Sites Exceeds The Limit', '站點數量超過上限', '站点数量超过上限'),
  siteStatusNotAllowed: entry(205002, 409, 'Site Status Not Allowed To Be Set', '不允許設定此站點狀態', '不允许设置此站点状态'),
  siteInUse: entry(205003, 409, 'The Site In Use', '站點使用中', '站点使用中'),
  siteHasLayer4Ports: entry(205004, 409, 'The Site Has L4 Port Settings', '站點仍有四層連接埠設定', '站点仍有四层端口设置'),
  siteHasLayer7Domains: entry(
    205005,
    409,
    'The Site Has An L7 Domain Name Setting',
    '站點仍有七層網域設定',
    '站点仍有七层域名设置',
  ),
  trafficLimited: entry(205006, 409, 'Please Lift Traffic Restrictions', '請先解除流量限制', '请先解除流量限制'),
  redirectsExceeded: entry(
    205007,
    409,
    'The upper limit of redirect rules is 3,000',
    '重新導向規則的上限為 3,000 筆',
    '重定向规则的上限为 3,000 条',
  ),

  virtualNodeInUse: entry(206001, 409, 'Virtual Node In Use', '虛擬節點使用中', '虚拟节点使用中'),

  invalidCertificateName: entry(301001, 400, 'Invalid Certificate Name', '憑證名稱無效', '证书名称无效'),

  duplicateDomains: entry(401001, 409, 'Unable To Enable Duplicate Domains', '無法啟用重複的網域', '无法启用重复的域名'),
  domainsExceeded: entry(401002, 409, 'The Number Of Domain Names Exceeds The Limit', '網域數量超過上限', '域名数量超过上限'),
  illegalPortMapping: entry(
    401003,
    400,
    'Illegal Port Mapping Settings (site does not open port {num})',
    '連接埠對應設定不合法（站點未開放連接埠 {num}）',
    '端口映射设置不合法（站点未开放端口 {num}）',
  ),
  autoSSLExceeded: entry(401004, 409, 'The Number Of Auto SSL Exceeds The Limit', '自動憑證數量超過上限', '自动证书数量超过上限'),
  portsExceeded: entry(401007, 409, 'Port Counts Exceeds The Limit', '連接埠數量超過上限', '端口数量超过上限'),
  noUpstreamEnabled: entry(
    401008,
    400,
    'Upstream without enabled (at least one origin must be enabled)',
    '沒有啟用的源站（至少須啟用一個源站）',
    '没有启用的源站（至少须启用一个源站）',
  ),

  simultaneousDownloads: entry(
    601001,
    429,
    'The simultaneous download quantity has reached the limit ({num} records)',
    '同時下載的數量已達上限（{num} 筆）',
    '同时下载的数量已达上限（{num} 条）',
  ),
  dailyDownloads: entry(
    601002,
    429,
    'The daily download limit has been reached ({num} records)',
    '今日下載的數量已達上限（{num} 筆）',
    '今日下载的数量已达上限（{num} 条）',
  ),

  illegalLicense: entry(900001, 400, 'Illegal License', '授權不合法', '授权不合法'),
  duplicateKeys: entry(10102502, 409, 'Duplicate keys are not allowed', '不允許重複的鍵', '不允许重复的键'),
  selfCheck: entry(4003, 502, 'Self check error', '自我檢查錯誤', '自检错误'),
  supplier: entry(4004, 502, 'Supplier error', '供應商錯誤', '供应商错误'),
  supplierUnknown: entry(4005, 502, 'Unknown', '未知', '未知'),
} as const satisfies Record<string, Entry>;

export type ErrorName = keyof typeof errors;
export type ErrorCode = number;

/** Where a call is made: with a session, or on the way to one (login, verify and 2FA calls). */
export type ErrorContext = 'session' | 'login';

/** The second reading of a code (§8, decisions "Sessions"), used when the caller has no session yet. */
export const contextual = {
  invalidToken: { zh_TW: '驗證碼錯誤', zh_CN: '验证码错误', en_US: 'wrong verification code' },
  tokenExpired: { zh_TW: 'Token 無效', zh_CN: 'Token 无效', en_US: 'token invalid' },
} as const satisfies Partial<Record<ErrorName, Text>>;

/** Shown where no better sentence exists (§8). */
export const genericMessage: Text = {
  zh_TW: '發生錯誤，請稍後再試',
  zh_CN: '出现错误，请稍后再试',
  en_US: 'something went wrong, please try again later',
};

const names = Object.keys(errors) as ErrorName[];
const nameByCode = new Map<number, ErrorName>(names.map(name => [errors[name].code, name]));

export const errorNames: readonly ErrorName[] = names;

/** The catalogue's name of a code, undefined for a code it does not hold. */
export function errorByCode(code: number): ErrorName | undefined {
  return nameByCode.get(code);
}

/** The message of an error in a language, with its `{num}` filled in; a remark whose number is unknown is left out. */
export function errorMessage(
  name: ErrorName,
  language: Language,
  params: Parameters = {},
  context: ErrorContext = 'session',
): string {
  const second = context === 'login' ? (contextual as Partial<Record<ErrorName, Text>>)[name] : undefined;
  return fill((second ?? errors[name].text)[language], params);
}

/** One broken field: `path` as in the body (`upstreams.0.port`), `rule` a name of rules.ts, its bounds if it has any. */
export type FieldError = {
  path: string;
  rule: string;
  bounds?: Readonly<Record<string, string | number>>;
};

/** One line of 101009: which targets (names people know: domains, ids, addresses) failed with which code. */
export type MultipleError = {
  code: ErrorCode;
  message?: string;
  params?: Parameters;
  targets: string[];
};

export type FailOptions = {
  errorData?: unknown;
  /** what the console needs beside the message: the port of 401003 as text */
  extra?: unknown;
  params?: Parameters;
  /** another HTTP status than the catalogue's: a login over its rate is 429 */
  status?: number;
  /** for the log, never for the caller */
  cause?: unknown;
};

type NeedsNumber = 'illegalPortMapping' | 'simultaneousDownloads' | 'dailyDownloads';
type OptionsOf<Name extends ErrorName> = Name extends NeedsNumber
  ? [options: FailOptions & { params: { num: number } }]
  : [options?: FailOptions];

/** An error of the catalogue on its way to the caller. The message of the Error itself is English, for the log. */
export class Fail extends Error {
  /** the catalogue's name, so that a log line and a test read `permissionDenied` */
  override readonly name: ErrorName;
  readonly code: ErrorCode;
  readonly status: number;
  readonly errorData: unknown;
  readonly extra: unknown;
  readonly params: Parameters;

  constructor(name: ErrorName, options: FailOptions = {}) {
    super(errorMessage(name, 'en_US', options.params), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = name;
    this.code = errors[name].code;
    this.status = options.status ?? errors[name].status;
    this.errorData = options.errorData;
    this.params = options.params ?? {};
    // the console reads the port of 401003 from `extra` (§8, client behaviour on error)
    this.extra = options.extra ?? (name === 'illegalPortMapping' ? String(this.params['num']) : undefined);
  }
}

/** `throw fail('illegalPortMapping', { params: { num: 8443 } })` */
export function fail<Name extends ErrorName>(name: Name, ...[options]: OptionsOf<Name>): Fail {
  return new Fail(name, options);
}

/** 101003 with the fields that are broken. */
export function failFields(fields: FieldError[]): Fail {
  return new Fail('parameter', { errorData: fields });
}

/** 101009: what succeeded stays, these did not. Messages are filled in from the codes, in the caller's language. */
export function multipleErrors(items: MultipleError[]): Fail {
  return new Fail('multiple', { errorData: items });
}

export type ErrorBody = {
  isError: true;
  code: ErrorCode;
  message: string;
  errorData?: unknown;
  extra?: unknown;
};

/** The body of an error answer, in the caller's language. */
export function errorBody(failure: Fail, language: Language, context: ErrorContext = 'session'): ErrorBody {
  const body: ErrorBody = {
    isError: true,
    code: failure.code,
    message: errorMessage(failure.name, language, failure.params, context),
  };
  if (failure.name === 'multiple' && Array.isArray(failure.errorData)) {
    body.errorData = (failure.errorData as MultipleError[]).map(item => multipleLine(item, language, context));
  } else if (failure.errorData !== undefined) body.errorData = failure.errorData;
  if (failure.extra !== undefined) body.extra = failure.extra;
  return body;
}

function multipleLine(item: MultipleError, language: Language, context: ErrorContext) {
  const name = errorByCode(item.code);
  const message = item.message ?? (name ? errorMessage(name, language, item.params, context) : genericMessage[language]);
  return { code: item.code, message, targets: item.targets };
}
