import type { Node } from '../kit/text.ts';

export default {
  'field.nodes': '节点',
  'field.configuration': '配置同步',
  'field.ranges': '允许的私有网段',

  'help.originRanges': '每行一个 CIDR 或地址，须在 10.0.0.0/8、172.16.0.0/12、192.168.0.0/16、100.64.0.0/10 或 fc00::/7 之内。',
  'help.initialize': '节点会获取这个区域的配置，开始为访客服务。',
  'help.productGroup': '域名会解析到这个分组的节点。',
  'help.productGroupMove': '更改后，已售出的站点会改由新分组的节点提供服务。',
  'help.domainLimitPerSite': '每个站点可添加的域名数；0 表示不限制。',
  'help.defaultState': '用这个产品开通的新站点，最初的状态。',

  'empty.nodesUninitialized': '节点加入后，还没有指定区域的会在这里等待初始化。',

  'zone.normal': '{normal} / {nodes} 正常',
  'zone.noNodes': '没有节点',

  'origins.open': '私有源站',
  'origins.title': '源站可用的私有网段',
  'origins.text':
    '客户的源站原则上使用公网地址。若服务器位于您自己的网络，可在此允许其网段：您的所有客户都能让节点连接到这些地址。本机、链路本地与元数据地址，以及本平台自身，一律不允许。',
  'origins.environment': '安装环境另外允许（BREAKWATER_ORIGIN_ALLOW）：{ranges}',

  'node.upToDate': '已是最新',
  'node.behind': '落后 {count} 项变更',
  'node.sequence': '序号 {seq}',
  'node.noRefusals': '无',
  'node.refusals': '{count} 项',
  'node.refusedTitle': '拒绝的配置：{count} 项',
  'node.refusedText': '节点无法应用下列配置，仍沿用之前的版本。修正内容并保存后，会重新下发。',
  'node.timeAndAgo': '{time}，{ago}',
  'node.initializeTitle': '初始化 {count} 个节点',

  'join.intro': '生成一行命令，在要成为节点的机器上执行，它就会加入这里。',
  'join.nameHelp': '留空时使用机器的主机名。',
  'join.zoneHelp': '选择区域后，节点加入时就会获取该区域的配置；也可以先加入，稍后再初始化。',
  'join.run': '在机器上以 root 执行这行命令：',
  'join.copy': '复制命令',
  'join.needs': '机器需要先安装 Breakwater，并且能连接到命令中的网址。',
  'join.expired': '命令已失效。',
  'join.again': '重新生成',
  'join.waiting': '等待节点连接，出现后会显示在这里…',
  'join.inZone': '已加入区域 {zone}',
  'join.noZone': '已加入，尚未指定区域',

  'group.note': '分组决定域名解析到哪些节点。',
  'group.noZone': '还没有区域',
  'group.addZone': '新建区域',
  'group.nodes': '{count} 个节点',
  'group.noNodes': '线路上没有节点',
  'group.lineTitle': '{group}：默认线路的节点',
  'group.lineText': '域名会解析到“主要”节点的地址；主要节点全部无法服务时，才会解析到“备用”节点。',
  'group.lineEmpty': '加入节点之前，使用这个分组的域名不会解析到任何地址。',
  'group.zoneEmpty': '这个区域还没有节点，请先加入节点。',
  'group.chooseNodes': '选择要加入线路的节点',
  'group.allOnLine': '这个区域的节点都已在线路上',
  'group.add': '加入线路',
  'group.remove': '移出',
  'group.removeNode': '将 {node} 移出线路',
  'group.removeTitle': '将节点移出线路？',
  'group.removeText': '域名不再解析到这个节点的地址。',
  'group.removeLast': '这是线路上最后一个节点，移出后使用这个分组的域名将无法解析。',
  'group.roleOf': '{node} 的角色',

  'product.groupOfZone': '{group} · 区域 {zone}',
} satisfies Node;
