import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'page.cors': 'CORS',
  'page.customHeaders': '自定义 HTTP 头',
  'page.domainHeaders': '域名专属 HTTP 头',
  'page.proxyRewrites': '回源改写',

  'noun.cors': 'CORS 模块',
  'noun.customHeaders': '自定义 HTTP 头模块',
  'noun.proxyRewrites': '回源改写模块',

  'empty.cors': '新建之后，可在域名列表分配给域名。',
  'empty.customHeaders': '新建之后，可在域名列表分配给域名。',
  'empty.proxyRewrites': '新建之后，可在域名列表分配给域名。',

  'tab.cors': 'CORS',
  'tab.customHeaders': '自定义 HTTP 头',
  'tab.proxyRewrites': '回源改写',

  'field.cors': 'CORS',
  'field.customHeaders': '自定义 HTTP 头',
  'field.proxyRewrites': '回源改写',
  'field.corsID': 'CORS',
  'field.moduleID': '模块',
  'field.allowOrigin': '允许的来源',
  'field.allowMethods': '允许的方法',
  'field.allowHeaders': '允许的请求头',
  'field.exposeHeaders': '可读取的响应头',
  'field.allowCredentials': '允许 Cookie',
  'field.maxAge': '缓存时间（秒）',
  'field.headerName': '名称',
  'field.headerValue': '内容',
  'field.request': '回源请求',
  'field.response': '给访客的响应',
  'field.rules': '规则',
  'field.matchType': '匹配方式',
  'field.source': '访客的路径',
  'field.target': '回源路径',

  'help.allowOrigin':
    '* 代表所有来源；也可填写一个来源，例如 https://www.example.com，或以 https://*.example.com 代表其下所有来源。',
  'help.allowCredentials': '来源为 * 时无法使用。',
  'help.requestHeaders': '所有访客都相同，会替换访客发来的同名请求头。内容留空会移除这个请求头。',
  'help.responseHeaders':
    '会替换源站的同名响应头；Set-Cookie 与 Vary 则是附加。内容留空会移除这个响应头，但 Vary 不能移除。Date、ETag、Last-Modified、Accept-Ranges 不能自定义：条件请求与分段下载以源站的值为准。',
  'help.rewriteRules':
    '自上而下，第一条匹配的规则生效；访客的查询字符串会保留。前缀：替换匹配的开头，且须以完整的路径段结尾（/a 匹配 /a 与 /a/b，不匹配 /about）；完全匹配与正则表达式：替换整个路径，$1 到 $9 代表括号内的内容。缓存与清除仍以访客的网址为准；更改规则后，已缓存的内容请自行清除。',

  'action.cors': 'CORS',
  'action.customHeaders': '自定义 HTTP 头',
  'action.proxyRewrites': '回源改写',
  'action.domainHeaders': '域名专属 HTTP 头',
  'action.addHeader': '添加 HTTP 头',
  'action.addRewrite': '添加规则',

  'matchType.prefix': '前缀',
  'matchType.exact': '完全匹配',
  'matchType.advanced': '正则表达式',

  'page.urlRedirects': 'URL 重定向',
  'page.redirects': '重定向',
  'noun.urlRedirects': '重定向模块',
  'noun.redirects': '重定向',
  'empty.urlRedirects': '新建并填入重定向之后，可在域名列表分配给域名。',
  'empty.redirects': '逐条新建，或一次粘贴多条。',
  'tab.urlRedirects': 'URL 重定向',
  'field.urlRedirects': 'URL 重定向',
  'field.redirectCount': '重定向数',
  'field.redirectTarget': '目标',
  'field.statusCode': '状态码',
  'field.keepQuery': '保留查询',
  'field.redirectLines': '每行一条重定向',
  'field.items': '重定向',
  'help.redirectSource':
    '完全匹配：路径，可带查询字符串。前缀：该路径及其下所有路径。正则表达式：匹配路径，或路径?查询。依次为完全匹配、最长前缀、按建立顺序的正则表达式。',
  'help.redirectTarget':
    '路径，或以 http://、https:// 开头的网址。前缀：前缀之后的部分会接在目标后面。正则表达式：$1 到 $9 为括号匹配的内容。',
  'help.redirectStatus': '301、308 为永久，302、307 为临时；307、308 保留请求方法。浏览器会保存永久重定向一小时。',
  'help.keepQuery': '访客的查询字符串会接在目标后面。',
  'help.redirectLines':
    '来源、目标与状态码，以空格或逗号分隔：/old /new 301。来源以 * 结尾为前缀，以 ~ 开头为正则表达式；行末加 noquery 则不保留查询。',
  'action.urlRedirects': 'URL 重定向',
  'redirect.paste': '批量粘贴',
  'redirect.back': '所有重定向模块',
  'redirect.try': '测试',
  'redirect.tryHint': '/路径?查询，或完整网址',
  'redirect.stopped': '计算超过 1 秒仍没有结果，已停止。请检查此模块的正则表达式，例如是否有重复中的重复。',
  'redirect.none': '此模块没有匹配的重定向。',
  'redirect.loop': '匹配 {source}，但 {location} 会无限循环，因此不会重定向访客。',
  'redirect.tooLong': '匹配 {source}，但目标网址会超过 {max} 个字节，因此不会重定向访客。',
  'redirect.found': '匹配 {source}：{status} 到 {location}',

  'action.copyToSites': '复制到其他站点…',
  'copy.title': '复制“{name}”到其他站点',
  'copy.own': '即当前站点',
  'copy.failed': '复制失败！',
  'copy.begun': '已开始复制',
  'field.overwrite': '覆盖同名模块',
  'help.overwriteModule': '站点已有同类型、同名的模块时，以这个模块取代其设置与内容；否则跳过该站点。域名的指派不会复制。',

  'action.assignDomains': '分配给域名…',
  'field.domainIDs': '域名',
  'help.assignDomains': '所选的域名改用这个模块，替换它们当前同类型的模块；其他域名不变。',
  'module.assignFailed': '分配失败！',
  'module.assign': '{name}：分配给域名',
} satisfies SameAs<typeof texts>;
