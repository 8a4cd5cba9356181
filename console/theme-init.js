// Before the first paint: theme and language of the last visit, so that nothing flashes. Written into the page when it is built.
(function () {
  const root = document.documentElement;
  let theme;
  let language;
  try {
    theme = localStorage.getItem('theme');
    language = localStorage.getItem('language');
  } catch {}
  const dark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'dark' : 'light';
  if (language === 'zh_CN') root.lang = 'zh-Hans-CN';
  if (language === 'en_US') root.lang = 'en-US';
})();
