/**
 * What went wrong with a backup or its restore for a trial. It is written down in English, for logs and for whoever reads it by a program;
 * `backupProblem` says it in the language of who reads it, what others said (S3, the system) as far as it is known. Rows of earlier releases
 * are read by the same words.
 */
import { readIn, wayTexts } from '../rules/said.ts';
import { fill, type Parameters, type Text } from '../kit/text.ts';

const texts = {
  brokenOff: {
    zh_TW: '已中斷：Breakwater 在這期間停止了。',
    zh_CN: '已中断：Breakwater 在这期间停止了。',
    en_US: 'It was broken off: Breakwater ended meanwhile.',
  },
  diskFull: { zh_TW: '磁碟已滿。', zh_CN: '磁盘已满。', en_US: 'The disk is full.' },
  diskNearlyFull: {
    zh_TW: '資料目錄所在的磁碟即將寫滿，已停止。',
    zh_CN: '数据目录所在的磁盘即将写满，已停止。',
    en_US: 'The disk of the data folder would have become full.',
  },
  noFolder: {
    zh_TW: '控制平面的機器上沒有資料夾 {folder}：請建立它，或改用別的資料夾。',
    zh_CN: '控制平面的机器上没有文件夹 {folder}：请创建它，或改用别的文件夹。',
    en_US: 'There is no folder {folder} on the machine of the control plane: make it, or name another.',
  },
  folderRights: {
    zh_TW: '{folder} 必須屬於執行 Breakwater 的使用者，且其他人不得寫入（chmod 700）。',
    zh_CN: '{folder} 必须属于运行 Breakwater 的用户，且其他人不得写入（chmod 700）。',
    en_US: '{folder} must belong to the user that Breakwater runs as, and nobody else may write there (chmod 700).',
  },
  folderInside: {
    zh_TW: '{folder} 是系統本身的一部分：請指定 {data} 以外的資料夾，最好在另一顆磁碟上。',
    zh_CN: '{folder} 是系统本身的一部分：请指定 {data} 以外的文件夹，最好在另一块磁盘上。',
    en_US: '{folder} is a part of the installation: name a folder outside of {data}, at best on another disk.',
  },
  notFolder: { zh_TW: '{folder} 不是資料夾。', zh_CN: '{folder} 不是文件夹。', en_US: '{folder} is no folder.' },
  longer: {
    zh_TW: '{name} 現在有 {bytes} 位元組，存放時是 {before}。',
    zh_CN: '{name} 现在有 {bytes} 字节，存放时是 {before}。',
    en_US: '{name} has {bytes} bytes now, and had {before} when it was put there.',
  },
  storeAway: {
    zh_TW: '分析資料庫沒有回應：請先啟動 Breakwater，或不要包含日誌。',
    zh_CN: '分析数据库没有响应：请先启动 Breakwater，或不要包含日志。',
    en_US: 'The analytics store does not answer: start Breakwater first, or leave the logs out (--without-logs).',
  },
  storeNotFrozen: {
    zh_TW: '無法凍結分析資料庫：{why}',
    zh_CN: '无法冻结分析数据库：{why}',
    en_US: 'The analytics store could not be frozen: {why}',
  },
  nothingYet: {
    zh_TW: '還沒有可以還原的備份。',
    zh_CN: '还没有可以还原的备份。',
    en_US: 'There is no backup to restore yet.',
  },
  notEncrypted: {
    zh_TW: '存放處的 {name} 沒有加密，但寫入時是加密的。',
    zh_CN: '存放处的 {name} 没有加密，但写入时是加密的。',
    en_US: 'What lies there as {name} is not encrypted, and was when it was written.',
  },
  otherArchive: {
    zh_TW:
      '存放處的 {name} 是另一份備份檔：時間 {time}，{rows} 筆，SHA-256 {sha256}；當時寫入的時間是 {before}，{count} 筆，SHA-256 {sum}。',
    zh_CN:
      '存放处的 {name} 是另一份备份文件：时间 {time}，{rows} 条，SHA-256 {sha256}；当时写入的时间是 {before}，{count} 条，SHA-256 {sum}。',
    en_US:
      'What lies there as {name} is another archive: of {time}, with {rows} rows and the SHA-256 {sha256}. The one that was written is of {before}, with {count} rows and the SHA-256 {sum}.',
  },
  unrestorable: {
    zh_TW: '無法還原 {name}：{why}。',
    zh_CN: '无法还原 {name}：{why}。',
    en_US: '{name} cannot be restored: {why}.',
  },
  damaged: {
    zh_TW: '內容已損毀，或檔案不完整',
    zh_CN: '内容已损坏，或文件不完整',
    en_US: 'its bytes are damaged, or it ends in its middle',
  },
  endsEarly: { zh_TW: '檔案不完整', zh_CN: '文件不完整', en_US: 'it ends in its middle' },
  otherPassphrase: {
    zh_TW: '通行密語不同，或檔案已損毀',
    zh_CN: '口令不同，或文件已损坏',
    en_US: 'the passphrase is another one, or it is damaged',
  },
  noPassphrase: {
    zh_TW: '檔案已加密，但沒有通行密語',
    zh_CN: '文件已加密，但没有口令',
    en_US: 'it is encrypted, and no passphrase was given',
  },
  plain: {
    zh_TW: '檔案沒有加密；若仍要採用，請不要提供通行密語',
    zh_CN: '文件没有加密；若仍要采用，请不要提供口令',
    en_US: 'it is not encrypted: leave the passphrase away to take it anyway',
  },
  notArchive: { zh_TW: '這不是備份檔', zh_CN: '这不是备份文件', en_US: 'it is no archive of a backup' },
  newer: {
    zh_TW: '由較新版的 Breakwater（{version}）寫入',
    zh_CN: '由较新版的 Breakwater（{version}）写入',
    en_US: 'it was written by a newer Breakwater ({version})',
  },
  foreignTable: {
    zh_TW: '備份檔的分析資料庫中有 {table}，這不屬於 Breakwater',
    zh_CN: '备份文件的分析数据库中有 {table}，这不属于 Breakwater',
    en_US: 'its analytics store holds {table}, which is none of Breakwater’s tables',
  },
  changed: { zh_TW: '{name} 與寫入時不同', zh_CN: '{name} 与写入时不同', en_US: '{name} is not as it was written' },
  rowsDiffer: {
    zh_TW: '{table} 還原後有 {found} 筆，備份檔中有 {count} 筆。',
    zh_CN: '{table} 还原后有 {found} 条，备份文件中有 {count} 条。',
    en_US: '{table} has {found} rows after the restore, and {count} in the archive.',
  },
  noAccount: {
    zh_TW: '備份檔中沒有任何帳號：還原後沒有人能登入。',
    zh_CN: '备份文件中没有任何账号：还原后没有人能登录。',
    en_US: 'The archive holds no account: nobody could sign in.',
  },
  changing: {
    zh_TW: '{place} 一直在變動：請稍後再試。',
    zh_CN: '{place} 一直在变动：请稍后再试。',
    en_US: '{place} changes all the while: try again later.',
  },
  s3: { zh_TW: 'S3 {method}：{why}', zh_CN: 'S3 {method}：{why}', en_US: 'S3 {method}: {why}' },
  shortAnswer: {
    zh_TW: '傳回的內容少於所要求的',
    zh_CN: '返回的内容少于所请求的',
    en_US: 'it gave less than it was asked for',
  },
  longList: {
    zh_TW: '檔案清單沒有盡頭：請使用專用的儲存貯體或前綴',
    zh_CN: '文件清单没有尽头：请使用专用的存储桶或前缀',
    en_US: 'its list of files has no end: use a bucket or a prefix of its own',
  },
  ...wayTexts,
} as const satisfies Record<string, Text>;

export type BackupProblem = keyof typeof texts;

/** As it is written down. */
export const backupSaid = (what: BackupProblem, values: Parameters = {}): string => fill(texts[what].en_US, values);

/** The same in another language; what nobody knows stays as it is. */
export const backupProblem = readIn(texts);
