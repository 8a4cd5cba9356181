/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'page.domains': '網域',
  'page.upstreams': '源站',

  'noun.domains': '網域',
  'noun.upstreams': '源站',

  'empty.domains': '新增網域並填入源站，就會開始服務訪客。',
  'empty.upstreams': '至少需要一個源站。',

  'field.domainName': '網域',
  'field.balance': '負載平衡',
  'field.originHost': '回源 Host',
  'field.cnameStatus': 'CNAME',
  'field.cnameStatuses': 'CNAME',
  'field.certStatus': '憑證',
  'field.forceSSL': '強制 HTTPS',
  'field.upstreamCount': '源站數',
  'field.upstreams': '源站',
  'field.address': 'IP 或網域',
  'field.weight': '權重',
  'field.maxFails': '失敗次數上限',
  'field.failTimeout': '失敗暫停時間',

  'help.originHost': '留空時使用訪客的 Host。',

  'action.addUpstream': '新增源站',
  'action.upstreams': '源站',
  'action.originHost': '回源 Host',
  'action.balance': '負載平衡',

  'tab.domains': '網域',

  'balance.roundRobin': '輪詢',
  'balance.ipHash': 'IP 雜湊',
  'balance.urlHash': 'URL 雜湊',

  'cnameState.unset': '未設定',
  'cnameState.wrong': '錯誤',
  'cnameState.active': '生效中',

  'certState.unset': '未設定',
  'certState.pending': '等待中',
  'certState.processing': '申請中',
  'certState.success': '已核發',
  'certState.fail': '失敗',
  'certState.applyFailed': '申請失敗',
  'certState.enabled': '已啟用',
  'certState.disabled': '已停用',

  'forced.1': '已強制 HTTPS',
  'forced.0': '未強制 HTTPS',

  'protocol.http': 'HTTP',
  'protocol.https': 'HTTPS',
  'protocol.follow': '跟隨',

  'warning.removeDomains': '這些網域與它們的源站、設定會一併刪除，訪客立即得到 903。',
  'domains.noSuch': '找不到網域「{name}」：可能已被刪除，或不屬於這個站點。',
  'domains.removeByNames': '依名稱刪除…',
  'domains.namesTitle': '依名稱刪除網域',
  'domains.pasteNames': '一行一個網域；貼上網址也可以。只會刪除這個站點裡找得到的網域，送出之前每一行都會先標示。',
  'domains.judged': '各行的結果',
  'domains.removeFound': '刪除 {count} 個網域',
  'domains.removing': '刪除中：{total} 個中的 {done} 個',
  'domains.removed': '已刪除 {count} 個網域。',
  'nameVerdict.found': '會刪除',
  'nameVerdict.notFound': '不在這個站點',
  'nameVerdict.wrong': '不是網域',
  'nameVerdict.twice': '重複',
  'nameVerdicts.found': '{count} 個會刪除',
  'nameVerdicts.notFound': '{count} 個不在這個站點',
  'nameVerdicts.wrong': '{count} 行不是網域',
  'nameVerdicts.twice': '{count} 行重複',
};
