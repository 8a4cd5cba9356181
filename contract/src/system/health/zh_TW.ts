import type { Reason } from './checks.ts';

/** 出了什麼問題，以及該怎麼做。 */
export const texts: Readonly<Record<Reason, readonly [says: string, todo: string]>> = {
  'database.away': [
    'PostgreSQL 沒有回應：{detail}',
    '內建的 PostgreSQL 會自動重新啟動：請查看 logs/postgres.log，若一直沒有恢復請釋出磁碟空間。由 DATABASE_URL 指定的則須自行啟動：請檢查該服務與位址。',
  ],
  'database.slow': ['PostgreSQL 回應緩慢。', '請查看機器負載，以及 pg_stat_activity 中執行過久的陳述式。'],
  'database.noWrites': ['PostgreSQL 無法寫入：{detail}', '目前無法儲存任何變更。通常是磁碟已滿：釋出空間後會自動恢復。'],
  'database.deaf': [
    '收不到 PostgreSQL 的通知：{detail}',
    '變更會延遲顯示，在別處被暫停或登出的人稍後才會失效；不會遺失任何內容。它會自行重新監聽：請檢查連線數限制（max_connections），以及中間的連線池是否支援 LISTEN。',
  ],
  'bus.away': [
    '訊息匯流排（NATS JetStream）沒有回應：{detail}',
    '變更無法送達節點，日誌留在節點上等候；訪客照常獲得服務。內建的 NATS 會在半分鐘內被強制結束並自動重新啟動：請查看 logs/nats.log，若磁碟已滿請釋出空間。由 NATS_URL 指定的則須自行啟動：請檢查該服務與位址。',
  ],
  'bus.slow': ['訊息匯流排（NATS JetStream）回應緩慢。', '請查看機器負載與磁碟。'],
  'streams.missing': [
    '訊息匯流排缺少資料流 {stream}：{detail}',
    '系統會自動重新建立。若遭匯流排拒絕，請在 NATS 所在機器上釋出磁碟空間。',
  ],
  'streams.nearlyFull': [
    '資料流 {stream} 已使用 {percent}%。',
    '日誌會留在節點上，直到能夠寫入為止。請查看「ingest」與「store」兩項檢查。',
  ],
  'streams.small': ['磁碟只能為資料流 {stream} 保留 {mb} MB。', '目前可正常運作，但分析資料庫停擺時的緩衝較少。請釋出磁碟空間。'],
  'relay.idle': [
    '沒有程式將變更從資料庫送往訊息匯流排：{detail}',
    '已儲存的變更會依序等候，不會遺失。請查看「bus」與「database」兩項檢查；若兩者正常，請重新啟動「bus」服務。',
  ],
  'relay.late': [
    '{count} 筆已儲存的變更等候送出已達 {duration}。',
    '訊息匯流排恢復後會自動送出。請查看「bus」檢查與 logs/server.log（「relay:」）。',
  ],
  'store.away': [
    '分析資料庫沒有回應：{detail}',
    '統計與日誌會延遲；資料在匯流排與節點上等候。內建的分析資料庫會自動重新啟動：請查看 logs/store.log。由 CLICKHOUSE_URL 指定的則須自行啟動：請檢查該服務與位址。',
  ],
  'store.slow': ['分析資料庫回應緩慢。', '請查看機器負載，以及執行過久的查詢。'],
  'store.noWrites': ['分析資料庫無法寫入日誌：{detail}', '日誌在匯流排與節點上等候，稍後會補寫。通常是磁碟已滿：請釋出空間。'],
  'ingest.away': [
    '日誌寫入程式（ingest）沒有回應。',
    '統計與日誌會延遲，但不會遺失。系統會自動重新啟動它；請查看 logs/ingest.log。',
  ],
  'ingest.stuck': ['日誌無法寫入：{detail}', '不會遺失：日誌在匯流排與節點上等候。請查看「bus」、「store」與「disk」檢查。'],
  'ingest.late': ['日誌等候寫入已達 {duration}。', '統計會延遲相同的時間。若持續增加，請查看「store」檢查與機器負載。'],
  'disk.low': ['{folder} 所在磁碟只剩 {freeMB} MB。', '請在低於 {leastMB} MB 之前釋出空間或擴充磁碟。'],
  'disk.full': [
    '{folder} 所在磁碟已滿：只剩 {freeMB} MB。',
    '請至少釋出 {leastMB} MB。訪客照常獲得服務；變更與日誌會等候，之後自動繼續。',
  ],
  'disk.fewFiles': [
    '{folder} 所在磁碟只能再建立 {freeFiles} 個檔案（inode）。',
    '請在低於 {leastFiles} 個之前刪除大量小檔案，或以更多 inode 重建檔案系統；釋出容量沒有幫助。',
  ],
  'disk.noFiles': [
    '{folder} 所在磁碟幾乎無法再建立檔案：只剩 {freeFiles} 個 inode。',
    '請刪除小檔案，直到至少有 {leastFiles} 個可用。訪客照常獲得服務，但不會有新內容進入快取；節點會自動捨棄部分快取。',
  ],
  'disk.unknown': ['無法查詢 {folder} 所在磁碟：{detail}', '請確認資料夾存在，且磁碟已掛載。'],
  'process.away': ['程式 {name} 沒有回應。', '系統會自動重新啟動它；請查看 logs/{name}.log。'],
  'process.busy': ['此程式曾連續忙碌 {ms} 毫秒。', '呼叫會因此延遲。請查看機器負載。'],
  'nodes.offline': [
    '節點 {node} 已 {duration}沒有消息。',
    '請查看該機器與其網路。節點會繼續以現有設定提供服務；離線節點的位址可以從線路上移除。',
  ],
  'nodes.notOnBus': [
    '節點 {node} 連得上控制端，卻沒有連上訊息匯流排；匯流排已 {duration}沒有收到它的消息。',
    '若匯流排換了新的金鑰，請用新的權杖讓節點重新加入：節點不接受其他金鑰簽署的內容。否則請查看節點到匯流排連接埠之間的網路。節點會以現有設定提供服務。',
  ],
  'nodes.pausedSilent': [
    '已暫停的節點 {node} 已 {duration}沒有消息。',
    '它已無法擔任備援：線路上的主要節點都不正常時，將沒有節點可以頂替。請查看該機器與其網路，或將它從線路上移除。',
  ],
  'nodes.relayPassed': [
    '中繼節點 {node} 被略過：所屬區域的 {edges} 個邊緣節點中，有 {count} 個連不上它（{detail}）。',
    '訪客照常獲得服務，邊緣節點會直接向源站取得內容。請查看邊緣節點到中繼節點連接埠（8447）的網路、中繼節點的位址，以及它接聽的位址。',
  ],
  'nodes.older': [
    '節點 {node} 的版本比控制端舊，無法讀取送來的設定。',
    '請升級該節點。節點會以現有設定提供服務；升級之前，任何變更、快取清除與黑名單都不會送達。',
  ],
  'nodes.apart': [
    '節點 {node} 自稱版本為 {version}，與控制端的 {own} 相差超過 {most} 個版次。',
    '請升級該節點；相差太遠無法直接升級時，請用新的加入指令重新安裝。在此之前，它未必能讀懂送來的設定。若這台機器不是您安裝的版本，請查明是誰更動了它。',
  ],
  'nodes.unserved': [
    '節點 {node} 在線上，但有 {count} 項變更尚未生效，最久的已等候 {duration}。',
    '請查看節點本身的問題與日誌（logs/agent.log）。在節點上重新啟動代理程式會重新讀取設定；期間訪客照常獲得服務。',
  ],
  'nodes.problem': ['節點 {node}：{detail}', '請查看節點上代理程式的日誌。'],
  'nodes.refused': ['節點 {node} 拒絕了 {count} 項設定。', '節點會沿用原有設定。請開啟該節點查看是哪些設定，修正後儲存。'],
  'nginx.away': [
    '此節點的 nginx 無法提供服務：{detail}',
    '訪客在此節點得不到回應。系統會自動重新啟動它；請查看 node/log/nginx.out 與 error.log。',
  ],
  'nodes.clock': [
    '{node} 的時鐘與控制端相差 {duration}。',
    '請在節點上啟用時間同步（例如 systemd-timesyncd 或 chrony）。相差超過 5 分鐘，節點就無法更新憑證，也不會採計它的日誌。',
  ],
  'nginx.hung': [
    '此節點有 {count} 個 nginx 工作程序停滯，已強制結束。',
    '新的工作程序已接手；當時由其處理的訪客連線會中斷。若再次發生，請查看 node/log/error.log 以及機器的磁碟與記憶體。',
  ],
  'configuration.late': ['此節點收不到設定：{detail}', '節點會以現有設定提供服務。請查看節點與訊息匯流排之間的網路。'],
  'configuration.notTaken': ['此節點無法套用設定：{detail}', '節點會沿用原有設定。請查看 logs/agent.log。'],
  'configuration.unreadRules': [
    '此節點無法讀取 {count} 條站點規則：{detail}',
    '取決於此類防護規則的請求會以 503 拒絕，其他清單則略過該規則。請修正這裡列出的規則後儲存。',
  ],
  'configuration.certificatesWithoutRoom': [
    '此節點的空間不足，有 {count} 張憑證放不下。',
    '使用這些憑證的網域在此節點無法以 https 開啟，其餘皆照常服務。請增加節點的記憶體，或刪除用不到的憑證。',
  ],
  'configuration.portsTaken': [
    '此節點沒有開放區域的部分連接埠：{detail}',
    '其餘連接埠照常服務，連接埠空出後會自動開放。請結束占用連接埠的程式，或在區域設定改用其他連接埠。',
  ],
  'configuration.noHTTP3': [
    '此節點無法提供 HTTP/3：{detail}',
    '訪客以 HTTP/2 或 HTTP/1.1 連線，其餘照常服務。Debian 13 的 nginx 支援 HTTP/3，Debian 12 的不支援；UDP 連接埠空出後會自動開放。',
  ],
  'configuration.addressesAway': [
    '節點未在部分子節點的位址上監聽：{detail}。',
    '請把位址設定到節點的網路介面，或關閉該子節點的「由 nginx 監聽」。節點每分鐘會再試一次。',
  ],
  'configuration.logsMore': [
    '節點日誌的內容比平常多：層級 {level}，每 {sampling} 個請求完整記錄 1 個（0：不抽樣）。',
    '找到原因後，請到「系統設定 → 節點日誌」改回 notice 與不抽樣。{hours} 小時後或磁碟空間不足時會自動結束。',
  ],
  'configuration.logsTimeOver': [
    '節點已在 {hours} 小時後恢復平常的日誌；設定仍為層級 {level}、每 {sampling} 個請求抽樣 1 個（0：不抽樣）。',
    '請到「系統設定 → 節點日誌」改回 notice 與不抽樣。若要繼續查，請先改回，再重新設定。',
  ],
  'configuration.logsDiskShort': [
    '磁碟空間不足，節點已恢復平常的日誌；設定仍為層級 {level}、每 {sampling} 個請求抽樣 1 個（0：不抽樣）。',
    '請為節點的磁碟騰出空間。到「系統設定 → 節點日誌」改回 notice 與不抽樣；若要繼續查，再重新設定。',
  ],
  'configuration.logsFlood': [
    '日誌的量超過日誌檔的空間，節點已恢復平常的日誌；設定仍為層級 {level}、每 {sampling} 個請求抽樣 1 個（0：不抽樣）。',
    '請到「系統設定 → 節點日誌」改回 notice 與不抽樣，再改成抽樣較少的設定。',
  ],
  'configuration.noGeneva': [
    '節點未套用 Geneva 視窗設定：{detail}。',
    '節點程式需要 CAP_NET_ADMIN 權限與 nft 指令。用加入指令安裝的節點已具備權限；請安裝 nftables，或為 systemd 單元加上該權限。',
  ],
  'configuration.notBound': [
    'nginx 的工作行程未限制在區域所允許的核心上：{detail}。',
    '服務正常，但可能用到所有核心。系統拒絕了 sched_setaffinity(2)：請在 systemd 單元或容器中開放此呼叫。以較早的加入指令安裝的節點，在該機器重新執行一行新的加入指令即可。',
  ],
  'configuration.damaged': [
    '此節點磁碟上的設定副本有 {count} 處損壞。',
    '執行中的 nginx 會維持原狀；若重新啟動，可能會缺少部分站點。訊息匯流排一有回應就會重新讀取全部設定。請檢查磁碟。',
  ],
  'shipping.stuck': ['此節點的日誌無法送出：{detail}', '日誌在節點磁碟上等候。請查看「bus」檢查。'],
  'shipping.waiting': [
    '此節點有 {mb} MB 的日誌等候送出，最久的已等候 {duration}。',
    '訊息匯流排可接收時就會送出。若持續增加，請查看「bus」、「ingest」與「store」檢查。',
  ],
  'shipping.lost': [
    '因空間不足，此節點捨棄了 {mb} MB 的日誌。',
    '這些請求不會出現在統計與日誌中。請釋出節點的磁碟空間，並查明日誌等候的原因。',
  ],
  'shipping.cut': [
    '此節點的一個日誌檔比先前短少了 {kb} KB：可能曾經斷電、還原快照，或檔案遭人截短。',
    '已改寫入新檔案，之後的請求會正常採計；在此之前不久的請求可能不會出現在統計與日誌中。',
  ],
  'shipping.unread': [
    '此節點的一個日誌檔無法讀取：{detail}',
    '檔案會保留並持續重試；讀取成功前，其中的請求不會出現在統計中。請查看檔案權限與磁碟。',
  ],
  'unlogged.counted': [
    '有 {count} 個請求無法寫入日誌。',
    '這些請求已獲得回應，但不會出現在統計中。通常是節點磁碟已滿：請釋出空間。',
  ],
  'setAside.counted': [
    '節點 {node} 有 {count} 行日誌未採計。',
    '這些日誌不計費，也不列入統計。原因請見該節點頁面：時鐘錯誤、內容損壞，或節點不可能服務的站點。節點更換區域時會發生一次；若持續發生，其金鑰可能已外洩：請刪除該節點，再讓它重新加入。',
  ],
  'unrepeated.counted': [
    '有 {count} 批因當機中斷的日誌無法重新寫入。',
    '這些日誌可能已列入統計，也可能已遺失：持有日誌的節點未及時恢復連線，該段時間的計費可能偏低。相關節點請見 logs/ingest.log。',
  ],
  'foreignWrites.counted': [
    '訊息匯流排上發現 {count} 則並非由系統送出的訊息。',
    '有人以匯流排憑證寫入訊息。請在 logs/server.log 查看相關主題，並撤銷該節點或憑證。',
  ],
  'sites.changesLate': ['變更生效的時間比平常久。', '變更已儲存，稍後會自動生效。訪客照常獲得服務。'],
  'sites.figuresLate': ['統計與日誌有所延遲。', '資料不會遺失，稍後會自動補齊。'],
  'upkeep.failing': [
    '過期資料無法清除：{detail}',
    '資料庫會持續變大，其他功能不受影響；每 15 分鐘會再試一次。請查看 logs/server.log。',
  ],
  'upkeep.late': [
    '過期資料已有 {hours} 小時未清除。',
    '此工作由 work 服務每 15 分鐘執行一次，請確認該服務正在運作，或重新啟動。',
  ],
  'tasks.late': [
    '{count} 項任務已停滯，最久 {duration}。',
    '不會遺失：會從停下的地方繼續。任務由 work 服務執行，請確認該服務正在運作，並查看 logs/server.log。',
  ],
  'origins.refused': [
    '{count} 個網域的源站遭節點拒絕連線：{sites}',
    '訪客會收到 502。若這些是您的私有位址，請於「區域 → 私有源站」允許；其他位址請於網域修正，或以 BREAKWATER_ORIGIN_ALLOW 開放。',
  ],
  'documents.notMade': [
    '{count} 筆已儲存的變更無法產生設定，最久的已達 {duration}：{sites}',
    '節點會沿用先前的設定。請開啟站點查看原因，修正後再儲存。',
  ],
  'rules.outdated': [
    '{count} 筆已儲存的規則不符合目前版本的要求：{rules}',
    '這些規則是舊版本接受的。節點大多能繼續執行；無法執行時，該防護涵蓋的請求會收到 503。請開啟站點查看原因，修正或刪除規則。',
  ],
  'certificates.ending': [
    '{count} 張使用中的憑證將在 30 天內到期，且沒有續期中，最早的還有 {days} 天：{sites}',
    '憑證過期後，瀏覽器會拒絕連線。上傳的憑證請以新憑證替換；自動申請的憑證請到自動 SSL 管理查看失敗原因。',
  ],
  'names.away': [
    '內建名稱伺服器沒有回應：{detail}',
    '解析器若沒有快取，客戶的網域名稱此時無法解析。它會自動重新啟動；若仍未恢復，請查看 logs/dns.log、磁碟空間，以及連接埠是否被其他程式占用。',
  ],
  'names.idle': [
    '已有 {duration}沒有任何程式在維護解析結果。',
    '現有結果照常回應，但故障的節點不會被移除。這項工作由「work」服務負責：它是否在執行？請重新啟動，並查看 logs/server.log。',
  ],
  'names.late': [
    '{count} 個 CNAME 網域的變更未能生效，最久已達 {duration}：{zones}。{detail}',
    '系統會持續重試；這段期間故障的節點仍留在這些網域的解析結果中。各網域的原因與下次重試時間請見「DNS 設定」。使用服務商時請檢查其狀態、頻率限制與金鑰；使用內建名稱伺服器時請查看 logs/dns.log 與磁碟空間。',
  ],
  'names.refused': [
    '{count} 個站點名稱遭名稱伺服器拒絕，最久已達 {duration}：{zones}。{detail}',
    '只影響這些名稱：尚未生效，或仍指向先前的群組；其餘變更照常生效，故障的節點也會照常移除。系統會持續重試。各名稱的原因請見「DNS 設定」，常見情況是該名稱已有其他紀錄，或金鑰無權修改。',
  ],
  'names.unread': [
    '{count} 個解析群組無法計算解析結果：{groups}。{detail}',
    '這些群組維持原有的解析結果，故障的節點不會被移除。請重新儲存群組與它的線路；若仍未恢復，可能是資料損壞，請查看 logs/server.log 與資料庫。',
  ],
  'signedZones.otherKey': [
    '{count} 個已簽署（DNSSEC）的 CNAME 網域換了金鑰，上層網域仍可能指向舊金鑰：{zones}',
    '會驗證 DNSSEC 的解析器此時得不到這些網域的任何回應。請到註冊商將舊的 DS 換成「CNAME 網域」顯示的新 DS，換好後在該處確認；若備份含有金鑰，也可還原加密備份。',
  ],
  'signedZones.otherAbove': [
    '{count} 個 CNAME 網域在上層網域的 DS，不屬於這裡的任何金鑰：{zones}',
    '會驗證 DNSSEC 的解析器此時得不到這些網域的任何回應。是否還原了不含金鑰、或在簽署之前製作的備份？請到註冊商移除該 DS，或換成「CNAME 網域」顯示的 DS。',
  ],
  'geoSource.failing': [
    'IP 地理位置資料已 {days} 天無法從 {host} 更新。',
    '現有資料會繼續使用，但依國家、地區或 ASN 劃分的線路會愈來愈不準。原因請見「DNS 設定」的「自動更新」：請修正網址或金鑰，或設為「不自動」。',
  ],
};
