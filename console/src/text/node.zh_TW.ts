/** What the screens of zones, nodes, groups and products say. This file is the type of the other languages. */
export const node = {
  'field.nodes': '節點',
  'field.configuration': '設定同步',
  'field.ranges': '允許的私有網段',

  'help.originRanges': '每行一個 CIDR 或位址，須在 10.0.0.0/8、172.16.0.0/12、192.168.0.0/16、100.64.0.0/10 或 fc00::/7 之內。',
  'help.initialize': '節點會取得這個區域的設定，開始為訪客服務。',
  'help.productGroup': '網域會解析到這個群組的節點。',
  'help.productGroupMove': '變更後，已售出的站點會改由新群組的節點提供服務。',
  'help.domainLimitPerSite': '每個站點可加入的網域數；0 代表不限制。',
  'help.defaultState': '以這個產品開通的新站點，一開始的狀態。',

  'empty.nodesUninitialized': '節點加入後，還沒有指定區域的會在這裡等候初始化。',

  'zone.normal': '{normal} / {nodes} 正常',
  'zone.noNodes': '沒有節點',

  'origins.open': '私有源站',
  'origins.title': '源站可用的私有網段',
  'origins.text':
    '客戶的源站原則上使用公開位址。若伺服器位於您自己的網路，可在此允許其網段：您的所有客戶都能讓節點連線到這些位址。本機、鏈路本地與中繼資料位址，以及本平台自身，一律不允許。',
  'origins.environment': '安裝環境另外允許（BREAKWATER_ORIGIN_ALLOW）：{ranges}',

  'node.upToDate': '已是最新',
  'node.behind': '落後 {count} 項變更',
  'node.sequence': '序號 {seq}',
  'node.noRefusals': '無',
  'node.refusals': '{count} 項',
  'node.refusedTitle': '拒絕的設定：{count} 項',
  'node.refusedText': '節點無法套用下列設定，仍沿用先前的版本。修正內容並儲存後，會重新下發。',
  'node.timeAndAgo': '{time}，{ago}',
  'node.initializeTitle': '初始化 {count} 個節點',

  'join.intro': '產生一行指令，在要成為節點的機器上執行，它就會加入這裡。',
  'join.nameHelp': '留空時使用機器的主機名稱。',
  'join.zoneHelp': '選擇區域後，節點加入時就會取得該區域的設定；也可以先加入，稍後再初始化。',
  'join.run': '在機器上以 root 執行這行指令：',
  'join.copy': '複製指令',
  'join.needs': '機器需要先安裝 Breakwater，並且能連線到指令中的網址。',
  'join.expired': '指令已失效。',
  'join.again': '重新產生',
  'join.waiting': '等待節點連線，出現後會顯示在這裡…',
  'join.inZone': '已加入區域 {zone}',
  'join.noZone': '已加入，尚未指定區域',

  'group.note': '群組決定網域解析到哪些節點。',
  'group.noZone': '還沒有區域',
  'group.addZone': '新增區域',
  'group.nodes': '{count} 個節點',
  'group.noNodes': '線路上沒有節點',
  'group.lineTitle': '{group}：預設線路的節點',
  'group.lineText': '網域會解析到「主要」節點的位址；主要節點全部無法服務時，才會解析到「備用」節點。',
  'group.lineEmpty': '加入節點之前，使用這個群組的網域不會解析到任何位址。',
  'group.zoneEmpty': '這個區域還沒有節點，請先加入節點。',
  'group.chooseNodes': '選擇要加入線路的節點',
  'group.allOnLine': '這個區域的節點都已在線路上',
  'group.add': '加入線路',
  'group.remove': '移出',
  'group.removeNode': '將 {node} 移出線路',
  'group.removeTitle': '將節點移出線路？',
  'group.removeText': '網域不再解析到這個節點的位址。',
  'group.removeLast': '這是線路上最後一個節點，移出後使用這個群組的網域將無法解析。',
  'group.roleOf': '{node} 的角色',

  'product.groupOfZone': '{group}．區域 {zone}',
} as const;
export default node;
