/** What the screens of this folder say; it is loaded with the shell. This file is the type of the other languages. */
export default {
  'menu.trafficPkgManagement': '流量管理',
  'menu.trafficPkgList': '流量包',
  'menu.trafficReport': '流量報表',
};
