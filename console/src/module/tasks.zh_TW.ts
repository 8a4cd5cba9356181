export default {
  'task.copyModule': '將模組「{name}」複製到 {count} 個站點',
  'taskLine.copyModule.copied': '已複製到 {site}',
  'taskLine.copyModule.replaced': '已更新 {site} 的同名模組',
  'taskLine.copyModule.skipped': '{site} 已有同名模組，因此略過',
  'taskLine.copyModule.notCopied': '未能複製到 {site}：',
  'taskLine.copyModule.unfit': '未能複製到 {site}：模組中有 {count} 列已不符合現行規則，請先修正「{value}」：',
};
