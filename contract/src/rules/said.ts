/**
 * Sentences that are written down in English, for logs and for whoever reads them by a program, and read in the language of who reads them:
 * what the way to somebody else says (server/src/kit/outbound.ts), and what the system says. What others said stays as they said it.
 */
import type { AddressKind } from './address-policy.ts';
import { fill, type Language, type Text } from '../kit/text.ts';

export const wayTexts = {
  notAllowed: {
    zh_TW: '不允許連線到 {address}（{kind}）',
    zh_CN: '不允许连接到 {address}（{kind}）',
    en_US: '{address} may not be connected to ({kind})',
  },
  late: { zh_TW: '{address} 沒有及時回應', zh_CN: '{address} 没有及时响应', en_US: '{address} did not answer in time' },
  tookLong: { zh_TW: '等待過久', zh_CN: '等待过久', en_US: 'it took too long' },
  noAddress: { zh_TW: '找不到 {host} 的位址', zh_CN: '找不到 {host} 的地址', en_US: '{host} has no address' },
  refused: { zh_TW: '{address} 拒絕連線', zh_CN: '{address} 拒绝连接', en_US: 'connect ECONNREFUSED {address}' },
  noRight: { zh_TW: '沒有權限（{what}）', zh_CN: '没有权限（{what}）', en_US: 'EACCES: permission denied, {what}' },
  readOnly: { zh_TW: '檔案系統唯讀（{what}）', zh_CN: '文件系统只读（{what}）', en_US: 'EROFS: read-only file system, {what}' },
  gone: {
    zh_TW: '沒有這個檔案或資料夾（{what}）',
    zh_CN: '没有这个文件或文件夹（{what}）',
    en_US: 'ENOENT: no such file or directory, {what}',
  },
  unreachable: {
    zh_TW: '連不到 {address}',
    zh_CN: '连不到 {address}',
    en_US: 'connect EHOSTUNREACH {address}',
  },
  hungUp: { zh_TW: '對方中斷了連線', zh_CN: '对方中断了连接', en_US: 'socket hang up' },
  reset: { zh_TW: '對方中斷了連線', zh_CN: '对方中断了连接', en_US: 'read ECONNRESET' },
  passwordRefused: {
    zh_TW: '{code} 使用者名稱或密碼遭拒',
    zh_CN: '{code} 用户名或密码被拒绝',
    en_US: '{code} user name or password refused',
  },
  noMailServer: { zh_TW: '尚未設定郵件伺服器', zh_CN: '尚未设置邮件服务器', en_US: 'no mail server is set' },
  notSent: {
    zh_TW: '無法送出：原因請見 Breakwater 的日誌。',
    zh_CN: '无法发送：原因请见 Breakwater 的日志。',
    en_US: 'It could not be sent: the log of Breakwater says why.',
  },
  ownersMail: {
    zh_TW: '系統擁有者的郵件伺服器沒有收下',
    zh_CN: '系统所有者的邮件服务器没有收下',
    en_US: 'the mail server of the installation did not take it',
  },
} as const satisfies Record<string, Text>;

/** Why an address may not be connected to. */
const kindTexts: Record<AddressKind, Text> = {
  public: { zh_TW: '公開位址', zh_CN: '公网地址', en_US: 'public' },
  private: { zh_TW: '私有位址', zh_CN: '私有地址', en_US: 'private' },
  loopback: { zh_TW: '本機位址', zh_CN: '本机地址', en_US: 'loopback' },
  linkLocal: { zh_TW: '鏈路本地位址', zh_CN: '链路本地地址', en_US: 'linkLocal' },
  multicast: { zh_TW: '群播位址', zh_CN: '组播地址', en_US: 'multicast' },
  unspecified: { zh_TW: '未指定的位址', zh_CN: '未指定的地址', en_US: 'unspecified' },
  broadcast: { zh_TW: '廣播位址', zh_CN: '广播地址', en_US: 'broadcast' },
  reserved: { zh_TW: '保留位址', zh_CN: '保留地址', en_US: 'reserved' },
  metadata: { zh_TW: '雲端主機的中繼資料位址', zh_CN: '云主机的元数据地址', en_US: 'metadata' },
  installation: { zh_TW: 'Breakwater 本身的位址', zh_CN: 'Breakwater 自身的地址', en_US: 'installation' },
  notAddress: { zh_TW: '不是位址', zh_CN: '不是地址', en_US: 'notAddress' },
};

const hole = /\{(\w+)\}/g;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/**
 * What a sentence looks like. Those without a hole first, they are it or are not; then those that begin with words of ours: one that begins
 * with a hole would take these for a part of it.
 */
const rank = ({ names, text }: { names: readonly string[]; text: Text }) => names.length + (text.en_US.startsWith('{') ? 100 : 0);
const shapesOf = (texts: Readonly<Record<string, Text>>) =>
  Object.values(texts)
    .map(text => {
      const names = [...text.en_US.matchAll(hole)].map(([, name]) => name!);
      const parts = text.en_US.split(/\{\w+\}/).map(escaped);
      return { text, names, shape: new RegExp(`^${parts.join('(.+?)')}$`, 's') };
    })
    .sort((a, b) => rank(a) - rank(b));

const isKind = (word: string | undefined): word is AddressKind => word !== undefined && Object.hasOwn(kindTexts, word);

/** Reads what was written down by these sentences; what nobody knows stays as it is. */
export function readIn(texts: Readonly<Record<string, Text>>): (said: string, language: Language) => string {
  const shapes = shapesOf(texts);
  return function read(said, language) {
    if (language === 'en_US') return said;
    for (const { text, names, shape } of shapes) {
      const found = shape.exec(said);
      if (!found) continue;
      const values = Object.fromEntries(names.map((name, index) => [name, found[index + 1]!]));
      if (values['why'] !== undefined) values['why'] = read(values['why'], language);
      if (isKind(values['kind'])) values['kind'] = kindTexts[values['kind']][language];
      return fill(text[language], values);
    }
    return said;
  };
}

/** Of what was asked of somebody else over the network. */
export const wayProblem = readIn(wayTexts);
