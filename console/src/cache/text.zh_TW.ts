/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'page.cacheRules': '快取規則',
  'page.purges': '清除快取',

  'noun.cacheRules': '快取規則',
  'noun.purges': '清除任務',

  'empty.cacheRules': '沒有規則時，快取遵循源站的回應標頭。',
  'empty.purges': '清除快取的紀錄會顯示在這裡。',

  'field.value': '內容',
  'field.duration': '快取時間',
  'field.progress': '進度',

  'help.zeroNoCache': '0 代表不快取。',
  'help.fileType': '副檔名，以逗號分隔，例如 jpg,png,css。',

  'tab.cache': '快取規則',
  'tab.purge': '清除快取',

  'cacheType.fileType': '檔案類型',
  'cacheType.prefix': '前綴',
  'cacheType.exact': '完全相符',
  'cacheType.regex': '正規表示式',
  'cacheType.site': '整個站點',

  'cacheMode.followOrigin': '遵循源站',
  'cacheMode.forceCache': '強制快取',

  'purgeType.0': '整個站點',
  'purgeType.1': '網址',
  'purgeType.2': '前綴',
  'purgeType.3': '主機',
  'purgeType.4': '標籤',

  'purge.what': '清除什麼',
  'purge.url': '網址',
  'purge.host': '主機',
  'purge.hostHint': '每行一個：www.example.com 或 *.example.com',
  'purge.addDomain': '加入這個站點的網域…',
  'purge.noDomain': '沒有其他網域',
  'purge.prefix': '前綴',
  'purge.site': '整個站點',
  'purge.hint': '一行一個完整網址，例如 https://example.com/logo.png',
  'purge.prefixHint': '一行一個前綴，例如 https://example.com/images/',
  'purge.line': '一行一筆',
  'purge.tasks': '清除紀錄',
  'purge.progress': '{nodes} 個節點中的 {applied} 個',
};
