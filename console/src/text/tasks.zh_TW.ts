/** What tasks and the lines of their logs are called: one line for each folder. It comes with the first log that is opened (kit/task-log.ts). */
import type { commonLines } from '#contract/kit/task.ts';
import type { taskKinds } from '#contract/tasks.ts';
import domain from '../domain/tasks.zh_TW.ts';
import module from '../module/tasks.zh_TW.ts';
import node from '../node/tasks.zh_TW.ts';
import resolution from '../resolution/tasks.zh_TW.ts';

export const tasks = {
  'taskLine.started': '開始執行',
  'taskLine.resumed': '執行中的程式中斷，從停下的地方繼續',
  'taskLine.retrying': '第 {attempt} 次嘗試未成功，{seconds} 秒後再試：',
  'taskLine.retried': '由人員要求再試一次',
  'taskLine.cancelled': '已停止',
  'taskLine.failed': '執行失敗：',
  'taskLine.ended': '執行結束，{failed} 項未能完成',
  'taskLine.succeeded': '全部完成',

  ...domain,
  ...module,
  ...node,
  ...resolution,
};
export default tasks;

/** What a kind of task is called, and each line of its log: a missing one does not compile. */
type Kinds = typeof taskKinds;
type TaskWords = {
  [K in keyof Kinds]: `task.${K}` | `taskLine.${K}.${keyof Kinds[K]['says'] & string}`;
}[keyof Kinds];
tasks satisfies Record<TaskWords | `taskLine.${keyof typeof commonLines}`, string>;
