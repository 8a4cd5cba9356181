/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'menu.logger': '存取日誌',

  'page.logger': '存取日誌',

  'noun.logger': '日誌',

  'empty.logger': '這段時間沒有請求。',

  'field.domain': '網域',
  'field.referer': 'Referer',
  'field.userAgent': 'User-Agent',
  'field.reason': '攔截原因',
  'field.requestID': '請求 ID',
  'field.requestTimeMs': '回應時間',
  'field.upstreamTimeMs': '源站回應時間',
  'field.upstreamBytes': '回源流量',
  'field.remoteIP': '訪客 IP',
  'field.method': '方法',
  'field.uri': '網址',
  'field.cacheStatus': '快取狀態',
};
