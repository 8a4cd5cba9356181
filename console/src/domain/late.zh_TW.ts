/** What the DNS accounts of a site say; it is loaded with their section. This file is the type of the other languages. */
export default {
  'note.siteDNS': '加入管理網域的 DNS 帳戶後，萬用字元網域與 HTTP 無法驗證的網域，會在其中放入驗證記錄來取得憑證；證明後即移除。',
  'empty.siteDNS': '加入 DNS 帳戶，萬用字元網域也能自動取得憑證。',

  'field.keyName': '金鑰名稱或 ID',
  'field.credentials': '金鑰或 Token',
  'field.tsigName': 'TSIG 金鑰名稱',
  'field.algorithm': 'TSIG 演算法',
  'field.tsigSecret': 'TSIG 金鑰（base64）',
  'field.dnsTokenID': 'Token ID',
  'field.dnsToken': 'API Token',
  'field.accessKeyID': 'Access Key ID',
  'field.accessKeySecret': 'Access Key Secret',

  'help.dnsServer': '接受動態更新（RFC 2136）的主要名稱伺服器；連接埠不是 53 時加在後面，例如 ns1.example.com:5353。',
  'help.dnsCredentials': '加密保存，之後不再顯示。只需要能修改這些網域記錄的權限。',
  'help.dnsToken': '加密保存，之後不再顯示。只需要能讀取網域清單與修改 DNS 記錄的權限。',
  'help.dnsCredentialsAnew': '留空時不變；改用另一個 DNS 服務時必須填寫。',

  'action.dnsZones': '檢查網域',

  'dnsProvider.rfc2136': '自有名稱伺服器（RFC 2136）',
  'dnsProvider.cloudflare': 'Cloudflare',
  'dnsProvider.dnspod': 'DNSPod',
  'dnsProvider.route53': 'Amazon Route 53',
  'dnsProvider.aliyun': '阿里雲 DNS',

  'tsigAlgorithm.hmacSHA256': 'HMAC-SHA256',
  'tsigAlgorithm.hmacSHA384': 'HMAC-SHA384',
  'tsigAlgorithm.hmacSHA512': 'HMAC-SHA512',
  'tsigAlgorithm.hmacSHA1': 'HMAC-SHA1',

  'dnsZones.title': '{name}：可驗證的網域',
  'dnsZones.text': '剛才向 DNS 服務查詢的結果：這個帳戶管理哪些網域所在的 DNS 區域。',
  'dnsZones.none': '站點還沒有網域。',
  'dnsZone.success': '可驗證',
  'dnsZone.warning': '不在這個帳戶',
};
