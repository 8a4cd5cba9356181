// Before the first paint: theme and language of the last visit, so that nothing flashes. A file, because scripts must not be inline.
(function () {
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem('theme');
    var language = localStorage.getItem('language');
  } catch {}
  var dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'dark' : 'light';
  if (language === 'zh_CN') root.lang = 'zh-Hans-CN';
  if (language === 'en_US') root.lang = 'en-US';
})();
