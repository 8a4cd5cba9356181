/** What the screens of this folder say; it is loaded with the shell. */
export default {
  'menu.trafficPkgManagement': 'Traffic',
  'menu.trafficPkgList': 'Traffic packages',
  'menu.trafficReport': 'Traffic report',
};
