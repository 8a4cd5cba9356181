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
};
