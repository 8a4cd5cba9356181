/**
 * What the specification asks for and nobody has built yet. This list only shrinks: `node contract/test/shrink.ts`
 * takes off what is built, and the guards refuse a thing that is in both places or in neither.
 *
 * calls: not mounted. routes: no page. codes: the server answers with the error in no test. constants: no code reads it.
 * messages: no screen that can be reached says it.
 */
import type { ErrorName } from '#contract/errors/codes.ts';

const lines = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');

export const notYet = {
  calls: lines(`
    GET /client/geoips
    GET /user/geoips
    GET /user/products
    GET /client/site/{siteID}/domain/{domainID}/antiHeaders
    PUT /client/site/{siteID}/domain/{domainID}/antiHeaders
    GET /client/site/{siteID}/domain/{domainID}/antiReferers
    PUT /client/site/{siteID}/domain/{domainID}/antiReferers
    GET /user/site/{siteID}/domain/{domainID}/antiHeaders
    PUT /user/site/{siteID}/domain/{domainID}/antiHeaders
    GET /user/site/{siteID}/domain/{domainID}/antiReferers
    PUT /user/site/{siteID}/domain/{domainID}/antiReferers
    GET /client/module/wafs/defaultRules
    POST /client/site/{siteID}/acl/copy
    POST /client/site/{siteID}/acl/search
    PUT /client/site/{siteID}/domains/module/acl
    PUT /client/site/{siteID}/domains/module/luaAcl
    PUT /client/site/{siteID}/domains/module/tokenAuth
    PUT /client/site/{siteID}/domains/module/waf
    GET /client/site/{siteID}/firewall/setting/adv/exists
    POST /client/site/{siteID}/luaAcl/copy
    POST /client/site/{siteID}/luaAcl/search
    PUT /client/site/{siteID}/module/acl
    POST /client/site/{siteID}/module/acl/{moduleID}/rule
    PUT /client/site/{siteID}/module/acl/{moduleID}/rule
    PUT /client/site/{siteID}/module/acl/{moduleID}/rule/enable
    DELETE /client/site/{siteID}/module/acl/{moduleID}/rules
    GET /client/site/{siteID}/module/acl/{moduleID}/rules
    DELETE /client/site/{siteID}/module/acls
    GET /client/site/{siteID}/module/acls
    POST /client/site/{siteID}/module/acls
    PUT /client/site/{siteID}/module/luaAcl
    POST /client/site/{siteID}/module/luaAcl/{moduleID}/rule
    PUT /client/site/{siteID}/module/luaAcl/{moduleID}/rule
    PUT /client/site/{siteID}/module/luaAcl/{moduleID}/rule/enable
    DELETE /client/site/{siteID}/module/luaAcl/{moduleID}/rules
    GET /client/site/{siteID}/module/luaAcl/{moduleID}/rules
    DELETE /client/site/{siteID}/module/luaAcls
    GET /client/site/{siteID}/module/luaAcls
    POST /client/site/{siteID}/module/luaAcls
    PUT /client/site/{siteID}/module/tokenAuth
    POST /client/site/{siteID}/module/tokenAuth/{moduleID}/auth
    PUT /client/site/{siteID}/module/tokenAuth/{moduleID}/auth
    PUT /client/site/{siteID}/module/tokenAuth/{moduleID}/auth/enable
    DELETE /client/site/{siteID}/module/tokenAuth/{moduleID}/auths
    GET /client/site/{siteID}/module/tokenAuth/{moduleID}/auths
    DELETE /client/site/{siteID}/module/tokenAuths
    GET /client/site/{siteID}/module/tokenAuths
    POST /client/site/{siteID}/module/tokenAuths
    DELETE /client/site/{siteID}/module/wafs
    GET /client/site/{siteID}/module/wafs
    POST /client/site/{siteID}/module/wafs
    PUT /client/site/{siteID}/module/wafs
    POST /client/site/{siteID}/setting/urlCache
    GET /user/module/wafs/defaultRules
    POST /user/site/{siteID}/acl/copy
    POST /user/site/{siteID}/acl/search
    PUT /user/site/{siteID}/domains/module/acl
    PUT /user/site/{siteID}/domains/module/luaAcl
    PUT /user/site/{siteID}/domains/module/tokenAuth
    PUT /user/site/{siteID}/domains/module/waf
    GET /user/site/{siteID}/firewall/setting/adv/exists
    POST /user/site/{siteID}/luaAcl/copy
    POST /user/site/{siteID}/luaAcl/search
    PUT /user/site/{siteID}/module/acl
    POST /user/site/{siteID}/module/acl/{moduleID}/rule
    PUT /user/site/{siteID}/module/acl/{moduleID}/rule
    PUT /user/site/{siteID}/module/acl/{moduleID}/rule/enable
    DELETE /user/site/{siteID}/module/acl/{moduleID}/rules
    GET /user/site/{siteID}/module/acl/{moduleID}/rules
    DELETE /user/site/{siteID}/module/acls
    GET /user/site/{siteID}/module/acls
    POST /user/site/{siteID}/module/acls
    PUT /user/site/{siteID}/module/luaAcl
    POST /user/site/{siteID}/module/luaAcl/{moduleID}/rule
    PUT /user/site/{siteID}/module/luaAcl/{moduleID}/rule
    PUT /user/site/{siteID}/module/luaAcl/{moduleID}/rule/enable
    DELETE /user/site/{siteID}/module/luaAcl/{moduleID}/rules
    GET /user/site/{siteID}/module/luaAcl/{moduleID}/rules
    DELETE /user/site/{siteID}/module/luaAcls
    GET /user/site/{siteID}/module/luaAcls
    POST /user/site/{siteID}/module/luaAcls
    PUT /user/site/{siteID}/module/tokenAuth
    POST /user/site/{siteID}/module/tokenAuth/{moduleID}/auth
    PUT /user/site/{siteID}/module/tokenAuth/{moduleID}/auth
    PUT /user/site/{siteID}/module/tokenAuth/{moduleID}/auth/enable
    DELETE /user/site/{siteID}/module/tokenAuth/{moduleID}/auths
    GET /user/site/{siteID}/module/tokenAuth/{moduleID}/auths
    DELETE /user/site/{siteID}/module/tokenAuths
    GET /user/site/{siteID}/module/tokenAuths
    POST /user/site/{siteID}/module/tokenAuths
    DELETE /user/site/{siteID}/module/wafs
    GET /user/site/{siteID}/module/wafs
    POST /user/site/{siteID}/module/wafs
    PUT /user/site/{siteID}/module/wafs
    POST /user/site/{siteID}/setting/urlCache
    DELETE /client/firewall/setting/blockIPs
    GET /client/firewall/setting/blockIPs
    DELETE /client/firewall/setting/blockIPs/all
    DELETE /client/site/{siteID}/firewall/l4/blacklists
    GET /client/site/{siteID}/firewall/l4/blacklists
    POST /client/site/{siteID}/firewall/l4/blacklists
    PUT /client/site/{siteID}/firewall/l4/blacklists
    DELETE /client/site/{siteID}/firewall/l4/limitConns
    GET /client/site/{siteID}/firewall/l4/limitConns
    POST /client/site/{siteID}/firewall/l4/limitConns
    PUT /client/site/{siteID}/firewall/l4/limitConns
    DELETE /client/site/{siteID}/firewall/l4/positions
    GET /client/site/{siteID}/firewall/l4/positions
    POST /client/site/{siteID}/firewall/l4/positions
    PUT /client/site/{siteID}/firewall/l4/positions
    DELETE /client/site/{siteID}/firewall/l4/whitelists
    GET /client/site/{siteID}/firewall/l4/whitelists
    POST /client/site/{siteID}/firewall/l4/whitelists
    PUT /client/site/{siteID}/firewall/l4/whitelists
    DELETE /client/site/{siteID}/firewall/setting/advance
    GET /client/site/{siteID}/firewall/setting/advance
    POST /client/site/{siteID}/firewall/setting/advance
    PUT /client/site/{siteID}/firewall/setting/advance
    GET /client/site/{siteID}/firewall/setting/anticc
    PUT /client/site/{siteID}/firewall/setting/anticc
    DELETE /client/site/{siteID}/firewall/setting/geo
    GET /client/site/{siteID}/firewall/setting/geo
    POST /client/site/{siteID}/firewall/setting/geo
    PUT /client/site/{siteID}/firewall/setting/geo
    DELETE /user/firewall/setting/blockIPs
    GET /user/firewall/setting/blockIPs
    DELETE /user/firewall/setting/blockIPs/all
    DELETE /user/site/{siteID}/firewall/l4/blacklists
    GET /user/site/{siteID}/firewall/l4/blacklists
    POST /user/site/{siteID}/firewall/l4/blacklists
    PUT /user/site/{siteID}/firewall/l4/blacklists
    DELETE /user/site/{siteID}/firewall/l4/limitConns
    GET /user/site/{siteID}/firewall/l4/limitConns
    POST /user/site/{siteID}/firewall/l4/limitConns
    PUT /user/site/{siteID}/firewall/l4/limitConns
    DELETE /user/site/{siteID}/firewall/l4/positions
    GET /user/site/{siteID}/firewall/l4/positions
    POST /user/site/{siteID}/firewall/l4/positions
    PUT /user/site/{siteID}/firewall/l4/positions
    DELETE /user/site/{siteID}/firewall/l4/whitelists
    GET /user/site/{siteID}/firewall/l4/whitelists
    POST /user/site/{siteID}/firewall/l4/whitelists
    PUT /user/site/{siteID}/firewall/l4/whitelists
    DELETE /user/site/{siteID}/firewall/setting/advance
    GET /user/site/{siteID}/firewall/setting/advance
    POST /user/site/{siteID}/firewall/setting/advance
    PUT /user/site/{siteID}/firewall/setting/advance
    GET /user/site/{siteID}/firewall/setting/anticc
    PUT /user/site/{siteID}/firewall/setting/anticc
    DELETE /user/site/{siteID}/firewall/setting/geo
    GET /user/site/{siteID}/firewall/setting/geo
    POST /user/site/{siteID}/firewall/setting/geo
    PUT /user/site/{siteID}/firewall/setting/geo
    GET /client/log/export/{ID}
    POST /client/log/export/file
    GET /client/log/export/file/{ID}
    POST /client/log/export/file/retry
    DELETE /client/log/exports
    GET /client/log/exports
    POST /client/logs/waf
    POST /client/statistics/list
    POST /client/statistics/list/export
    POST /client/statistics/network/countries/avgBitRate
    POST /client/statistics/network/countries/tops
    POST /client/statistics/network/outcomes/avgBitRate
    POST /client/statistics/network/outcomes/sumBits
    GET /user/log/export/{ID}
    POST /user/log/export/file
    GET /user/log/export/file/{ID}
    POST /user/log/export/file/retry
    DELETE /user/log/exports
    GET /user/log/exports
    POST /user/logs/waf
    POST /user/statistics/list
    POST /user/statistics/list/export
    POST /user/statistics/network/countries/avgBitRate
    POST /user/statistics/network/countries/tops
    POST /user/statistics/network/outcomes/avgBitRate
    POST /user/statistics/network/outcomes/sumBits
    GET /client/domains
    GET /client/domains/tags
    PATCH /client/node/monitor
    GET /client/setting/nginx/custom
    PUT /client/setting/nginx/custom
    DELETE /client/setting/nginx/http
    GET /client/setting/nginx/http
    PUT /client/setting/nginx/http
    DELETE /client/setting/nginx/stream
    GET /client/setting/nginx/stream
    PUT /client/setting/nginx/stream
    DELETE /client/setting/nginx/worker
    GET /client/setting/nginx/worker
    PUT /client/setting/nginx/worker
    DELETE /client/zone/{id}/setting/anticc
    PUT /client/zone/{id}/setting/anticc
    GET /client/zone/{id}/setting/firewall
    DELETE /client/zone/{id}/setting/ipset
    PUT /client/zone/{id}/setting/ipset
    POST /client/zone/{id}/setting/ipset/flush
    GET /client/zone/{id}/setting/nginx
    PUT /client/zone/{id}/setting/nginx
    GET /client/zone/{id}/setting/nginx/custom
    PUT /client/zone/{id}/setting/nginx/custom
    DELETE /client/zone/{id}/setting/nginx/http
    GET /client/zone/{id}/setting/nginx/http
    PUT /client/zone/{id}/setting/nginx/http
    DELETE /client/zone/{id}/setting/nginx/stream
    GET /client/zone/{id}/setting/nginx/stream
    PUT /client/zone/{id}/setting/nginx/stream
    DELETE /client/zone/{id}/setting/nginx/worker
    GET /client/zone/{id}/setting/nginx/worker
    PUT /client/zone/{id}/setting/nginx/worker
    GET /client/zone/{id}/setting/preheatCaches
    POST /client/zone/{id}/setting/preheatCaches
    PUT /client/monitor/group
    DELETE /client/monitor/group/{groupID}/nodes
    GET /client/monitor/group/{groupID}/nodes
    POST /client/monitor/group/{groupID}/nodes
    DELETE /client/monitor/groups
    GET /client/monitor/groups
    POST /client/monitor/groups
    GET /client/monitor/metaGroups
    GET /client/monitor/metaMonitors
    PUT /client/monitor/node
    DELETE /client/monitor/nodes
    GET /client/monitor/nodes
    POST /client/monitor/nodes
    PUT /client/monitor/nodes/enableStatus
    GET /client/monitor/nodes/notInit
  `),
  routes: lines(`
    /user/sitesManagement/blockList
    /user/dataAnalysis/statistics
    /user/dataAnalysis/logExport
    /user/dataAnalysis/securityAnalysis
    /user/dataAnalysis/l4AttackAnalysis
    /client/nodeManage/domains
    /client/nodeManage/blockList
    /client/dataAnalysis/statistics
    /client/dataAnalysis/logExport
    /client/dataAnalysis/securityAnalysis
    /client/dataAnalysis/l4AttackAnalysis
    /client/monitorManagement/monitorNodeList
    /client/monitorManagement/monitorNodeGroup
    /client/systemManagement/nginxSetting
    /client/systemManagement/perdefinedSetting
  `),
  codes: lines(`
    groupSiteInUse
    siteStatusNotAllowed
    illegalPortMapping
    simultaneousDownloads
    dailyDownloads
  `),
  constants: lines(`
    aclActions.deny
    aclActions.drop
    aclActions.dropAndBlacklist
    aclActions.allow
    aclActions.redirect301
    aclActions.redirect302
    aclDeprecatedFrom
    aclOperators
    cacheTasks
    display.layer4PageDefault
    ownStatuses.challenge
    paging.orders
    polling.liveStatisticsWindowHours
    polling.liveStatisticsStepMinutes
    protectTypes.fiveSecondShield
    protectTypes.code
    protectTypes.clickToVerify
    protectTypes.redirect
    transport.chunkLoadTimeoutMs
    wafSensitivities
    zeroMeans.siteLimit
  `),
  messages: lines(`
    message.setNginxHttpSuccess
    message.setNginxStreamSuccess
    message.setNginxWorkerSuccess
  `),
};

/** Errors of §8 that no situation of this product gives, and why: nobody owes them, and the guards refuse code that answers one. */
export const neverArises = {
  invalidLicenseServer:
    'a licence is a file that an installation verifies by itself, with public keys that it holds: no server is asked, so none can be invalid',
} as const satisfies Partial<Record<ErrorName, string>>;
