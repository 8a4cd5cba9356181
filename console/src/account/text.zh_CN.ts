import type { SameAs } from '../kit/text.ts';
import type texts from './text.zh_TW.ts';

export default {
  'menu.userInformation': '个人信息',
  'menu.usersList': '账号',
  'menu.users': '账号',
  'menu.roles': '角色',

  'page.accounts': '账号',
  'page.roles': '角色',

  'noun.accounts': '账号',
  'noun.roles': '角色',

  'empty.accounts': '新建客户，再为他开通站点。',
  'empty.roles': '角色是一组权限，可以分配给子账号。',

  'field.email': '邮箱',
  'field.maxLogExportTimes': '每日日志导出次数',
  'field.timezone': '时区',
  'field.roleID': '角色',
  'field.role': '角色',
  'field.permissionKeys': '权限',

  'help.maxLogExportTimes': '账号每天可以导出日志的次数。',

  'action.setPassword': '设置密码',
  'action.unlock': '解除锁定',
  'action.lock': '锁定',

  'auth.user': '客户',
  'auth.client': '运营商',
  'auth.admin': '管理员',

  'language.zh_TW': '繁體中文',
  'language.zh_CN': '简体中文',
  'language.en_US': 'English',

  'account.saved': '更改会在下次登录后完全生效。',

  'page.apiTokens': 'API 令牌',
  'noun.apiTokens': 'API 令牌',
  'empty.apiTokens': '令牌让程序代您操作，权限与网络由您限定。',
  'menu.apiTokenSetting': 'API 令牌',
  'menu.apiDoc': 'API 文档',
  'field.networks': '允许的网络',
  'field.ending': '结尾',
  'field.lastUsedAt': '上次使用',
  'field.lastIP': '上次来源',
  'field.accountName': '所有者',

  'menu.logOperation': '操作日志',
  'page.audit': '操作日志',
  'noun.audit': '操作',
  'empty.audit': '还没有任何操作。',
} satisfies SameAs<typeof texts>;
