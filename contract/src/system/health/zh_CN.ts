import type { Reason } from './checks.ts';

/** 出了什么问题，以及该怎么做。 */
export const texts: Readonly<Record<Reason, readonly [says: string, todo: string]>> = {
  'database.away': [
    'PostgreSQL 没有响应：{detail}',
    '内置的 PostgreSQL 会自动重新启动：请查看 logs/postgres.log，若一直没有恢复请释放磁盘空间。由 DATABASE_URL 指定的须自行启动：请检查该服务与地址。',
  ],
  'database.slow': ['PostgreSQL 响应缓慢。', '请查看机器负载，以及 pg_stat_activity 中执行过久的语句。'],
  'database.noWrites': ['PostgreSQL 无法写入：{detail}', '目前无法保存任何变更。通常是磁盘已满：释放空间后会自动恢复。'],
  'database.deaf': [
    '收不到 PostgreSQL 的通知：{detail}',
    '变更会延迟显示，在别处被暂停或登出的人稍后才会失效；不会丢失任何内容。它会自行重新监听：请检查连接数限制（max_connections），以及中间的连接池是否支持 LISTEN。',
  ],
  'bus.away': [
    '消息总线（NATS JetStream）没有响应：{detail}',
    '变更无法送达节点，日志留在节点上等候；访客照常获得服务。内置的 NATS 会在半分钟内被强制结束并自动重新启动：请查看 logs/nats.log，若磁盘已满请释放空间。由 NATS_URL 指定的须自行启动：请检查该服务与地址。',
  ],
  'bus.slow': ['消息总线（NATS JetStream）响应缓慢。', '请查看机器负载与磁盘。'],
  'streams.missing': [
    '消息总线缺少数据流 {stream}：{detail}',
    '系统会自动重新创建。若被总线拒绝，请在 NATS 所在机器上释放磁盘空间。',
  ],
  'streams.nearlyFull': [
    '数据流 {stream} 已使用 {percent}%。',
    '日志会留在节点上，直到能够写入为止。请查看“ingest”与“store”两项检查。',
  ],
  'streams.small': ['磁盘只能为数据流 {stream} 保留 {mb} MB。', '目前可正常运行，但分析数据库停止时的缓冲较少。请释放磁盘空间。'],
  'relay.idle': [
    '没有程序将变更从数据库送往消息总线：{detail}',
    '已保存的变更会依次等候，不会丢失。请查看“bus”与“database”两项检查；若两者正常，请重新启动“bus”服务。',
  ],
  'relay.late': [
    '{count} 项已保存的变更等候送出已达 {duration}。',
    '消息总线恢复后会自动送出。请查看“bus”检查与 logs/server.log（“relay:”）。',
  ],
  'store.away': [
    '分析数据库没有响应：{detail}',
    '统计与日志会延迟；数据在总线与节点上等候。内置的分析数据库会自动重新启动：请查看 logs/store.log。由 CLICKHOUSE_URL 指定的须自行启动：请检查该服务与地址。',
  ],
  'store.slow': ['分析数据库响应缓慢。', '请查看机器负载，以及执行过久的查询。'],
  'store.noWrites': ['分析数据库无法写入日志：{detail}', '日志在总线与节点上等候，稍后会补写。通常是磁盘已满：请释放空间。'],
  'ingest.away': [
    '日志写入程序（ingest）没有响应。',
    '统计与日志会延迟，但不会丢失。系统会自动重新启动它；请查看 logs/ingest.log。',
  ],
  'ingest.stuck': ['日志无法写入：{detail}', '不会丢失：日志在总线与节点上等候。请查看“bus”、“store”与“disk”检查。'],
  'ingest.late': ['日志等候写入已达 {duration}。', '统计会延迟相同的时间。若持续增加，请查看“store”检查与机器负载。'],
  'disk.low': ['{folder} 所在磁盘只剩 {freeMB} MB。', '请在低于 {leastMB} MB 之前释放空间或扩充磁盘。'],
  'disk.full': [
    '{folder} 所在磁盘已满：只剩 {freeMB} MB。',
    '请至少释放 {leastMB} MB。访客照常获得服务；变更与日志会等候，之后自动继续。',
  ],
  'disk.fewFiles': [
    '{folder} 所在磁盘只能再创建 {freeFiles} 个文件（inode）。',
    '请在低于 {leastFiles} 个之前删除大量小文件，或以更多 inode 重建文件系统；释放容量没有帮助。',
  ],
  'disk.noFiles': [
    '{folder} 所在磁盘几乎无法再创建文件：只剩 {freeFiles} 个 inode。',
    '请删除小文件，直到至少有 {leastFiles} 个可用。访客照常获得服务，但不会有新内容进入缓存；节点会自动丢弃部分缓存。',
  ],
  'disk.unknown': ['无法查询 {folder} 所在磁盘：{detail}', '请确认文件夹存在，且磁盘已挂载。'],
  'process.away': ['程序 {name} 没有响应。', '系统会自动重新启动它；请查看 logs/{name}.log。'],
  'process.busy': ['此程序曾连续忙碌 {ms} 毫秒。', '调用会因此延迟。请查看机器负载。'],
  'nodes.offline': [
    '节点 {node} 已 {duration}没有消息。',
    '请查看该机器与其网络。节点会继续以现有配置提供服务；离线节点的地址可以从线路上移除。',
  ],
  'nodes.notOnBus': [
    '节点 {node} 连得上控制端，却没有连上消息总线；总线已 {duration}没有收到它的消息。',
    '若总线换了新的密钥，请用新的令牌让节点重新加入：节点不接受其他密钥签署的内容。否则请查看节点到总线端口之间的网络。节点会以现有配置提供服务。',
  ],
  'nodes.pausedSilent': [
    '已暂停的节点 {node} 已 {duration}没有消息。',
    '它已无法担任备用：线路上的主要节点都不正常时，将没有节点可以顶替。请查看该机器与其网络，或将它从线路上移除。',
  ],
  'nodes.relayPassed': [
    '中继节点 {node} 被略过：所属区域的 {edges} 个边缘节点中，有 {count} 个连不上它（{detail}）。',
    '访客照常获得服务，边缘节点会直接向源站获取内容。请查看边缘节点到中继节点端口（8447）的网络、中继节点的地址，以及它监听的地址。',
  ],
  'nodes.older': [
    '节点 {node} 的版本比控制端旧，无法读取送来的配置。',
    '请升级该节点。节点会以现有配置提供服务；升级之前，任何变更、缓存清除与黑名单都不会送达。',
  ],
  'nodes.apart': [
    '节点 {node} 自称版本为 {version}，与控制端的 {own} 相差超过 {most} 个版本。',
    '请升级该节点；相差太远无法直接升级时，请用新的加入命令重新安装。在此之前，它未必能读懂送来的配置。若这台机器不是您安装的版本，请查明是谁更改了它。',
  ],
  'nodes.unserved': [
    '节点 {node} 在线，但有 {count} 项变更尚未生效，最久的已等候 {duration}。',
    '请查看节点本身的问题与日志（logs/agent.log）。在节点上重新启动代理程序会重新读取配置；期间访客照常获得服务。',
  ],
  'nodes.problem': ['节点 {node}：{detail}', '请查看节点上代理程序的日志。'],
  'nodes.refused': ['节点 {node} 拒绝了 {count} 项配置。', '节点会沿用原有配置。请打开该节点查看是哪些配置，修正后保存。'],
  'nginx.away': [
    '此节点的 nginx 无法提供服务：{detail}',
    '访客在此节点得不到响应。系统会自动重新启动它；请查看 node/log/nginx.out 与 error.log。',
  ],
  'nodes.clock': [
    '{node} 的时钟与控制端相差 {duration}。',
    '请在节点上启用时间同步（例如 systemd-timesyncd 或 chrony）。相差超过 5 分钟，节点就无法更新凭据，也不会采计它的日志。',
  ],
  'nginx.hung': [
    '此节点有 {count} 个 nginx 工作进程停滞，已强制结束。',
    '新的工作进程已接手；当时由其处理的访客连接会中断。若再次发生，请查看 node/log/error.log 以及机器的磁盘与内存。',
  ],
  'configuration.late': ['此节点收不到配置：{detail}', '节点会以现有配置提供服务。请查看节点与消息总线之间的网络。'],
  'configuration.notTaken': ['此节点无法应用配置：{detail}', '节点会沿用原有配置。请查看 logs/agent.log。'],
  'configuration.unreadRules': [
    '此节点无法读取 {count} 条站点规则：{detail}',
    '取决于此类防护规则的请求会以 503 拒绝，其他列表则略过该规则。请修正这里列出的规则后保存。',
  ],
  'configuration.certificatesWithoutRoom': [
    '此节点的空间不足，有 {count} 张证书放不下。',
    '使用这些证书的域名在此节点无法通过 https 打开，其余均照常服务。请增加节点的内存，或删除用不到的证书。',
  ],
  'configuration.portsTaken': [
    '此节点没有开放区域的部分端口：{detail}',
    '其余端口照常服务，端口空出后会自动开放。请结束占用端口的程序，或在区域设置改用其他端口。',
  ],
  'configuration.noHTTP3': [
    '此节点无法提供 HTTP/3：{detail}',
    '访客通过 HTTP/2 或 HTTP/1.1 连接，其余照常服务。Debian 13 的 nginx 支持 HTTP/3，Debian 12 的不支持；UDP 端口空出后会自动开放。',
  ],
  'configuration.addressesAway': [
    '节点未在部分子节点的地址上监听：{detail}。',
    '请把地址设置到节点的网络接口，或关闭该子节点的“由 nginx 监听”。节点每分钟会再试一次。',
  ],
  'configuration.logsMore': [
    '节点记录的内容比平常多：级别 {level}，每 {sampling} 个请求完整记录 1 个（0：不抽样）。',
    '找到原因后，请到“系统设置 → 节点日志”改回 notice 与不抽样。{hours} 小时后或磁盘空间不足时会自动结束。',
  ],
  'configuration.logsTimeOver': [
    '节点已在 {hours} 小时后恢复平常的记录；设置仍为级别 {level}、每 {sampling} 个请求抽样 1 个（0：不抽样）。',
    '请到“系统设置 → 节点日志”改回 notice 与不抽样。若要继续排查，请先改回，再重新设置。',
  ],
  'configuration.logsDiskShort': [
    '磁盘空间不足，节点已恢复平常的记录；设置仍为级别 {level}、每 {sampling} 个请求抽样 1 个（0：不抽样）。',
    '请为节点的磁盘腾出空间。到“系统设置 → 节点日志”改回 notice 与不抽样；若要继续排查，再重新设置。',
  ],
  'configuration.logsFlood': [
    '记录的量超过日志文件的空间，节点已恢复平常的记录；设置仍为级别 {level}、每 {sampling} 个请求抽样 1 个（0：不抽样）。',
    '请到“系统设置 → 节点日志”改回 notice 与不抽样，再改成抽样较少的设置。',
  ],
  'configuration.noGeneva': [
    '节点未应用 Geneva 窗口设置：{detail}。',
    '节点程序需要 CAP_NET_ADMIN 权限与 nft 命令。用加入命令安装的节点已具备权限；请安装 nftables，或为 systemd 单元加上该权限。',
  ],
  'configuration.notBound': [
    'nginx 的工作进程未限制在区域所允许的核心上：{detail}。',
    '服务正常，但可能用到所有核心。系统拒绝了 sched_setaffinity(2)：请在 systemd 单元或容器中放行此调用。以较早的加入命令安装的节点，在该机器上重新运行一行新的加入命令即可。',
  ],
  'configuration.damaged': [
    '此节点磁盘上的配置副本有 {count} 处损坏。',
    '运行中的 nginx 会保持原状；若重新启动，可能会缺少部分站点。消息总线一有响应就会重新读取全部配置。请检查磁盘。',
  ],
  'shipping.stuck': ['此节点的日志无法送出：{detail}', '日志在节点磁盘上等候。请查看“bus”检查。'],
  'shipping.waiting': [
    '此节点有 {mb} MB 的日志等候送出，最久的已等候 {duration}。',
    '消息总线可接收时就会送出。若持续增加，请查看“bus”、“ingest”与“store”检查。',
  ],
  'shipping.lost': [
    '因空间不足，此节点丢弃了 {mb} MB 的日志。',
    '这些请求不会出现在统计与日志中。请释放节点的磁盘空间，并查明日志等候的原因。',
  ],
  'shipping.cut': [
    '此节点的一个日志文件比先前短少了 {kb} KB：可能曾经断电、还原快照，或文件被人截短。',
    '已改写入新文件，之后的请求会正常计入；在此之前不久的请求可能不会出现在统计与日志中。',
  ],
  'shipping.unread': [
    '此节点的一个日志文件无法读取：{detail}',
    '文件会保留并持续重试；读取成功前，其中的请求不会出现在统计中。请查看文件权限与磁盘。',
  ],
  'unlogged.counted': [
    '有 {count} 个请求无法写入日志。',
    '这些请求已获得响应，但不会出现在统计中。通常是节点磁盘已满：请释放空间。',
  ],
  'setAside.counted': [
    '节点 {node} 有 {count} 行日志未计入。',
    '这些日志不计费，也不计入统计。原因请见该节点页面：时钟错误、内容损坏，或节点不可能服务的站点。节点更换区域时会发生一次；若持续发生，其密钥可能已泄露：请删除该节点，再让它重新加入。',
  ],
  'unrepeated.counted': [
    '有 {count} 批因崩溃中断的日志无法重新写入。',
    '这些日志可能已计入统计，也可能已丢失：持有日志的节点未及时恢复连接，该段时间的计费可能偏低。相关节点请见 logs/ingest.log。',
  ],
  'foreignWrites.counted': [
    '消息总线上发现 {count} 条并非由系统送出的消息。',
    '有人以总线凭证写入消息。请在 logs/server.log 查看相关主题，并吊销该节点或凭证。',
  ],
  'sites.changesLate': ['变更生效的时间比平时久。', '变更已保存，稍后会自动生效。访客照常获得服务。'],
  'sites.figuresLate': ['统计与日志有所延迟。', '数据不会丢失，稍后会自动补齐。'],
  'upkeep.failing': [
    '过期数据无法清除：{detail}',
    '数据库会持续变大，其他功能不受影响；每 15 分钟会再试一次。请查看 logs/server.log。',
  ],
  'upkeep.late': [
    '过期数据已有 {hours} 小时未清除。',
    '此工作由 work 服务每 15 分钟执行一次，请确认该服务正在运行，或重新启动。',
  ],
  'tasks.late': [
    '{count} 项任务已停滞，最久 {duration}。',
    '不会丢失：会从停下的地方继续。任务由 work 服务执行，请确认该服务正在运行，并查看 logs/server.log。',
  ],
  'origins.refused': [
    '{count} 个域名的源站被节点拒绝连接：{sites}',
    '访客会收到 502。若这些是您的私有地址，请在“区域 → 私有源站”中允许；其他地址请在域名中更正，或用 BREAKWATER_ORIGIN_ALLOW 开放。',
  ],
  'documents.notMade': [
    '{count} 项已保存的变更无法生成配置，最久的已有 {duration}：{sites}',
    '节点会沿用先前的配置。请打开站点查看原因，更正后再保存。',
  ],
  'rules.outdated': [
    '{count} 条已保存的规则不符合当前版本的要求：{rules}',
    '这些规则是旧版本接受的。节点大多能继续执行；无法执行时，该防护涉及的请求会收到 503。请打开站点查看原因，更正或删除规则。',
  ],
  'certificates.ending': [
    '{count} 张使用中的证书将在 30 天内到期，且没有续期中，最早的还有 {days} 天：{sites}',
    '证书过期后，浏览器会拒绝连接。上传的证书请用新证书替换；自动申请的证书请到自动 SSL 管理查看失败原因。',
  ],
  'names.away': [
    '内置域名服务器没有应答：{detail}',
    '解析器若没有缓存，客户的域名此时无法解析。它会自动重新启动；若仍未恢复，请查看 logs/dns.log、磁盘空间，以及端口是否被其他程序占用。',
  ],
  'names.idle': [
    '已有 {duration}没有进程在维护解析结果。',
    '现有结果照常应答，但故障的节点不会被移除。这项工作由“work”服务负责：它是否在运行？请重新启动，并查看 logs/server.log。',
  ],
  'names.late': [
    '{count} 个 CNAME 域名的变更未能生效，最久已达 {duration}：{zones}。{detail}',
    '系统会持续重试；这段时间故障的节点仍留在这些域名的解析结果中。各域名的原因与下次重试时间请见“DNS 设置”。使用服务商时请检查其状态、频率限制与密钥；使用内置域名服务器时请查看 logs/dns.log 与磁盘空间。',
  ],
  'names.refused': [
    '{count} 个站点名称被域名服务器拒绝，最久已达 {duration}：{zones}。{detail}',
    '只影响这些名称：尚未生效，或仍指向先前的分组；其余变更照常生效，故障的节点也会照常移除。系统会持续重试。各名称的原因请见“DNS 设置”，常见情况是该名称已有其他记录，或密钥无权修改。',
  ],
  'names.unread': [
    '{count} 个解析分组无法计算解析结果：{groups}。{detail}',
    '这些分组保持原有的解析结果，故障的节点不会被移除。请重新保存分组与它的线路；若仍未恢复，可能是数据损坏，请查看 logs/server.log 与数据库。',
  ],
  'signedZones.otherKey': [
    '{count} 个已签名（DNSSEC）的 CNAME 域名换了密钥，上层域名可能仍指向旧密钥：{zones}',
    '会验证 DNSSEC 的解析器此时得不到这些域名的任何应答。请到注册商将旧的 DS 换成“CNAME 域名”显示的新 DS，换好后在该处确认；若备份含有密钥，也可还原加密备份。',
  ],
  'signedZones.otherAbove': [
    '{count} 个 CNAME 域名在上层域名的 DS，不属于这里的任何密钥：{zones}',
    '会验证 DNSSEC 的解析器此时得不到这些域名的任何应答。是否还原了不含密钥、或在签名之前制作的备份？请到注册商移除该 DS，或换成“CNAME 域名”显示的 DS。',
  ],
  'geoSource.failing': [
    'IP 地理位置数据已 {days} 天无法从 {host} 更新。',
    '现有数据会继续使用，但按国家、地区或 ASN 划分的线路会越来越不准。原因请见“DNS 设置”的“自动更新”：请更正网址或密钥，或设为“不自动”。',
  ],
};
