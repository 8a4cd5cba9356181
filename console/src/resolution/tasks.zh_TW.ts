export default {
  'task.geoRefresh': '更新 IP 地理位置資料（{host}）',
  'taskLine.geoRefresh.asking': '正在詢問 {host}',
  'taskLine.geoRefresh.unchanged': '來源沒有更新的檔案',
  'taskLine.geoRefresh.fetched': '已取得 {mb} MB 並檢查',
  'taskLine.geoRefresh.taken': '已採用，共 {networks} 個網段',
  'taskLine.geoRefresh.dropped': '期間已改回內附資料，因此未採用這次取得的檔案',
  'taskLine.geoRefresh.kept': '沿用先前的資料：',
};
