import type { SameAs } from '../kit/text.ts';
import domain from '../domain/tasks.zh_CN.ts';
import module from '../module/tasks.zh_CN.ts';
import node from '../node/tasks.zh_CN.ts';
import resolution from '../resolution/tasks.zh_CN.ts';
import type { tasks } from './tasks.zh_TW.ts';

export default {
  'taskLine.started': '开始执行',
  'taskLine.resumed': '执行中的程序中断，从停下的地方继续',
  'taskLine.retrying': '第 {attempt} 次尝试未成功，{seconds} 秒后再试：',
  'taskLine.retried': '由人员要求再试一次',
  'taskLine.cancelled': '已停止',
  'taskLine.failed': '执行失败：',
  'taskLine.ended': '执行结束，{failed} 项未能完成',
  'taskLine.succeeded': '全部完成',

  ...domain,
  ...module,
  ...node,
  ...resolution,
} satisfies SameAs<typeof tasks>;
