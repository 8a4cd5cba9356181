/** Starts the gallery: the words, the look and the styles of the console, and an API that answers by itself. */
import '../src/styles/tokens.css';
import '../src/styles/base.css';
import '../src/styles/brand.css';
import '../src/styles/shell.css';
import '../src/styles/pages.css';
import '../src/styles/parts.css';
import '../src/styles/app.css';
import '../src/styles/settings.css';
import '../src/styles/touch.css';
import './gallery.css';
import { createRoot } from 'react-dom/client';
import { setLocale } from '../src/kit/frame.tsx';
import { setScreens } from '../src/kit/screens.ts';
import { loadSelf } from '../src/kit/session.ts';
import { fillRules } from '../src/kit/rule-words.ts';
import { addTexts, language, languageTag, loadTexts } from '../src/kit/text.ts';
import { Notices } from '../src/shell/notices.tsx';
import { fakeApi } from './fake.ts';
import { Gallery } from './gallery.tsx';

const words = {
  zh_TW: () => import('../src/words.zh_TW.ts'),
  zh_CN: () => import('../src/words.zh_CN.ts'),
  en_US: () => import('../src/words.en_US.ts'),
};

document.documentElement.lang = languageTag;
fakeApi();
setScreens({ area: 'user', sections: [] }, loadTexts);
void Promise.all([words[language](), loadTexts('start'), loadSelf()]).then(([{ texts, rules, antd }]) => {
  addTexts(texts);
  fillRules(language, rules);
  setLocale(antd);
  createRoot(document.getElementById('root')!).render(
    <>
      <Gallery />
      <Notices />
    </>,
  );
});
