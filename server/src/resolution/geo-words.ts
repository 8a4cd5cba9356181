/**
 * Why data of places do not count, in three languages. What reads files (`geo/`, a process of its own) says it in one sentence, which is the code
 * here and the English text: geo-words.test.ts finds one that is missing.
 */
import { fill, type Language, type Text } from '#contract/kit/text.ts';

type Words = Omit<Text, 'en_US'>;
/** Without `{why}`: whole. */
export const geoWords: Readonly<Record<string, Words>> = {
  'an uploaded file cannot be read any more: {why}': {
    zh_TW: '上傳過的檔案已無法讀取：{why}',
    zh_CN: '上传过的文件已无法读取：{why}',
  },
  'an uploaded file is not here any more, or cannot be read: send it again': {
    zh_TW: '上傳過的檔案已不在，或無法讀取，請重新上傳',
    zh_CN: '上传过的文件已不在，或无法读取，请重新上传',
  },
  'the server is about to end': { zh_TW: '伺服器即將停止', zh_CN: '服务器即将停止' },
  'this installation keeps no data of places': { zh_TW: '這套系統不保存地點資料', zh_CN: '这套系统不保存地点数据' },
  'another file is being read': { zh_TW: '正在讀取另一個檔案', zh_CN: '正在读取另一个文件' },
  'other data came meanwhile: send it again': {
    zh_TW: '期間有其他資料生效，請重新上傳',
    zh_CN: '期间有其他数据生效，请重新上传',
  },
  'it takes too long or too much to read': {
    zh_TW: '讀取所需的時間或記憶體太多',
    zh_CN: '读取所需的时间或内存太多',
  },
  'it cannot be unpacked: it was cut, or is no gzip': {
    zh_TW: '無法解壓縮：檔案不完整，或不是 gzip',
    zh_CN: '无法解压：文件不完整，或不是 gzip',
  },
  'the archive was cut': { zh_TW: '壓縮檔不完整', zh_CN: '压缩包不完整' },
  'no file of the archive is an .mmdb': { zh_TW: '壓縮檔裡沒有 .mmdb 檔', zh_CN: '压缩包里没有 .mmdb 文件' },
  'it has no metadata of an MMDB': { zh_TW: '沒有 MMDB 的中繼資料', zh_CN: '没有 MMDB 的元数据' },
  'it is no MMDB of version 2': { zh_TW: '不是第 2 版的 MMDB', zh_CN: '不是第 2 版的 MMDB' },
  'its tree is longer than the file': { zh_TW: '搜尋樹比檔案還長', zh_CN: '搜索树比文件还长' },
  'its tree grows together again': { zh_TW: '搜尋樹的分支互相連回', zh_CN: '搜索树的分支互相连回' },
  'its tree is deeper than an address is long': { zh_TW: '搜尋樹比位址還深', zh_CN: '搜索树比地址还深' },
  'a value lies outside of its data': { zh_TW: '有內容落在資料區之外', zh_CN: '有内容落在数据区之外' },
  'a value has too much in it': { zh_TW: '有一項內容過大', zh_CN: '有一项内容过大' },
  'a pointer leads to a pointer': { zh_TW: '有指標指向另一個指標', zh_CN: '有指针指向另一个指针' },
  'a key is no text': { zh_TW: '有鍵值不是文字', zh_CN: '有键名不是文本' },
  'a value is of no known type': { zh_TW: '有內容的類型不明', zh_CN: '有内容的类型未知' },
  'it says nothing of countries or ASNs': { zh_TW: '沒有國家或 ASN 的資料', zh_CN: '没有国家或 ASN 的数据' },
  'it says too many different things': { zh_TW: '不同的內容太多', zh_CN: '不同的内容太多' },
  'networks are not in their order': { zh_TW: '網段沒有依序排列', zh_CN: '网段没有按顺序排列' },
  'it has too many networks': { zh_TW: '網段太多', zh_CN: '网段太多' },
  'of a network stands there what is no map': { zh_TW: '有網段的內容不是對應表', zh_CN: '有网段的内容不是映射' },
};
const unreadable = 'an uploaded file cannot be read any more: ';

/** What nobody wrote a text for stays as it is: it is of the system, of a disk that is full, say. */
export function geoText(why: string, language: Language): string {
  if (language === 'en_US') return why;
  if (why.startsWith(unreadable))
    return fill(geoWords[`${unreadable}{why}`]![language], { why: geoText(why.slice(unreadable.length), language) });
  return (Object.hasOwn(geoWords, why) ? geoWords[why]![language] : undefined) ?? why;
}
