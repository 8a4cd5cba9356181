import type { SameAs } from '../kit/text.ts';
import type texts from './tasks.zh_TW.ts';

export default {
  'task.copyModule': '将模块“{name}”复制到 {count} 个站点',
  'taskLine.copyModule.copied': '已复制到 {site}',
  'taskLine.copyModule.replaced': '已更新 {site} 的同名模块',
  'taskLine.copyModule.skipped': '{site} 已有同名模块，因此略过',
  'taskLine.copyModule.notCopied': '未能复制到 {site}：',
  'taskLine.copyModule.unfit': '未能复制到 {site}：模块中有 {count} 行已不符合现行规则，请先修正“{value}”：',
} satisfies SameAs<typeof texts>;
