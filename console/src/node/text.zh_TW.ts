/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'menu.zones': '區域',
  'menu.zoneSetting': '區域設定',
  'menu.nodes': '節點',
  'menu.groups': '解析群組',
  'menu.products': '產品',
  'menu.autoCertificates': '自動憑證',

  'page.zones': '區域',
  'page.nodes': '節點',
  'page.groups': '解析群組',
  'page.products': '產品',
  'page.autoCertificates': '自動憑證',

  'noun.zones': '區域',
  'noun.nodes': '節點',
  'noun.groups': '群組',
  'noun.products': '產品',
  'noun.autoCertificates': '自動憑證',

  'empty.zones': '區域是一組共用設定的節點，請先新增一個。',
  'empty.nodes': '用「加入節點」取得指令，在機器上執行後節點就會出現。',
  'empty.line': '加入節點之後，這條線路就會回應它們的位址。',
  'empty.groups': '群組決定網域解析到哪些節點。',
  'empty.products': '產品是您銷售的內容：一個群組與它的上限。',

  'field.nodeCount': '節點數',
  'field.productCount': '產品數',
  'field.addresses': '位址',
  'field.version': '版本',
  'field.lastBeat': '最後回報',
  'field.startedAt': '啟動時間',
  'field.behind': '尚未套用',
  'field.aside': '未採計的日誌',
  'field.refused': '拒絕的設定',
  'field.groupID': '群組',
  'field.groupName': '群組',
  'field.siteLimit': '站點上限',
  'field.domainLimit': '網域上限',
  'field.autoSSLLimit': '自動憑證上限',
  'field.sellType': '銷售方式',
  'field.trafficPrice': '每 GB 單價',
  'field.defaultState': '預設狀態',
  'field.lines': '自訂解析線路',
  'field.cidrs': '網段',
  'field.asns': 'ASN',
  'field.line': '解析線路',

  'help.lines': '給來自這些網段或電信業者（ASN）的訪客；其他訪客使用預設線路。',
  'help.trafficPrice': '送往訪客的流量每 GB（10⁹ 位元組）的價格，幣別由您決定。',

  'warning.pauseNode': '暫停的節點不再提供服務。',
  'warning.deinitialize': '節點會離開它的區域。',

  'action.add': '加入',
  'action.addLine': '新增線路',
  'action.groups': '解析',
  'action.zoneSetting': '設定',
  'action.join': '加入節點',
  'action.initialize': '初始化',
  'action.deinitialize': '移出區域',
  'action.assignNodes': '線路節點',

  'tab.initialized': '已初始化',
  'tab.uninitialized': '未初始化',

  'sellType.plan': '月費方案',
  'sellType.usage': '依用量',

  'nodeType.edge': '邊緣',
  'nodeType.relay': '中繼',

  'lineKind.default': '預設線路',

  'role.main': '主要',
  'role.backup': '備用',

  'join.title': '加入節點',
  'join.text': '在要加入的機器上以 root 執行下面的指令。執行後，節點會出現在「未初始化」，或直接進入選擇的區域。',
  'join.make': '產生指令',
  'join.until': '有效至 {time}，只能使用一次。',
  'join.later': '稍後再決定',
};
