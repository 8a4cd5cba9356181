import type { Base } from '../kit/text.ts';

export default {
  'brand.name': 'Breakwater',
  'brand.claim': '内容分发与防护，\n就在您自己的机器上。',
  'brand.line': '每个站点的缓存、防火墙、证书与流量，都由您掌握。',
  'area.user': '用户控制台',
  'area.client': '运营商控制台',
  'area.admin': '管理员控制台',

  'login.title': '登录',
  'login.email': '邮箱',
  'login.password': '密码',
  'login.submit': '登录',
  'login.wrongFormat': '邮箱格式错误',
  'login.required': '必填',
  'login.showPassword': '显示密码',
  'login.hidePassword': '隐藏密码',

  'verify.title': '输入验证码',
  'verify.mail': '验证码已发送到 {email}，10 分钟内有效。',
  'verify.google': '请输入验证器 App 上的 6 位数字。',
  'verify.code': '验证码',
  'verify.submit': '验证',
  'verify.again': '重新发送',
  'verify.back': '返回登录',
  'verify.digits': '请输入 6 位数字',

  'password.title': '修改密码',
  'password.old': '当前密码',
  'password.new': '新密码',
  'password.repeat': '再次输入新密码',
  'password.submit': '修改密码',
  'password.min': '至少 {min} 个字符',
  'password.mismatch': '两次输入的密码不一致',
  'password.back': '返回',

  'switch.working': '正在切换账号…',

  'page.notFound': '找不到这个页面',
  'page.notFoundText': '地址可能已变更，稍后会带您回到首页。',
  'page.home': '回到首页',
  'page.broken': '页面无法显示',
  'page.brokenText': '页面发生未预期的错误，请重新加载。',
  'page.unreachable': '无法连接到服务器',
  'page.unreachableText': '请检查网络连接，然后再试一次。',
  'page.retry': '再试一次',
  'page.loading': '加载中',
  'page.language': '语言',

  'error.generic': '出错了，请稍后再试。',
  'error.close': '关闭',
} satisfies Base;
